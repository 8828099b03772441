// SPDX-License-Identifier: Apache-2.0
// The SM's shared memory pipeline: L1 and shared memory with their tag and data stages, from where
// an instruction's addresses are known to where its results are back in the registers.
#pragma once

#include <cstdint>
#include <memory>

#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/l1_queues.h"
#include "models/gpu/sm/memory_instruction.h"
#include "sim/config/machine.h"

namespace lockstep::sass {
struct RemoteOperation;
}

namespace lockstep::gpu {

class StageShare;

/// Driven by the SM: it offers instructions in the order in which its arbiter takes them from the
/// sub-cores, and calls advance() at the cycles that next_event() names. Nothing polls.
class MemoryUnit {
  public:
    /// `shared_bytes`: the carve-out of shared memory; the rest of l1.size is cache. `share`: the
    /// data stage's, which outlives the unit.
    MemoryUnit(const config::Machine& machine, std::uint16_t sm, std::uint64_t shared_bytes,
               MemoryPort& port, MemoryListener& listener, MemoryCounters& counters,
               StageShare& share);
    ~MemoryUnit();
    MemoryUnit(const MemoryUnit&) = delete;
    MemoryUnit& operator=(const MemoryUnit&) = delete;

    /// The first cycle (>= now) at which an instruction of this kind can be accepted; kNever: not
    /// before a reply or a later event.
    engine::Cycle next_accept(engine::Cycle now, MemoryOperation operation) const;
    /// Where instructions enter, each on its own: those of one entrance do not hold up others.
    enum Entrance : unsigned { kLoadStore, kConstants, kRegisters, kEntrances };
    Entrance entrance(MemoryOperation operation) const;
    /// Takes an instruction whose sources have been read.
    void accept(engine::Cycle now, const MemoryInstruction& instruction);

    /// An LDC will come whose constants are not in the SM: a number for it to bear. The lines that
    /// it waits for are announced and come one by one, before it enters or after.
    std::uint16_t await_constants();
    void await_constants(std::uint16_t number);
    void constants_arrived(engine::Cycle now, std::uint16_t number);

    /// An operation of another CTA's on the shared memory here (offsets by lane): when it has
    /// passed the data stage.
    engine::Cycle serve_remote(engine::Cycle now, const sass::RemoteOperation& operation);
    /// What another CTA has answered goes to the registers: when it is there.
    engine::Cycle return_remote(engine::Cycle now, const MemoryInstructionHeader& instruction);
    /// Operands of a warpgroup's product pass the data stage, as soon as it is free; returns when
    /// they have.
    engine::Cycle read_operands(engine::Cycle now, unsigned wavefronts);

    /// Does everything that is due up to and including cycle `now`, replies included.
    void advance(engine::Cycle now);
    /// The next cycle with something to do, replies that are known to come included; kNever: none.
    engine::Cycle next_event() const;

    L1Queues queues() const;
    /// Nothing is under way.
    bool idle() const;
    /// MEMBAR.GPU/SYS, CCTL.IVALL and a new kernel forget cached global data.
    void invalidate_l1();

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace lockstep::gpu
