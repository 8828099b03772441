// SPDX-License-Identifier: Apache-2.0
// The built-in kernels are right: checks find nothing in any of them.
#include <gtest/gtest.h>

#include "sim/config/machine.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cuda {
namespace {

class Checks : public testing::TestWithParam<std::string> {};

TEST_P(Checks, FindNothing) {
    const Workload& workload = find_workload(GetParam());
    for (const char* machine : {"h200", "a100"}) {
        const auto loaded = config::Machine::load(machine);
        if (!workload.runs_on(loaded->integer("arch"))) continue;
        const std::unique_ptr<Device> device =
            make_emulator(loaded, {.checks = kCheckRace | kCheckInit | kCheckSync});
        const Outcome outcome =
            run_workload(workload, parse_parameters(workload, ""), 3, false, *device);
        EXPECT_EQ(device->findings(), 0u) << machine;
        EXPECT_FALSE(outcome.launches.empty());
    }
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const Workload& workload : workloads()) names.push_back(workload.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Workloads, Checks, testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lockstep::cuda
