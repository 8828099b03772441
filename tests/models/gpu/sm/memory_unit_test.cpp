// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/texture/footprint.h"
#include "memory_unit_fixture.h"

namespace lockstep::gpu {

namespace {

using enum MemoryOperation;

std::uint64_t words(unsigned l) {
    return 0x10000 + 4 * l;
}

// Huerta et al. (MICRO 2025) measured these from issue on GA102. Of them 11 cycles (register
// addresses) and 9 (uniform addresses, shared memory) pass before the memory unit.
struct Measured {
    MemoryOperation operation;
    bool uniform;
    unsigned width;
    unsigned sources, result;
};

class TableOfLatencies : public MemoryUnitTest {};

TEST_F(TableOfLatencies, Ga102) {
    const Measured table[] = {
        {kLoadGlobal, true, 4, 9, 29},     {kLoadGlobal, true, 8, 9, 31},
        {kLoadGlobal, true, 16, 9, 35},    {kLoadGlobal, false, 4, 11, 32},
        {kLoadGlobal, false, 8, 11, 34},   {kLoadGlobal, false, 16, 11, 38},
        {kLoadShared, true, 4, 9, 23},     {kLoadShared, true, 8, 9, 23},
        {kLoadShared, true, 16, 9, 25},    {kLoadShared, false, 4, 9, 24},
        {kLoadShared, false, 8, 9, 24},    {kLoadShared, false, 16, 9, 26},
        {kStoreGlobal, true, 4, 10, 0},    {kStoreGlobal, true, 8, 12, 0},
        {kStoreGlobal, true, 16, 16, 0},   {kStoreGlobal, false, 4, 14, 0},
        {kStoreGlobal, false, 8, 16, 0},   {kStoreGlobal, false, 16, 20, 0},
        {kStoreShared, true, 4, 10, 0},    {kStoreShared, true, 8, 12, 0},
        {kStoreShared, true, 16, 16, 0},   {kStoreShared, false, 4, 12, 0},
        {kStoreShared, false, 8, 14, 0},   {kStoreShared, false, 16, 18, 0},
        {kCopyAsync, false, 4, 13, 39},    {kCopyAsync, false, 16, 13, 39},
        {kLoadConstant, false, 4, 29, 29}, {kLoadConstant, true, 4, 10, 26},
    };
    make();
    for (const Measured& m : table) {
        SCOPED_TRACE(testing::Message() << "operation " << static_cast<int>(m.operation)
                                        << (m.uniform ? " uniform " : " regular ") << m.width);
        const bool shared = m.operation == kLoadShared || m.operation == kStoreShared;
        const Cycle before = m.uniform || shared ? 9 : 11;
        const auto in = [&] {
            MemoryInstruction i = instruction(m.operation, m.width, [&](unsigned l) {
                if (m.operation == kLoadConstant) return std::uint64_t{64};
                return (shared ? 0 : 0x20000) + std::uint64_t{m.width} * l;
            });
            info_of(i).is_uniform_address = m.uniform;
            return i;
        };
        if (!shared) time(in());  // the line comes into L1
        const MemoryInstruction measured = in();
        const Cycle start = offer(measured, now_ + 1000);
        drain();
        EXPECT_EQ(core.read[measured.code_index] + before - start, m.sources);
        if (m.result != 0) {
            EXPECT_EQ(core.written[measured.code_index] + before - start, m.result);
        }
    }
}

TEST_F(MemoryUnitTest, AMissTakesTheHitLatencyAndTheMemory) {
    make();
    const Cycle miss = time(instruction(kLoadGlobal, 4, words));
    const Cycle hit = time(instruction(kLoadGlobal, 4, words));
    EXPECT_EQ(hit, 32u - 11u);
    EXPECT_EQ(miss, hit + kMemoryLatency);
    ASSERT_EQ(port.sent.size(), 1u);
    EXPECT_EQ(port.sent[0].request.line, 0x10000u / 128);
    EXPECT_EQ(port.sent[0].request.sectors, 0xf);
    EXPECT_EQ(port.sent[0].request.sm, 3);
    EXPECT_EQ(port.sent[0].request.kind, RequestKind::kRead);
    EXPECT_EQ(counters.loads().sectors - counters.loads().sectors_hit, 4u);
    EXPECT_EQ(counters.loads().sectors_hit, 4u);
}

TEST_F(MemoryUnitTest, MissesToALineMerge) {
    make();
    const MemoryInstruction a = instruction(kLoadGlobal, 4, words);
    const MemoryInstruction b = instruction(kLoadGlobal, 4, words);
    offer(a, 100);
    offer(b, 100);
    drain();
    EXPECT_EQ(port.sent.size(), 1u);
    EXPECT_EQ(core.written[b.code_index] - core.written[a.code_index], 2u);  // one way back
}

TEST_F(MemoryUnitTest, OnlyMissingSectorsAreAskedFor) {
    make();
    time(instruction(kLoadGlobal, 4, words, 0xff));
    time(instruction(kLoadGlobal, 4, words));
    ASSERT_EQ(port.sent.size(), 2u);
    EXPECT_EQ(port.sent[0].request.sectors, 0b0001);
    EXPECT_EQ(port.sent[1].request.sectors, 0b1110);
}

TEST_F(MemoryUnitTest, StoresAreWrittenThroughAndBringNoLine) {
    make();
    const MemoryInstruction in = instruction(kStoreGlobal, 4, words, 0x1ff);
    offer(in, 10);
    EXPECT_EQ(core.under_way, 1u);
    EXPECT_FALSE(unit->idle());
    drain();
    EXPECT_EQ(core.under_way, 0u);
    ASSERT_EQ(port.sent.size(), 1u);
    EXPECT_EQ(port.sent[0].request.kind, RequestKind::kWrite);
    EXPECT_EQ(port.sent[0].request.sectors, 0b0011);
    EXPECT_EQ(port.sent[0].request.partial, 0b0010);
    EXPECT_EQ(core.written[in.code_index], port.sent[0].at + kMemoryLatency);
    EXPECT_LE(core.left[in.code_index], port.sent[0].at);
    time(instruction(kLoadGlobal, 4, words));
    EXPECT_EQ(counters.loads().sectors - counters.loads().sectors_hit, 4u);
}

TEST_F(MemoryUnitTest, StoresToSectorsThatL1HoldsAreHits) {
    make();
    time(instruction(kLoadGlobal, 4, words, 0xff));  // one sector
    time(instruction(kStoreGlobal, 4, words));       // four
    EXPECT_EQ(counters.of(CachedAccess::kGlobalStore).sectors, 4u);
    EXPECT_EQ(counters.of(CachedAccess::kGlobalStore).sectors_hit, 1u);
}

// Words 32 bytes apart, in each of their sectors the next one.
TEST_F(MemoryUnitTest, PartialStoresOfAWarpBecomeOne) {
    make("rtx3090", {"l1.merge_window=200", "l1.merge_idle=20"});
    for (std::uint32_t word = 0; word < 8; ++word)
        offer(instruction(
                  kStoreGlobal, 4, [=](unsigned lane) { return 32 * lane + 4 * word; }, 0xf),
              10 + 20 * word);
    drain();
    EXPECT_EQ(core.under_way, 0u);
    ASSERT_EQ(port.sent.size(), 1u);
    EXPECT_EQ(port.sent[0].request.sectors, 0b1111);
    EXPECT_EQ(port.sent[0].request.partial, 0);
    EXPECT_EQ(counters.sectors_to_l2_write, 4u);
    // One that finds none waiting goes by itself.
    offer(instruction(
              kStoreGlobal, 4, [](unsigned lane) { return 32 * lane; }, 0xf),
          1000);
    drain();
    EXPECT_EQ(port.sent.size(), 2u);
}

TEST_F(MemoryUnitTest, PartialStoresWaitForTheRestOfTheirWarp) {
    // Words 32 bytes apart, and those next to them 100 cycles later.
    const auto requests = [this](unsigned window, unsigned idle, std::uint16_t second_warp,
                                 bool is_strong) {
        make("rtx3090",
             {fmt::format("l1.merge_window={}", window), fmt::format("l1.merge_idle={}", idle)});
        port.sent.clear();
        const Cycle begin = now_;
        for (std::uint32_t word = 0; word < 2; ++word) {
            MemoryInstruction in = instruction(
                kStoreGlobal, 4, [=](unsigned lane) { return 32 * lane + 4 * word; }, 0xf);
            in.warp = word == 0 ? 0 : second_warp;
            info_of(in).is_strong = is_strong;
            const Cycle at = begin + 100 * word;
            while (unit->next_event() < at) unit->advance(now_ = unit->next_event());
            offer(in, at);
        }
        drain();
        EXPECT_EQ(core.under_way, 0u);
        return port.sent.size();
    };
    EXPECT_EQ(requests(100, 100, 0, false), 1u);
    EXPECT_EQ(requests(0, 100, 0, false), 2u);
    EXPECT_EQ(requests(10, 100, 0, false), 2u);
    EXPECT_EQ(requests(100, 10, 0, false), 2u);  // nothing else comes
    EXPECT_EQ(requests(100, 100, 4, false), 2u);
    EXPECT_EQ(requests(100, 100, 0, true), 2u);
}

TEST_F(MemoryUnitTest, HeldStoresLeaveNoEarlierThanOthers) {
    const auto takes = [this](unsigned window) {
        make("rtx3090", {fmt::format("l1.merge_window={}", window), "l1.merge_idle=0"});
        port.sent.clear();
        const Cycle start = offer(instruction(kStoreGlobal, 4, words, 1), now_ + 1000);
        drain();
        return port.sent.at(0).at - start;
    };
    EXPECT_EQ(takes(100), takes(0));
}

TEST_F(MemoryUnitTest, StoresOfPartsOfSectorsHoldTheDataStageLonger) {
    const auto busy = [this](std::uint32_t stride) {
        const auto before = counters.data_busy;
        time(instruction(kStoreGlobal, 4, [=](unsigned lane) { return stride * lane; }));
        return counters.data_busy - before;
    };
    make("rtx3090", {"l1.partial_store_passes=3"});
    EXPECT_EQ(busy(4), 1u);         // four whole sectors
    EXPECT_EQ(busy(8), 3u * 2);     // every other word
    EXPECT_EQ(busy(128), 3u * 32);  // a word in each of 32 lines
}

TEST_F(MemoryUnitTest, SpilledRegistersComeBackFromL1) {
    make();
    time(instruction(kStoreLocal, 8, [](unsigned) { return 16; }));
    EXPECT_EQ(time(instruction(kLoadLocal, 8, [](unsigned) { return 16; })), 32u - 11u + 2u);
    EXPECT_EQ(port.sent.size(), 2u);  // the stores, a line a word
}

TEST_F(MemoryUnitTest, AtomicsGoToL2AndLeaveNothingInL1) {
    make();
    time(instruction(kLoadGlobal, 4, words));
    const Cycle atomic = time(instruction(kAtomicGlobal, 4, [](unsigned) { return 0x10000; }));
    EXPECT_EQ(atomic, 32u - 11u + kMemoryLatency);
    ASSERT_EQ(port.sent.size(), 2u);
    EXPECT_EQ(port.sent[1].request.kind, RequestKind::kAtomic);
    EXPECT_EQ(port.sent[1].request.lanes, 32);
    EXPECT_EQ(port.sent[1].request.same_address, 32);
    time(instruction(kLoadGlobal, 4, words));
    ASSERT_EQ(port.sent.size(), 3u);
    EXPECT_EQ(port.sent[2].request.sectors, 0b0001);

    offer(instruction(kReductionGlobal, 4, words), now_);
    EXPECT_EQ(core.under_way, 1u);
    drain();
    EXPECT_EQ(port.sent[3].request.kind, RequestKind::kReduction);
    EXPECT_EQ(port.sent[3].request.same_address, 1);
}

TEST_F(MemoryUnitTest, StrongLoadsGoToL2EachTime) {
    make();
    time(instruction(kLoadGlobal, 4, words));
    for (int i = 0; i < 2; ++i) {
        MemoryInstruction in = instruction(kLoadGlobal, 4, words);
        info_of(in).is_strong = true;
        EXPECT_EQ(time(in), 32u - 11u + kMemoryLatency);
    }
    EXPECT_EQ(port.sent.size(), 3u);
}

TEST_F(MemoryUnitTest, InvalidationForgetsLinesAndThoseUnderWay) {
    make();
    time(instruction(kLoadGlobal, 4, words));
    unit->invalidate_l1();
    offer(instruction(kLoadGlobal, 4, words), now_);
    unit->invalidate_l1();
    drain();
    time(instruction(kLoadGlobal, 4, words));
    EXPECT_EQ(port.sent.size(), 3u);
}

TEST_F(MemoryUnitTest, TheTlbLearnsFromReplies) {
    make("rtx3090", {"tlb.warm=false"});
    time(instruction(kLoadGlobal, 4, words));
    time(instruction(kLoadGlobal, 4, [](unsigned l) { return words(l) + 128; }));
    time(instruction(kStoreGlobal, 4, [](unsigned l) { return words(l) + (4 << 20); }));
    time(instruction(kStoreGlobal, 4, [](unsigned l) { return words(l) + (4 << 20); }));
    ASSERT_EQ(port.sent.size(), 4u);
    EXPECT_FALSE(port.sent[0].request.translated);
    EXPECT_TRUE(port.sent[1].request.translated);
    EXPECT_FALSE(port.sent[2].request.translated);
    EXPECT_TRUE(port.sent[3].request.translated);
}

TEST_F(MemoryUnitTest, AFullMissTableStopsTheTagsUntilAReply) {
    make("rtx3090", {"l1.miss_entries=4"});
    const MemoryInstruction wide =
        instruction(kLoadGlobal, 4, [](unsigned l) { return 0x10000 + 128 * l; });
    offer(wide, 0);
    EXPECT_EQ(unit->next_accept(1, kLoadGlobal), kNever);
    drain();
    EXPECT_EQ(port.sent.size(), 32u);
    EXPECT_GT(core.written[wide.code_index], 8 * kMemoryLatency);
    EXPECT_GT(counters.mshr_full, 6 * kMemoryLatency);
    EXPECT_EQ(counters.loads().sectors - counters.loads().sectors_hit, 32u);
}

TEST_F(MemoryUnitTest, AsManyLoadsWaitAsThereArePendingRequests) {
    make("rtx3090", {"memory_unit.pending_requests=2"});
    Cycle last = 0;
    for (unsigned i = 0; i < 4; ++i)
        last =
            offer(instruction(kLoadGlobal, 4, [&](unsigned l) { return words(l) + 128 * i; }), 0);
    drain();
    EXPECT_GT(last, kMemoryLatency);  // the third had to wait for a place
    EXPECT_EQ(core.written.size(), 4u);
}

TEST_F(MemoryUnitTest, ARefusedRequestWaits) {
    make();
    port.refuse_until = 500;
    const MemoryInstruction in = instruction(kLoadGlobal, 4, words);
    offer(in, 0);
    drain();
    EXPECT_EQ(port.sent.at(0).at, 500u);
}

TEST_F(MemoryUnitTest, APortMayLearnLaterWhenItTakesRequests) {
    make();
    port.refuse_until = 500;
    port.knows_when = false;
    offer(instruction(kLoadGlobal, 4, words), 0);
    unit->advance(100);
    EXPECT_EQ(unit->next_event(), kNever);
    port.knows_when = true;  // a new window of the simulation has begun
    EXPECT_EQ(unit->next_event(), 500u);
    drain();
    EXPECT_EQ(port.sent.at(0).at, 500u);
}

TEST_F(MemoryUnitTest, ConflictsHoldTheDataStage) {
    make("rtx3090", {"memory_unit.data_queue=0"});
    const MemoryInstruction a = instruction(kLoadShared, 4, [](unsigned l) { return 128 * l; });
    const Cycle start = offer(a, 100);
    EXPECT_EQ(unit->next_accept(start, kLoadShared), start + 32);
    EXPECT_EQ(core.written[a.code_index] - start, 24u - 9u + 30u);
    EXPECT_EQ(counters.shared_wavefronts_load, 32u);
    EXPECT_EQ(counters.bank_conflicts_load, 31u);
}

TEST_F(MemoryUnitTest, SharedMemoryMovesALineACycle) {
    make("h200");
    // Wide loads of all sub-cores: 128 bytes a cycle.
    const Cycle start = offer(instruction(kLoadShared, 16, [](unsigned l) { return 16 * l; }), 0);
    Cycle last = 0;
    for (unsigned i = 1; i <= 64; ++i) {
        MemoryInstruction in = instruction(kLoadShared, 16, [](unsigned l) { return 16 * l; });
        in.sub_core = static_cast<std::uint8_t>(i % 4);
        last = offer(in, 0);
    }
    EXPECT_EQ(last - start, 64u * 4 - machine->integer("memory_unit.data_queue"));
}

TEST_F(MemoryUnitTest, LoadsPassTheTagsWhileTheDataStageIsBusy) {
    make("rtx3090", {"memory_unit.data_queue=6"});
    const MemoryInstruction a = instruction(kLoadShared, 4, [](unsigned l) { return 128 * l; });
    const Cycle start = offer(a, 100);
    EXPECT_EQ(unit->next_accept(start, kLoadShared), start + 32 - 6);
    EXPECT_EQ(unit->next_accept(start, kLoadGlobal), start + 2);
    // A load that misses asks L2 while the conflicts are still being served.
    offer(instruction(kLoadGlobal, 4, words), 0);
    drain();
    EXPECT_EQ(port.sent.at(0).at, start + 2 + machine->integer("l1.tag_latency"));
}

TEST_F(MemoryUnitTest, LoadsHoldTheTagsForAnInterval) {
    make("h200", {"l1.tag_interval=3"});
    time(instruction(kLoadGlobal, 4, words));
    const Cycle start = offer(instruction(kLoadGlobal, 4, words), 1000);  // hits
    EXPECT_EQ(unit->next_accept(start, kLoadGlobal), start + 3);
    const Cycle other = offer(instruction(kLoadShared, 4, words), start);  // passes no tags
    EXPECT_EQ(unit->next_accept(other, kLoadGlobal), other + 1);
}

// Turing's 64 bytes a cycle are those of an SM whose neighbour is as busy.
TEST_F(MemoryUnitTest, LanesThatConflictInL1TakeACycleEach) {
    const auto busy = [&](const char* machine, unsigned stride) {
        make(machine);
        const auto at = [&](unsigned l) { return 0x10000 + std::uint64_t{stride} * l; };
        time(instruction(kLoadGlobal, 4, at));
        const std::uint64_t before = counters.data_busy;
        time(instruction(kLoadGlobal, 4, at));
        return counters.data_busy - before;
    };
    EXPECT_EQ(busy("t4", 4), 1u);
    EXPECT_EQ(busy("t4", 128), 32u);
    EXPECT_EQ(busy("rtx3090", 4), 1u);
    EXPECT_EQ(busy("rtx3090", 128), 32u);
}

// Turing: conflicts take twice as long beside a busy neighbour; atomics are as slow by themselves.
TEST_F(MemoryUnitTest, ABusyNeighbourTakesHalfOfTheDataStage) {
    const auto conflict = [&](MemoryOperation operation) {
        make("t4");
        return time(instruction(operation, 4, [](unsigned l) { return 128 * l; }));
    };
    const Cycle load = conflict(kLoadShared), atomic = conflict(kAtomicShared);
    share.connect(other_share);
    other_share.connect(share);
    other_share.begin_window(0, 64);
    other_share.take(64);
    other_share.end_window();
    share.begin_window(64, 128);
    EXPECT_EQ(conflict(kLoadShared), load + 31);  // the word that comes back overlaps one
    EXPECT_EQ(conflict(kAtomicShared), atomic);
}

// H200: 31 cycles for lanes on one bank that add, 61 to 64 where they compare and swap; lanes that
// count themselves in one word are one access.
TEST_F(MemoryUnitTest, SwapsInSharedMemoryTakeTwiceAdditionsCountsOfLanesNone) {
    const auto busy = [&](bool is_swap, bool counts_lanes) {
        make("h200", {"shared_memory.atomic_cycles=1", "shared_memory.swap_cycles=2"});
        const MemoryInstruction in = instruction(kAtomicShared, 4, [](unsigned) { return 64; });
        info_of(in).is_swap = is_swap;
        info_of(in).counts_lanes = counts_lanes;
        const std::uint64_t before = counters.data_busy;
        time(in);
        return counters.data_busy - before;
    };
    EXPECT_EQ(busy(false, false), 32u);
    EXPECT_EQ(busy(true, false), 64u);
    EXPECT_EQ(busy(false, true), 1u);
}

// A word for each lane comes back, also where the banks give it once.
TEST_F(MemoryUnitTest, OneAddressComesBackForEveryLane) {
    const auto busy = [&](const char* machine, unsigned width, unsigned stride) {
        make(machine);
        const MemoryCounters before = counters;
        time(instruction(kLoadShared, width, [&](unsigned l) { return l / 16 * stride; }));
        return std::max(counters.shared_way_busy - before.shared_way_busy,
                        counters.data_busy - before.data_busy);
    };
    EXPECT_EQ(busy("t4", 4, 0), 2u);
    EXPECT_EQ(busy("t4", 16, 0), 8u);
    const std::uint64_t before = counters.shared_wavefronts_load;
    EXPECT_EQ(busy("t4", 16, 64), 8u);
    EXPECT_EQ(counters.shared_wavefronts_load - before, 2u);
    EXPECT_EQ(busy("h100", 16, 0), 2u);
    EXPECT_EQ(busy("h100", 16, 64), 2u);
}

TEST_F(MemoryUnitTest, BanksServeTheNextLoadWhileAResultComesBack) {
    // Loads of 16 bytes a lane: 8 cycles on a Turing's way back, of the banks 2 where all lanes
    // have one address, whose return they then do not wait for, and 32 where they share four banks,
    // 28 of them beyond the time on the way back.
    const auto cycles = [&](unsigned even, unsigned odd) {
        make("t4");
        constexpr unsigned kLoads = 64;
        Cycle first = 0, last = 0;
        for (unsigned i = 0; i <= kLoads; ++i) {
            const unsigned stride = i % 2 == 0 ? even : odd;
            MemoryInstruction in =
                instruction(kLoadShared, 16, [&](unsigned l) { return stride * l; });
            in.sub_core = static_cast<std::uint8_t>(i % 4);
            last = offer(in, 0);
            if (i == 0) first = last;
        }
        return static_cast<double>(last - first) / kLoads;
    };
    EXPECT_NEAR(cycles(0, 0), 8, 0.5);
    EXPECT_NEAR(cycles(128, 128), 36, 1);
    EXPECT_NEAR(cycles(128, 0), (36 + 2) / 2, 1);
}

TEST_F(MemoryUnitTest, SharedMemoryTakesTurnsWithHitsThatWait) {
    make("rtx3090", {"sub_core.arbiter_interval=1"});
    const auto line = [](unsigned l) { return 0x10000 + 16 * l; };
    time(instruction(kLoadGlobal, 16, line));
    std::vector<MemoryInstruction> hits;
    for (unsigned i = 0; i < 32; ++i) {
        hits.push_back(instruction(kLoadGlobal, 16, line));
        hits.back().sub_core = static_cast<std::uint8_t>(i % 4);
        offer(hits.back(), 0);
    }
    // 128 cycles of work wait, and tags still take loads.
    EXPECT_LE(unit->next_accept(now_ + 1, kLoadGlobal), now_ + 2);
    const MemoryInstruction shared = instruction(kLoadShared, 4, [](unsigned l) { return 4 * l; });
    offer(shared, 0);
    drain();
    EXPECT_LT(core.written[shared.code_index], core.written[hits[20].code_index]);
}

/// Two loads that miss, whose replies come in reverse, and one that hits.
class Order : public MemoryUnitTest {
  protected:
    void reply_in_reverse(const char* order) {
        make("rtx3090", {std::string("l1.return_order=") + order});
        time(instruction(kLoadGlobal, 4, words));  // a line that hits
        port.latency = 1000;
        first = instruction(kLoadGlobal, 4, [](unsigned l) { return 0x20000 + 4 * l; });
        offer(first, 0);
        unit->advance(now_ += 50);
        port.latency = 100;
        second = instruction(kLoadGlobal, 4, [](unsigned l) { return 0x30000 + 4 * l; });
        offer(second, 0);
        hit = instruction(kLoadGlobal, 4, words);
        offer(hit, 0);
        drain();
    }
    Cycle written(const MemoryInstruction& in) { return core.written[in.code_index]; }
    MemoryInstruction first, second, hit;
};

TEST_F(Order, MissesComeBackInOrderAndHitsOvertakeThem) {
    reply_in_reverse("misses");
    EXPECT_GT(written(second), written(first));
    EXPECT_LT(written(hit) + 800, written(first));
}

TEST_F(Order, NothingOvertakes) {
    reply_in_reverse("all");
    EXPECT_GT(written(second), written(first));
    EXPECT_GT(written(hit), written(second));
}

TEST_F(Order, WhatIsThereGoes) {
    reply_in_reverse("any");
    EXPECT_LT(written(second) + 800, written(first));
    EXPECT_LT(written(hit), written(second));
}

TEST_F(Order, AnUnknownOneIsRefused) {
    EXPECT_THROW(make("rtx3090", {"l1.return_order=some"}), InputError);
}

TEST_F(MemoryUnitTest, DataStageKeepsTheOrderOfItsQueue) {
    make("rtx3090", {"memory_unit.data_queue=64"});
    const auto conflict = [](unsigned l) { return 128 * l; };
    const MemoryInstruction a = instruction(kLoadShared, 4, conflict);
    const MemoryInstruction b = instruction(kLoadShared, 4, conflict);
    offer(a, 100);
    offer(b, 100);
    EXPECT_EQ(core.written[b.code_index] - core.written[a.code_index], 32u);
}

TEST_F(MemoryUnitTest, ShufflesGoOneACycle) {
    make("t4");
    const Cycle start = offer(instruction(kShuffle, 4, words), 100);
    EXPECT_EQ(offer(instruction(kLoadShared, 4, [](unsigned l) { return 4 * l; }), 0), start + 1);
    EXPECT_EQ(offer(instruction(kShuffle, 4, words), 0), start + 3);
    EXPECT_EQ(offer(instruction(kShuffle, 4, words), 0), start + 4);
}

TEST_F(MemoryUnitTest, TextureUnitsSampleFourLanesACycle) {
    make();
    // A linear filter's four texels of neighbouring lanes, all in 32 rows of one GOB.
    sass::TexelFootprint texels;
    texels.taps = 4;
    texels.texel_bytes = 4;
    for (unsigned tap = 0; tap < 4; ++tap) {
        texels.lanes[tap] = ~0u;
        for (unsigned l = 0; l < sass::kWarpSize; ++l)
            texels.address[tap][l] = 0x10000 + 4 * (l / 4 + tap % 2);
    }
    const auto fetch = [&] {
        MemoryInstruction in = instruction(kTexture, 4, words);
        in.texels = &texels;
        return in;
    };
    time(fetch());  // the line comes into L1
    const Cycle one = time(fetch());
    Cycle first = 0, last = 0;
    for (unsigned i = 0; i < 10; ++i) {
        last = offer(fetch(), now_);
        if (i == 0) first = last;
    }
    drain();
    EXPECT_EQ(last - first, 9u * 8);
    // A filter of eight texels takes two passes.
    texels.taps = 8;
    for (unsigned tap = 4; tap < 8; ++tap) {
        texels.lanes[tap] = ~0u;
        texels.address[tap] = texels.address[tap - 4];
    }
    EXPECT_EQ(time(fetch()), one + 8);
}

TEST_F(MemoryUnitTest, MatricesComeOneEveryTwoCycles) {
    make();
    for (const unsigned matrices : {1u, 2u, 4u}) {
        MemoryInstruction in = instruction(
            kLoadMatrix, 16, [](unsigned l) { return 16 * l; },
            matrices == 4 ? ~0u : (1u << 8 * matrices) - 1);
        info_of(in).matrices = static_cast<std::uint8_t>(matrices);
        EXPECT_EQ(time(in), 24u - 9u + 2 * (matrices - 1));
    }
}

TEST_F(MemoryUnitTest, AtomicsOnOneSharedAddressTakeTurns) {
    make("t4");
    const auto at = [&](std::uint32_t lanes) {
        return time(instruction(
            kAtomicShared, 4, [](unsigned) { return 64; }, lanes));
    };
    EXPECT_EQ(at(~0u) - at(1), 62u);  // Jia et al. measured 61
}

TEST_F(MemoryUnitTest, BulkCopiesAskForLinesAsFastAsTheyMay) {
    make("h200");
    MemoryInstruction in = instruction(
        kBulkCopy, 16, [](unsigned) { return 0x10040; }, 1);
    sass::AsyncCopy copy;
    copy.global = 0x10040;
    copy.bytes = 64 * 128;
    in.copy = &copy;
    const Cycle start = offer(in, 100);
    drain();
    ASSERT_EQ(port.sent.size(), 65u);  // from the middle of a line
    EXPECT_EQ(port.sent[0].request.sectors, 0b1100);
    EXPECT_EQ(port.sent[1].request.sectors, 0b1111);
    EXPECT_EQ(port.sent[64].request.sectors, 0b0011);
    EXPECT_EQ(port.sent[64].at - port.sent[1].at, 63u);
    // 64: the last of 64.5 lines at 128 bytes a cycle. They are written by the fill port.
    EXPECT_EQ(core.written[in.code_index] - start, 31u - 11u + 64u + kMemoryLatency);
    EXPECT_EQ(counters.data_busy, 0u);
    time(instruction(kLoadGlobal, 4, [](unsigned l) { return 0x10080 + 4 * l; }));
    EXPECT_EQ(port.sent.size(), 66u);  // nothing of it stays in L1
}

TEST_F(MemoryUnitTest, CopiesFromL2AreWrittenByTheFillPort) {
    make("h200");
    const auto copy = [&](unsigned stride) {
        MemoryInstruction in = instruction(
            kCopyAsync, 4, [](unsigned l) { return 0x10000 + 4 * l; }, ~0u);
        info_of(in).skips_l1 = true;
        for (unsigned l = 0; l < sass::kWarpSize; ++l) in.access.copy_to[l] = stride * l;
        return in;
    };
    const auto two = [&](unsigned stride) {
        const MemoryInstruction first = copy(stride), second = copy(stride);
        offer(first, now_ + 1000);
        offer(second, now_);
        drain();
        return core.written[second.code_index] - core.written[first.code_index];
    };
    EXPECT_LE(two(4), 4u);
    EXPECT_TRUE(port.sent.back().request.bypasses_l1);
    EXPECT_EQ(two(128), 32u);  // all to one bank
    EXPECT_EQ(counters.data_busy, 0u);
}

TEST_F(MemoryUnitTest, CopiesToSeveralCtasTakeLonger) {
    const auto takes = [&](bool is_multicast) {
        make("h200", {"memory_unit.multicast_latency=90"});
        MemoryInstruction in = instruction(
            kBulkCopy, 16, [](unsigned) { return 0x10000; }, 1);
        sass::AsyncCopy copy;
        copy.is_multicast = is_multicast;
        copy.global = 0x10000;
        copy.bytes = 128;
        in.copy = &copy;
        const Cycle start = offer(in, 100);
        drain();
        return core.written[in.code_index] - start;
    };
    const Cycle to_one = takes(false);
    EXPECT_EQ(takes(true), to_one + 90);
}

TEST_F(MemoryUnitTest, BulkCopiesWaitForAtMostSoManyLines) {
    make("h200", {"memory_unit.bulk_copy_requests=4"});
    MemoryInstruction in = instruction(
        kBulkCopy, 16, [](unsigned) { return 0x10000; }, 1);
    sass::AsyncCopy copy;
    copy.kind = sass::CopyKind::kStore;
    copy.global = 0x10000;
    copy.bytes = 8 * 128;
    in.copy = &copy;
    offer(in, 0);
    drain();
    ASSERT_EQ(port.sent.size(), 8u);
    EXPECT_EQ(port.sent[0].request.kind, RequestKind::kWrite);
    EXPECT_GE(port.sent[4].at, port.sent[0].at + kMemoryLatency);
}

TEST_F(MemoryUnitTest, BulkCopiesOfPartsOfSectorsLeaveAtOnce) {
    make("h200", {"l1.merge_window=1000", "l1.merge_idle=1000"});
    MemoryInstruction in = instruction(
        kBulkCopy, 16, [](unsigned) { return 0x10000; }, 1);
    sass::AsyncCopy copy;
    copy.kind = sass::CopyKind::kStore;
    copy.global = 0x10000;
    copy.bytes = 16;
    in.copy = &copy;
    offer(in, 0);
    offer(instruction(
              kStoreGlobal, 4, [](unsigned) { return 0x10010; }, 1),
          100);
    drain();
    EXPECT_EQ(core.under_way, 0u);
    ASSERT_EQ(port.sent.size(), 2u);
    EXPECT_EQ(port.sent[0].request.partial, 1);
    EXPECT_LT(port.sent[0].at, 1000u);
    EXPECT_GT(port.sent[1].at, 1000u);
}

TEST_F(MemoryUnitTest, GenericLoadsOfTwoSpacesUseBoth) {
    make();
    MemoryInstruction in = instruction(kLoadGlobal, 4, [](unsigned l) {
        return l < 16 ? sass::kSharedWindow + 128 * l : 0x10000 + 4 * l;
    });
    in.access.space = sass::Space::kGeneric;
    EXPECT_GT(time(in), kMemoryLatency);
    ASSERT_EQ(port.sent.size(), 1u);
    EXPECT_EQ(port.sent[0].request.sectors, 0b1100);
    EXPECT_EQ(counters.shared_wavefronts_load, 16u);
}

TEST_F(MemoryUnitTest, ConstantsAtDifferentAddressesComeOneByOne) {
    make();
    const Cycle one = time(instruction(kLoadConstant, 4, [](unsigned) { return 64; }));
    EXPECT_EQ(time(instruction(kLoadConstant, 4, [](unsigned l) { return l % 4 * 4; })) - one, 6u);
    MemoryInstruction late = instruction(kLoadConstant, 4, [](unsigned) { return 64; });
    // Two lines come late, before it enters and after.
    late.constants = unit->await_constants();
    unit->await_constants(late.constants);
    unit->await_constants(late.constants);
    unit->constants_arrived(now_, late.constants);
    const Cycle start = offer(late, now_ + 1000);
    EXPECT_FALSE(core.written.contains(late.code_index));
    unit->constants_arrived(start + 50, late.constants);
    EXPECT_EQ(core.written.at(late.code_index) - start, one + 50);
}

TEST_F(MemoryUnitTest, ConstantsHaveAPortOfTheirOwn) {
    make();
    // 32 passes each: the data stage has more work before it than others may wait for.
    for (unsigned i = 0; i < 2; ++i)
        offer(instruction(kLoadShared, 4, [](unsigned l) { return 128 * l; }), now_);
    const Cycle shared_free = unit->next_accept(now_, kLoadShared);
    EXPECT_GT(shared_free, now_ + 16);
    EXPECT_EQ(unit->next_accept(now_, kLoadConstant), now_);
    const Cycle start = offer(instruction(kLoadConstant, 4, [](unsigned) { return 64; }), now_);
    EXPECT_EQ(unit->next_accept(start, kLoadShared), shared_free);
    EXPECT_EQ(unit->next_accept(start, kLoadConstant), start + 2);
}

TEST_F(MemoryUnitTest, NoLaneAsksForNothing) {
    make();
    for (const MemoryOperation operation :
         {kLoadGlobal, kStoreGlobal, kAtomicGlobal, kReductionGlobal, kLoadShared, kLoadLocal})
        time(instruction(operation, 4, words, 0));
    EXPECT_TRUE(port.sent.empty());
    EXPECT_EQ(core.written.size(), 6u);
}

}  // namespace

}  // namespace lockstep::gpu
