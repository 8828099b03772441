// SPDX-License-Identifier: Apache-2.0
// The banks of an SRAM on the chip: who may access them when.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::memory {

inline constexpr std::uint32_t kMaxSramBanks = 64;

/// Lines of `width` bytes follow each other from bank to bank; a bank serves `ports` accesses a
/// cycle.
struct BankParameters {
    std::uint32_t banks = 1, width = 256, ports = 1;
};

/// Accesses of a bank in a cycle of an instruction that nothing holds up, by bank.
using BankLoads = std::array<double, kMaxSramBanks>;

/// Accesses in a cycle of an instruction that takes `cycles`.
inline BankLoads per_cycle(BankLoads accesses, double cycles) {
    for (double& bank : accesses) bank /= cycles;
    return accesses;
}

class BankArbiter {
  public:
    using Cycle = std::uint64_t;

    explicit BankArbiter(const BankParameters& parameters) : parameters_(parameters) {}

    /// Takes the ports that an instruction needs, which would begin at `begin` and last `cycles`;
    /// returns when it ends. `now` does not decrease from call to call; begin >= now.
    Cycle access(Cycle now, Cycle begin, Cycle cycles, const BankLoads& loads);

  private:
    /// Accesses a cycle that are promised.
    struct Promise {
        Cycle begin, end;
        BankLoads loads;
    };

    const BankParameters parameters_;
    std::vector<Promise> promises_;
};

}  // namespace lockstep::memory
