// SPDX-License-Identifier: Apache-2.0
// One slice with surroundings that note what it asks and tells.
#include "models/gpu/memory/l2_slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/gpu/memory/synthetic_sm.h"

namespace lockstep::gpu {
namespace {

using engine::Cycle;
using testing::ElementsAre;

struct Told {
    std::string what;
    Cycle at;
    std::uint32_t value;  ///< the request's id; sectors for DRAM
    bool operator==(const Told&) const = default;
    friend void PrintTo(const Told& told, std::ostream* out) {
        *out << told.what << " " << told.value << " at " << told.at;
    }
};

class Surroundings : public SliceSurroundings {
  public:
    std::vector<Told> told;
    std::vector<std::uint16_t> mshrs;

    std::vector<Told> take() { return std::exchange(told, {}); }

  private:
    void reply(Cycle at, std::uint32_t, std::uint16_t, const MemoryReply& reply) override {
        told.push_back({"reply", at, reply.id});
    }
    void send_to_peer(Cycle at, const PeerMessage& message) override {
        static const char* const kNames[] = {"ask", "fill", "answer", "invalidate"};
        told.push_back({kNames[static_cast<int>(message.type)], at, message.routed.request.id});
    }
    void read_dram(Cycle at, std::uint32_t, std::uint64_t, std::uint8_t sectors,
                   std::uint16_t mshr) override {
        told.push_back({"read", at, sectors});
        mshrs.push_back(mshr);
    }
    void write_dram(Cycle at, std::uint32_t, std::uint64_t, std::uint8_t sectors) override {
        told.push_back({"write", at, sectors});
    }
};

class L2SliceTest : public testing::Test {
  protected:
    void build(std::vector<std::string> overrides) {
        overrides.push_back("l2.slice_bandwidth=64");
        machine = config::Machine::load("a100", overrides);
        parameters = std::make_unique<MemoryParameters>(MemoryParameters::of(*machine));
        map = std::make_unique<LineMap>(*parameters);
        slice = std::make_unique<L2Slice>(*parameters, *map, 0, 0, around, counters);
    }
    void SetUp() override { build({}); }

    /// A request for the line of that number in the slice.
    void ask(Cycle at, std::uint32_t index, MemoryRequest request, std::uint32_t home = 0,
             bool from_peer = false) {
        request.line = map->line_of(home, 0, index);
        slice->request({.at = at,
                        .routed = {request, index, 0, static_cast<std::uint8_t>(home)},
                        .from_peer = from_peer});
    }
    std::vector<Told> until(Cycle cycle) {
        slice->advance(cycle);
        return around.take();
    }

    std::shared_ptr<const config::Machine> machine;
    std::unique_ptr<MemoryParameters> parameters;
    std::unique_ptr<LineMap> map;
    Surroundings around;
    PartitionCounters counters;
    std::unique_ptr<L2Slice> slice;
};

constexpr auto kRead = RequestKind::kRead;
constexpr auto kWrite = RequestKind::kWrite;
constexpr auto kAtomic = RequestKind::kAtomic;

TEST_F(L2SliceTest, FetchesPairsOfSectorsAndAnswersAllThatWait) {
    ask(10, 3, {.id = 1, .kind = kRead, .sectors = 0b0001});
    ask(11, 3, {.id = 2, .kind = kRead, .sectors = 0b0010});  // comes with the first
    ask(12, 3, {.id = 3, .kind = kRead, .sectors = 0b0110});
    EXPECT_THAT(until(100), ElementsAre(Told{"read", 10, 0b0011}, Told{"read", 12, 0b1100}));
    EXPECT_EQ(slice->next_event(), engine::kNever);
    EXPECT_FALSE(slice->idle());
    slice->fill(200, around.mshrs[0], 0b0011);
    slice->fill(210, around.mshrs[0], 0b1100);
    EXPECT_THAT(until(300),
                ElementsAre(Told{"reply", 200, 1}, Told{"reply", 201, 2}, Told{"reply", 210, 3}));
    EXPECT_TRUE(slice->idle());
    ask(400, 3, {.id = 4, .kind = kRead, .sectors = 0b1111});
    EXPECT_THAT(until(500), ElementsAre(Told{"reply", 400, 4}));
    EXPECT_EQ(counters.sectors_read_hit, 6u);  // two of them asked for already
    EXPECT_EQ(counters.sectors_read_miss, 2u);
}

TEST_F(L2SliceTest, LooksUpARequestAClockOfL2) {
    build({"clock.l2_ratio=0.5"});  // two SM cycles
    for (std::uint32_t id = 0; id < 3; ++id)
        ask(0, id, {.id = id, .kind = kWrite, .sectors = 0b0001});
    EXPECT_THAT(until(10),
                ElementsAre(Told{"reply", 0, 0}, Told{"reply", 2, 1}, Told{"reply", 4, 2}));
}

TEST_F(L2SliceTest, TakesWritesAtABandwidthOfTheirOwn) {
    build({"l2.slice_write_bandwidth=16"});
    for (std::uint32_t id = 0; id < 2; ++id)
        ask(0, id, {.id = id, .kind = kWrite, .sectors = 0b1111});
    EXPECT_THAT(until(20), ElementsAre(Told{"reply", 0, 0}, Told{"reply", 8, 1}));
}

TEST_F(L2SliceTest, AnswersReadsOfALineTogether) {
    build({"l2.coalescer_entries=16", "l2.coalescer_merge=3", "l2.coalescer_window=5"});
    ask(0, 3, {.id = 1, .kind = kRead, .sectors = 0b1111});
    ask(1, 3, {.id = 2, .kind = kRead, .sectors = 0b1111});
    EXPECT_THAT(until(10), ElementsAre(Told{"read", 0, 0b1111}));
    ask(11, 3, {.id = 3, .kind = kRead, .sectors = 0b0001});  // too late: a hit on what comes
    until(12);
    slice->fill(200, around.mshrs[0], 0b1111);
    EXPECT_THAT(until(210),
                ElementsAre(Told{"reply", 200, 1}, Told{"reply", 200, 2}, Told{"reply", 202, 3}));
    EXPECT_EQ(counters.requests, 2u);
    EXPECT_EQ(counters.sectors_to_gpcs, 9u);
    EXPECT_EQ(counters.sectors_coalesced, 4u);
    EXPECT_EQ(counters.sectors_read_hit, 1u);
    EXPECT_EQ(counters.sectors_read_miss, 4u);
}

TEST_F(L2SliceTest, LooksUpAReadThatPassesL1ByWhereNoneWaits) {
    build({"l2.coalescer_entries=16", "l2.coalescer_merge=3", "l2.coalescer_window=5"});
    ask(0, 3, {.id = 1, .kind = kRead, .sectors = 0b1111});
    ask(1, 3, {.id = 2, .kind = kRead, .sectors = 0b1111, .bypasses_l1 = true});
    until(10);
    EXPECT_EQ(counters.requests, 2u);
    EXPECT_EQ(counters.sectors_coalesced, 0u);
}

TEST_F(L2SliceTest, FetchesWhatTheInstructionAsksForBeside) {
    ask(0, 0, {.kind = kRead, .sectors = 0b0100, .prefetch_sectors = 4});
    EXPECT_THAT(until(10), ElementsAre(Told{"read", 0, 0b1111}));
}

TEST_F(L2SliceTest, DeliversItsBandwidth) {
    ask(0, 0, {.kind = kWrite, .sectors = 0b1111});
    for (std::uint32_t i = 1; i < 4; ++i) ask(0, 0, {.id = i, .kind = kRead, .sectors = 0b1111});
    EXPECT_THAT(until(100), ElementsAre(Told{"reply", 0, 0}, Told{"reply", 2, 1},
                                        Told{"reply", 4, 2}, Told{"reply", 6, 3}));
    EXPECT_EQ(slice->busy_cycles(), 8u);
}

TEST_F(L2SliceTest, AMissTakesTheDataStageWhenItIsAnsweredOnly) {
    for (std::uint32_t i = 0; i < 4; ++i) ask(0, i, {.id = i, .kind = kRead, .sectors = 0b1111});
    EXPECT_THAT(until(100), ElementsAre(Told{"read", 0, 0b1111}, Told{"read", 1, 0b1111},
                                        Told{"read", 2, 0b1111}, Told{"read", 3, 0b1111}));
    ask(200, 4, {.id = 4, .kind = kRead, .sectors = 0b1111});
    slice->fill(201, around.mshrs[0], 0b1111);
    slice->fill(201, around.mshrs[1], 0b1111);
    EXPECT_THAT(until(300), ElementsAre(Told{"read", 200, 0b1111}, Told{"reply", 201, 0},
                                        Told{"reply", 203, 1}));
    EXPECT_EQ(slice->busy_cycles(), 5u);  // lookups; the data of two lines takes four
}

TEST_F(L2SliceTest, LooksUpAheadOfTheDataStage) {
    // Three hits of four cycles, then a miss: only hits wait for their data.
    const auto read_at = [&](const char* queue) {
        build({queue, "l2.slice_write_bandwidth=64"});
        for (std::uint32_t i = 0; i < 3; ++i)
            ask(0, i, {.id = i, .kind = kWrite, .sectors = 0b1111});
        until(100);
        parameters->slice_bandwidth = 32;
        for (std::uint32_t i = 0; i < 3; ++i)
            ask(100, i, {.id = i, .kind = kRead, .sectors = 0b1111});
        ask(100, 7, {.id = 3, .kind = kRead, .sectors = 0b0001});
        const std::vector<Told> told = until(200);
        EXPECT_THAT(told, testing::IsSupersetOf({Told{"reply", 100, 0}, Told{"reply", 104, 1},
                                                 Told{"reply", 108, 2}}));
        return std::find_if(told.begin(), told.end(),
                            [](const Told& t) { return t.what == "read"; })
            ->at;
    };
    EXPECT_EQ(read_at("l2.data_queue=0"), 112u);
    EXPECT_EQ(read_at("l2.data_queue=4"), 108u);
    EXPECT_EQ(read_at("l2.data_queue=16"), 103u);
}

// Eight bytes in each of four sectors, as a store of words 16 bytes apart brings.
TEST_F(L2SliceTest, APartialWriteTakesTheTimeOfItsBytes) {
    build({"l2.partial_write_passes=1"});
    ask(0, 0,
        {.halves = 0x000f'000f'000f'000f, .kind = kWrite, .sectors = 0b1111, .partial = 0b1111});
    for (std::uint32_t i = 1; i < 3; ++i) ask(0, 2, {.id = i, .kind = kWrite, .sectors = 0b1111});
    EXPECT_THAT(until(100),
                ElementsAre(Told{"reply", 0, 0}, Told{"reply", 1, 1}, Told{"reply", 3, 2}));
    EXPECT_EQ(slice->busy_cycles(), 5u);
}

TEST_F(L2SliceTest, PartialWritesPassTheDataStageSoOften) {
    build({"l2.partial_write_passes=3"});
    ask(0, 0, {.halves = 0x000f, .id = 0, .kind = kWrite, .sectors = 0b0001, .partial = 0b0001});
    for (std::uint32_t i = 1; i < 3; ++i) ask(0, 2, {.id = i, .kind = kWrite, .sectors = 0b0001});
    EXPECT_THAT(until(100),
                ElementsAre(Told{"reply", 0, 0}, Told{"reply", 3, 1}, Told{"reply", 4, 2}));
}

TEST_F(L2SliceTest, FetchesWrittenPartsOnlyWhenTheyAreRead) {
    ask(0, 0, {.id = 1, .kind = kWrite, .sectors = 0b0011, .partial = 0b0010});
    EXPECT_THAT(until(10), ElementsAre(Told{"reply", 0, 1}));
    ask(10, 0, {.id = 2, .kind = kRead, .sectors = 0b0001});
    EXPECT_THAT(until(20), ElementsAre(Told{"reply", 10, 2}));
    ask(20, 0, {.id = 3, .kind = kRead, .sectors = 0b0010});
    EXPECT_THAT(until(30), ElementsAre(Told{"read", 20, 0b0010}));
    EXPECT_EQ(counters.sectors_write_hit, 1u);
    EXPECT_EQ(counters.sectors_write_miss, 1u);
}

TEST_F(L2SliceTest, FetchesNothingWhereLaterWritesCompleteASector) {
    const auto write = [&](Cycle at, std::uint32_t id, std::uint64_t halves) {
        ask(at, 0,
            {.halves = halves, .id = id, .kind = kWrite, .sectors = 0b0010, .partial = 0b0010});
    };
    write(0, 1, 0x00ff'0000);
    write(10, 2, 0x0f00'0000);
    ask(20, 0, {.id = 3, .kind = kRead, .sectors = 0b0001});
    until(25);
    write(30, 4, 0xf800'0000);  // a half twice
    ask(40, 0, {.id = 5, .kind = kRead, .sectors = 0b0010});
    EXPECT_THAT(until(50), ElementsAre(Told{"reply", 30, 4}, Told{"reply", 40, 5}));
    // Written back without a read; and what the line's slot held before counts no more.
    build({"l2.size=20KiB", "l2.ways=2", "l2.row_write_back=false"});  // one set a slice
    write(0, 1, 0x0000'0000'ffff'0000);
    ask(10, 1, {.id = 2, .kind = kWrite, .sectors = 0xf});
    ask(20, 2, {.id = 3, .kind = kWrite, .sectors = 0b0010, .partial = 0b0010});
    EXPECT_THAT(until(25), ElementsAre(Told{"reply", 0, 1}, Told{"reply", 10, 2},
                                       Told{"write", 20, 0b0010}, Told{"reply", 20, 3}));
    ask(30, 2, {.id = 4, .kind = kRead, .sectors = 0b0010});
    EXPECT_THAT(until(40), ElementsAre(Told{"read", 30, 0b0011}));
}

TEST_F(L2SliceTest, WritesBackWhatATransferHasWritten) {
    build({"l2.size=20KiB", "l2.ways=2", "l2.row_write_back=false"});  // one set a slice
    for (const std::uint32_t index : {5, 4, 3})
        slice->pass(map->find(map->line_of(0, 0, index)), Transfer::kWrite);
    EXPECT_THAT(until(10), ElementsAre());  // line 5 went back meanwhile
    ask(10, 3, {.id = 1, .kind = kRead, .sectors = 0b0100});
    ask(20, 5, {.id = 2, .kind = kWrite, .sectors = 0b1111});
    EXPECT_THAT(until(100),
                ElementsAre(Told{"reply", 10, 1}, Told{"write", 20, 0xf}, Told{"reply", 20, 2}));
}

TEST_F(L2SliceTest, WritesBackWhatItEvictsAndWaitsForRoom) {
    build({"l2.size=20KiB", "l2.ways=2", "l2.write_back_buffer=6"});  // one set a slice
    for (std::uint32_t i = 0; i < 4; ++i) ask(i * 10, i, {.id = i, .kind = kWrite, .sectors = 0xf});
    EXPECT_THAT(until(100), ElementsAre(Told{"reply", 0, 0}, Told{"reply", 10, 1},
                                        Told{"write", 20, 0xf}, Told{"reply", 20, 2}));
    slice->written(150, 0xf);
    EXPECT_THAT(until(200), ElementsAre(Told{"write", 150, 0xf}, Told{"reply", 150, 3}));
    slice->written(250, 0xf);
    until(300);
    EXPECT_TRUE(slice->idle());
    // The least recently used one goes, unless it has a lower or higher rank.
    ask(300, 3, {.kind = kRead, .sectors = 0xf});
    ask(310, 2, {.kind = kRead, .sectors = 0xf});
    ask(320, 9, {.kind = kWrite, .sectors = 1, .priority = EvictionPriority::kFirst});
    ask(330, 2, {.id = 7, .kind = kRead, .sectors = 0xf});  // 3 was evicted, not 2
    ask(340, 8, {.kind = kWrite, .sectors = 1});            // evicts 9
    ask(350, 2, {.id = 8, .kind = kRead, .sectors = 0xf});
    until(325);
    EXPECT_THAT(until(335), ElementsAre(Told{"reply", 330, 7}));
    EXPECT_THAT(until(345), ElementsAre(Told{"write", 340, 1}, Told{"reply", 340, 0}));
    EXPECT_THAT(until(400), ElementsAre(Told{"reply", 350, 8}));
}

TEST_F(L2SliceTest, WritesBackTheLinesOfADramRowTogether) {
    for (const char* together : {"l2.row_write_back=true", "l2.row_write_back=false"}) {
        build({"l2.size=80KiB", "l2.ways=8", together});  // one set a slice
        // Two neighbours, one clean line of their row, and lines of other rows, of which the last
        // takes the place of the first.
        ask(0, 0, {.kind = kWrite, .sectors = 0b0011});
        ask(10, 1, {.kind = kWrite, .sectors = 0b0100});
        ask(20, 2, {.kind = kRead, .sectors = 0b0011});
        for (std::uint32_t i = 1; i < 7; ++i)
            ask(20 + i * 10, i * 1000, {.kind = kWrite, .sectors = 0b0001});
        std::vector<std::uint32_t> written;
        for (const Told& told : until(200))
            if (told.what == "write") written.push_back(told.value);
        if (parameters->row_write_back)
            EXPECT_THAT(written, ElementsAre(0b0011, 0b0100));
        else
            EXPECT_THAT(written, ElementsAre(0b0011));
        // The neighbour has stayed, clean.
        ask(300, 1, {.id = 9, .kind = kRead, .sectors = 0b0100});
        EXPECT_THAT(until(310), ElementsAre(Told{"reply", 300, 9}));
    }
}

TEST_F(L2SliceTest, SerialisesAtomicsAtOneAddress) {
    ask(0, 0, {.kind = kWrite, .sectors = 1});
    ask(1, 0, {.id = 1, .kind = kAtomic, .sectors = 1, .lanes = 32, .same_address = 1});
    ask(1, 0, {.id = 2, .kind = kAtomic, .sectors = 1, .lanes = 32, .same_address = 32});
    ask(1, 0, {.id = 3, .kind = kRead, .sectors = 1});
    EXPECT_THAT(until(100), ElementsAre(Told{"reply", 0, 0}, Told{"reply", 1, 1},
                                        Told{"reply", 33, 2}, Told{"reply", 34, 3}));
    ask(100, 5, {.id = 4, .kind = kAtomic, .sectors = 1, .lanes = 1, .same_address = 1});
    EXPECT_THAT(until(110), ElementsAre(Told{"read", 100, 1}));  // the sector alone
    slice->fill(150, around.mshrs.back(), 1);
    EXPECT_THAT(until(200), ElementsAre(Told{"reply", 150, 4}));
    const std::uint64_t atomics = counters.atomics, misses = counters.atomics_miss;
    EXPECT_EQ(misses, 1u);
    ask(300, 5, {.id = 5, .kind = kAtomic, .sectors = 1, .lanes = 1, .same_address = 1});
    EXPECT_THAT(until(310), ElementsAre(Told{"reply", 300, 5}));
    EXPECT_EQ(counters.atomics, atomics + 1);
    EXPECT_EQ(counters.atomics_miss, misses);
}

// A sector of 32 bytes is read and written: each takes half a cycle at 64 bytes a cycle.
TEST_F(L2SliceTest, AtomicsPassTheDataTwice) {
    ask(0, 0, {.kind = kWrite, .sectors = 0b1111});
    const auto add = [&](std::uint32_t id, std::uint8_t sectors, std::uint8_t lanes) {
        ask(10, 0,
            {.id = id, .kind = kAtomic, .sectors = sectors, .lanes = lanes, .same_address = 1});
    };
    add(1, 0b1111, 32);
    add(2, 0b0011, 16);
    add(3, 0b0001, 8);
    EXPECT_THAT(until(100), ElementsAre(Told{"reply", 0, 0}, Told{"reply", 13, 1},
                                        Told{"reply", 15, 2}, Told{"reply", 16, 3}));
}

TEST_F(L2SliceTest, FloatsTakeLongerAtOneAddress) {
    build({"l2.atomic_interval=1", "l2.float_atomic_interval=3"});
    ask(0, 0, {.kind = kWrite, .sectors = 1});
    ask(1, 0, {.id = 1, .kind = kAtomic, .sectors = 1, .lanes = 32, .same_address = 32});
    ask(1, 0,
        {.id = 2,
         .kind = kAtomic,
         .sectors = 1,
         .lanes = 32,
         .same_address = 32,
         .is_float = true});
    EXPECT_THAT(until(200),
                ElementsAre(Told{"reply", 0, 0}, Told{"reply", 32, 1}, Told{"reply", 128, 2}));
}

TEST_F(L2SliceTest, KeepsCopiesOfThePeersLines) {
    ask(0, 0, {.id = 1, .kind = kRead, .sectors = 1}, 1);
    EXPECT_EQ(around.told.size(), 0u);
    const std::vector<Told> asked = until(10);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].what, "ask");
    slice->fill(50, static_cast<std::uint16_t>(asked[0].value), 0b11);
    EXPECT_THAT(until(60), ElementsAre(Told{"reply", 50, 1}));
    ask(60, 0, {.id = 2, .kind = kRead, .sectors = 0b10}, 1);
    EXPECT_THAT(until(70), ElementsAre(Told{"reply", 60, 2}));
    slice->invalidate(70, L2Tags::key(0, 1));
    ask(80, 0, {.id = 3, .kind = kRead, .sectors = 0b10}, 1);
    EXPECT_EQ(until(90).at(0).what, "ask");
    // Writes and atomics go to the home.
    ask(100, 9, {.id = 4, .kind = kWrite, .sectors = 1}, 1);
    ask(110, 9, {.id = 5, .kind = kAtomic, .sectors = 1, .lanes = 1}, 1);
    EXPECT_THAT(until(120), ElementsAre(Told{"ask", 100, 4}, Told{"ask", 110, 5}));
}

TEST_F(L2SliceTest, RecallsThePeersCopyBeforeItIsOutOfDate) {
    ask(0, 0, {.kind = kWrite, .sectors = 0xf});
    ask(10, 0, {.id = 77, .kind = kRead, .sectors = 0b11}, 0, true);
    ask(20, 0, {.id = 1, .kind = kWrite, .sectors = 1});
    ask(30, 0, {.id = 2, .kind = kWrite, .sectors = 1}, 0, true);
    EXPECT_THAT(until(100),
                ElementsAre(Told{"reply", 0, 0}, Told{"fill", 10, 77}, Told{"invalidate", 20, 1},
                            Told{"reply", 20, 1}, Told{"answer", 30, 2}));
}

TEST(L2Tags, KeepHalfOfASetForLinesOfTheirOwnDram) {
    L2Tags tags(1, 4);  // empty: nor may copies fill it
    for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t slot = tags.victim(0, true);
        ASSERT_NE(slot, L2Tags::kNone);
        tags.place(slot, L2Tags::key(i, 1));
        tags.line(slot).mshr = static_cast<std::uint16_t>(i);
    }
    EXPECT_EQ(tags.victim(0, true), L2Tags::kNone);
    EXPECT_NE(tags.victim(0, false), L2Tags::kNone);
}

TEST(LineMap, IsOneToOneOnEveryGpu) {
    for (const std::string& name : gpu_names()) {
        const auto machine = config::Machine::load(name);
        const MemoryParameters parameters = MemoryParameters::of(*machine);
        const LineMap map(parameters);
        std::vector<std::uint64_t> lines(parameters.slices);
        for (std::uint64_t i = 0; i < 100'000; ++i) {
            const std::uint64_t line = i < 50'000 ? i : i * 7919 % (1u << 27);
            const LinePlace place = map.find(line);
            ASSERT_EQ(map.line_of(place.l2_partition, place.slice, place.index), line) << name;
            ++lines[place.l2_partition * parameters.slices_per_l2_partition() + place.slice];
        }
        const auto [least, most] = std::minmax_element(lines.begin(), lines.end());
        EXPECT_LT(static_cast<double>(*most - *least), 0.1 * 100'000 / parameters.slices) << name;
    }
}

TEST(LineMap, PutsNeighbouringChunksIntoOnePartitionAsOftenAsNot) {
    for (const char* name : {"a100", "h100", "h200"}) {
        const auto machine = config::Machine::load(name);
        const MemoryParameters parameters = MemoryParameters::of(*machine);
        const LineMap map(parameters);
        const std::uint64_t lines = parameters.interleave / kLineBytes;
        unsigned apart = 0;
        for (std::uint64_t chunk = 0; chunk < 1000; ++chunk)
            apart +=
                map.find(chunk * lines).l2_partition != map.find((chunk + 1) * lines).l2_partition;
        EXPECT_NEAR(apart, 500, 60) << name;
    }
}

TEST(LineMap, KnowsWhichLinesOfASliceShareADramRow) {
    for (const std::string& name : gpu_names()) {
        const auto machine = config::Machine::load(name);
        const MemoryParameters parameters = MemoryParameters::of(*machine);
        const LineMap map(parameters);
        for (std::uint64_t line = 0; line < 1u << 24; line += 7919) {
            const LinePlace place = map.find(line);
            const LineSpot spot = map.spot(line);
            const memory::dram::Location at = map.location(spot);
            std::uint64_t lines = 0;
            const std::uint32_t slice =
                place.l2_partition * parameters.slices_per_l2_partition() + place.slice;
            map.for_row(slice, place.index, [&](std::uint32_t index) {
                const LineSpot other =
                    map.spot(map.line_of(place.l2_partition, place.slice, index));
                EXPECT_EQ(other.channel, spot.channel) << name;
                EXPECT_EQ(map.location(other).row, at.row) << name;
                EXPECT_EQ(map.location(other).bank, at.bank) << name;
                ++lines;
            });
            const std::uint32_t of_channel =
                std::max(1u, parameters.slices / parameters.dram.channels);
            EXPECT_GE(lines * kLineBytes * of_channel, 1024u) << name;
        }
    }
}

}  // namespace
}  // namespace lockstep::gpu
