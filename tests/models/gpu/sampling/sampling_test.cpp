// SPDX-License-Identifier: Apache-2.0
// Workloads whose time is sampled, against the same simulated whole, on a small chip.
#include <gtest/gtest.h>

#include "models/device.h"
#include "models/gpu/sampling/samples.h"
#include "models/launch_ranges.h"
#include "workloads/cuda/workload.h"

namespace lockstep::gpu {
namespace {

cuda::Outcome run(const std::string& text, bool samples, bool verify = false,
                  const std::vector<std::string>& chip = {"sm.count=4", "l2.size=1MiB"},
                  bool on_parts = false) {
    const cuda::WorkloadText workload = cuda::parse_workload(text);
    const cuda::Workload& found = cuda::find_workload(workload.name);
    const auto device = make_simulator(config::Machine::load("a100", chip), {.samples = samples});
    if (on_parts) dynamic_cast<LaunchRanges&>(*device).sample_on_parts();
    return cuda::run_workload(found, cuda::parse_parameters(found, workload.parameters), 1, verify,
                              *device);
}

std::optional<double> metric(const LaunchResult& result, std::string_view wanted) {
    for (const auto& [name, value] : result.metrics)
        if (name == wanted) return value.as_double();
    return std::nullopt;
}

class Sampling : public testing::TestWithParam<const char*> {};

TEST_P(Sampling, ComesNearTheWholeAndComputesAllOfIt) {
    const cuda::Outcome whole = run(GetParam(), false), sampled = run(GetParam(), true, true);
    EXPECT_TRUE(sampled.passed());
    ASSERT_EQ(whole.launches.size(), sampled.launches.size());
    bool has_part = false;
    for (std::size_t i = 0; i < whole.launches.size(); ++i) {
        const LaunchResult &exact = whole.launches[i].result, &got = sampled.launches[i].result;
        EXPECT_EQ(got.warp_instructions, exact.warp_instructions);
        EXPECT_NEAR(static_cast<double>(got.cycles) / static_cast<double>(exact.cycles), 1, 0.05)
            << whole.launches[i].kernel;
        const auto ctas = metric(got, kSampledCtas);
        ASSERT_TRUE(ctas);
        has_part |= *ctas < static_cast<double>(whole.launches[i].grid.volume());
    }
    EXPECT_TRUE(has_part);
}

INSTANTIATE_TEST_SUITE_P(Workloads, Sampling,
                         testing::Values("cross_entropy:rows=8192,cols=128",
                                         "sgemm_naive:m=2048,n=512,k=32",
                                         "layernorm:rows=8192,cols=128",
                                         "softmax:rows=16384,cols=128"));

// Of a chip with 44 SMs eight are simulated, with their share of L2 and DRAM; three blocks, for the
// first launch.
class OnPart : public testing::TestWithParam<const char*> {};

TEST_P(OnPart, ComesNearTheWholeAndComputesAllOfIt) {
    const std::vector<std::string> chip{"sm.count=44"};
    const cuda::Outcome whole = run(GetParam(), false, false, chip),
                        sampled = run(GetParam(), true, true, chip, true);
    EXPECT_TRUE(sampled.passed());
    for (std::size_t i = 0; i < whole.launches.size(); ++i) {
        const LaunchResult &exact = whole.launches[i].result, &got = sampled.launches[i].result;
        EXPECT_EQ(got.warp_instructions, exact.warp_instructions);
        EXPECT_LT(*metric(got, kSampledCtas), whole.launches[i].grid.volume() * 3 / 4);
        EXPECT_NEAR(100.0 * static_cast<double>(got.cycles) / static_cast<double>(exact.cycles),
                    100, *metric(got, kSampleError))
            << whole.launches[i].kernel;
    }
}

INSTANTIATE_TEST_SUITE_P(Workloads, OnPart,
                         testing::Values("sgemm:m=1024,n=2048,k=32", "vector_add:n=1048576",
                                         "softmax:rows=2048,cols=256"));

TEST(Sampling, WhatIsNotSampledSaysNothingOfIt) {
    for (const cuda::LaunchRecord& launch : run("vector_add:n=1000", false).launches)
        EXPECT_FALSE(metric(launch.result, kSampledCtas));
    for (const cuda::LaunchRecord& launch : run("vector_add:n=1000", true).launches)
        EXPECT_FALSE(metric(launch.result, kSampleError));
}

}  // namespace
}  // namespace lockstep::gpu
