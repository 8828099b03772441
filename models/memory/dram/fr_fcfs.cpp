// SPDX-License-Identifier: Apache-2.0
// First-ready FCFS (Rixner et al., ISCA 2000): among the commands that the DRAM can take now,
// column commands come before row commands, and the older request before the younger. Real
// controllers add fairness and page prediction of their own, which are not published.
#include <algorithm>
#include <bit>

#include "models/memory/dram/scheduler.h"

namespace lockstep::memory::dram {
namespace {

class FrFcfs : public Scheduler {
  public:
    Choice column(const RequestQueue& queue, const Device& device, Direction direction,
                  BankMask blocked, Cycle now) const override {
        Choice choice;
        std::uint64_t order = ~0ull;
        for (BankMask banks = queue.hits() & ~blocked; banks != 0; banks &= banks - 1) {
            const int bank = std::countr_zero(banks);
            const Cycle earliest = device.earliest_column(bank, direction);
            if (earliest > now)
                choice.wake = std::min(choice.wake, earliest);
            else if (const std::uint64_t o = queue.oldest_hit(bank).order; o < order)
                order = o, choice.bank = bank;
        }
        return choice;
    }

    Choice row(const RequestQueue& queue, const Device& device, BankMask blocked,
               Cycle now) const override {
        Choice choice;
        std::uint64_t order = ~0ull;
        for (BankMask banks = queue.pending() & ~queue.hits() & ~blocked; banks != 0;
             banks &= banks - 1) {
            const int bank = std::countr_zero(banks);
            const Cycle earliest = device.open_row(bank) == kClosed
                                       ? device.earliest_activate(bank)
                                       : device.earliest_precharge(bank);
            if (earliest > now)
                choice.wake = std::min(choice.wake, earliest);
            else if (const std::uint64_t o = queue.oldest(bank).order; o < order)
                order = o, choice.bank = bank;
        }
        return choice;
    }
};

}  // namespace

const Scheduler& fr_fcfs() {
    static const FrFcfs scheduler;
    return scheduler;
}

}  // namespace lockstep::memory::dram
