// SPDX-License-Identifier: Apache-2.0
// A Channel's cycles, seen from two Tiles that do one thing each.
#include "sim/engine/channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "sim/engine/simulation.h"

namespace lockstep::engine {
namespace {

/// Sends numbers as early as credits allow and notes the cycles.
class Source : public Tile {
  public:
    Source(Simulation& simulation, ClockDomain clock, int count)
        : Tile(simulation, "source", clock), count_(count) {}
    Sender<int> out{*this, "out"};
    std::vector<Cycle> sent;

    Cycle advance(Cycle from, Cycle until) override {
        for (Cycle now = from;;) {
            while (!finished() && out.credits(now) > 0) {
                out.send(now, static_cast<int>(sent.size()));
                sent.push_back(now);
            }
            const Cycle next = finished() ? kNever : out.next_credit(now);
            if (next >= until) return next;
            now = next;
        }
    }
    bool finished() const override { return static_cast<int>(sent.size()) == count_; }

  private:
    const int count_;
};

/// Takes a number every `interval` cycles at most and notes the cycles.
class Sink : public Tile {
  public:
    Sink(Simulation& simulation, ClockDomain clock, Cycle interval)
        : Tile(simulation, "sink", clock), interval_(interval) {}
    Receiver<int> in{*this, "in"};
    std::vector<Cycle> received;
    std::optional<Cycle> kept;  // in.next_ready(), where it is kept

    Cycle advance(Cycle from, Cycle until) override {
        for (Cycle now = from;;) {
            if (kept) {
                EXPECT_EQ(in.next_ready(), *kept);
            }
            if (now >= free_at_ && in.ready(now)) {
                EXPECT_EQ(in.front(), static_cast<int>(received.size()));
                EXPECT_EQ(in.receive(now), static_cast<int>(received.size()));
                received.push_back(now);
                free_at_ = now + interval_;
            }
            const Cycle ready = in.next_ready();
            const Cycle next = ready == kNever ? kNever : std::max({ready, free_at_, now + 1});
            if (next >= until) return next;
            now = next;
        }
    }
    bool finished() const override { return in.next_ready() == kNever; }

  private:
    const Cycle interval_;
    Cycle free_at_ = 0;
};

struct Transfer {
    std::vector<Cycle> sent, received;
    SimulationStatistics statistics;
};

Transfer transfer(const ChannelParameters& parameters, int count, Time source_period,
                  Time sink_period, Cycle interval, Time max_window = kNever) {
    Simulation simulation({.max_window = max_window});
    Source source(simulation, ClockDomain(source_period), count);
    Sink sink(simulation, ClockDomain(sink_period), interval);
    simulation.connect(source.out, sink.in, parameters);
    sink.in.keep_next_ready(sink.kept.emplace());
    EXPECT_EQ(simulation.run(), StopReason::kFinished);
    return {source.sent, sink.received, simulation.statistics()};
}

using Cycles = std::vector<Cycle>;

TEST(Channel, TakesItsLatency) {
    const Transfer r =
        transfer({.latency = 20, .capacity = 4, .credit_latency = 7, .width = 1}, 3, 500, 500, 1);
    EXPECT_EQ(r.sent, (Cycles{0, 1, 2}));
    EXPECT_EQ(r.received, (Cycles{20, 21, 22}));
    EXPECT_EQ(r.statistics.messages, 3u);
}

TEST(Channel, ReturnsCreditsWithTheirOwnLatency) {
    // Two credits: out at 0 and 1, taken at 5 and 6, back at 8 and 9.
    const Transfer r =
        transfer({.latency = 5, .capacity = 2, .credit_latency = 3, .width = 1}, 6, 500, 500, 1);
    EXPECT_EQ(r.sent, (Cycles{0, 1, 8, 9, 16, 17}));
    EXPECT_EQ(r.received, (Cycles{5, 6, 13, 14, 21, 22}));
}

TEST(Channel, CarriesOnePerCycleWithEnoughCredits) {
    const Transfer r =
        transfer({.latency = 5, .capacity = 8, .credit_latency = 3, .width = 1}, 50, 500, 500, 1);
    for (Cycle i = 0; i < 50; ++i) {
        EXPECT_EQ(r.sent[i], i);
        EXPECT_EQ(r.received[i], i + 5);
    }
}

TEST(Channel, SendsAllCreditsInACycleWithoutWidth) {
    const Transfer r = transfer({.latency = 2, .capacity = 3, .credit_latency = 1}, 4, 500, 500, 1);
    EXPECT_EQ(r.sent, (Cycles{0, 0, 0, 3}));
    EXPECT_EQ(r.received, (Cycles{2, 3, 4, 5}));
}

TEST(Channel, HasRoomForAllCreditsAtOnce) {
    // More than it has slots for at first, and again when the ring has turned.
    for (const std::uint32_t capacity : {5u, 100u, 128u}) {
        const Transfer r =
            transfer({.latency = 20, .capacity = capacity, .credit_latency = 7}, 300, 500, 500, 1);
        for (std::size_t i = 0; i < 300; ++i) {
            EXPECT_EQ(r.sent[i], i < capacity ? 0 : r.received[i - capacity] + 7) << capacity;
            EXPECT_EQ(r.received[i], std::max(r.sent[i] + 20, i == 0 ? 0 : r.received[i - 1] + 1));
        }
    }
}

TEST(Channel, ASlowReceiverHoldsTheSenderBack) {
    const Transfer r =
        transfer({.latency = 1, .capacity = 1, .credit_latency = 1}, 3, 500, 500, 10);
    EXPECT_EQ(r.received, (Cycles{1, 11, 21}));
    EXPECT_EQ(r.sent, (Cycles{0, 2, 12}));
}

TEST(Channel, CrossesClocks) {
    // Sent at 0, 300, 600 ps, under way for 600 ps, read at the next multiple of 1000 ps.
    const Transfer r =
        transfer({.latency = 2, .capacity = 8, .credit_latency = 1, .width = 1}, 3, 300, 1000, 1);
    EXPECT_EQ(r.sent, (Cycles{0, 1, 2}));
    EXPECT_EQ(r.received, (Cycles{1, 2, 3}));
}

TEST(Channel, DoesNotDependOnTheWindow) {
    const ChannelParameters parameters{
        .latency = 9, .capacity = 5, .credit_latency = 11, .width = 2};
    const Transfer longest = transfer(parameters, 40, 505, 700, 3);
    for (const Time window : {1u, 37u, 505u, 1000u, 4000u}) {
        const Transfer r = transfer(parameters, 40, 505, 700, 3, window);
        EXPECT_EQ(r.sent, longest.sent) << window;
        EXPECT_EQ(r.received, longest.received) << window;
    }
}

TEST(Channel, WakesAcrossDistancesBeyondTheWheel) {
    // A short channel makes the windows short; the long one's messages are 1000 windows away.
    Simulation simulation;
    Source source(simulation, ClockDomain(500), 3);
    Sink sink(simulation, ClockDomain(500), 1);
    simulation.connect(source.out, sink.in, {.latency = 1000, .capacity = 1, .credit_latency = 1});
    EXPECT_EQ(simulation.run(), StopReason::kFinished);
    EXPECT_EQ(simulation.window(), 500u);
    EXPECT_EQ(sink.received, (Cycles{1000, 2001, 3002}));
    EXPECT_LT(simulation.statistics().activations, 20u);
}

/// Takes what is readable when it is woken, and never asks to be.
class Sleeper : public Tile {
  public:
    explicit Sleeper(Simulation& simulation) : Tile(simulation, "sleeper", ClockDomain(500)) {}
    Receiver<int> in{*this, "in"};
    std::vector<Cycle> activated;

    Cycle advance(Cycle from, Cycle until) override {
        activated.push_back(from);
        for (Cycle now = from; now < until; ++now)
            if (in.ready(now)) in.receive(now);
        return kNever;
    }
    bool finished() const override { return true; }
};

TEST(Channel, WakesForEachMessageOfAWindow) {
    Simulation simulation({.max_window = 5000});
    Source source(simulation, ClockDomain(500), 10);
    Sleeper sleeper(simulation);
    simulation.connect(source.out, sleeper.in,
                       {.latency = 15, .capacity = 16, .credit_latency = 15, .width = 1});
    EXPECT_EQ(simulation.run(), StopReason::kFinished);
    EXPECT_EQ(source.sent.back(), 9u);
    EXPECT_EQ(sleeper.activated, (Cycles{0, 10, 20}));  // readable from 15 to 24
}

TEST(Channel, ChecksItsUse) {
    Simulation simulation;
    Source source(simulation, ClockDomain(500), 3);
    Sink sink(simulation, ClockDomain(500), 1);
    EXPECT_THROW(simulation.connect(source.out, sink.in, {.latency = 0}), InternalError);
    EXPECT_THROW(simulation.connect(source.out, sink.in, {.credit_latency = 0}), InternalError);
    EXPECT_THROW(simulation.connect(source.out, sink.in, {.capacity = 0}), InternalError);
    simulation.connect(source.out, sink.in, {});
    EXPECT_THROW(simulation.connect(source.out, sink.in, {}), InternalError);
    source.out.send(0, 1);
    EXPECT_THROW(source.out.send(0, 1), InternalError);  // no credit
    EXPECT_THROW(sink.in.receive(0), InternalError);     // nothing there
}

}  // namespace
}  // namespace lockstep::engine
