// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

#include "isa/sass/semantics/subnormal_watch.h"
#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {
namespace {

double number(std::uint64_t bits) {
    return std::bit_cast<double>(bits);
}

std::uint64_t pattern(std::mt19937_64& random) {
    constexpr std::uint64_t kSpecial[] = {
        0, 1ull << 63,         0x7ff0ull << 48, 0xfff0ull << 48,
        1, 0x000fffffffffffff, 0x3ffull << 52,  0x7fefffffffffffff};
    const auto with_exponent = [&](std::uint64_t least, std::uint64_t count) {
        return (random() & 0x800fffffffffffff) | (least + random() % count) << 52;
    };
    switch (random() % 6) {
        case 0:
            return kSpecial[random() % std::size(kSpecial)];
        case 1:
            return with_exponent(990, 60);
        case 2:
            return with_exponent(0, 60);  // sums, and products with case 1, are subnormal
        case 3:
            return with_exponent(480, 60);  // products of two are
        default: {
            const std::uint64_t bits = random();
            return std::isnan(number(bits)) ? 0 : bits;
        }
    }
}

double reference(unsigned op, double a, double b, double c, unsigned rounding) {
    constexpr int kMode[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    volatile double x = a, y = b, z = c;
    std::fesetround(kMode[rounding]);
    volatile double result = 0;
    if (op == 0)
        result = x + y;
    else if (op == 1)
        result = x * y;
    else
        result = std::fma(x, y, z);
    std::fesetround(FE_TONEAREST);
    return result;
}

TEST(Double, ArithmeticInAllModes) {
    std::mt19937_64 random(5);
    TestWarp warp;
    for (unsigned op = 0; op < 3; ++op) {
        for (unsigned rounding = 0; rounding < 4; ++rounding) {
            for (unsigned repeat = 0; repeat < 400; ++repeat) {
                subnormal_watch.start(repeat % 4 >= 2);
                for (unsigned l = 0; l < kWarpSize; ++l)
                    for (const unsigned r : {8u, 16u, 24u}) warp.set64(r, l, pattern(random));
                constexpr unsigned kOpcode[] = {0x229, 0x228, 0x22b};
                const unsigned negate = repeat % 2;
                // DADD takes its second source from bits 64-71.
                const Word word = op == 0 ? make_word(kOpcode[op], 4, 8, 255, 16,
                                                      {{78, 2, rounding}, {72, 1, negate}})
                                          : make_word(kOpcode[op], 4, 8, 16, 24,
                                                      {{78, 2, rounding}, {72, 1, negate}});
                ASSERT_TRUE(warp.run(word));
                for (unsigned l = 0; l < kWarpSize; ++l) {
                    const double a = number(warp.get64(8, l)), b = number(warp.get64(16, l)),
                                 c = number(warp.get64(24, l));
                    const double expected = reference(op, negate ? -a : a, b, c, rounding);
                    const std::uint64_t bits = std::isnan(expected)
                                                   ? 0xfff8000000000000
                                                   : std::bit_cast<std::uint64_t>(expected);
                    ASSERT_EQ(warp.get64(4, l), bits) << op << " " << rounding;
                }
            }
        }
    }
}

TEST(Double, NansPassOnQuieted) {
    TestWarp warp;
    warp.set64(8, 0, 0x7ff0000000000123);
    warp.set64(16, 0, 0x3ff0000000000000);
    warp.set64(24, 0, 0xfff8000000000456);
    warp.set64(8, 1, 0x3ff0000000000000);
    warp.set64(16, 1, 0x3ff0000000000000);
    warp.set64(24, 1, 0xfff8000000000456);
    ASSERT_TRUE(warp.run(make_word(0x22b, 4, 8, 16, 24), 3));
    EXPECT_EQ(warp.get64(4, 0), 0x7ff8000000000123u);
    EXPECT_EQ(warp.get64(4, 1), 0xfff8000000000456u);
    EXPECT_EQ(warp.get64(4, 2), 0u);
}

TEST(Double, OperandForms) {
    TestWarp warp;
    warp.set64(8, 4, std::bit_cast<std::uint64_t>(2.0));
    warp.set64(24, 4, std::bit_cast<std::uint64_t>(3.0));
    warp.constant[6] = 0;
    warp.constant[7] = 0x40240000;                                                 // 10
    ASSERT_TRUE(warp.run(make_word(0x42b, 4, 8, 0, 24, {{32, 32, 0xc0140000}})));  // imm -5 is c
    EXPECT_EQ(number(warp.get64(4, 4)), 1.0);
    ASSERT_TRUE(warp.run(make_word(0x629, 4, 8, 0, 0, {{38, 16, 24}, {63, 1, 1}})));
    EXPECT_EQ(number(warp.get64(4, 4)), -8.0);
}

TEST(Double, ComparisonsAndChoice) {
    std::mt19937_64 random(6);
    TestWarp warp;
    for (unsigned code = 1; code < 15; ++code) {
        for (unsigned l = 0; l < kWarpSize; ++l) {
            warp.set64(8, l, l % 8 == 0 ? 0x7ff8000000000001 : pattern(random));
            warp.set64(16, l, l % 3 == 0 ? warp.get64(8, l) : pattern(random));
        }
        ASSERT_TRUE(
            warp.run(make_word(0x22a, 0, 8, 16, 0, {{76, 4, code}, {81, 3, 0}, {84, 3, 1}})));
        for (unsigned l = 0; l < kWarpSize; ++l) {
            const double a = number(warp.get64(8, l)), b = number(warp.get64(16, l));
            const bool expected = (a < b && code & 1) || (a == b && code & 2) ||
                                  (a > b && code & 4) || (std::isunordered(a, b) && code & 8);
            ASSERT_EQ(warp.warp.predicate[0] >> l & 1, expected);
            ASSERT_EQ(warp.warp.predicate[1] >> l & 1, !expected);
        }
    }
    const std::uint64_t nan = 0x7ff8000000000001, one = 0x3ffull << 52, two = 1ull << 62,
                        nzero = 1ull << 63;
    const std::uint64_t a[] = {one, two, nan, one, nan, 0, nzero},
                        b[] = {two, one, one, nan, nan, nzero, 0};
    for (unsigned l = 0; l < 7; ++l) {
        warp.set64(8, l, a[l]);
        warp.set64(16, l, b[l]);
    }
    ASSERT_TRUE(warp.run(make_word(0x22a, 0, 8, 16, 0, {{76, 4, 0}, {81, 3, 0}, {84, 3, 1}})));
    EXPECT_EQ(warp.warp.predicate[0] & 0x7f, 0b1001001u);
    EXPECT_EQ(warp.warp.predicate[1] & 0x7f, 0b0010000u);
    ASSERT_TRUE(warp.run(make_word(0x22a, 0, 8, 16, 0, {{76, 4, 15}, {81, 3, 0}, {84, 3, 1}})));
    EXPECT_EQ(warp.warp.predicate[0] & 0x7f, 0b0101010u);
}

}  // namespace
}  // namespace lockstep::sass
