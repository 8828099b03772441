// SPDX-License-Identifier: Apache-2.0
// The rule of the dot-product unit written out element by element with wide integers; shares only
// the rule's parameters with the product.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "isa/sass/tensor_core/rule.h"

namespace lockstep::sass {

inline int smallest_exponent(TensorType type) {
    switch (type) {
        case TensorType::kFp16:
        case TensorType::kE5m2:
            return -14;
        case TensorType::kE4m3:
            return -6;
        default:
            return -126;
    }
}

/// d of one group; all numbers are given by value. The result is the value of the accumulator.
inline double reference_group(const DotProductRule& rule, TensorType type_a, TensorType type_b,
                              const std::vector<double>& a, const std::vector<double>& b,
                              double c) {
    double plain = c;
    for (size_t k = 0; k < a.size(); ++k) plain += a[k] * b[k];
    if (!std::isfinite(plain)) return plain;

    struct Term {
        double significand;
        int exponent;
    };
    const auto split = [](double value, int smallest) {
        int exponent;
        std::frexp(value, &exponent);
        exponent = std::max(exponent - 1, smallest);
        return Term{std::ldexp(value, -exponent), exponent};
    };
    std::vector<Term> terms;
    for (size_t k = 0; k < a.size(); ++k) {
        if (a[k] == 0 || b[k] == 0) continue;
        const Term x = split(a[k], smallest_exponent(type_a));
        const Term y = split(b[k], smallest_exponent(type_b));
        terms.push_back({x.significand * y.significand, x.exponent + y.exponent});
    }
    const bool half = rule.accumulator == AccumulatorType::kFp16;
    if (c != 0) terms.push_back(split(c, half ? -14 : -126));

    int largest = rule.min_exponent;
    for (const Term& term : terms) largest = std::max(largest, term.exponent);
    __int128 sum = 0;
    for (const Term& term : terms) {
        sum += static_cast<__int128>(
            std::trunc(std::ldexp(term.significand, term.exponent - largest + rule.fraction_bits)));
    }
    const double exact = std::ldexp(static_cast<double>(sum), largest - rule.fraction_bits);
    if (exact == 0) return 0;
    int exponent;
    std::frexp(exact, &exponent);
    exponent = std::max(exponent - 1, half ? -14 : -126);
    const int kept = half ? 10 : (rule.accumulator == AccumulatorType::kE8m13 ? 13 : 23);
    const double scaled = std::ldexp(exact, kept - exponent);
    const double rounded =
        std::ldexp(half ? std::nearbyint(scaled) : std::trunc(scaled), exponent - kept);
    const double limit = half ? 65536 : 0x1p128;
    return std::fabs(rounded) >= limit
               ? std::copysign(std::numeric_limits<double>::infinity(), rounded)
               : rounded;
}

/// A chain of groups.
inline double reference_dot_product(const DotProductRule& rule, TensorType type_a,
                                    TensorType type_b, const std::vector<double>& a,
                                    const std::vector<double>& b, double c) {
    const size_t group = std::min(a.size(), static_cast<size_t>(rule.group));
    for (size_t at = 0; at < a.size(); at += group) {
        c = reference_group(rule, type_a, type_b, {a.begin() + at, a.begin() + at + group},
                            {b.begin() + at, b.begin() + at + group}, c);
    }
    return c;
}

}  // namespace lockstep::sass
