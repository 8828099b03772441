// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/samples.h"

#include <gtest/gtest.h>

#include <array>

namespace lockstep::gpu {
namespace {

LaunchResult result_of(std::uint64_t cycles, std::uint64_t instructions) {
    LaunchResult result{.warp_instructions = instructions,
                        .thread_instructions = 32 * instructions,
                        .cycles = cycles,
                        .seconds = static_cast<double>(cycles) * 1e-9};
    result.metrics = {{"sm__cycles_elapsed.max", cycles},
                      {"smsp__inst_executed.sum", instructions},
                      {"smsp__thread_inst_executed_pred_on.sum", 32 * instructions},
                      {"dram__bytes.sum", std::uint64_t{1000}},
                      {"launch__grid_size", std::uint64_t{100}},
                      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 70.0}};
    return result;
}

double metric(const LaunchResult& result, std::string_view wanted) {
    for (const auto& [name, value] : result.metrics)
        if (name == wanted) return value.as_double();
    return -1;
}

TEST(Samples, CountsGrowWithTheCtasAndTimeByWhatIsMissing) {
    const LaunchResult whole =
        extrapolated(result_of(1000, 500), result_of(0, 1600), 25, 100, 2000, 30);
    EXPECT_EQ(whole.cycles, 3000u);
    EXPECT_DOUBLE_EQ(whole.seconds, 3e-6);
    EXPECT_EQ(whole.warp_instructions, 2100u);  // counted, not scaled
    EXPECT_EQ(metric(whole, "smsp__inst_executed.sum"), 2100);
    EXPECT_EQ(metric(whole, "sm__cycles_elapsed.max"), 3000);
    EXPECT_EQ(metric(whole, "dram__bytes.sum"), 4000);
    EXPECT_EQ(metric(whole, "launch__grid_size"), 100);
    EXPECT_EQ(metric(whole, "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 70);
    EXPECT_EQ(metric(whole, kSampledCtas), 25);
    EXPECT_DOUBLE_EQ(metric(whole, kSampleError), 1);
}

TEST(Samples, ALaunchLikeAnotherTakesItsTimeByInstructions) {
    LaunchResult known = result_of(1000, 500);
    known.metrics.emplace_back(kSampleError, 0.5);
    const LaunchResult same = Samples::like(known, result_of(0, 500)),
                       more = Samples::like(known, result_of(0, 550));
    EXPECT_EQ(same.cycles, 1000u);
    EXPECT_DOUBLE_EQ(metric(same, kSampleError), 0.5);
    EXPECT_EQ(metric(same, kSampledCtas), 0);
    EXPECT_EQ(more.cycles, 1100u);
    EXPECT_EQ(more.warp_instructions, 550u);
    EXPECT_NEAR(metric(more, kSampleError), 10.5, 1e-9);
}

TEST(Samples, LaunchesAreAlikeWhateverTheirAddresses) {
    memory::DeviceMemory memory(1 << 20);
    const std::uint64_t a = memory.allocate(256), b = memory.allocate(256);
    const auto key = [&](std::uint64_t pointer, std::uint32_t m, std::uint32_t n,
                         sass::Dim3 grid = {4, 1, 1}) {
        std::array<std::uint32_t, 4> words{static_cast<std::uint32_t>(pointer),
                                           static_cast<std::uint32_t>(pointer >> 32), m, n};
        return Samples::key_of({.module = 1,
                                .kernel = "k",
                                .grid = grid,
                                .block = {32, 1, 1},
                                .parameters = std::as_bytes(std::span(words))},
                               memory);
    };
    EXPECT_EQ(key(a, 1024, 1024), key(b + 16, 1024, 1024));
    EXPECT_NE(key(a, 1024, 1024), key(a, 1024, 1023));  // two sizes are no address
    EXPECT_NE(key(a, 1024, 1024), key(a, 1023, 1024));
    EXPECT_NE(key(a, 1, 1), key(a, 1, 1, {5, 1, 1}));
    EXPECT_NE(key(a, 1, 1), key(0, 1, 1));

    Samples samples;
    samples.add(key(a, 1, 1), result_of(7, 7));
    ASSERT_NE(samples.find(key(b, 1, 1)), nullptr);
    samples.forget(2);
    EXPECT_NE(samples.find(key(b, 1, 1)), nullptr);
    samples.forget(1);
    EXPECT_EQ(samples.find(key(b, 1, 1)), nullptr);
}

}  // namespace
}  // namespace lockstep::gpu
