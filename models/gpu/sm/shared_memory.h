// SPDX-License-Identifier: Apache-2.0
// Instructions that work on shared memory, and shuffles, which use its crossbar of lanes.
#pragma once

#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/data_path.h"
#include "models/gpu/sm/memory_unit_parameters.h"
#include "models/gpu/sm/shared_banks.h"

namespace lockstep::sass {
struct RemoteOperation;
}

namespace lockstep::gpu {

class SharedMemory {
  public:
    SharedMemory(const MemoryUnitParameters& parameters, DataPath& data, MemoryCounters& counters)
        : p_(parameters), data_(data), counters_(counters) {}

    /// Takes the instruction through the data stage; returns when its results are in the registers.
    engine::Cycle access(engine::Cycle now, const MemoryInstruction& in);
    /// An operation of another CTA's: when it has passed the data stage.
    engine::Cycle serve(engine::Cycle now, const sass::RemoteOperation& operation);
    /// Cycles of the data stage for these lanes of a load or store; counts them.
    unsigned pass_banks(const std::uint64_t* address, std::uint32_t lanes, unsigned width,
                        bool is_load, BankAccess kind);

  private:
    void return_words(const sass::Access& access, DataPath::Trip& trip) const;

    const MemoryUnitParameters& p_;
    DataPath& data_;
    MemoryCounters& counters_;
};

}  // namespace lockstep::gpu
