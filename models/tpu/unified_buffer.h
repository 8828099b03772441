// SPDX-License-Identifier: Apache-2.0
// The banks of the unified buffer: who may access them when.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/tpu/parameters.h"

namespace lockstep::tpu {

/// Accesses of a bank in a cycle of an instruction that nothing holds up, by bank.
using BankLoads = std::array<double, kMaxBanks>;

class UnifiedBuffer {
  public:
    using Cycle = std::uint64_t;

    explicit UnifiedBuffer(const UnifiedBufferParameters& parameters) : parameters_(parameters) {}

    /// Takes the ports that an instruction needs, which would begin at `begin` and last `cycles`;
    /// returns when it ends. `now` does not decrease from call to call; begin >= now.
    Cycle access(Cycle now, Cycle begin, Cycle cycles, const BankLoads& loads);

  private:
    /// Accesses a cycle that are promised.
    struct Promise {
        Cycle begin, end;
        BankLoads loads;
    };

    const UnifiedBufferParameters parameters_;
    std::vector<Promise> promises_;
};

}  // namespace lockstep::tpu
