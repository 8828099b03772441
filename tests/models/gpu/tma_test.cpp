// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator and mbarriers, emulated and in cycles (data/tma.cu).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/models/gpu/kernel_fixture.h"
#include "tests/models/gpu/tensor_parameter.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

class Tma : public testing::TestWithParam<bool> {
  protected:
    KernelRunner runner_{"h200", "tma_sm_90a.cubin", {}, GetParam()};
};

TEST_P(Tma, LoadsAndStoresTilesOfAMatrixWithRaggedEdges) {
    constexpr unsigned kColumns = 100, kRows = 70, kPitch = 128;
    const auto in = runner_.ints(kPitch * kRows), out = runner_.ints(kPitch * kRows);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(3 * i);
    std::fill(out.begin(), out.end(), -1);
    runner_.launch("add_one", {4, 3}, {128}, ToFirstMap{},
                   map_of(in.data(), kColumns, kRows, kPitch),
                   map_of(out.data(), kColumns, kRows, kPitch));
    for (unsigned y = 0; y < kRows; ++y)
        for (unsigned x = 0; x < kPitch; ++x)
            ASSERT_EQ(out[y * kPitch + x], x < kColumns ? in[y * kPitch + x] + 1 : -1)
                << x << ", " << y;
}

TEST_P(Tma, ARingOfTilesBetweenWarps) {
    constexpr unsigned kColumns = 96, kTiles = 11, kRows = kTiles * kTile;
    const auto in = runner_.ints(kColumns * kRows), sums = runner_.ints(kColumns);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i % 1009);
    runner_.launch("ring", {kColumns / kTile}, {160}, ToFirstMap{},
                   map_of(in.data(), kColumns, kRows, kColumns), sums.data(),
                   static_cast<int>(kTiles));
    for (unsigned x = 0; x < kColumns; ++x) {
        int want = 0;
        for (unsigned y = 0; y < kRows; ++y) want += in[y * kColumns + x];
        ASSERT_EQ(sums[x], want) << x;
    }
}

TEST_P(Tma, ABufferIsWrittenAgainAfterItsStore) {
    constexpr int kRows = 5;
    const auto out = runner_.ints(kTile * kTile * kRows);
    runner_.launch("store_tiles", {1}, {1024}, ToFirstMap{},
                   map_of(out.data(), kTile, kTile * kRows, kTile), kRows);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], static_cast<int>(i));
}

TEST_P(Tma, ReductionsOfManyCtasAddUp) {
    constexpr int kCtas = 50;
    const auto floats = runner_.ints(64), ints = runner_.ints(64);
    runner_.launch("reduce_blocks", {kCtas}, {64}, floats.data(), ints.data());
    for (int i = 0; i < 64; ++i) {
        float sum;
        std::memcpy(&sum, &floats[i], sizeof sum);
        ASSERT_EQ(sum, kCtas);
        ASSERT_EQ(ints[i], 2 * kCtas);
    }
}

TEST_P(Tma, StatesOfAnMbarrier) {
    const auto out = runner_.ints(7);
    runner_.launch("mbarrier_states", {1}, {32}, out.data());
    EXPECT_THAT(std::vector<int>(out.begin(), out.end()),
                testing::ElementsAre(5, 3, 0, 1, 3, 0, 1));
}

TEST_P(Tma, MapsThatBreakARuleFaultWithItsName) {
    const auto in = runner_.ints(kTile * kTile);
    MapParameter good = map_of(in.data(), kTile, kTile, kTile), bad = good;
    const std::uint64_t odd = reinterpret_cast<std::uint64_t>(in.data()) + 4;
    std::memcpy(bad.bytes, &odd, sizeof odd);
    try {
        runner_.launch("add_one", {1}, {128}, ToFirstMap{}, bad, good);
        FAIL() << "no fault";
    } catch (const DeviceFault& fault) {
        EXPECT_THAT(fault.what(), HasSubstr("not a multiple of 16"));
        EXPECT_THAT(fault.what(), HasSubstr("UTMALDG"));
    }
}

// As silicon, which reports an illegal instruction (an H200, driver 580.159.04, 2026-11-27).
TEST_P(Tma, BoxesBeginAtMultiplesOfSixteenBytes) {
    const auto in = runner_.ints(kTile * kTile), out = runner_.ints(kTile * kTile);
    const MapParameter from = map_of(in.data(), kTile, kTile, kTile),
                       to = map_of(out.data(), kTile, kTile, kTile);
    std::fill(in.begin(), in.end(), 41);
    runner_.launch("copy_at", {1}, {128}, ToFirstMap{}, from, to, -4);
    EXPECT_EQ(out[0], 41);
    try {
        runner_.launch("copy_at", {1}, {128}, ToFirstMap{}, from, to, -1);
        FAIL() << "no fault";
    } catch (const DeviceFault& fault) {
        EXPECT_THAT(fault.what(), HasSubstr("begins -4 bytes into the rows"));
        EXPECT_THAT(fault.what(), HasSubstr("UTMALDG"));
    }
}

TEST_P(Tma, TensorsBeyondTheirMemoryFault) {
    const auto in = runner_.ints(kTile * kTile);
    try {
        runner_.launch("add_one", {1, 2}, {128}, ToFirstMap{},
                       map_of(in.data(), kTile, 1 << 20, kTile),
                       map_of(in.data(), kTile, kTile, kTile));
        FAIL() << "no fault";
    } catch (const DeviceFault& fault) {
        EXPECT_THAT(fault.what(), HasSubstr("tensor load"));
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, Tma, testing::Bool(),
                         [](const auto& mode) { return mode.param ? "cycle" : "emulate"; });

// What a program may not rely on does not happen: copies come as late as they may.
TEST(TmaInEmulation, ATileThatNobodyWaitedForIsNotThere) {
    KernelRunner runner("h200", "tma_sm_90a.cubin");
    const auto in = runner.ints(kTile * kTile), out = runner.ints(kTile * kTile);
    std::fill(in.begin(), in.end(), 41);
    const MapParameter from = map_of(in.data(), kTile, kTile, kTile),
                       to = map_of(out.data(), kTile, kTile, kTile);
    runner.launch("add_one_too_early", {1}, {128}, ToFirstMap{}, from, to);
    EXPECT_THAT(std::vector<int>(out.begin(), out.end()), testing::Each(1));
    runner.launch("add_one", {1}, {128}, ToFirstMap{}, from, to);
    EXPECT_THAT(std::vector<int>(out.begin(), out.end()), testing::Each(42));
}

TEST(TmaInEmulation, ABufferWrittenBeforeItsStoreIsReadStoresTheLaterTile) {
    constexpr int kRows = 3;
    KernelRunner runner("h200", "tma_sm_90a.cubin");
    const auto out = runner.ints(kTile * kTile * kRows);
    runner.launch("store_tiles_too_early", {1}, {1024}, ToFirstMap{},
                  map_of(out.data(), kTile, kTile * kRows, kTile), kRows);
    EXPECT_EQ(out[0], (kRows - 1) * kTile * kTile);
}

TEST(TmaInCycles, WaitsTakeAsLongAsTheCopyAndNothingPolls) {
    KernelRunner runner("h200", "tma_sm_90a.cubin", {}, true);
    const auto in = runner.ints(kTile * kTile), out = runner.ints(kTile * kTile);
    const MapParameter from = map_of(in.data(), kTile, kTile, kTile),
                       to = map_of(out.data(), kTile, kTile, kTile);
    for (const char* kernel : {"add_one_too_early", "add_one"})  // brings translations and code
        runner.launch(kernel, {1}, {128}, ToFirstMap{}, from, to);
    const LaunchResult early =
        runner.launch("add_one_too_early", {1}, {128}, ToFirstMap{}, from, to);
    const LaunchResult late = runner.launch("add_one", {1}, {128}, ToFirstMap{}, from, to);
    EXPECT_GT(late.cycles, early.cycles);
    // Nobody executes the loop's try_wait more than twice.
    EXPECT_LT(late.warp_instructions, early.warp_instructions + 4 * 12);
}

}  // namespace
}  // namespace lockstep
