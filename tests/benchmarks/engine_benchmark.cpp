// SPDX-License-Identifier: Apache-2.0
// What the time kernel costs, on a chip of 132 Tiles in one clock and 64 in another, each of the
// former with a channel to and from one of the latter: per activation, by driver and by process;
// per idle Tile; and how work in the Tiles scales with threads (compare wall times on free cores).
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "sim/engine/simulation.h"

namespace lockstep::engine {
namespace {

constexpr int kCores = 132;
constexpr int kSlices = 64;
constexpr Cycle kLatency = 20;

std::uint64_t burn(std::uint64_t state, std::uint64_t rounds) {
    for (; rounds != 0; --rounds) state = state * 6364136223846793005u + 1442695040888963407u;
    return state;
}

/// Works in every window, on nothing or on `rounds` multiplications; exchanges messages or none.
class Core : public Tile {
  public:
    Core(Simulation& simulation, int i, std::uint64_t rounds, bool busy, bool talks)
        : Tile(simulation, "core" + std::to_string(i), ClockDomain(505)),
          rounds_(rounds),
          busy_(busy),
          talks_(talks) {}
    Sender<std::uint64_t> requests{*this, "requests"};
    Receiver<std::uint64_t> responses{*this, "responses"};

    Cycle advance(Cycle from, Cycle until) override {
        if (!busy_) return kNever;
        state_ = burn(state_, rounds_);
        if (!talks_) return until;
        for (Cycle now = from; now < until && responses.ready(now);)
            state_ ^= responses.receive(now);
        if (requests.credits(from) > 0) requests.send(from, state_);
        return until;
    }
    bool finished() const override { return !busy_; }

  private:
    const std::uint64_t rounds_;
    const bool busy_, talks_;
    std::uint64_t state_ = 1;
};

/// Answers each request.
class Slice : public Tile {
  public:
    Slice(Simulation& simulation, int i)
        : Tile(simulation, "slice" + std::to_string(i), ClockDomain(610)) {}
    std::vector<std::unique_ptr<Receiver<std::uint64_t>>> requests;
    std::vector<std::unique_ptr<Sender<std::uint64_t>>> responses;

    Cycle advance(Cycle from, Cycle until) override {
        Cycle next = kNever;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            Cycle now = std::max(from, requests[i]->next_ready());
            for (; now < until; now = std::max(now, requests[i]->next_ready()))
                responses[i]->send(now, requests[i]->receive(now) + 1);
            if (now != kNever) next = std::min(next, now);
        }
        return next;
    }
    bool finished() const override { return true; }
};

struct Chip {
    Chip(SimulationOptions options, std::uint64_t rounds, int busy_cores, bool talks)
        : simulation(std::move(options)) {
        for (int i = 0; i < kSlices; ++i) slices.push_back(std::make_unique<Slice>(simulation, i));
        for (int i = 0; i < kCores; ++i) {
            cores.push_back(std::make_unique<Core>(simulation, i, rounds, i < busy_cores, talks));
            Slice& slice = *slices[i % kSlices];
            slice.requests.push_back(std::make_unique<Receiver<std::uint64_t>>(slice, "requests"));
            slice.responses.push_back(std::make_unique<Sender<std::uint64_t>>(slice, "responses"));
            const ChannelParameters parameters{
                .latency = kLatency, .capacity = 64, .credit_latency = kLatency};
            simulation.connect(cores.back()->requests, *slice.requests.back(), parameters);
            simulation.connect(*slice.responses.back(), cores.back()->responses, parameters);
        }
        simulation.run(1);
    }
    Simulation simulation;
    std::vector<std::unique_ptr<Slice>> slices;
    std::vector<std::unique_ptr<Core>> cores;
};

constexpr int kWindows = 1000;  // of one iteration

void report(benchmark::State& state, Chip& chip) {
    const SimulationStatistics before = chip.simulation.statistics();
    for (auto _ : state)
        chip.simulation.run(chip.simulation.now() + kWindows * chip.simulation.window());
    const SimulationStatistics& after = chip.simulation.statistics();
    using benchmark::Counter;
    const auto rate = [](std::uint64_t count) {
        return Counter(static_cast<double>(count), Counter::kIsRate);
    };
    state.counters["activations/s"] = rate(after.activations - before.activations);
    state.counters["messages/s"] = rate(after.messages - before.messages);
    state.counters["cycles/s"] = rate((after.windows - before.windows) * kLatency);
    state.counters["s/activation"] =
        Counter(static_cast<double>(after.activations - before.activations),
                Counter::kIsRate | Counter::kInvert);
}

Activation activation_of(const benchmark::State& state) {
    return state.range(0) != 0 ? Activation::kProcess : Activation::kDriver;
}

void ActivateBusyCores(benchmark::State& state) {
    Chip chip({.activation = activation_of(state)}, 0, kCores, false);
    report(state, chip);
}
BENCHMARK(ActivateBusyCores)->ArgName("process")->Arg(0)->Arg(1);

/// Against ActivateOneCoreOf1: the difference is what 131 idle cores and 64 idle slices cost.
void ActivateOneCoreOf132(benchmark::State& state) {
    Chip chip({}, 0, 1, false);
    report(state, chip);
}
BENCHMARK(ActivateOneCoreOf132);

void ActivateOneCoreOf1(benchmark::State& state) {
    Simulation simulation({.max_window = kLatency * 505});
    Core core(simulation, 0, 0, true, false);
    simulation.run(1);
    for (auto _ : state) simulation.run(simulation.now() + kWindows * simulation.window());
    state.counters["s/activation"] =
        benchmark::Counter(static_cast<double>(simulation.statistics().activations),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(ActivateOneCoreOf1);

void ExchangeMessages(benchmark::State& state) {
    Chip chip({.activation = activation_of(state)}, 0, kCores, true);
    report(state, chip);
}
BENCHMARK(ExchangeMessages)->ArgName("process")->Arg(0)->Arg(1);

/// Cores that compute for about `rounds` ns each in a window.
void Threads(benchmark::State& state) {
    Chip chip({.threads = static_cast<unsigned>(state.range(0))},
              static_cast<std::uint64_t>(state.range(1)), kCores, true);
    report(state, chip);
}
BENCHMARK(Threads)
    ->ArgNames({"threads", "rounds"})
    ->ArgsProduct({{1, 2}, {100, 1000, 4000}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::engine

BENCHMARK_MAIN();
