// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp8.h"
#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {
namespace {

constexpr int kMode[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

std::uint32_t bits(float value) {
    return std::bit_cast<std::uint32_t>(value);
}
std::uint64_t bits64(double value) {
    return std::bit_cast<std::uint64_t>(value);
}

/// fp32 to a 32-bit integer as PTX defines it.
std::int64_t integer_reference(double x, bool is_signed, unsigned width, unsigned rounding) {
    if (std::isnan(x)) return 0;
    std::fesetround(kMode[rounding]);
    const double rounded = std::nearbyint(x);
    std::fesetround(FE_TONEAREST);
    const double low = is_signed ? -std::ldexp(1, static_cast<int>(width) - 1) : 0;
    const double high = std::ldexp(1, static_cast<int>(width) - is_signed) - 1;
    return static_cast<std::int64_t>(std::fmin(std::fmax(rounded, low), high));
}

TEST(Conversion, FloatToInteger) {
    std::mt19937 random(8);
    TestWarp warp;
    for (unsigned size = 0; size < 3; ++size) {
        for (unsigned modes = 0; modes < 8; ++modes) {
            const bool is_signed = modes & 1;
            const unsigned rounding = modes >> 1;
            for (unsigned repeat = 0; repeat < 100; ++repeat) {
                for (unsigned l = 0; l < kWarpSize; ++l)
                    warp[16].lane[l] =
                        l % 3 == 0 ? static_cast<std::uint32_t>(random())
                                   : (random() & 0x80ffffff) | (0x3e000000 + (random() % 10 << 24));
                ASSERT_TRUE(warp.run(make_word(0x305, 4, 0, 16, 0,
                                               {{72, 1, is_signed},
                                                {75, 2, size},
                                                {77, 1, 1},
                                                {78, 2, rounding},
                                                {84, 3, 2}})));
                for (unsigned l = 0; l < kWarpSize; ++l)
                    ASSERT_EQ(warp[4].lane[l], static_cast<std::uint32_t>(integer_reference(
                                                   std::bit_cast<float>(warp[16].lane[l]),
                                                   is_signed, 8u << size, rounding)))
                        << std::hex << warp[16].lane[l] << " size " << size << " modes " << modes;
            }
        }
    }
}

TEST(Conversion, FloatToWideInteger) {
    TestWarp warp;
    const auto run = [&](double x, bool is_signed, unsigned rounding = 3) {
        warp.set64(16, 0, bits64(x));
        EXPECT_TRUE(warp.run(make_word(
            0x311, 4, 0, 16, 0, {{72, 1, is_signed}, {75, 2, 3}, {78, 2, rounding}, {84, 3, 3}})));
        return warp.get64(4, 0);
    };
    EXPECT_EQ(run(-1.5, true), ~0ull);
    EXPECT_EQ(run(-1.5, false), 0u);
    EXPECT_EQ(run(0x1p63, false), 1ull << 63);
    EXPECT_EQ(run(0x1p63, true), ~0ull >> 1);
    EXPECT_EQ(run(-0x1p63, true), 1ull << 63);
    EXPECT_EQ(run(0x1p64, false), ~0ull);
    EXPECT_EQ(run(NAN, true), 1ull << 63);
    EXPECT_EQ(run(NAN, false), 1ull << 63);
    EXPECT_EQ(run(2.5, true, 0), 2u);
    EXPECT_EQ(run(2.25, true, 2), 3u);
}

TEST(Conversion, IntegerToFloat) {
    std::mt19937_64 random(9);
    TestWarp warp;
    for (unsigned repeat = 0; repeat < 300; ++repeat) {
        for (unsigned l = 0; l < kWarpSize; ++l) warp.set64(16, l, random() >> (random() % 64));
        const unsigned rounding = repeat % 4;
        const auto check = [&](auto integer, auto result, unsigned opcode, unsigned type,
                               unsigned size) {
            using Int = decltype(integer);
            using Float = decltype(result);
            ASSERT_TRUE(warp.run(make_word(opcode, 4, 0, 16, 0,
                                           {{74, 1, std::is_signed_v<Int>},
                                            {75, 3, type},
                                            {78, 2, rounding},
                                            {84, 3, size}})));
            for (unsigned l = 0; l < kWarpSize; ++l) {
                volatile Int source = static_cast<Int>(warp.get64(16, l));
                std::fesetround(kMode[rounding]);
                volatile Float expected = static_cast<Float>(source);
                std::fesetround(FE_TONEAREST);
                const Float value = expected;
                if constexpr (sizeof(Float) == 4) {
                    ASSERT_EQ(warp[4].lane[l], bits(value)) << source;
                } else {
                    ASSERT_EQ(warp.get64(4, l), bits64(value)) << source;
                }
            }
        };
        check(std::int32_t{}, 0.0f, 0x306, 2, 2);
        check(std::uint32_t{}, 0.0f, 0x306, 2, 2);
        check(std::int8_t{}, 0.0f, 0x306, 2, 0);
        check(std::uint16_t{}, 0.0f, 0x306, 2, 1);
        check(std::int64_t{}, 0.0f, 0x312, 2, 3);
        check(std::int32_t{}, 0.0, 0x312, 3, 2);
        check(std::int64_t{}, 0.0, 0x312, 3, 3);
        check(std::uint64_t{}, 0.0, 0x312, 3, 3);
        if (rounding == 0 || rounding == 3) check(std::int32_t{}, 0.0f, 0x245, 2, 2);
    }
    // Byte and half selectors.
    warp[16].lane[0] = 0x80ff1234;
    ASSERT_TRUE(
        warp.run(make_word(0x306, 4, 0, 16, 0, {{74, 1, 1}, {75, 3, 2}, {84, 3, 0}, {60, 2, 3}})));
    EXPECT_EQ(warp[4].lane[0], bits(-128.0f));
    ASSERT_TRUE(warp.run(make_word(0x306, 4, 0, 16, 0, {{75, 3, 2}, {84, 3, 1}, {60, 2, 1}})));
    EXPECT_EQ(warp[4].lane[0], bits(33023.0f));
    // 2^24 + 1 + a little more than half a unit of bf16, beyond a double's digits.
    warp.set64(16, 0, 0x4040'0000'0000'0001);
    ASSERT_TRUE(warp.run(make_word(0x312, 4, 0, 16, 0, {{75, 3, 4}, {84, 3, 3}})));
    EXPECT_EQ(warp[4].lane[0], 0x5e81u);
}

TEST(Conversion, FloatToFloat) {
    TestWarp warp;
    const auto run = [&](unsigned opcode, unsigned to, unsigned from, std::uint64_t source,
                         std::initializer_list<Field> more = {}) {
        warp.set64(16, 0, source);
        Word word = make_word(opcode, 4, 0, 16, 0, {{75, 3, to}, {84, 3, from}});
        for (const Field& field : more) word.set_bits(field.first, field.count, field.value);
        EXPECT_TRUE(warp.run(word));
        return warp.get64(4, 0);
    };
    const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    EXPECT_EQ(run(0x310, 3, 2, bits(1.5f)), bits64(1.5));
    EXPECT_EQ(run(0x310, 3, 2, 0x00000001), bits64(0x1p-149));
    EXPECT_EQ(run(0x310, 3, 2, 0x80000001, {{80, 1, 1}}), bits64(-0.0));
    EXPECT_EQ(run(0x310, 3, 2, 0x7fffffff), 0x7fffffffe0000000u);
    EXPECT_EQ(low(run(0x310, 2, 3, bits64(1 + 0x1p-24))), bits(1.0f));
    EXPECT_EQ(low(run(0x310, 2, 3, bits64(1 + 0x1p-24), {{78, 2, 2}})), bits(1 + 0x1p-23f));
    EXPECT_EQ(low(run(0x310, 2, 3, bits64(0x1p-140), {{80, 1, 1}})), 0u);
    // NaNs as an H200 (driver 580.159.04, 2026-11-27) converts them, in every rounding mode.
    for (const std::uint8_t mode : {0, 1, 2, 3}) {
        EXPECT_EQ(low(run(0x310, 2, 3, 0xfff09c89c8285715, {{78, 2, mode}})), 0xffc4e44eu);
        EXPECT_EQ(low(run(0x310, 2, 3, 0x7ffa8e9ec9b9b6cb, {{78, 2, mode}})), 0x7fd474f6u);
    }
    EXPECT_EQ(low(run(0x304, 1, 2, bits(65520.0f))), 0x7c00u);
    EXPECT_EQ(low(run(0x304, 1, 2, bits(65520.0f), {{78, 2, 3}})), 0x7bffu);
    EXPECT_EQ(low(run(0x304, 2, 1, 0xc0003c00)), bits(1.0f));
    EXPECT_EQ(low(run(0x304, 2, 1, 0xc0003c00, {{60, 2, 1}})), bits(-2.0f));
    EXPECT_EQ(low(run(0x304, 4, 2, bits(1.00390625f))), 0x3f80u);
    EXPECT_EQ(low(run(0x310, 1, 3, bits64(1.5))), 0x3e00u);
    EXPECT_EQ(run(0x310, 3, 1, 0x3e00), bits64(1.5));
    // FRND
    EXPECT_EQ(low(run(0x307, 2, 2, bits(2.5f))), bits(2.0f));
    EXPECT_EQ(low(run(0x307, 2, 2, bits(-0.25f), {{78, 2, 2}})), bits(-0.0f));
    EXPECT_EQ(low(run(0x307, 2, 2, bits(2.5f), {{78, 2, 1}, {63, 1, 1}})), bits(-3.0f));
    EXPECT_EQ(low(run(0x307, 1, 1, 0x4100, {{78, 2, 3}})), 0x4000u);
    EXPECT_EQ(run(0x313, 3, 3, bits64(-2.5), {{78, 2, 1}}), bits64(-3.0));
}

TEST(Conversion, PackedHalves) {
    TestWarp warp;
    warp[8].lane[0] = bits(1.0f);
    warp[16].lane[0] = bits(-2.0f);
    const auto run = [&](std::initializer_list<Field> fields, unsigned c = 255) {
        Word word = make_word(0x23e, 4, 8, 16, c, {{81, 10, 0}});
        for (const Field& field : fields) word.set_bits(field.first, field.count, field.value);
        EXPECT_TRUE(warp.run(word));
        return warp[4].lane[0];
    };
    EXPECT_EQ(run({}), 0x3c00'c000u);
    EXPECT_EQ(run({{76, 1, 1}}), 0x3f80'c000u);
    EXPECT_EQ(run({{75, 1, 1}}), 0x3c00'0000u);
    warp[8].lane[0] = bits(1.00048828125f);  // a half unit of fp16 above 1
    EXPECT_EQ(run({}), 0x3c00'c000u);
    warp[8].lane[0] = 0x3f801fff;
    EXPECT_EQ(run({}), 0x3c01'c000u);
    EXPECT_EQ(run({{79, 3, 3}}), 0x3c00'c000u);
    // MERGE_C and tf32
    warp[24].lane[0] = 0xaaaabbbb;
    EXPECT_EQ(run({{78, 1, 1}}, 24), 0xbbbb'c000u);
    EXPECT_EQ(run({{78, 1, 1}, {76, 1, 1}, {72, 1, 1}}, 24), 0xaaaa'c000u);
    const Row saved = warp[16];
    warp[16].lane[0] = 0x3f801001;
    EXPECT_EQ(run({{76, 1, 1}, {78, 1, 1}, {86, 1, 1}, {89, 1, 1}}), 0x3f802000u);
    EXPECT_EQ(run({{76, 1, 1}, {78, 1, 1}, {86, 1, 1}, {89, 1, 1}, {79, 3, 3}}), 0x3f800000u);
    warp[16] = saved;
    // e4m3: saturating, merged below the low or the high half of c.
    warp[8].lane[0] = bits(1000.0f);
    warp[24].lane[0] = 0xaaaabbbb;
    const std::initializer_list<Field> kE4m3 = {{76, 3, 7}, {87, 1, 1}, {90, 1, 1}};
    EXPECT_EQ(run(kE4m3, 24), 0xbbbb'7ec0u);
    EXPECT_EQ(run({{76, 3, 7}, {87, 1, 1}, {90, 1, 1}, {72, 1, 1}}, 24), 0xaaaa'7ec0u);
    EXPECT_EQ(run({{77, 2, 3}, {87, 1, 1}, {90, 1, 1}}), 0x64c0u);  // e5m2
    // fp16x2 to e5m2x2 and back.
    warp[16].lane[0] = 0x3c00'c000;
    EXPECT_EQ(run({{77, 1, 1}, {73, 1, 1}, {87, 1, 1}, {90, 1, 1}}), 0x3cc0u);
    warp[16].lane[0] = 0x3cc0'38c0;
    EXPECT_EQ(run({{74, 1, 1}, {89, 1, 1}}), 0x3800'c000u);
    EXPECT_EQ(run({{74, 1, 1}, {89, 1, 1}, {88, 1, 1}}), 0x3c00'c000u);
    EXPECT_EQ(run({{73, 2, 3}, {89, 1, 1}}), 0x3c00'c000u);
}

TEST(Conversion, Mufu) {
    TestWarp warp;
    for (unsigned l = 0; l < kWarpSize; ++l) warp[16].lane[l] = bits(4.0f);
    ASSERT_TRUE(warp.run(make_word(0x308, 4, 0, 16, 0, {{74, 4, 5}}), 0xff));
    EXPECT_EQ(warp[4].lane[7], bits(0.5f));
    EXPECT_EQ(warp[4].lane[8], 0u);
    ASSERT_TRUE(warp.run(make_word(0x308, 4, 0, 16, 0, {{74, 4, 4}, {63, 1, 1}})));
    EXPECT_EQ(warp[4].lane[8], bits(-0.25f));
    warp[16].lane[0] = 0x4000'c200;
    ASSERT_TRUE(warp.run(make_word(0x308, 4, 0, 16, 0, {{74, 4, 2}, {72, 2, 1}, {60, 2, 1}})));
    EXPECT_EQ(warp[4].lane[0], 0x4400u);
}

// Measured on an H200 (driver 580.159.04, 2026-11-27): FNV-1a of the results of all numbers.
TEST(Conversion, MufuOfEveryHalfIsTheSilicons) {
    struct Case {
        unsigned function, type;  // 2 EX2, 9 TANH; 1 F16, 2 BF16
        std::uint64_t hash;
    };
    for (const Case& c : {Case{2, 1, 0x96b0739ef4deeb4c}, Case{9, 1, 0x9d0b1486a8596143},
                          Case{2, 2, 0x896d503c1e143960}, Case{9, 2, 0xbb229175d6464757}}) {
        TestWarp warp;
        std::uint64_t hash = 1469598103934665603u;
        for (std::uint32_t first = 0; first < 1u << 16; first += kWarpSize) {
            for (unsigned l = 0; l < kWarpSize; ++l) warp[16].lane[l] = first + l;
            ASSERT_TRUE(
                warp.run(make_word(0x308, 4, 0, 16, 0, {{74, 4, c.function}, {72, 2, c.type}})));
            for (unsigned l = 0; l < kWarpSize; ++l)
                hash = (hash ^ (warp[4].lane[l] & 0xffff)) * 1099511628211u;
        }
        EXPECT_EQ(hash, c.hash) << c.function << ' ' << c.type;
    }
}

TEST(Conversion, MufuOfHalvesBeforeSm90) {
    TestWarp warp(75);
    constexpr unsigned kEx2 = 2;
    warp[16].lane[0] = 0xc200'4000;  // -3 and 2
    ASSERT_TRUE(warp.run(make_word(0x308, 4, 0, 16, 0, {{74, 4, kEx2}, {73, 1, 1}})));
    EXPECT_EQ(warp[4].lane[0], 0x4400u);
    ASSERT_TRUE(warp.run(make_word(0x308, 4, 0, 16, 0, {{74, 4, kEx2}, {73, 1, 1}, {60, 2, 1}})));
    EXPECT_EQ(warp[4].lane[0], 0x3000u);
}

}  // namespace
}  // namespace lockstep::sass
