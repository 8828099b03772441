// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/waves.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::gpu {
namespace {

constexpr std::uint64_t kCache = 1000;

/// Ends one wave: `count` CTAs, the last of them after `cycles`.
void end_wave(SampledWaves& waves, std::uint64_t count, std::uint64_t& now, std::uint64_t cycles) {
    for (std::uint64_t i = 1; i <= count; ++i) waves.ended(now + cycles * i / count);
    now += cycles;
}

TEST(SampledWaves, SmallGridsAreSimulatedWhole) {
    for (const std::uint64_t ctas : {1, 10, 50, 59}) {
        SampledWaves waves(ctas, 10, kCache);
        EXPECT_EQ(waves.simulated(), ctas);
        EXPECT_TRUE(waves.is_whole());
        waves.look(0);
        EXPECT_EQ(waves.missing_cycles(), 0);
        EXPECT_EQ(waves.uncertainty(), 0);
    }
    EXPECT_EQ(SampledWaves(60, 10, kCache).simulated(), 50u);
    // The part of a wave is simulated too: what is left are whole ones.
    EXPECT_EQ(SampledWaves(107, 10, kCache).simulated(), 57u);
}

TEST(SampledWaves, StopsWhereThreeWavesTakeTheSameTime) {
    SampledWaves waves(1000, 10, kCache);
    std::uint64_t now = 0;
    for (const std::uint64_t cycles : {500, 101, 100, 99}) end_wave(waves, 10, now, cycles);
    waves.look(0);
    EXPECT_EQ(waves.simulated(), 50u);
    end_wave(waves, 10, now, 150);  // the end, where the chip runs empty
    EXPECT_DOUBLE_EQ(waves.missing_cycles(), 95 * 100.0);
    // Student's t of two degrees of freedom: 4.3027.
    EXPECT_NEAR(waves.uncertainty(), 95 * 4.3027 * std::sqrt(1.0 / 3 + 1.0 / 95), 0.01);
}

TEST(SampledWaves, WavesThatDisagreedWidenTheError) {
    SampledWaves waves(1000, 10, kCache);
    std::uint64_t now = 0;
    for (const std::uint64_t cycles : {500, 110, 100, 100, 100}) end_wave(waves, 10, now, cycles);
    waves.look(0);
    // Four waves: 102.5 on average, 5 apart (Student's t of three degrees of freedom: 3.1824).
    const double left = (1000.0 - static_cast<double>(waves.simulated())) / 10;
    EXPECT_NEAR(waves.uncertainty(), left * (2.5 + 3.18245 * 5 * std::sqrt(1.0 / 4 + 1 / left)),
                0.01);
}

// A kernel whose waves grew slower in steps of two.
TEST(SampledWaves, TwoEqualWavesAreNotEnough) {
    SampledWaves waves(10000, 10, kCache);
    std::uint64_t now = 0, asked = 0;
    for (const std::uint64_t cycles : {3000, 3241, 4099, 4107, 4515, 4492, 4797, 4801, 4790}) {
        end_wave(waves, 10, now, cycles);
        if (++asked < 4) continue;
        const std::uint64_t before = waves.simulated();
        waves.look(0);
        EXPECT_EQ(waves.simulated() - before, asked < 9 ? 10u : 0u) << asked;
    }
}

TEST(SampledWaves, GoesOnUntilTheCacheIsFullWhereItWillBe) {
    SampledWaves waves(1000, 10, kCache);
    std::uint64_t now = 0, brought = 0;
    for (std::uint64_t wave = 1; wave <= 13; ++wave) {
        end_wave(waves, 10, now, 100);
        brought += 101;
        if (wave < 4) continue;
        waves.look(brought);  // after 13 waves it was full before the last three
        EXPECT_EQ(waves.simulated(), wave < 13 ? 10 * (wave + 2) : 140u) << wave;
    }
    SampledWaves small(1000, 10, kCache);
    now = 0;
    for (int wave = 1; wave <= 4; ++wave) end_wave(small, 10, now, 100);
    small.look(20);  // 500 of all waves: half of the cache
    EXPECT_EQ(small.simulated(), 50u);
}

TEST(SampledWaves, EndsWithTheWholeWhereNothingSettles) {
    SampledWaves waves(70, 10, kCache);
    std::uint64_t now = 0;
    for (std::uint64_t wave = 1; wave < 5; ++wave) end_wave(waves, 10, now, 100 * wave);
    waves.look(0);
    EXPECT_EQ(waves.simulated(), 60u);
    waves.look(0);
    EXPECT_TRUE(waves.is_whole());
}

}  // namespace
}  // namespace lockstep::gpu
