// SPDX-License-Identifier: Apache-2.0
// What makes a convolution's rows on cores whose vector unit feeds the arrays.
#pragma once

#include <array>
#include <cstdint>

#include "isa/tpu/footprint.h"
#include "models/tpu/parameters.h"

namespace lockstep::tpu {

class WindowSetup {
  public:
    using Cycle = std::uint64_t;

    explicit WindowSetup(const VectorParameters& parameters) : parameters_(parameters) {}

    /// When the rows of an instruction that begins to stream at `now` are all there; `now` where
    /// nothing has to be made for it.
    Cycle assemble(const Instruction& instruction, Cycle now);

  private:
    /// The registers that were made for an instruction.
    struct Assembled {
        WindowRows what{};
        Cycle end = 0, until = 0;  ///< there, and in use
    };

    const VectorParameters parameters_;
    std::array<Assembled, kMaxMatrixUnits> latest_{};
    std::size_t next_ = 0;
    Cycle free_ = 0;
};

}  // namespace lockstep::tpu
