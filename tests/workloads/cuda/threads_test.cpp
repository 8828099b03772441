// SPDX-License-Identifier: Apache-2.0
// Results never depend on the number of host threads: every workload leaves the same bytes in the
// device's memory and executes the same instructions with one thread and with three. Sums by
// floating-point atomics are among them: CTAs commit in an order that threads do not change.
#include <gtest/gtest.h>

#include "sim/config/machine.h"
#include "tests/workloads/cuda/recorder.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cuda {
namespace {

Trace run(const Workload& workload, unsigned threads) {
    Recorder recorder(make_emulator(config::Machine::load("h200"), {.threads = threads}));
    run_workload(workload, parse_parameters(workload, ""), 3, false, recorder);
    return recorder.trace();
}

class Threads : public testing::TestWithParam<std::string> {};

TEST_P(Threads, DoNotChangeResults) {
    const Workload& workload = find_workload(GetParam());
    const Trace one = run(workload, 1);
    EXPECT_FALSE(one.hashes.empty());
    EXPECT_EQ(one, run(workload, 3));
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    // Microbenchmarks leave clocks in memory.
    for (const Workload& workload : workloads()) {
        if (!workload.name.starts_with("micro_")) names.push_back(workload.name);
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(Workloads, Threads, testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lockstep::cuda
