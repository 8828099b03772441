// SPDX-License-Identifier: Apache-2.0
// What the lanes of a memory instruction ask of the L1: lines and sectors for the tags, cycles of
// the data stage.
#pragma once

#include "models/gpu/sm/coalescer.h"
#include "models/gpu/sm/memory_unit_parameters.h"
#include "models/gpu/sm/shared_memory.h"

namespace lockstep::gpu {

class L1Lanes {
  public:
    L1Lanes(const MemoryUnitParameters& parameters, std::uint16_t sm, SharedMemory& shared)
        : p_(parameters), sm_(sm), shared_(shared) {}

    /// Merges the lanes' addresses to lines; returns the cycles that the data stage needs for them.
    /// Lanes of a generic access to shared memory pass its banks.
    unsigned merge(const MemoryInstruction& in, LineAccesses& lines);
    /// Texture fetches: what the texture units need.
    unsigned texture_cycles(const MemoryInstruction& in) const;
    /// LDGSTS: what writing to shared memory takes.
    unsigned copy_cycles(const MemoryInstruction& in);
    /// The way back of its results.
    DataPath::Trip trip_of(const MemoryInstruction& in) const;

  private:
    unsigned texel_cycles(const MemoryInstruction& in) const;
    unsigned data_cycles(const sass::Access& access, std::uint32_t lanes,
                         const LineAccesses& lines) const;
    LocalPlace local_place(std::uint16_t warp) const;

    const MemoryUnitParameters& p_;
    const std::uint16_t sm_;
    SharedMemory& shared_;
};

}  // namespace lockstep::gpu
