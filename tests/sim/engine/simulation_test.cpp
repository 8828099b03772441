// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <systemc>

namespace lockstep::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A Tile whose behaviour a test writes down.
class ScriptedTile : public Tile {
  public:
    ScriptedTile(Simulation& simulation, std::string name, ClockDomain clock = ClockDomain(1000))
        : Tile(simulation, std::move(name), clock) {}

    std::function<Cycle(Cycle from, Cycle until)> script = [](Cycle, Cycle) { return kNever; };
    std::function<void()> window_end = [] {};
    bool done = true;
    std::vector<Cycle> activated;
    Sender<int> out{*this, "out"};
    Receiver<int> in{*this, "in"};

    Cycle advance(Cycle from, Cycle until) override {
        activated.push_back(from);
        return script(from, until);
    }
    void at_window_end() override { window_end(); }
    bool finished() const override { return done; }
    std::string explain_wait() const override { return "the test"; }
    void progress() { report_progress(); }
};

/// Two tiles with a channel of 10 cycles, that is windows of 10 ns.
struct Pair {
    explicit Pair(SimulationOptions options = {}) : simulation(std::move(options)) {
        simulation.connect(a.out, b.in, {.latency = 10, .capacity = 4, .credit_latency = 10});
    }
    Simulation simulation;
    ScriptedTile a{simulation, "a"};
    ScriptedTile b{simulation, "b"};
};

TEST(Simulation, ActivatesOncePerWindowAndOnlyWithWork) {
    Pair pair;
    pair.a.done = false;
    pair.a.script = [&](Cycle, Cycle until) {
        pair.a.done = until == 40;
        return pair.a.done ? kNever : until;
    };
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    EXPECT_EQ(pair.simulation.window(), 10'000u);
    EXPECT_THAT(pair.a.activated, ElementsAre(0, 10, 20, 30));
    EXPECT_THAT(pair.b.activated, ElementsAre(0));
    EXPECT_EQ(pair.simulation.statistics().windows, 4u);
    EXPECT_EQ(pair.simulation.statistics().activations, 5u);
}

TEST(Simulation, SkipsTimeWithoutWork) {
    Pair pair;
    pair.a.done = false;
    pair.a.script = [&](Cycle from, Cycle) -> Cycle {
        if (from == 0) return 25;  // in the window of cycle 20
        if (from == 20) return 1'000'003;
        pair.a.done = true;
        return kNever;
    };
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    EXPECT_THAT(pair.a.activated, ElementsAre(0, 20, 1'000'000));
    EXPECT_EQ(pair.simulation.now(), 1'000'010'000u);
}

TEST(Simulation, GivesEachClockItsOwnCycles) {
    Simulation simulation({.max_window = 5000});
    ScriptedTile fast(simulation, "fast", ClockDomain(300));
    ScriptedTile slow(simulation, "slow", ClockDomain(7000));
    std::vector<Cycle> bounds;
    fast.done = slow.done = false;
    fast.script = [&](Cycle from, Cycle until) {
        bounds.insert(bounds.end(), {from, until});
        fast.done = until > 40;
        return fast.done ? kNever : until;
    };
    slow.script = [&](Cycle from, Cycle until) {
        EXPECT_EQ(until, from + 1);
        slow.done = from == 2;
        return slow.done ? kNever : until;
    };
    simulation.run();
    EXPECT_THAT(bounds, ElementsAre(0, 17, 17, 34, 34, 50));
    EXPECT_THAT(slow.activated, ElementsAre(0, 1, 2));
}

TEST(Simulation, StopsAtALimitAndGoesOn) {
    Pair pair;
    pair.a.done = false;
    pair.a.script = [&](Cycle, Cycle until) {
        pair.a.done = until == 100;
        return pair.a.done ? kNever : until;
    };
    EXPECT_EQ(pair.simulation.run(30'000), StopReason::kTimeLimit);
    EXPECT_EQ(pair.simulation.now(), 30'000u);
    EXPECT_EQ(pair.simulation.run(30'000), StopReason::kTimeLimit);
    EXPECT_EQ(pair.simulation.run(50'000), StopReason::kTimeLimit);
    EXPECT_THAT(pair.a.activated, ElementsAre(0, 10, 20, 30, 40));
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    EXPECT_EQ(pair.a.activated.size(), 10u);
}

TEST(Simulation, RunsAgainAfterAWake) {
    Pair pair;
    pair.a.done = false;
    pair.a.script = [&](Cycle, Cycle) {
        pair.a.done = true;
        return kNever;
    };
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);  // nothing to do
    pair.a.done = false;
    pair.a.wake(0);  // is past: the next window
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    pair.a.done = false;
    pair.a.wake(77);
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    EXPECT_THAT(pair.a.activated, ElementsAre(0, 10, 70));
}

TEST(Simulation, OneTileHandsWorkToAnotherAtAWindowsEnd) {
    Pair pair;
    pair.a.done = false;
    pair.a.script = [&](Cycle, Cycle) {
        pair.a.done = true;
        return kNever;
    };
    pair.a.window_end = [&] {
        pair.b.done = false;
        pair.b.wake(33);
    };
    pair.b.script = [&](Cycle from, Cycle) {
        pair.b.done = from == 30;
        return kNever;
    };
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    EXPECT_THAT(pair.b.activated, ElementsAre(0, 30));
    EXPECT_TRUE(pair.b.done);
}

TEST(Simulation, HousekeepingDoesNotKeepARunAlive) {
    Pair pair;
    pair.a.done = false;
    pair.a.script = [&](Cycle from, Cycle until) {
        pair.a.done = from >= 20;
        return pair.a.done ? kNever : until;
    };
    pair.b.script = [](Cycle, Cycle until) { return until; };  // a refresh timer, finished() always
    EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    EXPECT_THAT(pair.b.activated, ElementsAre(0, 10, 20));
}

TEST(Simulation, CommitsInTheOrderOfMaking) {
    for (const auto& options :
         {SimulationOptions{}, SimulationOptions{.threads = 3}, SimulationOptions{.shuffle = 7}}) {
        Simulation simulation(options);
        std::vector<std::unique_ptr<ScriptedTile>> tiles;
        std::vector<int> order;
        for (int i = 0; i < 20; ++i) {
            tiles.push_back(std::make_unique<ScriptedTile>(simulation, "t" + std::to_string(i)));
            tiles.back()->window_end = [&order, i] { order.push_back(i); };
        }
        tiles[11]->done = false;
        tiles[11]->script = [&](Cycle, Cycle) {
            tiles[11]->done = true;
            return kNever;
        };
        Time hook_at = 0;
        simulation.at_window_end([&](Time end) {
            EXPECT_EQ(order.size(), 20u);
            hook_at = end;
        });
        simulation.run();
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
        EXPECT_EQ(hook_at, simulation.window());
    }
}

std::string error_of(Simulation& simulation) {
    try {
        simulation.run();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "none";
}

TEST(Simulation, ReportsADeadlock) {
    Pair pair;
    pair.b.done = false;
    pair.a.script = [&](Cycle from, Cycle) {
        if (from == 0) pair.a.out.send(3, 1);
        return kNever;
    };
    EXPECT_THROW(pair.simulation.run(), Deadlock);
    EXPECT_THROW(pair.simulation.run(), InternalError);  // it cannot go on
    EXPECT_THAT(pair.b.activated, ElementsAre(0, 10));
}

TEST(Simulation, NamesWhoWaitsInADeadlock) {
    Pair pair;
    pair.b.done = false;
    pair.a.script = [&](Cycle from, Cycle) {
        if (from == 0) pair.a.out.send(3, 1);
        return kNever;
    };
    const std::string error = error_of(pair.simulation);
    EXPECT_EQ(error,
              "deadlock at 20000 ps: no unit has work\n  b: the test\n"
              "  a.out -> b.in: 1 messages not taken\n");
}

TEST(Simulation, ReportsALivelock) {
    Pair pair({.livelock_after = 100'000});
    pair.a.done = false;
    pair.a.script = [&](Cycle from, Cycle until) {
        if (from < 50) pair.a.progress();
        return until;
    };
    EXPECT_THAT(error_of(pair.simulation), HasSubstr("livelock at 160000 ps"));
    EXPECT_EQ(pair.a.activated.size(), 16u);
}

TEST(Simulation, ReportsALivelockThatBeganInAnEarlierRun) {
    Pair pair({.livelock_after = 100'000});
    pair.a.done = false;
    pair.a.script = [&](Cycle from, Cycle until) {
        if (from < 50) pair.a.progress();
        return until;
    };
    // Runs shorter than the limit, as a chip's are.
    const auto run_in_parts = [&] {
        for (Time limit = 30'000; limit < 1'000'000; limit += 30'000) pair.simulation.run(limit);
    };
    try {
        run_in_parts();
        FAIL() << "no livelock found";
    } catch (const Livelock& livelock) {
        EXPECT_THAT(livelock.what(), HasSubstr("livelock at 160000 ps"));
    }
}

TEST(Simulation, CountsTimeWithoutProgressAnewWhenAllWasFinished) {
    Pair pair({.livelock_after = 100'000});
    int left = 0;
    pair.a.script = [&](Cycle, Cycle until) {
        pair.a.done = --left <= 0;
        return pair.a.done ? kNever : until;
    };
    for (int round = 0; round < 5; ++round) {
        left = 6;  // windows of 10 ns
        pair.a.done = false;
        if (round != 0) pair.a.wake(0);
        EXPECT_EQ(pair.simulation.run(), StopReason::kFinished);
    }
}

TEST(Simulation, ThrowsWhatTheFirstTileThrewForAnyThreads) {
    for (const unsigned threads : {1u, 2u, 4u}) {
        Simulation simulation({.threads = threads, .shuffle = threads});
        std::vector<std::unique_ptr<ScriptedTile>> tiles;
        for (int i = 0; i < 20; ++i) {
            tiles.push_back(std::make_unique<ScriptedTile>(simulation, "t" + std::to_string(i)));
            tiles.back()->done = false;
            tiles.back()->script = [i](Cycle, Cycle until) -> Cycle {
                if (i % 7 == 3) throw ProgramFault("tile " + std::to_string(i));
                return until;
            };
        }
        EXPECT_EQ(error_of(simulation), "tile 3");
    }
}

TEST(Simulation, RefusesATileThatLooksBack) {
    Pair pair;
    pair.a.done = false;
    pair.a.script = [](Cycle from, Cycle) { return from; };
    EXPECT_THAT(error_of(pair.simulation), HasSubstr("own work for a at cycle 0"));
}

TEST(Simulation, GroupsOfTilesStandInOthers) {
    Simulation simulation({.name = "system"});
    std::vector<std::unique_ptr<ScriptedTile>> tiles;
    for (const char* name : {"gpu0.sm0", "gpu0.l2.slice0", "gpu0.l2.slice1", "gpu1.sm0",
                             "gpu1.l2.slice0", "gpu1.l2.slice1"})
        tiles.push_back(std::make_unique<ScriptedTile>(simulation, name));
    EXPECT_EQ(simulation.run(), StopReason::kFinished);
    EXPECT_NE(sc_core::sc_find_object("system.gpu1.l2.slice1"), nullptr);
}

TEST(Simulation, TilesStandInSystemcsHierarchy) {
    Simulation simulation({.name = "gpu"});
    const ScriptedTile sm0(simulation, "gpc0.sm0"), sm1(simulation, "gpc0.sm1"),
        l2(simulation, "l2");
    EXPECT_NE(sc_core::sc_find_object("gpu.gpc0.sm1"), nullptr);
    EXPECT_NE(sc_core::sc_find_object("gpu.l2"), nullptr);
    EXPECT_NE(sc_core::sc_find_object("gpu.l2.activate"), nullptr);
    EXPECT_EQ(sc_core::sc_find_object("gpu.sm1"), nullptr);
    EXPECT_THROW(ScriptedTile(simulation, "gpc0.sm0"), InternalError);
}

TEST(Simulation, SystemcsTimeIsTheWindowsBegin) {
    Pair pair;
    pair.a.done = false;
    std::vector<Time> times;
    pair.a.script = [&](Cycle from, Cycle) -> Cycle {
        times.push_back(sc_core::sc_time_stamp().value());
        pair.a.done = from >= 50;
        return pair.a.done ? kNever : from + 25;
    };
    pair.simulation.run();
    EXPECT_THAT(times, ElementsAre(0, 20'000, 40'000, 60'000));
}

TEST(Simulation, SimulationsRunInTurns) {
    const auto make = [](const std::string& name) {
        auto pair = std::make_unique<Pair>(SimulationOptions{.name = name});
        pair->a.done = false;
        pair->a.script = [&a = pair->a](Cycle, Cycle until) {
            a.done = until % 40 == 0;
            return until;
        };
        return pair;
    };
    const auto first = make("first"), beside = make("beside");  // none has run: one context
    EXPECT_EQ(first->simulation.run(), StopReason::kFinished);
    const auto later = make("later");  // one of its own
    for (int turn = 0; turn < 3; ++turn)
        for (Pair* const pair : {first.get(), later.get(), beside.get()}) {
            pair->a.done = false;
            EXPECT_EQ(pair->simulation.run(), StopReason::kFinished);
        }
    EXPECT_EQ(first->simulation.now(), 160'000u);
    EXPECT_EQ(later->simulation.now(), 120'000u);
    EXPECT_EQ(beside->simulation.now(), 120'000u);
}

}  // namespace
}  // namespace lockstep::engine
