// SPDX-License-Identifier: Apache-2.0
// What copy engines do with a device's memory beside its kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/gpu/chip/chip_system.h"
#include "models/timeline.h"

namespace lockstep::gpu {

class CopiesBeside {
  public:
    CopiesBeside(const ChipSystem& chips, std::size_t number) : chips_(chips), number_(number) {}

    /// A transfer's bytes are read or written from `begin` to `end`; beside kernels as their
    /// traffic on the chip goes.
    void carry(WorkId transfer, bool writes, std::uint64_t bytes, SimulatedTime begin,
               SimulatedTime end, bool kernels_run);
    /// A kernel starts: what is left of copies from then on meets it. False: nothing is.
    bool meet_kernel(SimulatedTime at);
    /// No kernels are left: copies go on by themselves.
    void take_off_chip(SimulatedTime now);
    /// How long the transfer still takes.
    SimulatedTime left(WorkId transfer, SimulatedTime now);
    void clear() { copies_.clear(); }

  private:
    struct Copy {
        WorkId transfer = 0;
        bool writes = false;
        std::uint64_t bytes = 0;
        SimulatedTime begin = 0, end = 0;
        std::optional<std::uint64_t> traffic;  ///< on the chip: of MemorySystem::left
    };
    void put_on_chip(Copy& copy, SimulatedTime from);
    SimulatedTime left(const Copy& copy, SimulatedTime now) const;
    Chip& chip() const { return *chips_.find(number_); }

    const ChipSystem& chips_;
    const std::size_t number_;
    std::vector<Copy> copies_;  ///< that may not have ended
};

}  // namespace lockstep::gpu
