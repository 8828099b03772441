// SPDX-License-Identifier: Apache-2.0
// The tolerance has a part of the whole tensor's size: where large terms cancel, an element's own
// size says nothing about the error of its sum.
#include "workloads/network/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::network {

namespace {

/// "[0,3,17]"
std::string position(const Shape& shape, int64_t index) {
    Shape at(shape.size());
    for (size_t d = shape.size(); d-- > 0; index /= shape[d]) at[d] = index % shape[d];
    return to_string(at);
}

}  // namespace

Comparison compare(const Tensor& expected, const Tensor& actual, Tolerance tolerance) {
    Comparison result;
    result.elements = expected.size();
    if (expected.shape != actual.shape) {
        result.wrong = std::max<int64_t>(1, result.elements);
        result.message = fmt::format("the shape is {}, not {}", to_string(actual.shape),
                                     to_string(expected.shape));
        return result;
    }
    const std::vector<double> x = to_doubles(expected), y = to_doubles(actual);
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = x.empty() ? 0 : std::sqrt(squares / static_cast<double>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
        const bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
        const double difference = std::abs(y[i] - x[i]);
        if (same) continue;
        // A NaN, or an infinity on one side, is within no tolerance.
        const double allowed = tolerance.relative * std::abs(x[i]) + tolerance.of_scale * scale;
        const bool within = std::isfinite(difference) && difference <= allowed;
        result.worst = std::isnan(difference) ? INFINITY : std::max(result.worst, difference);
        if (within) continue;
        if (result.wrong++ == 0)
            result.message =
                fmt::format("element {} is {}, not {} (allowed: {})",
                            position(expected.shape, static_cast<int64_t>(i)), y[i], x[i], allowed);
    }
    if (result.wrong > 0)
        result.message += fmt::format("; {} of {} elements are wrong", result.wrong, x.size());
    return result;
}

}  // namespace lockstep::network
