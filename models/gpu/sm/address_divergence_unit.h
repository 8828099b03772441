// SPDX-License-Identifier: Apache-2.0
// ADU: LDC, constants by register index or fixed offset, one after the other (Nsight Compute's
// guide: the address divergence unit supports constant loads).
#pragma once

#include <optional>
#include <vector>

#include "models/gpu/sm/memory_unit_parameters.h"

namespace lockstep::gpu {

class AddressDivergenceUnit {
  public:
    explicit AddressDivergenceUnit(const MemoryUnitParameters& parameters) : p_(parameters) {}

    struct Done {
        engine::Cycle at = 0;
        MemoryInstructionHeader instruction;
    };

    /// When it takes the next instruction.
    engine::Cycle free_from() const { return free_; }
    /// When the result is in the registers; kNever: constants are missing, arrived() will tell.
    engine::Cycle take(engine::Cycle now, const MemoryInstruction& in);

    /// A number for an instruction that is to come, and one more line that it waits for.
    std::uint16_t await();
    void await(std::uint16_t number) { ++waiting_[number].missing; }
    /// One of its lines is there; the instruction, where it has come and this was the last.
    std::optional<Done> arrived(engine::Cycle now, std::uint16_t number);

  private:
    struct Waiting {
        bool is_used = false, has_come = false;
        unsigned missing = 0;
        engine::Cycle start = 0;  ///< when it would have begun
        unsigned cycles = 0;      ///< from there
        MemoryInstructionHeader instruction;
    };

    const MemoryUnitParameters& p_;
    std::vector<Waiting> waiting_;
    engine::Cycle free_ = 0;
};

}  // namespace lockstep::gpu
