// SPDX-License-Identifier: Apache-2.0
// What SystemC's users find of Channels and look at of Tiles. Includes SystemC.
#pragma once

#include <memory>
#include <queue>
#include <string>
#include <systemc>
#include <vector>

#include "sim/engine/simulation.h"

namespace lockstep::engine {

/// What is written to signals, in the order of time.
class SystemcSignals {
  public:
    using Signal = sc_core::sc_signal<sc_dt::uint64>;

    SignalId add(std::unique_ptr<Signal> signal) {
        signals_.push_back(std::move(signal));
        return static_cast<SignalId>(signals_.size() - 1);
    }
    void set(SignalId signal, Time at, std::uint64_t value) {
        changes_.push({at, changes_made_++, static_cast<std::size_t>(signal), value});
    }
    /// When the next one is due.
    Time next() const { return changes_.empty() ? kNever : changes_.top().at; }
    /// Writes what is due.
    void write(Time now) {
        for (; next() <= now; changes_.pop())
            signals_[changes_.top().signal]->write(changes_.top().value);
    }

  private:
    struct Change {
        Time at;
        std::uint64_t order;
        std::size_t signal;
        std::uint64_t value;
        bool operator>(const Change& other) const {
            return std::pair(at, order) > std::pair(other.at, other.order);
        }
    };
    std::vector<std::unique_ptr<Signal>> signals_;
    std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;
    std::uint64_t changes_made_ = 0;
};

/// A Channel's end, for those who look for it by name.
class EndObject : public sc_core::sc_object {
  public:
    EndObject(const char* name, const char* kind) : sc_core::sc_object(name), kind_(kind) {}
    const char* kind() const override { return kind_; }

  private:
    const char* const kind_;
};

/// trace(), before the first run, shows the messages under way as of each window's begin.
class ChannelObject : public sc_core::sc_object {
  public:
    ChannelObject(const char* name, const ChannelBase& channel, std::vector<ChannelObject*>& traced)
        : sc_core::sc_object(name), channel_(channel), traced_(traced) {}
    const char* kind() const override { return "lockstep_channel"; }
    void print(std::ostream& out) const override { out << channel_.name(); }
    void trace(sc_core::sc_trace_file* file) const override {
        sc_core::sc_trace(file, in_flight_, std::string(name()) + ".in_flight");
        traced_.push_back(const_cast<ChannelObject*>(this));
    }
    void update() { in_flight_ = channel_.in_flight(); }

  private:
    const ChannelBase& channel_;
    std::vector<ChannelObject*>& traced_;
    sc_dt::uint64 in_flight_ = 0;
};

}  // namespace lockstep::engine
