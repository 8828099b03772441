// SPDX-License-Identifier: Apache-2.0
// The memory side as a whole against the latencies and bandwidths that its machine file states.
#include "tests/models/gpu/memory/synthetic_sm.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

using engine::Cycle;

class EveryGpu : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(MemorySystem, EveryGpu,
                         testing::Values("h200", "h100", "a100", "rtx3090", "rtx4090", "t4",
                                         "v100"),
                         [](const auto& name) { return std::string(name.param); });

/// The first line from `line` on whose home is that L2 partition.
std::uint64_t line_of(const MemoryBench& bench, std::uint32_t home, std::uint64_t line = 0) {
    while (bench.system->map().find(line).l2_partition != home) ++line;
    return line;
}

TEST_P(EveryGpu, L2HitTakesItsLatency) {
    MemoryBench bench(GetParam());
    const MemoryRequest request{.line = line_of(bench, 0), .sectors = 1};
    bench.latency(request);
    EXPECT_EQ(bench.latency(request), static_cast<Cycle>(bench.machine->integer("l2.hit_latency")));
}

TEST_P(EveryGpu, DramAddsItsLatency) {
    MemoryBench bench(GetParam());
    Cycle latency = engine::kNever;  // the least: a bank may be in its refresh
    for (const std::uint64_t line : {0, 1 << 16, 1 << 20})
        latency = std::min(latency, bench.latency({.line = line_of(bench, 0, line), .sectors = 1}));
    const auto hit = static_cast<Cycle>(bench.machine->integer("l2.hit_latency"));
    const auto dram = static_cast<Cycle>(bench.machine->integer("dram.latency"));
    EXPECT_NEAR(static_cast<double>(latency), static_cast<double>(hit + dram), 4);
}

TEST_P(EveryGpu, FarHitTakesLongerOnce) {
    MemoryBench bench(GetParam(), 4);
    if (bench.system->parameters().l2_partitions == 1) return;
    const std::uint64_t line = line_of(bench, 1);
    const auto hit = static_cast<Cycle>(bench.machine->integer("l2.hit_latency"));
    const auto far = static_cast<Cycle>(bench.machine->integer("l2.far_latency"));
    const auto once = [&](std::size_t sm) {
        SyntheticSm& at = *bench.sms[sm];
        at.requests.push_back({.line = line, .sectors = 1});
        bench.run();
        return at.answers.back().answered - at.answers.back().sent;
    };
    EXPECT_GT(once(2), hit);  // near the home: from DRAM
    EXPECT_EQ(once(2), hit);
    EXPECT_EQ(once(0), hit + far);  // from the home
    EXPECT_EQ(once(0), hit);        // from the copy
    EXPECT_EQ(once(1), hit);
    // A write recalls the copy.
    bench.sms[2]->requests.push_back({.line = line, .kind = RequestKind::kWrite, .sectors = 1});
    bench.run();
    EXPECT_EQ(once(0), hit + far);
}

}  // namespace
}  // namespace lockstep::gpu
