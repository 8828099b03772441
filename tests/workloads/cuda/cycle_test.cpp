// SPDX-License-Identifier: Apache-2.0
// Every workload on the cycle model of a few SMs: memory ends as in emulation, and neither it nor a
// single cycle or metric depends on host threads or on the order in which units take turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "sim/config/machine.h"
#include "tests/workloads/cuda/recorder.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cuda {
namespace {

/// Sums of floating-point numbers by atomics, whose last bits are a matter of order.
const std::set<std::string> kOrderMatters = {"reduce_atomic"};

/// A few CTAs for each SM, a fraction of a second.
Parameters small(const Workload& workload) {
    const std::map<std::string, std::int64_t> limits = {
        {"n", 10'000}, {"m", 80},       {"k", 96},     {"heads", 2},  {"seq", 33},
        {"h", 10},     {"w", 10},       {"c", 5},      {"planes", 8}, {"rows", 100},
        {"cols", 100}, {"tokens", 100}, {"outer", 20}, {"bins", 99}};
    Parameters parameters = parse_parameters(workload, "");
    const bool is_gemm = parameters.contains("m");
    for (auto& [name, value] : parameters) {
        const auto limit = limits.find(is_gemm && name == "n" ? "m" : name);
        if (limit != limits.end()) value = std::min(value, limit->second);
    }
    return parameters;
}

std::shared_ptr<const config::Machine> machine(const std::string& name) {
    return config::Machine::load(name, {"sm.count=4"});
}

Trace run(const Workload& workload, std::unique_ptr<Device> device, bool verify = false) {
    Recorder recorder(std::move(device));
    const Outcome outcome = run_workload(workload, small(workload), 3, verify, recorder);
    EXPECT_TRUE(outcome.passed());
    return recorder.trace();
}

using Case = std::tuple<std::string, std::string>;
class Cycle : public testing::TestWithParam<Case> {};

TEST_P(Cycle, LeavesWhatEmulationLeaves) {
    const auto& [name, on] = GetParam();
    const Workload& workload = find_workload(name);
    if (!workload.runs_on(machine(on)->integer("arch"))) GTEST_SKIP() << "SKIPPED: not for " << on;
    const bool order_matters = kOrderMatters.contains(name);
    const Trace emulated = run(workload, make_emulator(machine(on), {}));
    const Trace simulated = run(workload, make_simulator(machine(on), {}), order_matters);
    ASSERT_FALSE(simulated.cycles.empty());
    for (const std::uint64_t cycles : simulated.cycles) EXPECT_GT(cycles, 0u);
    if (!order_matters) {
        EXPECT_EQ(simulated.hashes, emulated.hashes);
    }
    const Trace again = run(workload, make_simulator(machine(on), {.threads = 3, .shuffle = 7}));
    EXPECT_EQ(again.hashes, simulated.hashes);
    EXPECT_EQ(again.instructions, simulated.instructions);
    EXPECT_EQ(again.cycles, simulated.cycles);
    EXPECT_EQ(again.metrics, simulated.metrics);
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    // Microbenchmarks leave clocks in memory.
    for (const Workload& workload : workloads()) {
        if (!workload.name.starts_with("micro_")) names.push_back(workload.name);
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(Workloads, Cycle,
                         testing::Combine(testing::ValuesIn(all_names()),
                                          testing::Values("h200", "rtx3090")),
                         [](const auto& test) {
                             return std::get<0>(test.param) + "_on_" + std::get<1>(test.param);
                         });

/// The time-out of a wait that has long been over wakes nobody: a warp that runs is not looked at
/// twice, and one that has exited, and whose stores are on their way, not at all.
TEST(MbarrierWait, DoesNotTimeOutOnceItIsOver) {
    const auto cycles = [](const std::string& limit) {
        Recorder recorder(make_simulator(
            config::Machine::load("h100", {"sm.count=4", "mbarrier.try_wait_limit=" + limit}), {}));
        const WorkloadText text = parse_workload("hgemm_ladder:m=256,n=256,k=2048,step=7");
        const Workload& workload = find_workload(text.name);
        run_workload(workload, parse_parameters(workload, text.parameters), 3, false, recorder);
        return recorder.trace().cycles;
    };
    const auto without = cycles("1000000");
    for (const char* const limit : {"15001", "20001", "30001"})  // no wait takes as long
        EXPECT_EQ(cycles(limit), without) << limit;
}

/// Of a launch of relu on four SMs.
LaunchResult run_relu(const char* on, const char* override) {
    const auto device = make_simulator(config::Machine::load(on, {"sm.count=4", override}), {});
    const Workload& relu = find_workload("relu");
    return run_workload(relu, small(relu), 3, false, *device).launches.at(0).result;
}

double metric(const LaunchResult& result, std::string_view name) {
    const auto at = std::find_if(result.metrics.begin(), result.metrics.end(),
                                 [&](const auto& m) { return m.first == name; });
    return at->second.as_double();
}

TEST(Profiler, LengthensWhatMetricsSayAndEmptiesTheSmsCaches) {
    const LaunchResult without = run_relu("h200", "launch.profiler=false"),
                       with = run_relu("h200", "launch.profiler=true"),
                       empty = run_relu("h200", "launch.prefetch_to_sms=false");
    constexpr std::string_view kCycles = "sm__cycles_elapsed.max";
    EXPECT_EQ(with.cycles, empty.cycles);
    EXPECT_GT(with.cycles, without.cycles);
    EXPECT_EQ(metric(with, kCycles),
              metric(empty, kCycles) + machine("h200")->number("launch.profiler_latency"));
}

/// The last instruction but the exit stores: a warp that waits until L2 has the data drains longer,
/// and its place is free later. The kernel ends with its last store all the same.
TEST(Exit, AwaitsStoresWhereTheMachineSaysSo) {
    const auto drain = [](const LaunchResult& result) {
        return metric(result, "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio") *
               static_cast<double>(result.warp_instructions);
    };
    const LaunchResult sent = run_relu("a100", "sub_core.exit_awaits_stores=false"),
                       performed = run_relu("a100", "sub_core.exit_awaits_stores=true");
    // The way to L2 at least, for each warp; a warp has no more than 32 instructions.
    const double latency = machine("a100")->number("crossbar.request_latency");
    EXPECT_GT(drain(performed),
              drain(sent) + latency * static_cast<double>(performed.warp_instructions) / 32);
    EXPECT_GE(performed.cycles, sent.cycles);
}

}  // namespace
}  // namespace lockstep::cuda
