// SPDX-License-Identifier: Apache-2.0
// Results measured on an H200 (driver 580.159.04, 2026-11-27), by their hash: FNV-1a of the words.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

#include "isa/sass/mufu/mufu.h"

namespace lockstep::sass::mufu {
namespace {

using Source = std::function<std::uint32_t(std::uint32_t)>;

std::uint64_t hash_of(Function function, std::uint32_t count, const Source& source) {
    std::uint64_t hash = 1469598103934665603u;
    std::uint32_t row[32];
    for (std::uint32_t i = 0; i < count; i += 32) {
        for (std::uint32_t l = 0; l < 32; ++l) row[l] = source(i + l);
        evaluate_row(function, row, row);
        for (const std::uint32_t result : row) hash = (hash ^ result) * 1099511628211u;
    }
    return hash;
}

std::uint32_t scrambled(std::uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/// What sin.approx.ftz and cos.approx.ftz hand to the unit: the product with 1 / 2 pi rounded to
/// zero.
std::uint32_t in_turns(std::uint32_t x) {
    const std::uint32_t magnitude = x & 0x7fffffff;
    if (magnitude >= 0x7f800000) return 0x7fffffff;
    if (magnitude < 0x00800000) return x & 0x80000000;
    const double exact =
        double{std::bit_cast<float>(magnitude)} * std::bit_cast<float>(0x3e22f983u);
    const auto nearest = static_cast<float>(exact);
    const std::uint32_t down =
        std::bit_cast<std::uint32_t>(nearest) - (double{nearest} > exact ? 1 : 0);
    return (down < 0x00800000 ? 0 : down) | (x & 0x80000000);
}

struct Case {
    const char* name;
    Function function;
    std::uint64_t binades, everywhere;
};

constexpr Case kCases[] = {
    {"ex2", Function::kEx2, 0x5afad97b427d9083, 0x7a75cf28146f5f5d},
    {"lg2", Function::kLg2, 0xb18a6beec145954e, 0xd778912bf00dc358},
    {"rcp", Function::kRcp, 0x3e91d9060e14dc36, 0x2641940d9b54f7f7},
    {"rsq", Function::kRsq, 0x4426b42851b709ac, 0x95d33bf181a9e5f0},
    {"sin", Function::kSin, 0x112d0652503ae255, 0x4d61d566178d23db},
    {"cos", Function::kCos, 0x0bc3b5ac071b9cfc, 0x56da4a420bdfc83f},
    {"tanh", Function::kTanh, 0x51b668e207ba7c23, 0x5dd7858d1fa1f7f0},
    {"sqrt", Function::kSqrt, 0x7938e539d1aa6f16, 0x3355117deba01ec5},
};

// [1, 2) of rcp, [1, 4) of the roots, [0.5, 2) of the others.
TEST(MufuSilicon, EveryNumberOfTwoBinades) {
    for (const Case& c : kCases) {
        using enum Function;
        const bool is_angle = c.function == kSin || c.function == kCos;
        const bool is_from_one = c.function == kRcp || c.function == kRsq || c.function == kSqrt;
        const std::uint32_t first = is_from_one ? 0x3f800000 : 0x3f000000;
        const std::uint32_t count = c.function == kRcp ? 1u << 23 : 1u << 24;
        EXPECT_EQ(
            hash_of(c.function, count,
                    [&](std::uint32_t i) { return is_angle ? in_turns(first + i) : first + i; }),
            c.binades)
            << c.name;
    }
}

TEST(MufuSilicon, SomeNumbersOfEverySignAndExponent) {
    for (const Case& c : kCases) {
        const bool is_angle = c.function == Function::kSin || c.function == Function::kCos;
        EXPECT_EQ(hash_of(c.function, 1 << 18,
                          [&](std::uint32_t i) {
                              const std::uint32_t x = i >> 9 << 23 | (scrambled(i) & 0x7fffff);
                              return is_angle ? in_turns(x) : x;
                          }),
                  c.everywhere)
            << c.name;
    }
}

TEST(MufuSilicon, UpperHalvesOfDoubles) {
    const auto every = [](std::uint32_t i) { return 0x3ff00000 + i; };
    EXPECT_EQ(hash_of(Function::kRcp64h, 1 << 20, every), 0x395226f67e4a3cecu);
    EXPECT_EQ(hash_of(Function::kRsq64h, 1 << 21, every), 0x3a8be924427bcc7du);
    const auto some = [](std::uint32_t i) { return i >> 5 << 20 | (scrambled(i) & 0xfffff); };
    EXPECT_EQ(hash_of(Function::kRcp64h, 1 << 17, some), 0x0fcf166973528d3bu);
    EXPECT_EQ(hash_of(Function::kRsq64h, 1 << 17, some), 0x2b1259c63e51e2b9u);
}

}  // namespace
}  // namespace lockstep::sass::mufu
