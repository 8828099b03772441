// SPDX-License-Identifier: Apache-2.0
// Code and constants come from L2 and DRAM through the cache of the GPC.
#include <gtest/gtest.h>

#include "sm_fixture.h"

namespace lockstep::gpu {
namespace {

std::vector<sass::Word> line_of_code(unsigned lines = 1) {
    // EXIT, which the fixture appends, makes the last line full.
    return std::vector<sass::Word>(8 * lines - 1, ffma(20, 2, 5, 255));
}

constexpr const char* kNoPrefetch = "launch.code_prefetch=0";
/// Times must not depend on when a bank is refreshed.
constexpr const char* kNoRefresh = "dram.refresh=none";

TEST(Gcc, ColdCodeComesFromDram) {
    SmFixture sm("h200", {"front_end.prefetch_lines=0", kNoPrefetch, "launch.begin_latency=0",
                          "launch.end_latency=0"});
    const KernelCounters counters = sm.run(line_of_code());
    EXPECT_EQ(counters.gcc.misses, 1u);
    // Two lines of 128 bytes are fetched from L2 at a time.
    EXPECT_EQ(counters.partition.dram_bytes_read, 256u);
    EXPECT_GT(counters.cycles, 500u);
    EXPECT_LT(sm.warm_cycles(line_of_code()), 200u);
}

TEST(Gcc, ALineOfAnotherLinesGroupIsThere) {
    SmFixture sm("h200", {"front_end.prefetch_lines=0", kNoPrefetch});
    const auto one = sm.run(line_of_code(1)), two = sm.run(line_of_code(2)),
               three = sm.run(line_of_code(3));
    EXPECT_EQ(two.gcc.misses, 1u);
    EXPECT_EQ(two.gcc.hits, 1u);
    EXPECT_LT(two.cycles, one.cycles + 250);
    EXPECT_EQ(three.gcc.misses, 2u);
    EXPECT_GT(three.cycles, two.cycles + 500);
}

TEST(Gcc, SmsOfAGpcShareWhatItHolds) {
    const auto run = [](const char* gpcs) {
        SmFixture sms("h200", {"sm.count=8", gpcs, "front_end.prefetch_lines=0", kNoPrefetch,
                               "launch.constant_prefetch=false"});
        return sms.run(line_of_code(), 1, 8);
    };
    const KernelCounters one = run("gpc.count=1"), four = run("gpc.count=4");
    EXPECT_EQ(one.gcc.hits + one.gcc.misses, 8u);
    EXPECT_EQ(one.partition.sectors_read_hit + one.partition.sectors_read_miss, 8u);
    EXPECT_GT(four.partition.sectors_to_gpcs, 4 * 8u - 1);
    EXPECT_EQ(four.partition.dram_bytes_read, 256u);
}

TEST(Gcc, WarpsThatEvictEachOthersCodeGoOn) {
    // A line that one warp waits for is also in the stream that another has begun anew.
    for (const char* size : {"front_end.l0_size=128", "front_end.l0_size=1KiB"}) {
        SmFixture sm("h200", {size, "front_end.l1_size=1KiB", "launch.warp_interval=37"});
        EXPECT_EQ(sm.run(line_of_code(40), 32).sm.instructions, 32u * 320);
    }
}

TEST(Launch, TakesTimeBeforeItsFirstCtaAndAfterItsLast) {
    const auto cycles = [](const char* before, const char* after) {
        return SmFixture("h200", {before, after, kNoPrefetch, kNoRefresh}).run({}).cycles;
    };
    const auto none = cycles("launch.begin_latency=0", "launch.end_latency=0");
    // DRAM, which brings the code, counts clocks of its own.
    EXPECT_NEAR(cycles("launch.begin_latency=700", "launch.end_latency=50"), none + 750, 1);
}

TEST(Gcc, ALaunchBringsItsCodeWhileItBegins) {
    // 16 lines and the one with EXIT; of the limit's 1 KiB eight.
    const auto run = [](const char* prefetch) {
        return SmFixture("h200", {"front_end.prefetch_lines=0", prefetch, kNoRefresh})
            .run(line_of_code(16));
    };
    const KernelCounters cold = run(kNoPrefetch), part = run("launch.code_prefetch=1024"),
                         warm = run("launch.code_prefetch=130816");
    EXPECT_EQ(cold.gcc.misses, 8u);
    EXPECT_EQ(part.gcc.misses, 4u);
    EXPECT_EQ(warm.gcc.misses, 0u);
    EXPECT_EQ(warm.partition.dram_bytes_read, cold.partition.dram_bytes_read);
    EXPECT_GT(cold.cycles, warm.cycles + 8 * 500);
}

TEST(Gcc, ALaunchBringsItsParametersWhileItBegins) {
    sass::Word word = instruction(0xa23, 4, 1, 0, 3);  // FFMA R4, R1, c[0][0], R3
    word.set_bits(40, 14, 0);
    const auto run = [&](const char* prefetch) {
        return SmFixture("h200", {"front_end.prefetch_lines=0", "launch.prefetch_to_sms=false",
                                  prefetch, kNoRefresh})
            .run({word});
    };
    const KernelCounters asked = run("launch.constant_prefetch=false"),
                         brought = run("launch.constant_prefetch=true");
    EXPECT_EQ(asked.gcc.misses, 1u);
    EXPECT_EQ(brought.gcc.misses, 0u);
    EXPECT_GT(asked.cycles, brought.cycles + 200);  // L2's latency
}

TEST(Gcc, ALaunchBringsToTheSmsWhatL2Holds) {
    std::vector<sass::Word> code = line_of_code(16);
    code.front() = instruction(0xa23, 4, 1, 0, 3);  // FFMA R4, R1, c[0][0], R3
    code.front().set_bits(40, 14, 0);
    const auto run = [&](const char* reach, unsigned launches, const char* line = "128B") {
        return SmFixture("h200", {"front_end.prefetch_lines=0", reach, kNoRefresh,
                                  fmt::format("front_end.line={}", line)})
            .run(code, 1, 1, launches);
    };
    const KernelCounters first = run("launch.prefetch_to_sms=true", 1),
                         again = run("launch.prefetch_to_sms=true", 2),
                         without = run("launch.prefetch_to_sms=false", 2);
    EXPECT_EQ(without.gcc.hits, 17u);  // a line of parameters beside the code's
    EXPECT_EQ(first.gcc.hits, 16u);    // parameters come through L2, code from DRAM
    EXPECT_EQ(again.gcc.hits + again.gcc.misses, 0u);
    EXPECT_LT(first.cycles, without.cycles);
    EXPECT_LT(again.cycles, without.cycles - 16 * 80);  // gcc.latency each, 89
    EXPECT_EQ(run("launch.prefetch_to_sms=true", 2, "64B").gcc.hits, 0u);
    EXPECT_EQ(run("launch.profiler=true", 2).gcc.hits, 17u);  // all is empty
}

TEST(Gcc, ALaunchThatBeginsAtOnceWaitsForItsCode) {
    const auto cycles = [](const char* prefetch) {
        return SmFixture("h200", {prefetch, "launch.begin_latency=0", kNoRefresh})
            .run(line_of_code())
            .cycles;
    };
    const auto ahead = cycles("launch.code_prefetch=130816"), none = cycles(kNoPrefetch);
    EXPECT_LT(ahead, none);
    EXPECT_GT(ahead, none - 100);
}

TEST(Gcc, AnSmHasSoManyLinesUnderWay) {
    const auto cycles = [](const char* requests) {
        return SmFixture("h200", {requests, kNoPrefetch}).run(line_of_code(9)).cycles;
    };
    EXPECT_GT(cycles("gcc.sm_requests=1"), cycles("gcc.sm_requests=64") + 500);
}

}  // namespace
}  // namespace lockstep::gpu
