// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/tensor_core/dot_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp8.h"
#include "sim/numerics/tf32.h"
#include "tests/isa/sass/tensor_core/reference_dot_product.h"

namespace lockstep::sass {
namespace {

int width_of(TensorType type) {
    if (type == TensorType::kTf32) return 32;
    return type == TensorType::kFp16 || type == TensorType::kBf16 ? 16 : 8;
}

double value_of(TensorType type, uint32_t bits) {
    switch (type) {
        case TensorType::kFp16:
            return numerics::fp16_to_fp32(static_cast<uint16_t>(bits));
        case TensorType::kBf16:
            return numerics::bf16_to_fp32(static_cast<uint16_t>(bits));
        case TensorType::kTf32:
            return numerics::tf32_operand(bits);
        case TensorType::kE4m3:
            return numerics::e4m3_to_fp32(static_cast<uint8_t>(bits));
        case TensorType::kE5m2:
            return numerics::e5m2_to_fp32(static_cast<uint8_t>(bits));
    }
    return 0;
}

// Bits of a number: sometimes any, sometimes of nearby exponents, so that sums cancel and align.
uint32_t draw(std::mt19937& random, TensorType type, bool specials) {
    for (;;) {
        uint32_t bits = random() & (0xffffffffu >> (32 - width_of(type)));
        const int exponent_bits = type == TensorType::kBf16 || type == TensorType::kTf32 ? 8
                                  : type == TensorType::kE4m3                            ? 4
                                                                                         : 5;
        if (random() % 4 != 0) {  // clear the upper exponent bits but keep the middle of the range
            const int shift = width_of(type) - 1 - exponent_bits;
            const uint32_t field = (1u << exponent_bits) - 1;
            const uint32_t middle = (field / 2 - 2 + random() % 6) & field;
            bits = (bits & ~(field << shift)) | (middle << shift);
        }
        if (random() % 16 == 0) bits &= 1u << (width_of(type) - 1);  // a zero
        if (specials || std::isfinite(value_of(type, bits))) return bits;
    }
}

void compare_random_tiles(int sm, TensorType type, bool half, int depth, bool specials,
                          int rounds) {
    const DotProductRule rule = dot_product_rule(sm, type, half);
    std::mt19937 random(static_cast<unsigned>(sm * 1000 + depth + width_of(type)));
    static DecodedTile a, b;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < 16 * depth; ++i)
            a.bits[i] = draw(random, type, specials && i % 13 == 0);
        for (int i = 0; i < 16 * depth; ++i)
            b.bits[i] = draw(random, type, specials && i % 11 == 0);
        a.decode(type, 16 * depth);
        b.decode(type, 16 * depth);
        for (const bool per_row : {false, true}) {
            uint32_t c[16], d[16];
            for (uint32_t& word : c) {
                word = draw(random, half ? TensorType::kFp16 : TensorType::kTf32, specials);
                if (!half) word ^= random() & 0x1fff;
                if (!half && !specials && (word & 0x7f800000u) == 0x7f800000u) word = 0;
            }
            std::copy_n(c, 16, d);
            if (per_row) {
                accumulate_rows(rule, depth, a, b, 0, d);
            } else {
                accumulate_column(rule, depth, a, b, 0, d);
            }
            for (int row = 0; row < 16; ++row) {
                std::vector<double> x, y;
                for (int k = 0; k < depth; ++k) {
                    x.push_back(value_of(type, a.bits[k * 16 + row]));
                    y.push_back(value_of(type, b.bits[per_row ? k * 16 + row : k]));
                }
                const double c_value =
                    half ? value_of(TensorType::kFp16, c[row]) : std::bit_cast<float>(c[row]);
                const double expected = reference_dot_product(rule, type, type, x, y, c_value);
                const double result =
                    half ? value_of(TensorType::kFp16, d[row]) : std::bit_cast<float>(d[row]);
                if (std::isnan(expected)) {
                    ASSERT_EQ(d[row], half ? 0x7fffu : 0x7fffffffu);
                } else {
                    ASSERT_EQ(result, expected) << std::hexfloat << "sm_" << sm << " row " << row;
                }
            }
        }
    }
}

struct Unit {
    int sm;
    TensorType type;
    bool half;
    int depth;
};

class DotProduct : public testing::TestWithParam<Unit> {};

TEST_P(DotProduct, MatchesTheRuleWrittenOut) {
    const Unit& unit = GetParam();
    compare_random_tiles(unit.sm, unit.type, unit.half, unit.depth, false, 200);
}

TEST_P(DotProduct, MatchesWithInfinitiesAndNans) {
    const Unit& unit = GetParam();
    compare_random_tiles(unit.sm, unit.type, unit.half, unit.depth, true, 50);
}

INSTANTIATE_TEST_SUITE_P(
    Units, DotProduct,
    testing::Values(Unit{70, TensorType::kFp16, false, 4}, Unit{70, TensorType::kFp16, true, 4},
                    Unit{75, TensorType::kFp16, false, 8}, Unit{75, TensorType::kFp16, true, 8},
                    Unit{80, TensorType::kFp16, false, 16}, Unit{80, TensorType::kFp16, true, 16},
                    Unit{80, TensorType::kBf16, false, 16}, Unit{80, TensorType::kTf32, false, 8},
                    Unit{86, TensorType::kTf32, false, 4}, Unit{89, TensorType::kE4m3, false, 32},
                    Unit{89, TensorType::kE5m2, true, 32}, Unit{90, TensorType::kFp16, false, 16},
                    Unit{90, TensorType::kFp16, true, 32}, Unit{90, TensorType::kBf16, false, 8},
                    Unit{90, TensorType::kTf32, false, 4}, Unit{90, TensorType::kTf32, false, 8},
                    Unit{90, TensorType::kE4m3, false, 32}, Unit{90, TensorType::kE5m2, true, 32}));

// Numbers from one end of the range of the fast way to the other, of which a row may have but tiny
// ones or zeros, and accumulators of any size.
TEST(NarrowProducts, MatchTheRuleUpToTheEndsOfTheirRange) {
    std::mt19937 random(5);
    static DecodedTile a, b;
    const auto draw_number = [&](int smallest, int largest) -> uint32_t {
        if (random() % 5 == 0) return random() % 2 << 31;
        const auto exponent =
            static_cast<int>(random() % static_cast<unsigned>(largest - smallest + 1));
        return (random() & 0x807fffffu) | static_cast<uint32_t>(smallest + exponent + 127) << 23;
    };
    for (const TensorType type : {TensorType::kBf16, TensorType::kTf32}) {
        const int depth = type == TensorType::kBf16 ? 16 : 8;
        const DotProductRule rule = dot_product_rule(90, type, false);
        const int shift = type == TensorType::kBf16 ? 16 : 0;
        for (int round = 0; round < 600; ++round) {
            // Where the numbers of this tile and their products lie.
            const int low = -64 + static_cast<int>(random() % 90);
            const int high = std::min(30, low + static_cast<int>(random() % 30));
            const bool tiny = random() % 3 == 0;
            for (int i = 0; i < 16 * depth; ++i) {
                const bool is_tiny = tiny || i % 16 < 3;  // some rows
                a.bits[i] = draw_number(is_tiny ? -64 : low, is_tiny ? -58 : high) >> shift;
                if (i % 16 == 5) a.bits[i] = 0;
            }
            for (int i = 0; i < 8 * depth; ++i)
                b.bits[i] = draw_number(tiny ? -64 : low, tiny ? -50 : high) >> shift;
            a.decode(type, 16 * depth);
            b.decode(type, 8 * depth);
            uint32_t c[8][16], d[8][16];
            for (auto& column : c)
                for (uint32_t& word : column)
                    word =
                        draw_number(random() % 2 == 0 ? -126 : low, random() % 8 == 0 ? 127 : high);
            std::memcpy(d, c, sizeof d);
            accumulate_tile(rule, depth, a, b, 8, d);
            for (int n = 0; n < 8; ++n)
                for (int row = 0; row < 16; ++row) {
                    std::vector<double> x, y;
                    for (int k = 0; k < depth; ++k) {
                        x.push_back(value_of(type, a.bits[k * 16 + row]));
                        y.push_back(value_of(type, b.bits[n * depth + k]));
                    }
                    ASSERT_EQ(std::bit_cast<float>(d[n][row]),
                              reference_dot_product(rule, type, type, x, y,
                                                    std::bit_cast<float>(c[n][row])))
                        << std::hexfloat << "row " << row << " column " << n << " round " << round
                        << " accumulator " << std::bit_cast<float>(c[n][row]);
                }
        }
    }
}

// The largest products that can meet in a group still fit the unit's sum.
TEST(DotProductLimits, SixteenLargestProductsAndTheAccumulatorAreExact) {
    static DecodedTile a, b;
    const float largest = numerics::fp16_to_fp32(0x7bff);
    for (int i = 0; i < 256; ++i) a.bits[i] = b.bits[i] = 0x7bff;
    a.decode(TensorType::kFp16, 256);
    b.decode(TensorType::kFp16, 256);
    const float c = 0x1.fffffep30f;
    uint32_t d[16];
    std::fill_n(d, 16, std::bit_cast<uint32_t>(c));
    const DotProductRule rule = dot_product_rule(90, TensorType::kFp16, false);
    accumulate_column(rule, 16, a, b, 0, d);
    const double expected = reference_dot_product(rule, TensorType::kFp16, TensorType::kFp16,
                                                  std::vector<double>(16, largest),
                                                  std::vector<double>(16, largest), c);
    for (const uint32_t word : d) EXPECT_EQ(std::bit_cast<float>(word), expected);
}

TEST(DotProductLimits, OverflowGivesInfinityAndCancellationPlusZero) {
    static DecodedTile a, b;
    for (int i = 0; i < 128; ++i) a.bits[i] = b.bits[i] = 0x7f7f;
    a.decode(TensorType::kBf16, 128);
    b.decode(TensorType::kBf16, 128);
    uint32_t d[16] = {};
    accumulate_column(dot_product_rule(80, TensorType::kBf16, false), 8, a, b, 0, d);
    EXPECT_EQ(d[3], 0x7f800000u);
    for (int i = 0; i < 128; ++i) a.bits[i] = i < 64 ? 0x3c00 : 0xbc00;
    for (int i = 0; i < 16; ++i) b.bits[i] = 0x3c00;
    a.decode(TensorType::kFp16, 128);
    b.decode(TensorType::kFp16, 16);
    std::fill_n(d, 16, 0x80000000u);
    accumulate_column(dot_product_rule(80, TensorType::kFp16, false), 8, a, b, 0, d);
    EXPECT_EQ(d[3], 0u);
}

// -2^-24 * 2^-2 rounds to zero in fp16: an H200 (driver 580.159.04, 2026-11-27) returns +0. Both
// the fast way and, with an infinity in another row, the general one.
TEST(DotProductLimits, WhatBecomesZeroInHalfIsPlusZero) {
    static DecodedTile a, b;
    for (const std::uint16_t other : {0x3c00, 0x7c00}) {
        for (int i = 0; i < 256; ++i) a.bits[i] = 0;
        for (int i = 0; i < 16; ++i) b.bits[i] = 0;
        a.bits[3] = 0x8001, a.bits[5] = other, b.bits[0] = 0x3400;
        a.decode(TensorType::kFp16, 256);
        b.decode(TensorType::kFp16, 16);
        uint32_t d[16] = {};
        accumulate_column(dot_product_rule(90, TensorType::kFp16, true), 16, a, b, 0, d);
        EXPECT_EQ(d[3], 0u);
        EXPECT_EQ(d[5], other == 0x3c00 ? 0x3400u : 0x7c00u);
    }
}

}  // namespace
}  // namespace lockstep::sass
