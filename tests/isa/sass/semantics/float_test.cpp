// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "isa/sass/semantics/subnormal_watch.h"
#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::uint32_t bits(float value) {
    return std::bit_cast<std::uint32_t>(value);
}
float number(std::uint32_t b) {
    return std::bit_cast<float>(b);
}

/// Bit patterns with many specials, subnormals and neighbours of powers of two.
std::uint32_t pattern(std::mt19937& random) {
    constexpr std::uint32_t kSpecial[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                          0x7fc00001, 0xffa00000, 0x00000001, 0x807fffff,
                                          0x00800000, 0x3f800000, 0xbf800000, 0x7f7fffff,
                                          0x3f7fffff, 0x00400000, 0x80800000};
    const auto with_exponent = [&](unsigned least, unsigned count) {
        return (random() & 0x807fffff) | (least + random() % count) << 23;
    };
    switch (random() % 6) {
        case 0:
            return kSpecial[random() % std::size(kSpecial)];
        case 1:
            return with_exponent(100, 54);
        case 2:
            return with_exponent(0, 30);  // sums, and products with case 1, are subnormal
        case 3:
            return with_exponent(50, 30);  // products of two are
        default:
            return static_cast<std::uint32_t>(random());
    }
}

void fill(TestWarp& warp, std::mt19937& random) {
    for (const unsigned r : {4u, 8u, 16u, 24u})
        for (std::uint32_t& lane : warp[r].lane) lane = pattern(random);
}

std::uint32_t flush_reference(std::uint32_t b) {
    return std::fpclassify(number(b)) == FP_SUBNORMAL ? b & 0x80000000 : b;
}

/// fma in long double arithmetic is not exact; the host's fenv and std::fma are.
float fma_reference(float a, float b, float c, unsigned rounding) {
    constexpr int kMode[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    std::fesetround(kMode[rounding]);
    volatile float x = a, y = b, z = c;
    const float result = std::fma(x, y, z);
    std::fesetround(FE_TONEAREST);
    return result;
}

float add_reference(float a, float b, unsigned rounding) {
    return fma_reference(a, 1.0f, b, rounding);
}

/// What an operation of any modifiers gives for one lane; op 0 FADD, 1 FMUL, 2 FFMA.
std::uint32_t reference(unsigned op, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        unsigned rounding, bool ftz, bool fmz, bool sat) {
    if (ftz || fmz) {
        a = flush_reference(a);
        b = flush_reference(b);
        c = flush_reference(c);
    }
    float x = number(a), y = number(b);
    if (fmz && (x == 0 || y == 0)) x = y = 0.0f;
    float result = 0;
    if (op == 0) result = add_reference(x, y, rounding);
    if (op == 1) {
        // x y + 0 loses the sign of a zero product.
        result = fma_reference(x, y, 0.0f, rounding);
        if (result == 0) {
            const bool exact = x == 0 || y == 0;
            const bool negative = std::signbit(x) != std::signbit(y);
            if (exact || rounding == 0 || rounding == 3 || (rounding == 2) == negative)
                result = negative ? -0.0f : 0.0f;
        }
    }
    if (op == 2) result = fma_reference(x, y, number(c), rounding);
    if (sat) result = std::isnan(result) || result <= 0 ? 0.0f : std::min(result, 1.0f);
    if (std::isnan(result)) return 0x7fffffff;
    return ftz ? flush_reference(bits(result)) : bits(result);
}

constexpr unsigned kOpcode[] = {0x221, 0x220, 0x223};

TEST(Float, ArithmeticInAllModes) {
    std::mt19937 random(1);
    for (unsigned op = 0; op < 3; ++op) {
        for (unsigned modes = 0; modes < 32; ++modes) {
            const unsigned rounding = modes >> 2 & 3;
            const bool sat = modes >> 1 & 1, ftz = modes >> 4 & 1, fmz = (modes & 1) && op != 0;
            if (ftz && fmz) continue;
            TestWarp warp;
            fill(warp, random);
            for (unsigned repeat = 0; repeat < 80; ++repeat) {
                fill(warp, random);
                const Row a = warp[8], b = warp[16], c = warp[24];
                subnormal_watch.start(repeat % 2 != 0);
                ASSERT_TRUE(warp.run(make_word(
                    kOpcode[op], 4, 8, 16, 24,
                    {{76, 5, modes & (op == 0 ? 30u : 31u)}, {84, 3, op == 1 ? 4u : 7u}})));
                for (unsigned l = 0; l < kWarpSize; ++l)
                    ASSERT_EQ(warp[4].lane[l], reference(op, a.lane[l], b.lane[l], c.lane[l],
                                                         rounding, ftz, fmz, sat))
                        << "op " << op << " modes " << modes << std::hex << " " << a.lane[l] << " "
                        << b.lane[l] << " " << c.lane[l];
            }
        }
    }
}

TEST(Float, SignModifiersOfEachSource) {
    std::mt19937 random(2);
    for (unsigned signs = 0; signs < 64; ++signs) {
        TestWarp warp;
        fill(warp, random);
        ASSERT_TRUE(warp.run(make_word(0x223, 4, 8, 16, 24,
                                       {{72, 2, signs & 3},
                                        {62, 1, signs >> 3 & 1},
                                        {63, 1, signs >> 2 & 1},
                                        {74, 1, signs >> 5 & 1},
                                        {75, 1, signs >> 4 & 1}})));
        const auto apply = [](std::uint32_t b, unsigned s) {
            if (s & 2) b &= 0x7fffffff;
            return s & 1 ? b ^ 0x80000000 : b;
        };
        for (unsigned l = 0; l < kWarpSize; ++l)
            ASSERT_EQ(warp[4].lane[l],
                      reference(2, apply(warp[8].lane[l], signs & 3),
                                apply(warp[16].lane[l], signs >> 2 & 3),
                                apply(warp[24].lane[l], signs >> 4), 0, false, false, false));
    }
}

TEST(Float, OperandForms) {
    TestWarp warp;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        warp[8].lane[l] = bits(2.0f);
        warp[24].lane[l] = bits(3.0f);
    }
    warp.constant[5] = bits(10.0f);
    const Field constant{38, 16, 20};
    // R, R, imm: the register at 64 is the factor. The sign bits of the immediate are its own.
    ASSERT_TRUE(warp.run(make_word(0x423, 4, 8, 0, 24, {{32, 32, bits(-5.0f)}})));
    EXPECT_EQ(number(warp[4].lane[3]), 1.0f);
    ASSERT_TRUE(warp.run(make_word(0x823, 4, 8, 0, 24, {{32, 32, bits(-5.0f)}})));
    EXPECT_EQ(number(warp[4].lane[3]), -7.0f);
    ASSERT_TRUE(warp.run(make_word(0x623, 4, 8, 0, 24, {constant, {63, 1, 1}})));
    EXPECT_EQ(number(warp[4].lane[31]), -4.0f);
    ASSERT_TRUE(warp.run(make_word(0xa23, 4, 8, 0, 24, {constant, {75, 1, 1}})));
    EXPECT_EQ(number(warp[4].lane[31]), 17.0f);
    ASSERT_TRUE(warp.run(make_word(0x421, 4, 8, 0, 0, {{32, 32, bits(-5.0f)}})));
    EXPECT_EQ(number(warp[4].lane[0]), -3.0f);
}

TEST(Float, PartialMaskAndInPlace) {
    TestWarp warp;
    std::mt19937 random(3);
    for (unsigned repeat = 0; repeat < 20; ++repeat) {
        fill(warp, random);
        const Row before = warp[4];
        const auto mask = static_cast<std::uint32_t>(random());
        ASSERT_TRUE(warp.run(make_word(0x223, 4, 4, 16, 4), mask));
        for (unsigned l = 0; l < kWarpSize; ++l) {
            const std::uint32_t all = reference(2, before.lane[l], warp[16].lane[l], before.lane[l],
                                                0, false, false, false);
            EXPECT_EQ(warp[4].lane[l], mask >> l & 1 ? all : before.lane[l]);
        }
    }
}

TEST(Float, ScaledMultiply) {
    TestWarp warp;
    warp[8].lane[0] = 0x00800001;  // the product is subnormal; halving it must not round twice
    warp[16].lane[0] = bits(0.75f);
    ASSERT_TRUE(warp.run(make_word(0x220, 4, 8, 16, 0, {{84, 3, 3}})));
    EXPECT_EQ(warp[4].lane[0], bits(static_cast<float>(double{number(0x00800001)} * 0.375)));
    ASSERT_TRUE(warp.run(make_word(0x220, 4, 8, 16, 0, {{84, 3, 7}})));
    EXPECT_EQ(warp[4].lane[0], bits(number(0x00800001) * 6.0f));
    EXPECT_FALSE(warp.run(make_word(0x220, 4, 8, 16, 0, {{84, 3, 0}})));
}

TEST(Float, MinimumAndMaximum) {
    const auto run = [](std::uint32_t a, std::uint32_t b, bool max, unsigned modes) {
        TestWarp warp;
        warp[8].lane[7] = a;
        warp[16].lane[7] = b;
        EXPECT_TRUE(warp.run(make_word(0x209, 4, 8, 16, 0, {{90, 1, max}, {80, 3, modes}})));
        return warp[4].lane[7];
    };
    const std::uint32_t nan = 0x7fc12345, one = bits(1), minus = bits(-2), zero = 0,
                        nzero = 0x80000000;
    EXPECT_EQ(run(one, minus, false, 0), minus);
    EXPECT_EQ(run(one, minus, true, 0), one);
    for (const bool max : {false, true}) {
        EXPECT_EQ(run(nan, one, max, 0), one);
        EXPECT_EQ(run(one, nan, max, 0), one);
        EXPECT_EQ(run(nan, nan, max, 0), 0x7fffffffu);
        EXPECT_EQ(run(nan, one, max, 2), 0x7fffffffu);
        EXPECT_EQ(run(one, 0xffc00000, max, 2), 0x7fffffffu);
        EXPECT_EQ(run(zero, nzero, max, 0), max ? zero : nzero);
        EXPECT_EQ(run(nzero, zero, max, 0), max ? zero : nzero);
    }
    EXPECT_EQ(run(0x00000002, 0x80000003, false, 1), nzero);
    EXPECT_EQ(run(0x00000002, 0x80000003, true, 1), zero);
    EXPECT_EQ(run(one, minus, true, 4), bits(-1));
    EXPECT_EQ(run(bits(kInf), one, true, 0), bits(kInf));
}

TEST(Float, MinimumAndMaximumOfManyNumbers) {
    std::mt19937 random(11);
    TestWarp warp;
    for (unsigned repeat = 0; repeat < 400; ++repeat) {
        fill(warp, random);
        const bool max = repeat & 1, computed_predicate = repeat & 2;
        warp.warp.predicate[1] = max ? 0 : kAllLanes;
        const Word word = computed_predicate
                              ? make_word(0x209, 4, 8, 16, 0, {{80, 3, 0}, {87, 4, 1}})
                              : make_word(0x209, 4, 8, 16, 0, {{80, 3, 0}, {90, 1, max}});
        ASSERT_TRUE(warp.run(word));
        for (unsigned l = 0; l < kWarpSize; ++l) {
            const std::uint32_t a = warp[8].lane[l], b = warp[16].lane[l];
            const float x = number(a), y = number(b);
            std::uint32_t expected = x < y ? (max ? b : a) : (max ? a : b);
            if (x == y) expected = max ? a & b : a | b;  // differ at most in the sign of zero
            if (std::isnan(x)) expected = b;
            if (std::isnan(y)) expected = std::isnan(x) ? 0x7fffffff : a;
            ASSERT_EQ(warp[4].lane[l], expected) << std::hex << a << " " << b << " " << max;
        }
    }
}

TEST(Float, SelectMovesBits) {
    TestWarp warp;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        warp[8].lane[l] = 0x7f812345 + l;
        warp[16].lane[l] = l;
    }
    warp.warp.predicate[2] = 0x0000ffff;
    ASSERT_TRUE(warp.run(make_word(0x208, 4, 8, 16, 0, {{87, 4, 2}, {72, 1, 1}})));
    EXPECT_EQ(warp[4].lane[15], 0xff812354u);
    EXPECT_EQ(warp[4].lane[16], 16u);
    ASSERT_TRUE(warp.run(make_word(0x208, 4, 8, 16, 0, {{87, 4, 8 | 2}, {80, 1, 1}})));
    EXPECT_EQ(warp[4].lane[15], 0u);
    EXPECT_EQ(warp[4].lane[16], 0x7f812355u);
}

bool compare_reference(unsigned code, float a, float b) {
    return (a < b && (code & 1)) || (a == b && (code & 2)) || (a > b && (code & 4)) ||
           (std::isunordered(a, b) && (code & 8));
}

TEST(Float, ComparisonsAndTheirCombination) {
    std::mt19937 random(4);
    for (unsigned code = 0; code < 16; ++code) {
        for (unsigned operation = 0; operation < 3; ++operation) {
            for (unsigned modes = 0; modes < 8; ++modes) {
                TestWarp warp;
                fill(warp, random);
                for (unsigned l = 0; l < 8; ++l) warp[16].lane[l] = warp[8].lane[l];
                warp.warp.predicate[3] = static_cast<std::uint32_t>(random());
                warp.warp.predicate[0] = warp.warp.predicate[1] = 0xaaaaaaaa;
                const std::uint32_t mask =
                    modes & 4 ? kAllLanes : static_cast<std::uint32_t>(random());
                const auto fields = {Field{74, 6, code << 2 | operation},
                                     Field{80, 1, modes & 1},
                                     Field{72, 1, modes >> 1 & 1},
                                     Field{87, 3, 3},
                                     Field{81, 3, 0},
                                     Field{84, 3, 1}};
                ASSERT_TRUE(warp.run(make_word(0x20b, 4, 8, 16, 0, fields), mask));
                const std::uint32_t p0 = warp.warp.predicate[0], p1 = warp.warp.predicate[1];
                ASSERT_TRUE(warp.run(make_word(0x20a, 4, 8, 16, 0, fields), mask));
                for (unsigned l = 0; l < kWarpSize; ++l) {
                    std::uint32_t a = warp[8].lane[l], b = warp[16].lane[l];
                    if (modes & 2) a ^= 0x80000000;
                    if (modes & 1) a = flush_reference(a), b = flush_reference(b);
                    const bool outcome = compare_reference(code, number(a), number(b));
                    const bool other = warp.warp.predicate[3] >> l & 1;
                    const auto with = [&](bool x) {
                        return operation == 0 ? x && other
                                              : (operation == 1 ? x || other : x != other);
                    };
                    const bool active = mask >> l & 1;
                    ASSERT_EQ(p0 >> l & 1, active ? with(outcome) : 0xaaaaaaaa >> l & 1);
                    ASSERT_EQ(p1 >> l & 1, active ? with(!outcome) : 0xaaaaaaaa >> l & 1);
                    if (active) {
                        ASSERT_EQ(warp[4].lane[l], with(outcome) ? 0x3f800000u : 0u);
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace lockstep::sass
