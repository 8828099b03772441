// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/execution/cta_storage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isa/sass/program.h"

namespace lockstep::gpu {
namespace {

sass::Launch launch_of(const sass::Program& program, std::uint32_t threads, std::uint32_t registers,
                       std::uint32_t shared_bytes, std::uint32_t local_bytes) {
    sass::Launch launch;
    launch.program = &program;
    launch.block = {threads};
    launch.rows = sass::kRegisterRow + registers;
    launch.shared_bytes = shared_bytes;
    launch.local_bytes = local_bytes;
    return launch;
}

std::span<std::byte> rows_of(sass::Warp& warp, const sass::Launch& launch) {
    return {warp.bases[0], launch.rows * sizeof(sass::Row)};
}
std::span<std::byte> local_of(sass::Warp& warp, const sass::Launch& launch) {
    return {warp.local, std::size_t{launch.local_bytes} * sass::kWarpSize};
}
std::span<std::byte> shared_of(sass::Cta& cta) {
    return {cta.shared, cta.launch->shared_bytes};
}

bool is_zero(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// Leaves nothing as it was, as a kernel might.
void soil(CtaStorage& storage, const sass::Launch& launch) {
    for (sass::Warp& warp : storage.warps()) {
        std::ranges::fill(rows_of(warp, launch).subspan(sass::kSinkRow * sizeof(sass::Row)),
                          std::byte{0x5a});
        std::ranges::fill(local_of(warp, launch), std::byte{0x5a});
        warp.has_written_local = true;
        warp.predicate[2] = 7;
        warp.parked.push_back({});
    }
    std::ranges::fill(shared_of(storage.cta()), std::byte{0x5a});
    storage.cta().extents.of_instruction[3] = {.begin = 1, .end = 2};
    storage.cta().extents.recent[0] = {.begin = 1, .end = 2};
}

void expect_clean(CtaStorage& storage, const sass::Launch& launch) {
    const auto warps = storage.warps();
    ASSERT_EQ(warps.size(), (launch.block.x + 31) / 32);
    for (std::size_t w = 0; w < warps.size(); ++w) {
        sass::Warp& warp = warps[w];
        const auto rows = rows_of(warp, launch);
        EXPECT_TRUE(is_zero(rows.first(sass::kSinkRow * sizeof(sass::Row))));
        EXPECT_TRUE(is_zero(rows.subspan(sass::kRegisterRow * sizeof(sass::Row))));
        EXPECT_TRUE(is_zero(local_of(warp, launch)));
        EXPECT_EQ(warp.predicate[2], 0u);
        EXPECT_EQ(warp.predicate[sass::kPredicatePT], sass::kAllLanes);
        EXPECT_TRUE(warp.parked.empty());
        EXPECT_EQ(warp.cta, &storage.cta());
        EXPECT_EQ(warp.index, w);
        EXPECT_EQ(storage.cta().warps[w], &warp);
        EXPECT_EQ(storage.cta().barrier[1].arrived.size(), warps.size());
    }
    const std::uint32_t rest = launch.block.x % 32;
    EXPECT_EQ(warps.back().lanes, rest == 0 ? sass::kAllLanes : (1u << rest) - 1);
    EXPECT_TRUE(is_zero(shared_of(storage.cta())));
    EXPECT_FALSE(storage.cta().extents.of_instruction[3].contains(1, 1));
    EXPECT_FALSE(storage.cta().extents.recent[0].contains(1, 1));
}

TEST(CtaStorage, IsAsNewForEachLaunch) {
    const sass::Program program(90);
    const sass::Launch launches[] = {
        launch_of(program, 96, 20, 1000, 64), launch_of(program, 96, 20, 1000, 64),
        launch_of(program, 300, 8, 0, 0),     launch_of(program, 40, 255, 70000, 4096),
        launch_of(program, 96, 21, 1000, 64), launch_of(program, 1024, 16, 16, 256)};
    CtaStorage storage;
    for (sass::Launch launch : launches) {
        storage.prepare(launch);
        storage.start(0);
        expect_clean(storage, launch);
        soil(storage, launch);
    }
}

TEST(CtaStorage, IsAsNewForEachCtaButForWhatWasNotTouched) {
    const sass::Program program(90);
    sass::Launch launch = launch_of(program, 64, 4, 128, 32);
    CtaStorage storage(launch);
    storage.start(0);
    soil(storage, launch);
    storage.cta().extents = {};
    storage.start(1);
    expect_clean(storage, launch);
    EXPECT_EQ(storage.cta().linear_index, 1u);
    EXPECT_FALSE(storage.warps()[0].has_written_local);
}

TEST(CtaPool, GivesBackWhatItWasGiven) {
    const sass::Program program(90);
    sass::Launch small = launch_of(program, 32, 4, 0, 0), large = launch_of(program, 512, 64, 9, 4);
    CtaPool pool;
    auto storage = pool.take(small);
    const CtaStorage* const first = storage.get();
    pool.give_back(std::move(storage));
    storage = pool.take(large);
    EXPECT_EQ(storage.get(), first);
    EXPECT_EQ(storage->warps().size(), 16u);
    EXPECT_NE(pool.take(small).get(), first);
}

}  // namespace
}  // namespace lockstep::gpu
