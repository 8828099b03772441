// SPDX-License-Identifier: Apache-2.0
// LDC: constants by register index or fixed offset, through a port of their own.
#pragma once

#include "models/gpu/sm/memory_unit_parameters.h"

namespace lockstep::gpu {

class IndexedConstants {
  public:
    explicit IndexedConstants(const MemoryUnitParameters& parameters) : p_(parameters) {}

    /// When the result is in the registers.
    engine::Cycle load(engine::Cycle now, const MemoryInstruction& in);

  private:
    const MemoryUnitParameters& p_;
    engine::Cycle free_ = 0;
};

}  // namespace lockstep::gpu
