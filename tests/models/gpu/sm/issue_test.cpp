// SPDX-License-Identifier: Apache-2.0
// What issue costs, on hand-made sequences: the control bits, pipes, register ports, the queue of
// memory instructions, as Huerta et al. (MICRO'25) measured them.
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "sm_fixture.h"

namespace lockstep::gpu {
namespace {

/// Machines whose instruction fetch is out of the way, as the sequences are straight-line code, and
/// whose pipes keep up all of their rate, unless the overrides say otherwise.
SmFixture without_fetch(std::vector<std::string> overrides = {}, const std::string& on = "h200") {
    overrides.insert(overrides.begin(), {"front_end.l0_miss_latency=1", "pipe.sustained=1"});
    return SmFixture(on, std::move(overrides));
}

TEST(Issue, WaitsForTheStallCount) {
    SmFixture sm = without_fetch();
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(0, 1, 2, 3, {.stall = 4})}), 4);
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(0, 1, 2, 0, {.stall = 11})}), 11);
}

TEST(Issue, YieldAloneCostsACycle) {
    SmFixture sm = without_fetch();
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(0, 1, 2, 3, {.stall = 2, .yield = true})}), 2);
    EXPECT_DOUBLE_EQ(sm.cycles_each({imad(0, 1, 2, 3, {.stall = 1, .yield = true})}), 2);
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(0, 1, 2, 3, {.stall = 0, .yield = true})}, 16), 45);
}

TEST(Issue, PathsThatMeetCostTheirTime) {
    // BSYNC B0 of threads that all come to it
    const sass::Word bsync = instruction(0x941, 0, 0, 0, 0, {.stall = 5});
    EXPECT_DOUBLE_EQ(without_fetch({"front_end.bsync_latency=0"}).cycles_each({bsync}), 5);
    EXPECT_DOUBLE_EQ(without_fetch({"front_end.bsync_latency=12"}).cycles_each({bsync}), 17);
}

TEST(Issue, IsLimitedByThePipesLanes) {
    // One operand is reused, so that the register ports do not limit.
    const std::vector<sass::Word> fp32 = {ffma(4, 1, 2, 3, {.reuse = 7})};
    const std::vector<sass::Word> integer = {imad(4, 1, 2, 3, {.reuse = 7})};
    EXPECT_DOUBLE_EQ(without_fetch().cycles_each(fp32), 1);
    EXPECT_DOUBLE_EQ(without_fetch().cycles_each(integer), 2);
    EXPECT_DOUBLE_EQ(without_fetch({}, "a100").cycles_each(fp32), 2);
    // Four warps, each in a sub-core of its own, do not disturb each other.
    EXPECT_DOUBLE_EQ(without_fetch().cycles_each(fp32, 64, 4), 1);
    // Eight share four sub-cores.
    EXPECT_DOUBLE_EQ(without_fetch().cycles_each(fp32, 64, 8), 2);
}

TEST(Issue, PipesHeldForSeveralCyclesSustainAShareOfTheirRate) {
    SmFixture sm = without_fetch({"pipe.sustained=0.8"});
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(4, 1, 2, 3, {.reuse = 7})}), 1);
    // 0, 2, 5, 7, 10: half a cycle each is lost, a whole one every second time.
    EXPECT_DOUBLE_EQ(sm.cycles_each({imad(4, 1, 2, 3, {.reuse = 7})}), 2.5);
    // Below the rate of the pipe nothing is.
    EXPECT_DOUBLE_EQ(sm.cycles_each({imad(4, 1, 2, 3, {.stall = 3, .reuse = 7})}), 3);
}

// 369 cycles on an H200, and one each 278 of a sub-core, where all lanes differ (micro_match).
TEST(Issue, MatchesOneValueAfterTheOther) {
    SmFixture sm = without_fetch(
        {"pipe.reduce.interval=8", "pipe.reduce.latency=40", "pipe.reduce.value_latency=10.5"});
    sass::Word match = instruction(0x3a1, 5, 4, 0, 0);
    match.set_bits(79, 1, 1);  // .ANY
    const auto cycles = [&](std::vector<sass::Word> code, unsigned times, sass::Word step) {
        code.insert(code.end(), times, step);
        return static_cast<double>(sm.warm_cycles(code));
    };
    // Registers begin as zeros: one value.
    EXPECT_EQ(cycles({}, 20, match) - cycles({}, 10, match), 80);
    sass::Word lane = instruction(0x919, 4, 255, 255, 255, {.stall = 2, .write_barrier = 0});
    lane.set_bits(72, 8, 0);
    sass::Word wait = ffma(6, 7, 8, 9, {.stall = 2, .wait_mask = 1});
    EXPECT_EQ(cycles({lane, wait}, 20, match) - cycles({lane, wait}, 10, match), 10 * 32 * 8);
    match.set_bits(16, 8, 255);  // nobody wants the masks
    EXPECT_EQ(cycles({lane, wait}, 20, match) - cycles({lane, wait}, 10, match), 10 * 32 * 8);
    // The next one waits for the result of the one before.
    sass::Word chain =
        instruction(0x3a1, 5, 4, 0, 0, {.stall = 2, .write_barrier = 1, .wait_mask = 2});
    chain.set_bits(79, 1, 1);
    EXPECT_EQ(cycles({lane, wait}, 20, chain) - cycles({lane, wait}, 10, chain),
              10 * (40 + 326));  // 31 times 10.5
}

/// MEMBAR of a scope: 0 CTA, 2 GPU.
sass::Word membar(unsigned scope) {
    sass::Word word = instruction(0x992, 0, 0, 0, 0);
    word.set_bits(76, 3, scope);
    return word;
}

// A barrier of a cluster takes 9.5 cycles more for each warp on an H200: each fences.
TEST(Issue, FencesBeyondTheCtaArePerformedOneAfterTheOther) {
    SmFixture sm =
        without_fetch({"membar.cta_latency=20", "membar.gpu_latency=20", "membar.interval=30"});
    EXPECT_NEAR(sm.cycles_each({membar(0)}, 64, 4), 20, 1);
    EXPECT_NEAR(sm.cycles_each({membar(2)}, 64, 1), 30, 1);
    EXPECT_NEAR(sm.cycles_each({membar(2)}, 64, 4), 120, 2);
}

/// F2F.F64.F32 Rd, Rb
sass::Word to_double(unsigned d, unsigned b) {
    sass::Word word = instruction(0x310, d, 0, b, 0);
    word.set_bits(64, 8, 0);
    word.set_bits(75, 2, 3);
    word.set_bits(84, 2, 2);
    return word;
}

TEST(Issue, SubCoresShareAPipeForDoublesAndTheirConversionsWhereItIsOne) {
    const sass::Word dadd = instruction(0x229, 8, 2, 4, 255);
    SmFixture sm = without_fetch({}, "rtx3090");
    for (const unsigned warps : {1u, 2u, 4u, 8u}) {
        EXPECT_DOUBLE_EQ(sm.cycles_each({dadd}, 64, warps), 16 * warps);
        EXPECT_DOUBLE_EQ(sm.cycles_each({to_double(10, 2)}, 64, warps), 16 * warps);
    }
    EXPECT_DOUBLE_EQ(sm.cycles_each({dadd, to_double(10, 2)}, 64, 4), 2 * 16 * 4);
    // A pipe by sub-core, and conversions beside it.
    EXPECT_DOUBLE_EQ(without_fetch({}, "a100").cycles_each({dadd}, 64, 4), 4);
    EXPECT_DOUBLE_EQ(without_fetch({}, "a100").cycles_each({dadd, to_double(10, 2)}, 64, 4), 8);
}

TEST(SharedPipe, ServesTheSubCoresInTurn) {
    SharedPipe pipe;
    unsigned taken[4] = {};
    engine::Cycle latch_free[4] = {};
    for (engine::Cycle now = 0; now < 640; ++now)
        for (unsigned sub_core = 0; sub_core < 4; ++sub_core) {
            if (latch_free[sub_core] > now) continue;
            latch_free[sub_core] = pipe.take(now, 16) + 1;
            ++taken[sub_core];
        }
    for (const unsigned count : taken) EXPECT_EQ(count, 11u);  // ten that left, one in the latch
}

TEST(Issue, ReadsTwoRegisterBanksACycle) {
    SmFixture sm = without_fetch();
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(20, 2, 5, 255)}), 1);  // one from each bank
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(20, 2, 4, 5)}), 2);    // two from one
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(20, 2, 4, 6)}), 3);    // all from one
    // The second finds two of its operands in the reuse cache.
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(20, 2, 4, 6, {.reuse = 3}), ffma(22, 2, 4, 8)}), 4);
}

TEST(Issue, ReuseIsByOperandSlot) {
    SmFixture sm = without_fetch();
    // R2 and R4 change places: no hits.
    EXPECT_DOUBLE_EQ(sm.cycles_each({ffma(20, 2, 4, 6, {.reuse = 3}), ffma(22, 4, 2, 8)}), 6);
}

TEST(Issue, AConsumerWaitsForItsCounter) {
    SmFixture sm = without_fetch();
    const auto latency =
        sm.parameters().operation[static_cast<unsigned>(OperationClass::kMufu)].latency;
    EXPECT_DOUBLE_EQ(
        sm.cycles_each({mufu_rcp(1, 1, {.stall = 2, .write_barrier = 0, .wait_mask = 1})}),
        latency);
}

TEST(Issue, MemoryInstructionsQueueFourDeepAndOneInTheLatch) {
    // The sixth waits until the first has left for the memory unit, then one every four cycles.
    SmFixture sm = without_fetch({"sub_core.memory_queue=5"});
    const auto cycles = [&](unsigned loads) {
        std::vector<sass::Word> code;
        for (unsigned i = 0; i < loads; ++i) code.push_back(lds(4 + i, 255));
        // A marker: issues right after the last load has issued.
        for (unsigned i = 0; i < 40; ++i) code.push_back(ffma(60, 1, 2, 255, {.stall = 4}));
        return sm.warm_cycles(code);
    };
    for (unsigned loads = 1; loads < 5; ++loads)
        EXPECT_EQ(cycles(loads + 1) - cycles(loads), 1u) << loads;
    EXPECT_GT(cycles(6) - cycles(5), 4u);
    for (unsigned loads = 6; loads < 10; ++loads)
        EXPECT_EQ(cycles(loads + 1) - cycles(loads), 4u) << loads;
}

TEST(Issue, AFullDependenceCounterHoldsTheWarp) {
    // 63 loads fit into a counter; the next waits until the first has come back.
    SmFixture sm = without_fetch(
        {"memory_unit.shared_latency_uniform=2000", "memory_unit.shared_latency=2000"});
    const auto cycles = [&](unsigned loads) {
        std::vector<sass::Word> code(loads, lds(4, 255, {.write_barrier = 0}));
        code.push_back(ffma(60, 1, 2, 255, {.wait_mask = 1}));
        EXPECT_EQ(sm.run(code).sm.instructions, loads + 2);
        return sm.warm_cycles(code);
    };
    EXPECT_LT(cycles(63), 2600u);
    EXPECT_GT(cycles(64), 4000u);
    EXPECT_LT(cycles(126), 4600u);
}

TEST(Issue, MemoryInstructionsOfAllSubCoresShareTheArbiter) {
    SmFixture sm = without_fetch({"sub_core.arbiter_interval=2"});
    EXPECT_DOUBLE_EQ(sm.cycles_each({lds(4, 255)}, 64, 1), 4);
    EXPECT_DOUBLE_EQ(sm.cycles_each({lds(4, 255)}, 64, 2), 4);
    EXPECT_DOUBLE_EQ(sm.cycles_each({lds(4, 255)}, 64, 3), 6);
    EXPECT_DOUBLE_EQ(sm.cycles_each({lds(4, 255)}, 64, 4), 8);
    SmFixture fast = without_fetch({"sub_core.arbiter_interval=1"});
    EXPECT_DOUBLE_EQ(fast.cycles_each({lds(4, 255)}, 64, 4), 4);
}

TEST(Issue, MemoryInstructionsOfNoLaneGoTheWayOfTheOthers) {
    SmFixture sm = without_fetch({"sub_core.arbiter_interval=1"});
    constexpr unsigned kNever = 15;  // the guard !PT
    sass::Word load = lds(4, 255, {.write_barrier = 0, .wait_mask = 1});
    const double latency = sm.cycles_each({load});
    load.set_bits(12, 4, kNever);
    EXPECT_DOUBLE_EQ(sm.cycles_each({load}), latency);
    sass::Word word = lds(4, 255);
    word.set_bits(12, 4, kNever);
    EXPECT_DOUBLE_EQ(sm.cycles_each({word}, 64, 4), 4);
    EXPECT_EQ(sm.run({word}).sm.shared_load, 0u);
}

// H200: 15.2 lanes a cycle read special registers.
TEST(Issue, SpecialRegistersGoThroughTheQueueOfMemoryInstructions) {
    SmFixture sm = without_fetch({"sub_core.arbiter_interval=1"});
    sass::Word s2r = instruction(0x919, 4, 255, 255, 255);
    s2r.set_bits(72, 8, 0x21);  // SR_TID.X
    EXPECT_DOUBLE_EQ(sm.cycles_each({s2r}, 64, 4), 8);
    EXPECT_DOUBLE_EQ(sm.cycles_each({s2r}, 64, 1), 4);
    // Loads have an entrance of their own, behind the same address unit.
    EXPECT_DOUBLE_EQ(sm.cycles_each({s2r, lds(4, 255)}, 64, 4), 8);
    const SmCounters counters = sm.run(std::vector<sass::Word>(32, s2r), 8).sm;
    EXPECT_GT(counters.warp_cycles[static_cast<unsigned>(WarpState::kMioThrottle)], 0u);
    EXPECT_EQ(counters.pipe_instructions[static_cast<unsigned>(Pipe::kLsu)], 8 * 32u);
}

TEST(Issue, WarpsThatLackAPipeAreNotHeldByDispatch) {
    SmFixture sm = without_fetch();
    for (const auto& [word, state] :
         {std::pair(mufu_rcp(4, 2), WarpState::kMioThrottle),
          std::pair(imad(4, 1, 2, 3, {.reuse = 7}), WarpState::kMathPipeThrottle)}) {
        // Two warps on each sub-core: while one holds the pipe, the other waits for it.
        const auto cycles = sm.run(std::vector<sass::Word>(32, word), 8).sm.warp_cycles;
        EXPECT_GT(cycles[static_cast<unsigned>(state)], 32u);
        EXPECT_EQ(cycles[static_cast<unsigned>(WarpState::kDispatchStall)], 0u);
    }
}

/// Cycles that an instruction holds its pipe.
std::uint32_t interval_of(const sass::Word& word, const config::Machine& machine) {
    const SmParameters parameters(machine);
    sass::Program program(static_cast<int>(machine.integer("arch")));
    const std::uint32_t entry =
        program.add_function("test", true, std::as_bytes(std::span(&word, 1)));
    program.bind(entry);
    StaticTable table(parameters);
    table.describe(program, entry, 1);
    return table[entry].interval;
}

TEST(Issue, SlowTensorCoresAreAsSlowAsTheMachineSays) {
    // HMMA.16816.F16: 2,048 multiply-adds.
    sass::Word hmma = instruction(0x23c, 8, 2, 4, 6, {.reuse = 7});
    hmma.set_bits(75, 1, 1);
    hmma.set_bits(82, 2, 0);
    for (const unsigned macs : {512u, 4u, 1u}) {
        const auto machine =
            config::Machine::load("h200", {fmt::format("tensor_core.macs.fp16={}", macs)});
        EXPECT_EQ(interval_of(hmma, *machine), 2048 / macs);
    }
}

// NVIDIA's Ada whitepaper: FP8 with FP32 sums has half the rate on GeForce cards.
TEST(Issue, Fp8ProductsTakeTheTimeOfTheirShapeAndSums) {
    const auto geforce = config::Machine::load("rtx4090", {}),
               professional = config::Machine::load("l40s", {});
    for (const bool is_16832 : {false, true})
        for (const bool has_fp32_sums : {false, true}) {
            sass::Word qmma = instruction(0x27a, 8, 2, 4, 6);
            qmma.set_bits(74, 1, 1);
            qmma.set_bits(75, 1, is_16832);
            qmma.set_bits(77, 1, has_fp32_sums);
            qmma.set_bits(82, 2, 0);
            const unsigned at_full_rate = 16 * 8 * (is_16832 ? 32 : 16) / 256;
            EXPECT_EQ(interval_of(qmma, *professional), at_full_rate);
            EXPECT_EQ(interval_of(qmma, *geforce), has_fp32_sums ? 2 * at_full_rate : at_full_rate);
        }
}

TEST(Issue, ABarrierReleasesAllWarps) {
    SmFixture sm = without_fetch();
    const KernelCounters four = sm.run({bar_sync({.stall = 5}), ffma(0, 1, 2, 3)}, 4);
    EXPECT_EQ(four.sm.instructions, 4u * 3);
    EXPECT_DOUBLE_EQ(sm.cycles_each({bar_sync({.stall = 5})}, 16, 1),
                     sm.parameters().barrier_latency);
}

// It goes through their queue, behind what the warp has issued before.
TEST(Issue, ABarrierWaitsForTheMemoryInstructionsBeforeIt) {
    SmFixture sm = without_fetch();
    EXPECT_GE(sm.cycles_each({lds(4, 255), bar_sync({.stall = 5})}, 16, 1),
              sm.parameters().memory_issue_latency_uniform + sm.parameters().barrier_latency);
}

/// NANOSLEEP of so many ns, with or without .SYNCS.
sass::Word nanosleep(std::uint32_t nanoseconds, bool syncs) {
    sass::Word word = instruction(0x95d, 0, 0, 0, 0);
    word.set_bits(32, 32, nanoseconds);
    word.set_bits(84, 1, syncs);
    return word;
}

TEST(Issue, ASleepThatWaitsForAnMbarrierEndsWithIt) {
    SmFixture sm = without_fetch({"clock.sm=1000"});
    EXPECT_NEAR(sm.cycles_each({nanosleep(500, false)}, 16, 1), 500, 5);
    EXPECT_LT(sm.cycles_each({nanosleep(500, true)}, 16, 1), 10);  // there is none
}

TEST(Constants, WarpsThatEvictEachOthersLinesGoOn) {
    // Warps start apart and want two lines in turn, of which the cache holds one.
    SmFixture sm("h200", {"constant_cache.l0_size=64", "launch.warp_interval=37"});
    std::vector<sass::Word> code;
    for (unsigned i = 0; i < 16; ++i) {
        sass::Word word = instruction(0xa23, 4, 1, 0, 3);  // FFMA R4, R1, c[0][...], R3
        word.set_bits(32, 32, 0);
        word.set_bits(40, 14, i % 2 * 64 / 4);
        code.push_back(word);
    }
    EXPECT_EQ(sm.run(code, 32).sm.instructions, 32u * 17);
}

TEST(SubCores, AreAsManyAsTheMachineSays) {
    const std::vector<sass::Word> fp32 = {ffma(4, 1, 2, 3, {.reuse = 7})};
    const std::vector<std::string> three = {"sm.sub_cores=3", "sm.max_warps=64"};
    EXPECT_DOUBLE_EQ(without_fetch(three).cycles_each(fp32, 64, 3), 1);
    EXPECT_DOUBLE_EQ(without_fetch(three).cycles_each(fp32, 64, 4), 2);
    EXPECT_DOUBLE_EQ(without_fetch({"sm.sub_cores=1", "sm.max_warps=32"}).cycles_each(fp32, 64, 32),
                     32);
}

TEST(SubCores, RefuseNumbersThatDoNotGoTogether) {
    EXPECT_THROW(SmFixture("h200", {"sm.sub_cores=1"}), InputError);  // of 64 warps
    EXPECT_THROW(SmFixture("h200", {"sm.max_warps=129", "sm.sub_cores=8"}), InputError);
    EXPECT_THROW(SmFixture("h200", {"sm.max_warps=128", "sm.sub_cores=3"}), InputError);
    for (const char* override :
         {"memory_unit.page_size=3MiB", "l1.size=227KiB", "shared_memory.size=257KiB"})
        EXPECT_THROW(SmFixture("h200", {override}).run({}), InputError) << override;
}

TEST(Fetch, TheStreamBufferHidesMissesOfStraightLineCode) {
    const std::vector<sass::Word> body(8, ffma(20, 2, 5, 255, {.stall = 2}));  // one line
    const double with = SmFixture().cycles_each(body, 32, 1, true);
    const double without =
        SmFixture("h200", {"front_end.prefetch_lines=0"}).cycles_each(body, 32, 1, true);
    EXPECT_LT(with, without / 2);
}

TEST(Fetch, WarpsAtDifferentPlacesDoNotLoseEachOthersLines) {
    // Two warps of a sub-core, 25 lines apart; the buffer follows one, and then the other.
    const std::vector<sass::Word> body(8 * 100, ffma(20, 2, 5, 255));
    const auto cycles = [&](const char* l0_size) {
        SmFixture sm("h200", {"launch.warp_interval=50", "front_end.l0_ways=1", l0_size});
        return static_cast<double>(sm.warm_cycles(body, 5));
    };
    EXPECT_LT(cycles("front_end.l0_size=2KiB"), 1.5 * cycles("front_end.l0_size=16KiB"));
}

TEST(Fetch, AKernelThatTheCachesDoNotHoldIsSlow) {
    SmFixture small("h200", {"front_end.l0_size=1KiB", "front_end.l1_size=2KiB"});
    const std::vector<sass::Word> body(8, ffma(20, 2, 5, 255));
    EXPECT_GT(small.cycles_each(body, 64), without_fetch().cycles_each(body, 64));
}

TEST(States, OfAWarpAddUpToItsTime) {
    SmFixture sm;
    std::vector<sass::Word> code;
    for (unsigned i = 0; i < 50; ++i) {
        code.push_back(ffma(20, 2, 4, 6));
        code.push_back(lds(4, 255, {.write_barrier = 1}));
        code.push_back(imad(8, 4, 4, 5, {.stall = 5, .wait_mask = 2}));
    }
    const KernelCounters counters = sm.run(code, 8);
    std::uint64_t sum = 0;
    for (const std::uint64_t cycles : counters.sm.warp_cycles) sum += cycles;
    // Eight warps from their start, one a cycle, to their last instruction.
    const auto cycles = static_cast<double>(counters.cycles - sm.parameters().launch_begin -
                                            sm.parameters().launch_end);
    EXPECT_NEAR(static_cast<double>(sum), 8.0 * cycles, 8 * 40.0);
    EXPECT_EQ(counters.sm.issue_active, counters.sm.instructions);
}

}  // namespace
}  // namespace lockstep::gpu
