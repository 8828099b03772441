// SPDX-License-Identifier: Apache-2.0
// Directed rounding against exact arithmetic: a float sum or product is exact in __float128 and a
// directed result must be the neighbour of the exact value on the named side.
#include "sim/numerics/rounding.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <xmmintrin.h>

#include <limits>

namespace lockstep::numerics {
namespace {

// Finite values of moderate exponents, so that __float128 (113 bits) holds every sum and product.
template <typename T>
T moderate(uint64_t seed) {
    const uint64_t mixed = seed * 0x9e3779b97f4a7c15u;
    const T magnitude = std::ldexp(static_cast<T>(mixed >> (sizeof(T) == 4 ? 40 : 11)),
                                   static_cast<int>(mixed % 23) - 35);
    return (mixed & 64) != 0 ? -magnitude : magnitude;
}

template <typename T>
void expect_sides(__float128 exact, T down, T up, T toward_zero, T nearest) {
    const T infinity = std::numeric_limits<T>::infinity();
    RC_ASSERT(down <= exact && exact <= up);
    if (down == up) {
        RC_ASSERT(exact == down);
    } else {
        RC_ASSERT(std::nextafter(down, infinity) == up);
    }
    RC_ASSERT(toward_zero == (exact < 0 ? up : down));
    const __float128 below = exact - down;
    const __float128 above = up - exact;
    RC_ASSERT(nearest == (below < above ? down : up) || below == above);
}

template <typename T, typename Operation>
void check_all_modes(__float128 exact, Operation operation) {
    const unsigned before = _mm_getcsr() & 0xffc0;
    expect_sides<T>(exact, operation(Rounding::kDown), operation(Rounding::kUp),
                    operation(Rounding::kTowardZero), operation(Rounding::kNearestEven));
    RC_ASSERT((_mm_getcsr() & 0xffc0) == before);
}

template <typename T>
void check_type() {
    EXPECT_TRUE(rc::check("add", [](uint64_t s, uint64_t t) {
        const T a = moderate<T>(s), b = moderate<T>(t);
        check_all_modes<T>(static_cast<__float128>(a) + b,
                           [=](Rounding mode) { return add(a, b, mode); });
    }));
    EXPECT_TRUE(rc::check("multiply", [](uint64_t s, uint64_t t) {
        const T a = moderate<T>(s), b = moderate<T>(t);
        check_all_modes<T>(static_cast<__float128>(a) * b,
                           [=](Rounding mode) { return multiply(a, b, mode); });
    }));
    EXPECT_TRUE(rc::check("fma", [](uint64_t s, uint64_t t, uint64_t u) {
        // c is close to -a*b, which leaves an exact remainder of few bits.
        const T a = moderate<T>(s), b = moderate<T>(t);
        const T c = -(a * b) * (1 + static_cast<T>(u % 8) * std::numeric_limits<T>::epsilon());
        check_all_modes<T>(static_cast<__float128>(a) * b + c,
                           [=](Rounding mode) { return fma(a, b, c, mode); });
    }));
}

TEST(Rounding, DirectedFloat) {
    check_type<float>();
}
TEST(Rounding, DirectedDouble) {
    check_type<double>();
}

TEST(Rounding, OverflowsAndUnderflowsAsTheModeSays) {
    const float max = std::numeric_limits<float>::max();
    const float tiny = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(add(max, max, Rounding::kTowardZero), max);
    EXPECT_EQ(add(max, max, Rounding::kDown), max);
    EXPECT_EQ(add(max, max, Rounding::kUp), INFINITY);
    EXPECT_EQ(multiply(tiny, tiny, Rounding::kUp), tiny);
    EXPECT_EQ(multiply(tiny, tiny, Rounding::kDown), 0.0f);
    EXPECT_EQ(multiply(-tiny, tiny, Rounding::kDown), -tiny);
    EXPECT_TRUE(std::signbit(add(1.0f, -1.0f, Rounding::kDown)));
    EXPECT_FALSE(std::signbit(add(1.0f, -1.0f, Rounding::kTowardZero)));
}

TEST(Rounding, DirectedIgnoresTheHostsMode) {
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040 | 0x6000);  // FTZ, DAZ, toward zero
    const float tiny = directed::multiply(0x1p-100f, 0x1p-40f, Rounding::kNearestEven);
    const float up = directed::add(1.0f, 0x1p-60f, Rounding::kUp);
    _mm_setcsr(saved);
    EXPECT_EQ(tiny, 0x1p-140f);
    EXPECT_EQ(up, 1.0f + std::numeric_limits<float>::epsilon());
}

TEST(Rounding, FlushesSubnormalsOnly) {
    EXPECT_TRUE(rc::check([](uint32_t bits) {
        const float value = std::bit_cast<float>(bits * 2654435761u);
        const bool subnormal = std::fpclassify(value) == FP_SUBNORMAL;
        const uint32_t expected = subnormal ? std::bit_cast<uint32_t>(std::copysign(0.0f, value))
                                            : std::bit_cast<uint32_t>(value);
        RC_ASSERT(std::bit_cast<uint32_t>(flush_to_zero(value)) == expected);
        RC_ASSERT(std::bit_cast<uint32_t>(flush_to_zero(value, false)) ==
                  std::bit_cast<uint32_t>(value));
    }));
    EXPECT_EQ(std::bit_cast<uint32_t>(flush_to_zero(-0x1p-149f)), 0x80000000u);
    EXPECT_EQ(flush_to_zero(0x1p-126f), 0x1p-126f);
}

}  // namespace
}  // namespace lockstep::numerics
