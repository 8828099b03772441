// SPDX-License-Identifier: Apache-2.0
// What a SystemC user finds of a Simulation, and sees of it in a VCD of SystemC's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <systemc>

#include "sim/engine/simulation.h"
#include "tests/vcd/vcd.h"

namespace lockstep::engine {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr Time kCycle = 1000;

/// Sends a message a cycle, five in all; shows what it has sent.
class Source : public Tile {
  public:
    Source(Simulation& simulation, std::string name)
        : Tile(simulation, std::move(name), ClockDomain(kCycle)) {}
    Sender<int> out{*this, "out"};
    std::vector<std::pair<Cycle, int>> sent;

    Cycle advance(Cycle from, Cycle until) override {
        for (Cycle now = from; now < until && count_ < 5; ++now) {
            out.send(now, ++count_);
            sent.emplace_back(now, count_);
        }
        return count_ < 5 ? until : kNever;
    }
    bool finished() const override { return count_ == 5; }

  private:
    int count_ = 0;
};

class Sink : public Tile {
  public:
    Sink(Simulation& simulation, std::string name)
        : Tile(simulation, std::move(name), ClockDomain(kCycle)) {}
    Receiver<int> in{*this, "in"};

    Cycle advance(Cycle from, Cycle until) override {
        for (Cycle now = from; now < until; ++now)
            while (in.ready(now)) in.receive(now);
        return kNever;
    }
    bool finished() const override { return true; }
};

struct Chip {
    explicit Chip(bool names_channels)
        : simulation({.name = "chip", .names_channels = names_channels}) {
        simulation.connect(source.out, sink.in,
                           {.latency = 3, .capacity = 16, .credit_latency = 3});
    }
    Simulation simulation;
    Source source{simulation, "group.source"};
    Sink sink{simulation, "sink"};
};

std::string kind_of(const char* name) {
    const sc_core::sc_object* const object = sc_core::sc_find_object(name);
    return object == nullptr ? "none" : object->kind();
}

TEST(SystemcNames, TilesPortsAndChannelsAreFound) {
    const Chip chip(true);
    EXPECT_EQ(kind_of("chip.group"), "sc_module");
    EXPECT_EQ(kind_of("chip.group.source"), "sc_module");
    EXPECT_EQ(kind_of("chip.group.source.out"), "lockstep_sender");
    EXPECT_EQ(kind_of("chip.group.source.out_channel"), "lockstep_channel");
    EXPECT_EQ(kind_of("chip.sink.in"), "lockstep_receiver");
    EXPECT_EQ(kind_of("chip.sink.out"), "none");
}

TEST(SystemcNames, ChannelsHaveNoneWhereTheyAreNotAskedFor) {
    const Chip chip(false);
    EXPECT_EQ(kind_of("chip.sink"), "sc_module");
    EXPECT_EQ(kind_of("chip.sink.in"), "none");
}

TEST(SystemcNames, SignalsChangeAtTheTimeOfTheirCycles) {
    const std::string stem = testing::TempDir() + "/signals_" + std::to_string(getpid());
    Time end = 0;
    {
        Chip chip(true);
        const SignalId signal = chip.simulation.add_signal("group.source.stage.sent");
        chip.simulation.at_window_end([&](Time) {
            for (const auto& [cycle, count] : chip.source.sent)
                chip.simulation.set_signal(signal, cycle * kCycle, std::uint64_t(count));
            chip.source.sent.clear();
        });
        auto* const found = dynamic_cast<sc_core::sc_signal<sc_dt::uint64>*>(
            sc_core::sc_find_object("chip.group.source.stage.sent"));
        ASSERT_NE(found, nullptr);
        sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
        sc_core::sc_trace_file* const file = sc_core::sc_create_vcd_trace_file(stem.c_str());
        file->set_time_unit(1, sc_core::SC_NS);
        sc_core::sc_trace(file, *found, "sent");
        sc_core::sc_find_object("chip.group.source.out_channel")->trace(file);
        EXPECT_EQ(chip.simulation.run(), StopReason::kFinished);
        end = chip.simulation.now();
        sc_core::sc_close_vcd_trace_file(file);
    }
    EXPECT_EQ(end, 9 * kCycle);  // windows of 3 cycles: sent until 4, received until 7
    const Vcd vcd = Vcd::read(stem + ".vcd");
    std::remove((stem + ".vcd").c_str());
    std::vector<std::pair<std::uint64_t, int>> sent;
    for (const auto& [time, value] : vcd.variables.at("SystemC.sent").values)
        sent.emplace_back(time, std::stoi(value, nullptr, 2));
    EXPECT_THAT(sent, ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3), Pair(3, 4), Pair(4, 5)));
    std::vector<std::pair<std::uint64_t, int>> under_way;
    for (const auto& [time, value] :
         vcd.variables.at("SystemC.chip.group.source.out_channel.in_flight").values)
        under_way.emplace_back(time, std::stoi(value, nullptr, 2));
    // The last window, from 6 on, is not in the file: SystemC writes a time when it goes on to the
    // next.
    EXPECT_THAT(under_way, ElementsAre(Pair(0, 0), Pair(3, 3)));
}

}  // namespace
}  // namespace lockstep::engine
