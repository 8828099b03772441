// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/device/settle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "models/gpu/memory/memory_parameters.h"
#include "models/gpu/sm/memory_unit_parameters.h"
#include "models/gpu/sm/sm_parameters.h"
#include "sim/config/schema.h"
#include "sim/error/error.h"

namespace lockstep::gpu {
namespace {

using config::Machine;
using testing::HasSubstr;

template <typename Run>
std::string error_of(const Run& run) {
    try {
        run();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(GpuSettle, TheDramBandwidthIsThatOfBusAndClock) {
    // Whichever is set, the DRAM that is simulated has the bandwidth that is shown.
    for (const char* set : {"dram.bandwidth=2000", "clock.memory=1330", "dram.bus_width=3008"}) {
        const auto machine = Machine::load("h200", {set});
        const MemoryParameters parameters = MemoryParameters::of(*machine);
        const memory::dram::Geometry& dram = parameters.dram;
        const double bytes = static_cast<double>(dram.clock_khz) * 1e3 * dram.channels *
                             dram.organisation.burst_bytes() / dram.timing.burst;
        EXPECT_NEAR(bytes / 1e9 / machine->number("dram.bandwidth"), 1, 1e-3) << set;
    }
    const auto slower = Machine::load("h200", {"dram.bandwidth=2406.5"});
    EXPECT_NEAR(slower->number("clock.memory"), 3201.0 / 2, 1);
    for (const config::Parameter& parameter : slower->parameters())
        if (parameter.path == "clock.memory") {
            EXPECT_EQ(parameter.evidence, "assumed: follows dram.bandwidth, which was set");
        }
    EXPECT_THAT(
        error_of([] {
            Machine::load("h200", {"dram.bandwidth=2000", "clock.memory=3201"});
        }),
        HasSubstr("--set: dram.bandwidth is 2000 GB/s, but 6016 bits at clock.memory 3201 MHz give "
                  "4814.3"));
}

TEST(GpuSettle, TheFp32LanesAreThoseOfThePipe) {
    EXPECT_EQ(Machine::load("h200", {"sm.fp32_lanes=32"})->integer("pipe.fma.interval"), 4);
    EXPECT_EQ(Machine::load("h200", {"pipe.fma.interval=2"})->integer("sm.fp32_lanes"), 64);
    EXPECT_EQ(Machine::load("h200", {"sm.sub_cores=2"})->integer("sm.fp32_lanes"), 64);
    EXPECT_THAT(error_of([] { Machine::load("h200", {"sm.fp32_lanes=100"}); }),
                HasSubstr("sm.fp32_lanes: 100 of 4 sub-cores can be 128, 64"));
    EXPECT_THAT(error_of([] { Machine::load("h200", {"sm.fp32_lanes=256"}); }),
                HasSubstr("can be 128, 64"));
}

TEST(GpuSettle, AHitInL2TakesWhatTheCrossbarTakes) {
    const auto before = Machine::load("h200");
    const std::int64_t hit = before->integer("l2.hit_latency"),
                       reply = before->integer("crossbar.reply_latency");
    const auto more =
        Machine::load("h200", {"crossbar.reply_latency=" + std::to_string(reply + 50)});
    EXPECT_EQ(more->integer("l2.hit_latency"), hit + 50);
    EXPECT_EQ(MemoryParameters::of(*more).slice_latency,
              MemoryParameters::of(*before).slice_latency);
    const auto both = Machine::load("h200", {"crossbar.reply_latency=" + std::to_string(reply + 9),
                                             "l2.hit_latency=" + std::to_string(hit)});
    EXPECT_EQ(both->integer("l2.hit_latency"), hit);
}

TEST(GpuSettle, LatenciesOfDramAndOfLaunchesAreTimes) {
    const auto before = Machine::load("h200");
    const auto slow = Machine::load("h200", {"clock.sm=990"});
    EXPECT_EQ(slow->integer("dram.latency"), (before->integer("dram.latency") + 1) / 2);
    for (const char* path : {"launch.begin_latency", "launch.end_latency"})
        EXPECT_EQ(slow->integer(path), (before->integer(path) + 1) / 2) << path;
    const auto both = Machine::load("h200", {"clock.sm=990", "dram.latency=300"});
    EXPECT_EQ(both->integer("dram.latency"), 300);
}

TEST(GpuSettle, L2AndCrossbarFollowTheirClock) {
    const auto before = Machine::load("h100");
    const auto fast = Machine::load("h100", {"clock.l2_ratio=1.25", "l2.atomic_interval=2"});
    const double up = 1.25 / before->number("clock.l2_ratio");
    for (const char* path : {"l2.slice_bandwidth", "l2.slice_write_bandwidth", "l2.link_bandwidth",
                             "crossbar.gpc_bandwidth"})
        EXPECT_DOUBLE_EQ(fast->number(path), up * before->number(path)) << path;
    for (const char* path :
         {"crossbar.request_latency", "crossbar.reply_latency", "l2.hit_latency", "l2.far_latency"})
        EXPECT_NEAR(fast->number(path), before->number(path) / up, 1) << path;
    EXPECT_EQ(fast->integer("l2.far_latency") % 2, 0);
    EXPECT_EQ(fast->number("l2.atomic_interval"), 2);
    EXPECT_EQ(Machine::load("a100", {"clock.l2_ratio=2"})->number("crossbar.gpc_bandwidth"), 65536)
        << "no limit before, none after";
}

TEST(GpuSettle, SharedMemoryCanBeSetAlone) {
    const auto machine = Machine::load("h200", {"shared_memory.size=100KiB"});
    EXPECT_EQ(machine->text("shared_memory.carve_outs"), "0,8,16,32,64,100");
    EXPECT_EQ(machine->integer("shared_memory.max_per_cta"), 99 * 1024);
    EXPECT_EQ(
        Machine::load("h200", {"shared_memory.carve_outs=0,50"})->integer("shared_memory.size"),
        50 * 1024);
    const auto large = Machine::load("h200", {"shared_memory.size=512KiB"});
    EXPECT_THAT(error_of([&] { MemoryUnitParameters parameters(*large); }),
                HasSubstr("l1.size (256 KiB) is less than shared_memory.size (512 KiB), a part of "
                          "it: set l1.size too"));
}

TEST(GpuSettle, SlicesAndChannelsThatDoNotGoTogetherNameThoseThatDo) {
    const auto error = [](const char* set) {
        const auto machine = Machine::load("h200", {set});
        return error_of([&] { MemoryParameters::of(*machine); });
    };
    EXPECT_THAT(error("l2.slices=48"),
                HasSubstr("48 L2 slices and 188 DRAM channels in 2 l2.partitions: one must be a "
                          "multiple of the other, and each of the partitions; with these channels "
                          "l2.slices can be 4 or 94; with these slices dram.bus_width can be 4608 "
                          "or 6144 bit"));
    EXPECT_THAT(error("dram.bus_width=4096"),
                HasSubstr("with these channels l2.slices can be 64 or 128; with these slices "
                          "dram.bus_width can be 3008 or 6016 bit"));
    for (const std::vector<std::string>& sets :
         {std::vector<std::string>{"dram.bus_width=4096", "l2.slices=64"},
          {"l2.slices=48", "dram.bus_width=3072"}})
        EXPECT_NO_THROW(MemoryParameters::of(*Machine::load("h200", sets))) << sets[0];
}

TEST(GpuRows, EachIsSaidOnceInAWholePhrase) {
    std::set<std::string_view> paths;
    for (const config::Kind& kind : config::kinds()) {
        paths.clear();
        for (const config::Entry& entry : kind.entries) {
            EXPECT_TRUE(paths.insert(entry.path).second) << entry.path;
            EXPECT_FALSE(entry.meaning.empty()) << entry.path;
            EXPECT_EQ(entry.meaning.find("likewise"), std::string_view::npos) << entry.path;
            EXPECT_FALSE(entry.meaning.starts_with("...")) << entry.path;
        }
    }
}

}  // namespace
}  // namespace lockstep::gpu
