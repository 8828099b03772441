// SPDX-License-Identifier: Apache-2.0
// What policies and ideal modes do to whole kernels.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "models/forwarding_device.h"
#include "sim/config/machine.h"
#include "sim/config/schema.h"
#include "sim/error/error.h"
#include "tests/page.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cuda {
namespace {

using Metrics = std::map<std::string, double>;
using Sets = std::vector<std::string>;

/// Keeps the metrics of the last launch.
class LastLaunch : public ForwardingDevice {
  public:
    using ForwardingDevice::ForwardingDevice;
    LaunchResult launch(const LaunchRequest& request) override {
        LaunchResult result = device().launch(request);
        metrics.clear();
        for (const auto& [name, value] : result.metrics) metrics[name] = value.as_double();
        return result;
    }
    Metrics metrics;
};

/// On a chip of four SMs; the workload checks its results.
Metrics run(const std::string& kernel, Sets sets, const std::string& on = "rtx3090") {
    const Sets small = {"sm.count=4", "gpc.count=2", "l2.slices=4", "dram.bus_width=32",
                        "l2.size=128KiB"};
    sets.insert(sets.begin(), small.begin(), small.end());
    const WorkloadText text = parse_workload(kernel);
    const Workload& workload = find_workload(text.name);
    LastLaunch device(make_simulator(config::Machine::load(on, sets), {}));
    run_workload(workload, parse_parameters(workload, text.parameters), 3, true, device);
    return device.metrics;
}

constexpr const char* kCycles = "sm__cycles_elapsed.max";
constexpr const char* kAdd = "vector_add:n=32768";
constexpr const char* kGemm = "sgemm:m=64,n=64,k=64";

TEST(Ideal, AnL2OfEveryLineNeverReadsDram) {
    const Metrics real = run(kAdd, {}), ideal = run(kAdd, {"ideal.l2=true"});
    EXPECT_GT(real.at("dram__bytes_read.sum"), 0);
    EXPECT_EQ(ideal.at("dram__bytes.sum"), 0);
    EXPECT_EQ(ideal.at("lts__t_sector_hit_rate.pct"), 100);
    EXPECT_LT(ideal.at(kCycles), real.at(kCycles));
}

TEST(Ideal, AnL2OfTwoPartsToo) {
    const Sets two = {"dram.bus_width=256"};
    for (const char* kernel : {kAdd, "histogram:n=16384", "reduce_atomic:n=8192"}) {
        Sets ideal = two;
        ideal.emplace_back("ideal.l2=true");
        const Metrics with = run(kernel, ideal, "h200");
        EXPECT_EQ(with.at("dram__bytes.sum"), 0) << kernel;
        EXPECT_LE(with.at(kCycles), run(kernel, two, "h200").at(kCycles)) << kernel;
    }
}

TEST(Gpcs, CodeComesFromTheCacheOfTheGpcThatTheMapNames) {
    // All SMs are in the second GPC: its cache alone reads the code from L2, and a launch of one
    // CTA finds it there, too.
    const char* const kReads = "lts__t_sectors_op_read.sum";
    EXPECT_LT(run(kAdd, {"gpc.sms=0,4"}).at(kReads), run(kAdd, {}).at(kReads));
    const char* const kHits = "lockstep__gcc_hit_rate.pct";
    EXPECT_EQ(run(kGemm, {"gpc.sms=0,4"}).at(kHits), run(kGemm, {}).at(kHits));
}

TEST(L2Partitions, AskForALatencyBetweenThem) {
    try {
        run(kAdd, {"l2.partitions=2", "l2.far_latency=0"});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("an even l2.far_latency"));
    }
}

TEST(Ideal, AnL1OfEveryLineHitsAlways) {
    const Metrics real = run(kGemm, {}), ideal = run(kGemm, {"ideal.l1=true"});
    EXPECT_LT(real.at("lockstep__l1_load_sector_hit_rate.pct"), 100);
    EXPECT_EQ(ideal.at("lockstep__l1_load_sector_hit_rate.pct"), 100);
    EXPECT_EQ(ideal.at("l1tex__m_xbar2l1tex_read_sectors.sum"), 0);
    EXPECT_LT(ideal.at(kCycles), real.at(kCycles));
}

TEST(Ideal, ATlbOfEveryPageAsksNobody) {
    const Sets small = {"memory_unit.tlb_entries=2", "memory_unit.page_size=4096"};
    Sets ideal = small;
    ideal.emplace_back("ideal.tlb=true");
    const Metrics with = run(kAdd, ideal), without = run(kAdd, small);
    EXPECT_LT(without.at("lockstep__l1_tlb_hit_rate.pct"), 100);
    EXPECT_EQ(with.at("lockstep__l1_tlb_hit_rate.pct"), 100);
    EXPECT_LT(with.at(kCycles), without.at(kCycles));
}

TEST(Ideal, AnInstructionCacheOfAllCodeWaitsForNone) {
    const Metrics real = run(kGemm, {}), ideal = run(kGemm, {"ideal.instruction_cache=true"});
    EXPECT_LT(ideal.at(kCycles), real.at(kCycles));
    // What is asked of the GPC's caches then are constants.
    EXPECT_LT(ideal.at("lockstep__gcc_requests.sum"), real.at("lockstep__gcc_requests.sum"));
}

TEST(Ideal, DramWithoutLimitsIsFasterThanItsBus) {
    const Metrics real = run("vector_add:n=262144", {}),
                  ideal = run("vector_add:n=262144", {"ideal.dram=true"});
    EXPECT_EQ(ideal.at("dram__bytes_read.sum"), real.at("dram__bytes_read.sum"));
    EXPECT_GT(ideal.at("dram__bytes.sum.per_second"), 32 / 8 * 19.5e9);
    EXPECT_EQ(ideal.at("dram__throughput.avg.pct_of_peak_sustained_elapsed"), 0);
    EXPECT_LT(ideal.at(kCycles), 0.9 * real.at(kCycles));
}

TEST(Policies, EveryChoiceComputesTheSameAndTakesItsOwnTime) {
    const std::string kernel = "histogram:n=16384";
    const auto machine = config::Machine::load("rtx3090");
    const Metrics usual = run(kernel, {});
    for (const char* path : {"sub_core.scheduler", "l1.replacement", "l2.replacement",
                             "dram.scheduler", "dram.row_policy"})
        for (const config::Entry& entry : config::find_kind("gpu")->entries) {
            if (entry.path != path) continue;
            EXPECT_GT(entry.choices.size(), 1u);
            for (const config::Choice& choice : entry.choices) {
                const Metrics with = run(kernel, {fmt::format("{}={}", path, choice.name)});
                EXPECT_EQ(with.at("smsp__inst_executed.sum"), usual.at("smsp__inst_executed.sum"))
                    << path << " " << choice.name;
                if (choice.name == machine->text(path)) {
                    EXPECT_EQ(with, usual) << path;
                }
            }
        }
}

TEST(Policies, FirstComeFirstServedCostsStreamsTheirRowHits) {
    const Sets fcfs = {"dram.scheduler=fcfs"};
    EXPECT_GT(run(kAdd, fcfs).at(kCycles), 1.5 * run(kAdd, {}).at(kCycles));
}

TEST(Policies, AWrongNameIsToldTheNearest) {
    const auto message = [](const std::string& set) -> std::string {
        try {
            config::Machine::load("h200", {set});
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    };
    using testing::HasSubstr;
    EXPECT_THAT(message("sub_core.scheduler=greedy_then_old"),
                HasSubstr("'greedy_then_old' is none of greedy_then_youngest, greedy_then_oldest, "
                          "round_robin, two_level; did you mean greedy_then_oldest?"));
    EXPECT_THAT(message("l2.replacement=plru"), HasSubstr("lru, fifo, random, tree_plru"));
    EXPECT_THAT(message("dram.row_policy=close"), HasSubstr("did you mean closed?"));
    EXPECT_THAT(message("ideal.l2=yes"), HasSubstr("neither true nor false"));
}

/// What a run takes of the usual one's cycles, as +12.3%.
std::string change(double cycles, double usual) {
    return fmt::format("{:+.1f}%", 100 * (cycles / usual - 1));
}

TEST(Policies, ThePageHasWhatTheyDoToThreeKernels) {
    const std::string kernels[] = {"vector_add:n=65536", "transpose_naive:rows=128,cols=512",
                                   "sgemm_naive:m=32,n=64,k=512"};
    std::string page =
        "# What policies do to three kernels\n"
        "Made by tests/workloads/cuda/policies_test.cpp; do not edit. Cycles on an rtx3090 of four "
        "SMs, 128 KiB of L2 in four slices and a memory bus of 32 bits, against those of the "
        "policies that its machine file has.\n\n"
        "| `--set` | vector_add | transpose_naive | sgemm_naive |\n|---|---|---|---|\n";
    std::vector<double> usual;
    for (const std::string& kernel : kernels) usual.push_back(run(kernel, {}).at(kCycles));
    page += fmt::format("| (none), cycles | {} | {} | {} |\n", usual[0], usual[1], usual[2]);
    const auto machine = config::Machine::load("rtx3090");
    const auto add = [&](const std::string& set) {
        page += fmt::format("| `{}` |", set);
        for (std::size_t i = 0; i < usual.size(); ++i)
            page += fmt::format(" {} |", change(run(kernels[i], {set}).at(kCycles), usual[i]));
        page += "\n";
    };
    for (const char* path :
         {"sub_core.scheduler", "l1.replacement", "l2.replacement", "dram.scheduler",
          "dram.row_policy", "dram.refresh", "dram.refresh_order"})
        for (const config::Entry& entry : config::find_kind("gpu")->entries)
            for (const config::Choice& choice : entry.choices)
                if (entry.path == path && choice.name != machine->text(path))
                    add(fmt::format("{}={}", path, choice.name));
    for (const char* ideal : {"l1", "l2", "tlb", "instruction_cache", "dram"})
        add(fmt::format("ideal.{}=true", ideal));
    expect_page("models/gpu/policies.md", page);
}

}  // namespace
}  // namespace lockstep::cuda
