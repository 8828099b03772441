// SPDX-License-Identifier: Apache-2.0
// Every microbenchmark, emulated: what it computes is right, and it measures something under names
// that do not repeat. Times need the cycle model.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "models/device.h"
#include "sim/config/machine.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cuda {
namespace {

// Those whose defaults move more than a test needs.
const std::map<std::string_view, std::string_view> kSmaller = {
    {"micro_dram_copy", "mib=2,base=1,ctas=1"},
    {"micro_dram_latency", "steps=64,evict=0"},
    {"micro_dram_read", "mib=2,base=1,ctas=1"},
    {"micro_dram_write", "mib=2,base=1,ctas=1"},
    {"micro_l2_bandwidth", "kib=512,passes=2"},
    {"micro_l2_chunks", "chunks=2,kib=64,waves=1,ctas=1"},
    {"micro_l2_write_bandwidth", "kib=512,passes=2"},
    {"micro_launch", "ctas=200"},
    {"micro_tma_read", "mib=1"},
    {"micro_tlb_latency", "bytes=33554432,steps=16,evict=0"},
};

/// Those that compute nothing.
const std::set<std::string_view> kUnchecked = {
    "micro_barrier",         "micro_cluster_barrier",
    "micro_dsmem_bandwidth", "micro_dsmem_write_bandwidth",
    "micro_fence_cta",       "micro_fence_gpu",
    "micro_fence_sys",       "micro_launch",
    "micro_mbarrier_arrive", "micro_named_barrier",
    "micro_token",
};

Outcome run(const std::string& name, std::string_view parameters, const char* machine) {
    const auto device = make_emulator(config::Machine::load(machine), {.checks = kCheckHazards});
    const Workload& workload = find_workload(name);
    Outcome outcome =
        run_workload(workload, parse_parameters(workload, parameters), 7, true, *device);
    EXPECT_EQ(device->findings(), 0u) << machine;
    return outcome;
}

class Micro : public testing::TestWithParam<std::string> {
  protected:
    void check(const char* machine) {
        const auto smaller = kSmaller.find(GetParam());
        Outcome outcome;
        try {
            outcome = run(GetParam(), smaller == kSmaller.end() ? "" : smaller->second, machine);
        } catch (const InputError& error) {
            GTEST_SKIP() << "SKIPPED: " << error.what();
        }
        EXPECT_FALSE(outcome.launches.empty());
        EXPECT_EQ(outcome.checks.empty(), kUnchecked.contains(GetParam()));
        for (const CheckRecord& check : outcome.checks) {
            EXPECT_TRUE(check.passed) << machine << ": " << check.message;
        }
        std::set<std::string> names;
        for (const Measurement& m : outcome.measurements) {
            EXPECT_TRUE(names.insert(m.name).second) << m.name;
            EXPECT_FALSE(m.unit.empty());
        }
        EXPECT_FALSE(names.empty());
    }
};

TEST_P(Micro, OnSm75) {
    check("t4");
}
TEST_P(Micro, OnSm80) {
    check("a100");
}
TEST_P(Micro, OnSm86) {
    check("rtx3090");
}
TEST_P(Micro, OnSm90) {
    check("h200");
}

std::vector<std::string> names() {
    std::vector<std::string> list;
    for (const Workload& workload : workloads()) {
        if (workload.name.starts_with("micro_")) list.push_back(workload.name);
    }
    return list;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Micro, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param.substr(6); });

TEST(MicroParameters, OfMemoryBenchmarksAreHeeded) {
    for (const auto& [name, parameters] :
         {std::pair{"micro_chase", "bytes=65536,stride=256,steps=320,warm=0,scattered=1,width=128"},
          std::pair{"micro_chase", "bytes=4096,stride=64,steps=100,past_l1=1,evict=0"},
          std::pair{"micro_shared_latency", "width=128,stride=2"},
          std::pair{"micro_shared_latency", "width=64,stride=0"},
          std::pair{"micro_shared_bandwidth", "width=32,stride=32,warps=3"},
          std::pair{"micro_constant_latency", "bytes=4096"},
          std::pair{"micro_ldmatrix", "matrices=1,warps=4"},
          std::pair{"micro_atomic_shared_rate", "stride=0,warps=2"},
          std::pair{"micro_reduction_rate", "ctas=3,thread_stride=0,block_stride=0"},
          std::pair{"micro_code_walk", "kib=160,rounds=1"}}) {
        for (const CheckRecord& check : run(name, parameters, "h200").checks) {
            EXPECT_TRUE(check.passed) << name << ": " << check.message;
        }
    }
}

}  // namespace
}  // namespace lockstep::cuda
