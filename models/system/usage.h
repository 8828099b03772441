// SPDX-License-Identifier: Apache-2.0
// Where the time of a run went.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "models/timeline.h"

namespace lockstep::system {

/// Time in which at least one thing of a kind was under way, and how many. Begins and ends are told
/// in the order of time.
class Usage {
  public:
    void begin_kernel(SimulatedTime at) { kernels_.begin(at, 0); }
    void end_kernel(SimulatedTime at) { kernels_.end(at); }
    void begin_transfer(TransferKind kind, SimulatedTime at, std::uint64_t bytes) {
        transfers_[static_cast<unsigned>(kind)].begin(at, bytes);
    }
    void end_transfer(TransferKind kind, SimulatedTime at) {
        transfers_[static_cast<unsigned>(kind)].end(at);
    }
    void add_host(SimulatedTime time) { host_ += time; }

    /// A table; empty where nothing was done. `total`: the host's time at the end.
    /// `device`: of several; -1: there is one.
    std::string report(SimulatedTime total, int device = -1) const;

  private:
    struct Kind {
        std::uint64_t count = 0, bytes = 0;
        unsigned under_way = 0;
        SimulatedTime since = 0, busy = 0;
        void begin(SimulatedTime at, std::uint64_t size);
        void end(SimulatedTime at);
    };
    Kind kernels_;
    std::array<Kind, kTransferKinds> transfers_;
    SimulatedTime host_ = 0;
};

}  // namespace lockstep::system
