// SPDX-License-Identifier: Apache-2.0
// Where the sums of an array's command begin and where they go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/npu/semantics/output.h"

namespace lockstep::npu {

class Sums {
  public:
    /// Throws ProgramFault where there are none to go on with.
    Sums(const Instruction& instruction, State& state);

    /// Adds to the sums of a pixel what they begin with.
    void begin(std::uint64_t pixel, std::int32_t* sums) const;
    /// Takes the sums of a pixel, counted row by row.
    void put(std::uint64_t pixel, std::int32_t* sums);
    void finish();

  private:
    const Instruction& i_;
    KeptSums& kept_;
    Output output_;
    const std::uint64_t width_, channels_;
};

}  // namespace lockstep::npu
