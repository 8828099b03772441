// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

#include "isa/sass/semantics/half_rows.h"
#include "isa/sass/semantics/subnormal_watch.h"
#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {
namespace {

using numerics::Rounding;

template <HalfType type>
double value(std::uint32_t half) {
    return widen<type>(half & 0xffff);
}

/// a b + c with one rounding: the host rounds to odd by truncating and looking at its inexact flag.
template <HalfType type>
std::uint32_t fma_reference(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    volatile double x = value<type>(a), y = value<type>(b), z = value<type>(c);
    std::fesetround(FE_TOWARDZERO);
    std::feclearexcept(FE_ALL_EXCEPT);
    volatile double sum = std::fma(x, y, z);
    const bool inexact = std::fetestexcept(FE_INEXACT);
    std::fesetround(FE_TONEAREST);
    // Truncation makes exact cancellation +0, as nearest does.
    const double odd =
        std::bit_cast<double>(std::bit_cast<std::uint64_t>(+sum) | (inexact ? 1 : 0));
    return narrow<type>(odd);
}

std::uint32_t random_half(std::mt19937& random, bool bf16) {
    constexpr std::uint32_t kSpecial[] = {0,      0x8000, 0x7c00, 0xfc00, 0x7e01, 0x0001,
                                          0x83ff, 0x0400, 0x3c00, 0x7bff, 0x7f80, 0xff80,
                                          0x0080, 0x007f, 0x3f80, 0x7fc1};
    if (random() % 4 == 0) return kSpecial[random() % std::size(kSpecial)];
    if (random() % 2 == 0)
        return (random() & 0x8000) | (bf16 ? (110 + random() % 30) << 7 | random() % 128
                                           : (8 + random() % 14) << 10 | random() % 1024);
    return random() & 0xffff;
}

void fill(TestWarp& warp, std::mt19937& random, bool bf16) {
    for (const unsigned r : {4u, 8u, 16u, 24u})
        for (std::uint32_t& lane : warp[r].lane)
            lane = random_half(random, bf16) << 16 | random_half(random, bf16);
}

template <HalfType type>
void check_arithmetic() {
    constexpr bool kBf16 = type == HalfType::kBf16;
    constexpr std::uint32_t kOne = HalfConstants<type>::kOne;
    std::mt19937 random(7);
    TestWarp warp;
    for (unsigned repeat = 0; repeat < 3000; ++repeat) {
        fill(warp, random, kBf16);
        subnormal_watch.start(repeat % 2 != 0);
        const Row a = warp[8], b = warp[16], c = warp[24];
        Row sum, product, fma, mma;
        ASSERT_TRUE(warp.run(make_word(0x231, 4, 8, 16, 24, {{81, 6, 0}, {85, 1, kBf16}})));
        fma = warp[4];
        ASSERT_TRUE(warp.run(make_word(0x235, 4, 8, 16, 24, {{81, 6, 0}, {85, 1, kBf16}})));
        mma = warp[4];
        ASSERT_TRUE(warp.run(make_word(0x232, 4, 8, 16, 0, {{81, 6, 0}, {85, 1, kBf16}})));
        product = warp[4];
        ASSERT_TRUE(warp.run(make_word(0x230, 4, 8, 16, 0, {{81, 6, 0}, {85, 1, kBf16}})));
        sum = warp[4];
        Row wide;
        fma_halves_wide<type>(wide, a, b, c);
        for (unsigned l = 0; l < kWarpSize; ++l) {
            for (const unsigned s : {0u, 16u}) {
                const std::uint32_t x = a.lane[l] >> s & 0xffff, y = b.lane[l] >> s & 0xffff,
                                    z = c.lane[l] >> s & 0xffff;
                const std::uint32_t expected = fma_reference<type>(x, y, z);
                ASSERT_EQ(fma.lane[l] >> s & 0xffff, expected)
                    << std::hex << x << " " << y << " " << z;
                ASSERT_EQ(mma.lane[l] >> s & 0xffff, expected);
                ASSERT_EQ(wide.lane[l] >> s & 0xffff, expected);
                ASSERT_EQ(sum.lane[l] >> s & 0xffff, fma_reference<type>(x, kOne, y));
                const std::uint32_t sign = (x ^ y) & 0x8000;
                ASSERT_EQ(product.lane[l] >> s & 0xffff, fma_reference<type>(x, y, sign))
                    << std::hex << x << " " << y;
            }
        }
    }
}

TEST(Half, Fp16ArithmeticRoundsOnce) {
    check_arithmetic<HalfType::kF16>();
}
TEST(Half, Bf16ArithmeticRoundsOnce) {
    check_arithmetic<HalfType::kBf16>();
}

std::uint32_t run(unsigned opcode, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                  std::initializer_list<Field> fields, Arch arch = 90) {
    TestWarp warp(arch);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        warp[8].lane[l] = a;
        warp[16].lane[l] = b;
        warp[24].lane[l] = c;
    }
    Word word = make_word(opcode, 4, 8, 16, 24, {{81, 6, 0}});
    for (const Field& field : fields) word.set_bits(field.first, field.count, field.value);
    EXPECT_TRUE(warp.run(word));
    return warp[4].lane[11];
}

TEST(Half, SwizzlesAndSigns) {
    constexpr std::uint32_t a = 0x4000'3c00 /* 2, 1 */, b = 0x4400'4200 /* 4, 3 */, zero = 0;
    EXPECT_EQ(run(0x230, a, b, 0, {}), 0x4600'4400u);
    EXPECT_EQ(run(0x230, a, b, 0, {{74, 2, 2}}), 0x4500'4400u);  // a.H0_H0
    EXPECT_EQ(run(0x230, a, b, 0, {{60, 2, 3}}), 0x4600'4500u);  // b.H1_H1
    EXPECT_EQ(run(0x230, a, b, 0, {{72, 1, 1}}), 0x4000'4000u);  // -a
    EXPECT_EQ(run(0x230, a, b, 0, {{63, 1, 1}, {62, 1, 1}}), 0xc000'c000u);
    EXPECT_EQ(run(0x231, a, b, zero, {{86, 1, 1}}), 0xc800'4200u);           // b.H0_NH1
    EXPECT_EQ(run(0x231, a, b, a, {{81, 2, 2}, {84, 1, 1}}), 0x4700'4000u);  // -c.H0_H0
}

TEST(Half, Fp32SourcesAreTruncated) {
    // HADD2 R4, R8.F32, -RZ.H0_H0
    const auto convert = [](std::uint32_t a) {
        return run(0x230, a, 0, 0, {{32, 8, 255}, {63, 1, 1}, {60, 2, 2}, {74, 2, 1}}, 75);
    };
    EXPECT_EQ(convert(0x3f801fff), 0x3c00'3c00u);
    EXPECT_EQ(convert(0xbf803fff), 0xbc01'bc01u);
    EXPECT_EQ(convert(0x80000000), 0x8000'8000u);
    EXPECT_EQ(convert(0x33ffffff), 0x0001'0001u) << "subnormal";
    EXPECT_EQ(convert(0x337fffff), 0u);
    EXPECT_EQ(convert(0x477fffff), 0x7bff'7bffu);
    EXPECT_EQ(convert(0xff7fffff), 0xfbff'fbffu) << "overflow";
    EXPECT_EQ(convert(0x7f800000), 0x7c00'7c00u);
    EXPECT_EQ(convert(0x7f800001), 0x7fff'7fffu);
    // R8.F32 with R16.H0_H0: truncated before the operation, which rounds to nearest.
    constexpr std::uint32_t a = 0x3f803fff /* 1 + 2^-10 and more */, b = 0x1400 /* 2^-10 */;
    EXPECT_EQ(run(0x230, a, b, 0, {{60, 2, 2}, {74, 2, 1}}, 75), 0x3c02'3c02u);
    EXPECT_EQ(run(0x232, a, 0x4000, 0, {{64, 8, 0}, {60, 2, 2}, {74, 2, 1}}, 75), 0x4001'4001u);
}

TEST(Half, ComparesTruncatedFp32Sources) {
    TestWarp warp(75);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        warp[2].lane[l] = l == 9 ? 0x3f804000 : 0x3f803fff;
        warp[5].lane[l] = 0x3c01;
    }
    // HSETP2.GT.AND P0, PT, R2.F32, R5.H0_H0, PT, as ptxas writes it, and .GE
    Word word{.lo = 0x2000000502007234, .hi = 0x004fda0003f04400};
    EXPECT_TRUE(warp.run(word));
    EXPECT_EQ(warp.warp.predicate[0], 1u << 9);
    word.set_bits(76, 4, 6);
    EXPECT_TRUE(warp.run(word));
    EXPECT_EQ(warp.warp.predicate[0], kAllLanes);
}

TEST(Half, FlushSaturateRelu) {
    EXPECT_EQ(run(0x231, 0xbc00'7e00, 0x3c00'3c00, 0, {{79, 1, 1}}),
              0x0000'7fffu);  // relu(-1), NaN
    EXPECT_EQ(run(0x231, 0x4000'7e00, 0x3c00'3c00, 0, {{77, 1, 1}}), 0x3c00'0000u);  // sat
    EXPECT_EQ(run(0x230, 0x0001'8001, 0, 0, {}), 0x0001'8001u);
    EXPECT_EQ(run(0x230, 0x0001'8001, 0x8000'8000, 0, {{80, 1, 1}}), 0x0000'8000u);
    EXPECT_EQ(run(0x231, 0x7c00'0000, 0x0000'7e00, 0x3c00'3c00, {{76, 1, 1}}),
              0x3c00'3c00u);  // FMZ
}

TEST(Half, LoadsImmediatesAndConverts) {
    // HFMA2 R4, -RZ, RZ, imm
    for (const std::uint32_t immediate : {0x3c00'0001u, 0x8000'0000u, 0x7c00'fbffu, 0x0000'7e01u}) {
        const std::uint32_t expected = immediate == 0x0000'7e01u ? 0x0000'7fffu : immediate;
        EXPECT_EQ(
            run(0x431, 0, 0, 0, {{24, 8, 255}, {64, 8, 255}, {72, 1, 1}, {32, 32, immediate}}),
            expected);
        EXPECT_EQ(
            run(0x435, 0, 0, 0, {{24, 8, 255}, {64, 8, 255}, {72, 1, 1}, {32, 32, immediate}}),
            expected);
    }
    // HADD2.F32 R4, -RZ, R16.Hx
    const auto convert = [](std::uint32_t b, unsigned swizzle) {
        return run(0x230, 0, b, 0, {{24, 8, 255}, {72, 1, 1}, {78, 1, 1}, {60, 2, swizzle}});
    };
    EXPECT_EQ(convert(0x3c00'4000, 2), 0x40000000u);
    EXPECT_EQ(convert(0x3c00'4000, 3), 0x3f800000u);
    EXPECT_EQ(convert(0x3c00'8000, 2), 0x80000000u);
    EXPECT_EQ(convert(0x3c00'7e00, 2), 0x7fffffffu);
    EXPECT_EQ(convert(0x0001'7c00, 3), 0x33800000u);
}

TEST(Half, MinimumAndMaximum) {
    const auto choose = [](std::uint32_t a, std::uint32_t b, bool max, unsigned modes,
                           bool bf16 = false) {
        return run(0x240, a, b, 0, {{87, 3, 7}, {90, 1, max}, {80, 3, modes}, {85, 1, bf16}});
    };
    EXPECT_EQ(choose(0x3c00'8000, 0x4000'0000, false, 0), 0x3c00'8000u);
    EXPECT_EQ(choose(0x3c00'8000, 0x4000'0000, true, 0), 0x4000'0000u);
    EXPECT_EQ(choose(0x7e00'7e00, 0x4000'fe00, true, 0), 0x4000'7fffu);
    EXPECT_EQ(choose(0x7e00'c000, 0x4000'c400, true, 2), 0x7fff'c000u);
    EXPECT_EQ(choose(0x7f80'ff81, 0x3f80'3f80, true, 0, true), 0x7f80'3f80u);
}

// The words are those that ptxas 13.0 makes of __hmax2(__hmax2(a, b), c), __hmin2 likewise, and
// their forms of bf16: R5 from R0, R5, R4 or R7 from R6, R7, R8.
TEST(Half, MinimumAndMaximumOfThreeAreThoseOfTwoTwice) {
    struct Case {
        Word three;
        unsigned a;
        bool max, nan, bf16;
    };
    constexpr Case kCases[] = {
        {{0x0000000500057247, 0x008fca0007800004}, 0, true, false, false},
        {{0x0000000706077247, 0x010fe40003800008}, 6, false, false, false},
        {{0x0000000500057247, 0x004fca0007a00004}, 0, true, false, true},
        {{0x0000000706077247, 0x008fca0003a20008}, 6, false, true, true},
    };
    std::mt19937 random(11);
    for (const Case& c : kCases) {
        const unsigned d = c.max ? 5 : 7, third = c.max ? 4 : 8;
        const auto two = [&](unsigned to, unsigned x, unsigned y) {
            return make_word(
                0x240, to, x, y, 0,
                {{87, 3, 7}, {90, 1, c.max}, {80, 3, c.nan ? 2u : 0u}, {85, 1, c.bf16}});
        };
        TestWarp warp, other;
        for (const unsigned r : {c.a, d, third})
            for (unsigned l = 0; l < kWarpSize; ++l)
                warp[r].lane[l] = other[r].lane[l] =
                    random_half(random, c.bf16) << 16 | random_half(random, c.bf16);
        ASSERT_TRUE(warp.run(c.three));
        ASSERT_TRUE(other.run(two(20, c.a, d)));
        ASSERT_TRUE(other.run(two(d, 20, third)));
        for (unsigned l = 0; l < kWarpSize; ++l) EXPECT_EQ(warp[d].lane[l], other[d].lane[l]);
    }
}

TEST(Half, Comparisons) {
    TestWarp warp;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        warp[8].lane[l] = 0x3c00'4000;
        warp[16].lane[l] = l % 2 ? 0x3c00'3c00 : 0x4000'7e00;
    }
    ASSERT_TRUE(
        warp.run(make_word(0x234, 0, 8, 16, 0, {{76, 4, 6}, {81, 3, 0}, {84, 3, 1}})));  // GE
    EXPECT_EQ(warp.warp.predicate[0], 0xaaaaaaaau);
    EXPECT_EQ(warp.warp.predicate[1], 0xaaaaaaaau);
    ASSERT_TRUE(warp.run(make_word(
        0x234, 0, 8, 16, 0, {{76, 4, 9}, {71, 1, 1}, {81, 3, 0}, {84, 3, 1}})));  // LTU, H_AND
    EXPECT_EQ(warp.warp.predicate[0], 0x55555555u);
    EXPECT_EQ(warp.warp.predicate[1], 0xaaaaaaaau);
    ASSERT_TRUE(warp.run(make_word(0x233, 4, 8, 16, 0, {{76, 4, 4}})));  // GT
    EXPECT_EQ(warp[4].lane[1], 0x0000'ffffu);
    EXPECT_EQ(warp[4].lane[0], 0u);
    ASSERT_TRUE(warp.run(make_word(0x233, 4, 8, 16, 0, {{76, 4, 4}, {71, 1, 1}})));  // BF.GT
    EXPECT_EQ(warp[4].lane[1], 0x0000'3c00u);
}

}  // namespace
}  // namespace lockstep::sass
