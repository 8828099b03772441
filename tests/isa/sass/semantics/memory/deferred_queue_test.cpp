// SPDX-License-Identifier: Apache-2.0
// Windows: warps whose stores and atomics wait for the window's end compute what warps do that
// execute everything at once, in the order in which the waiting instructions are performed.
#include "isa/sass/deferred_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/sass/store_buffer.h"
#include "isa/sass/system_call.h"
#include "tests/isa/sass/semantics/memory/random_access.h"

namespace lockstep::sass {
namespace {

constexpr std::uint64_t kBase = MemoryWarp::kGlobal;

/// The only warp of an SM whose effects wait.
struct WindowedWarp : MemoryWarp {
    WindowedWarp() {
        cta.stores = &stores;
        cta.deferred = &deferred;
    }
    bool overlaps(const Step& step) {
        step.prepare(*this);
        warp.mask = step.mask;
        return deferred.overlaps(bind(step.word), 0, warp);
    }
    StoreBuffer stores;
    DeferredQueue deferred;
};

void end_window(std::span<WindowedWarp* const> sms, const GlobalMemory& memory) {
    std::vector<DeferredQueue*> queues;
    for (WindowedWarp* sm : sms) {
        sm->stores.commit(memory);
        queues.push_back(&sm->deferred);
    }
    perform_in_order(queues, [](const Deferred& deferred) { deferred.perform(); });
}

void expect_same_registers(MemoryWarp& a, MemoryWarp& b) {
    for (unsigned r = 0; r < 64; ++r)
        for (unsigned l = 0; l < kWarpSize; ++l)
            ASSERT_EQ(a[r].lane[l], b[r].lane[l]) << "R" << r << " lane " << l;
}

/// As the dependence barriers would see to, nothing writes the destination of a waiting atomic.
void set_destination(Step& step, unsigned number) {
    if (step.word.bits(16, 8) == 24) step.word.set_bits(16, 8, number);
}

TEST(DeferredQueue, OneSmComputesWhatImmediateExecutionDoes) {
    unsigned overlaps = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        RandomAccess random(seed);
        MemoryWarp direct;
        WindowedWarp windowed;
        auto& direct_second = RandomAccess::add_second(direct);
        auto& windowed_second = RandomAccess::add_second(windowed);
        WindowedWarp* const sms[] = {&windowed};
        unsigned in_window = 0;
        const auto finish = [&] {
            in_window = 0;
            end_window(sms, windowed.memory);
            ASSERT_EQ(windowed.global, direct.global);
            ASSERT_EQ(windowed_second, direct_second);
            ASSERT_NO_FATAL_FAILURE(expect_same_registers(windowed, direct));
        };
        for (unsigned i = 0; i < 60; ++i) {
            Step step = random.pick(2) == 0 ? random.atomic() : random.load_or_store();
            set_destination(step, 24 + 4 * in_window);
            if (windowed.overlaps(step)) {
                ++overlaps;
                step.prepare(direct);
                ASSERT_NO_FATAL_FAILURE(finish());
                set_destination(step, 24);
            }
            const StepResult want = execute_step(direct, step);
            const StepResult got = execute_step(windowed, step);
            ASSERT_EQ(got.faulted, want.faulted);
            ASSERT_EQ(got.fault.what, want.fault.what);
            ASSERT_EQ(got.fault.lane, want.fault.lane);
            for (unsigned p = 0; p < kPredicateSink; ++p)
                ASSERT_EQ(windowed.warp.predicate[p], direct.warp.predicate[p]);
            ASSERT_EQ(windowed.shared, direct.shared);
            ASSERT_EQ(windowed.warp.access.lanes, direct.warp.access.lanes);
            ASSERT_EQ(windowed.warp.access.space, direct.warp.access.space);
            ASSERT_EQ(windowed.warp.access.is_atomic, direct.warp.access.is_atomic);
            if (++in_window == 10) {
                ASSERT_NO_FATAL_FAILURE(finish());
            }
        }
        ASSERT_NO_FATAL_FAILURE(finish());
    }
    EXPECT_GT(overlaps, 100u);
}

TEST(DeferredQueue, SeveralSmsAreOrderedByCycleWhoeverRanFirst) {
    constexpr unsigned kSms = 3;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        RandomAccess random(seed);
        struct Issue {
            unsigned sm;
            std::uint64_t cycle;
            Step step;
        };
        // Each SM's in the order of its cycles; ties between SMs are frequent.
        std::vector<Issue> by_sm;
        for (unsigned sm = 0; sm < kSms; ++sm)
            for (unsigned i = 0; i < 10; ++i) {
                by_sm.push_back({sm, 3 * i + random.pick(3), random.atomic()});
                set_destination(by_sm.back().step, 24 + 4 * i);
            }
        std::vector<Issue> by_cycle = by_sm;
        std::stable_sort(by_cycle.begin(), by_cycle.end(),
                         [](const Issue& a, const Issue& b) { return a.cycle < b.cycle; });

        const auto share_memory = [](auto& sms) {
            RandomAccess::add_second(sms[0]);
            for (auto& sm : sms) sm.launch.memory = &sms[0].memory;
        };
        std::array<MemoryWarp, kSms> direct;
        std::array<WindowedWarp, kSms> windowed;
        share_memory(direct);
        share_memory(windowed);
        for (const Issue& issue : by_cycle) execute_step(direct[issue.sm], issue.step);
        if (seed % 2 == 0)  // SMs run in another order
            std::stable_sort(by_sm.begin(), by_sm.end(),
                             [](const Issue& a, const Issue& b) { return a.sm > b.sm; });
        for (const Issue& issue : by_sm) {
            windowed[issue.sm].deferred.set_cycle(issue.cycle);
            execute_step(windowed[issue.sm], issue.step);
        }
        WindowedWarp* const sms[] = {&windowed[0], &windowed[1], &windowed[2]};
        end_window(sms, windowed[0].memory);
        ASSERT_EQ(windowed[0].global, direct[0].global);
        for (unsigned sm = 0; sm < kSms; ++sm) {
            // What prepared the last step differs from the last one in the other order.
            ASSERT_NO_FATAL_FAILURE(expect_same_registers(windowed[sm], direct[sm]));
            ASSERT_EQ(windowed[sm].shared, direct[sm].shared);
        }
    }
}

TEST(DeferredQueue, TellsWhichAccessesOverlap) {
    WindowedWarp t;
    const Word load = make_word(0x381, {{16, 8, 24}, {24, 8, 8}, {72, 1, 1}, {73, 3, kField64}});
    const auto overlaps = [&](const Word& word, std::uint64_t address, std::uint32_t mask = 4) {
        t.set_addresses(8, [&](unsigned l) { return l == 2 ? address : kBase + 0x800; });
        t.warp.mask = mask;
        return t.deferred.overlaps(t.bind(word), 0, t.warp);
    };
    EXPECT_FALSE(overlaps(load, kBase + 0x100));
    t.set_addresses(8, [](unsigned) { return kBase + 0x104; });
    const std::uint32_t before = MemoryWarp::word_at(t.global, 0x104);
    // RED.E.ADD
    t.execute(make_word(0x98e, {{24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, 0}, {87, 3, 0}}), 1);
    EXPECT_EQ(MemoryWarp::word_at(t.global, 0x104), before);
    EXPECT_EQ(t.warp.access.lanes, 1u);
    EXPECT_TRUE(overlaps(load, kBase + 0x100));
    EXPECT_FALSE(overlaps(load, kBase + 0x108));
    EXPECT_FALSE(overlaps(load, kBase + 0x100, 8)) << "another lane";
    EXPECT_FALSE(overlaps(load, kSharedWindow + 0x100));
    EXPECT_TRUE(overlaps(make_word(0x386, {{24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, kField32}}),
                         kBase + 0x104));
    EXPECT_FALSE(overlaps(make_word(0x984, {{16, 8, 20}, {24, 8, 8}, {73, 3, kField32}}), 0x104));
    // UBLKCP.S.G [UR8], [UR4], UR12
    const Word bulk{0x00000008040073ba, 0x0005d8000800020c};
    for (unsigned l = 0; l < kWarpSize; ++l) t.uniform(12).lane[l] = 16;
    t.set_uniform64(4, kBase + 0x10);
    EXPECT_TRUE(overlaps(bulk, 0));
    t.set_uniform64(4, kBase + 0x110);
    EXPECT_FALSE(overlaps(bulk, 0));
    WindowedWarp* const sms[] = {&t};
    end_window(sms, t.memory);
    EXPECT_EQ(MemoryWarp::word_at(t.global, 0x104), before + t[16].lane[0]);
    EXPECT_FALSE(overlaps(load, kBase + 0x100));
}

class RecordedCalls : public Environment {
  public:
    void system_call(unsigned number, Warp& warp) override {
        calls.emplace_back(number, warp.mask);
    }
    std::uint64_t clock(const Warp&) override { return 0; }
    std::uint64_t global_timer(const Warp&) override { return 0; }
    std::uint32_t sm_id(const Warp&) override { return 0; }
    std::uint32_t sm_count() override { return 1; }
    std::vector<std::pair<unsigned, std::uint32_t>> calls;
};

TEST(DeferredQueue, SystemCallsAreToldApartAndWait) {
    WindowedWarp t;
    RecordedCalls environment;
    t.launch.environment = &environment;
    // CALL.ABS.NOINC R8
    const Program& program = t.bind(make_word(0x343, {{24, 8, 8}, {81, 3, 0}}));
    const Instruction& call = program.code()[0];
    t.launch.program = &program;
    EXPECT_TRUE(may_call_system(call));
    EXPECT_FALSE(may_call_system(t.bind(make_word(0x947, {})).code()[0])) << "BRA";
    t.set_addresses(8, [](unsigned l) {
        return l < 4 ? Program::kSystemCallBase + 3 * Word::kBytes : Program::kCodeBase;
    });
    t.set_addresses(20, [](unsigned) { return Program::kCodeBase; });
    t.warp.mask = 0xf0;
    EXPECT_FALSE(calls_system(call, t.warp));
    t.warp.mask = t.warp.active = 0xff;
    EXPECT_TRUE(calls_system(call, t.warp));
    t.deferred.defer(call, t.warp);
    EXPECT_TRUE(environment.calls.empty());
    EXPECT_FALSE(t.deferred.empty());
    WindowedWarp* const sms[] = {&t};
    end_window(sms, t.memory);
    EXPECT_THAT(environment.calls, testing::ElementsAre(std::pair(3u, 0xfu)));
    EXPECT_EQ(t.warp.pc, 0u);
    EXPECT_TRUE(t.deferred.empty());
}

}  // namespace
}  // namespace lockstep::sass
