// SPDX-License-Identifier: Apache-2.0
// The data stage, which L1 and shared memory have in common, and the ways back to the sub-cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/gpu/sm/stage_share.h"
#include "sim/engine/time.h"

namespace lockstep::gpu {

class DataPath {
  public:
    /// `interval`: the shortest time that an instruction's result, a word for each lane, takes on
    /// its way back; latencies include it. `share`: with whom the data stage is shared.
    DataPath(unsigned sub_cores, unsigned interval, StageShare& share)
        : interval_(interval), share_(share), global_(sub_cores), shared_(sub_cores) {}

    /// From when on the data stage has at most `queued` cycles of work before it.
    engine::Cycle free_from(engine::Cycle queued) const { return free_ - std::min(free_, queued); }

    /// Shared memory and the L1's queue take turns where both want the data stage: who went last.
    bool l1_went_last() const { return l1_went_last_; }
    void note_turn(bool of_l1) { l1_went_last_ = of_l1; }

    /// Holds the data stage for `cycles` from `ready` on or as soon as it is free; returns when.
    engine::Cycle occupy(engine::Cycle ready, unsigned cycles) {
        return hold(ready, share_.take(cycles));
    }

    /// kNone: into shared memory, not to a sub-core.
    enum class Way { kGlobal, kShared, kNone };
    struct Trip {
        engine::Cycle ready = 0;  ///< at the data stage
        unsigned data_cycles = 1;
        unsigned own_cycles = 0;  ///< at least, where more than its passes hold the SM's part
        unsigned return_cycles = 1;
        unsigned port_cycles =
            0;                 ///< of the way back that all sub-cores share; 0: it limits nobody
        unsigned latency = 0;  ///< of the shortest trip
        unsigned sub_core = 0;
        Way way = Way::kGlobal;
    };
    /// When the result is in the registers: the data stage's last pass and the way back both count.
    /// Shared memory's results come earlier in the pipeline than the L1's: each has its own queue.
    engine::Cycle finish(const Trip& trip) {
        // While a result passes the shared way back, the banks serve the next, which then waits.
        const bool by_port = trip.port_cycles != 0;
        const unsigned data_cycles = share_.take(trip.data_cycles, trip.own_cycles);
        const engine::Cycle start =
            hold(by_port ? std::max(trip.ready, port_taken_) : trip.ready, data_cycles);
        if (trip.way == Way::kNone) return start + trip.latency;
        engine::Cycle cycles = std::max(data_cycles, interval_);
        if (by_port) {
            port_taken_ = std::max(start, port_free_);
            port_free_ = port_taken_ + trip.port_cycles;
            cycles = std::max(cycles, port_free_ - start);
        }
        const unsigned take = std::max(trip.return_cycles, interval_);
        const engine::Cycle shortest = start + trip.latency;
        engine::Cycle& way = (trip.way == Way::kGlobal ? global_ : shared_)[trip.sub_core];
        way = std::max(way, shortest - std::min<engine::Cycle>(shortest, interval_)) + take;
        return std::max(way, shortest + cycles - interval_);
    }

  private:
    engine::Cycle hold(engine::Cycle ready, unsigned cycles) {
        const engine::Cycle start = std::max(ready, free_);
        free_ = start + cycles;
        return start;
    }

    unsigned interval_;
    StageShare& share_;
    bool l1_went_last_ = false;
    engine::Cycle free_ = 0;
    engine::Cycle port_taken_ = 0, port_free_ = 0;  ///< when the last result enters, and leaves
    std::vector<engine::Cycle> global_, shared_;    ///< by sub-core: when the way back is free
};

}  // namespace lockstep::gpu
