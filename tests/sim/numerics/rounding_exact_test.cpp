// SPDX-License-Identifier: Apache-2.0
// Rounding of sums, products and fused ones of any finite operands, subnormals and overflows
// included, against rational arithmetic without bounds (Boost.Multiprecision).
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/numerics/rounding.h"

namespace lockstep::numerics {
namespace {

using Exact = boost::multiprecision::cpp_rational;

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Any finite number. Of two operands the exponents are often near each other, so that sums cancel.
template <typename T>
T finite(std::uint64_t seed, std::uint64_t exponent_seed, unsigned apart) {
    constexpr int kFraction = std::numeric_limits<T>::digits - 1;
    constexpr Bits<T> kExponents = sizeof(T) == 4 ? 0xff : 0x7ff;
    const std::uint64_t mixed = seed * 0x9e3779b97f4a7c15u;
    const auto exponent =
        static_cast<Bits<T>>(((exponent_seed * 0xbf58476d1ce4e5b9u >> 40) + apart) %
                             kExponents);  // not that of infinity
    const auto fraction = static_cast<Bits<T>>(mixed) & ((Bits<T>{1} << kFraction) - 1);
    const auto sign = static_cast<Bits<T>>(mixed >> 63) << (8 * sizeof(T) - 1);
    return std::bit_cast<T>(sign | exponent << kFraction | fraction);
}

/// A rounded result against the exact one; what lies beyond the largest number counts as infinity.
template <typename T>
void expect_rounded(const Exact& exact, T result, Rounding mode) {
    constexpr T kMost = std::numeric_limits<T>::max();
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    RC_ASSERT(!std::isnan(result));
    // The nearest numbers on both sides of the exact value.
    const bool above = std::isinf(result) ? result > 0 : Exact(result) > exact;
    const bool equal = !std::isinf(result) && Exact(result) == exact;
    if (equal) return;
    const T other = std::nextafter(result, above ? -kInfinity : kInfinity);
    const T down = above ? other : result, up = above ? result : other;
    if (!std::isinf(down)) RC_ASSERT(Exact(down) < exact);
    if (!std::isinf(up)) RC_ASSERT(Exact(up) > exact);
    switch (mode) {
        case Rounding::kDown:
            RC_ASSERT(result == down);
            return;
        case Rounding::kUp:
            RC_ASSERT(result == up);
            return;
        case Rounding::kTowardZero:
            RC_ASSERT(result == (exact > 0 ? down : up));
            return;
        case Rounding::kNearestEven:
            break;
    }
    // As if the exponents went on: infinity stands a step beyond the largest number.
    const Exact step = Exact(kMost) - Exact(std::nextafter(kMost, T{0}));
    const auto value = [&](T number) {
        return std::isinf(number) ? (number > 0 ? Exact(kMost) + step : -Exact(kMost) - step)
                                  : Exact(number);
    };
    const Exact below = exact - value(down), beyond = value(up) - exact;
    if (below == beyond) {
        RC_ASSERT((std::bit_cast<Bits<T>>(result) & 1) == 0u);
    } else {
        RC_ASSERT(result == (below < beyond ? down : up));
    }
}

template <typename T>
void check_type() {
    static constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kDown, Rounding::kUp,
                                          Rounding::kTowardZero};
    EXPECT_TRUE(rc::check([](std::uint64_t s, std::uint64_t t, std::uint64_t u, std::uint64_t e,
                             std::uint8_t apart) {
        const T a = finite<T>(s, e, 0), b = finite<T>(t, e, apart % 30), c = finite<T>(u, e * 3, 0);
        for (const Rounding mode : kModes) {
            expect_rounded<T>(Exact(a) + Exact(b), add(a, b, mode), mode);
            expect_rounded<T>(Exact(a) * Exact(b), multiply(a, b, mode), mode);
            expect_rounded<T>(Exact(a) * Exact(b) + Exact(c), fma(a, b, c, mode), mode);
        }
    }));
}

TEST(RoundingExact, OfAnyFloats) {
    check_type<float>();
}

TEST(RoundingExact, OfAnyDoubles) {
    check_type<double>();
}

}  // namespace
}  // namespace lockstep::numerics
