// SPDX-License-Identifier: Apache-2.0
// First-ready FCFS (Rixner et al., ISCA 2000): among the commands that the DRAM can take now,
// column commands come before row commands, and the older request before the younger. Real
// controllers add fairness and page prediction of their own, which are not published.
#include <algorithm>
#include <bit>

#include "models/memory/dram/scheduler.h"

namespace lockstep::memory::dram {
namespace {

/// The smallest key of those that are ready, and the earliest of those that are not. Without
/// branches: which bank is ready is as good as random to a branch predictor.
class Selection {
  public:
    explicit Selection(Cycle now) : now_(now) {}
    void consider(Cycle earliest, std::uint64_t key) {
        const bool ready = earliest <= now_;
        best_ = std::min(best_, ready ? key : kNone);
        wake_ = std::min(wake_, ready ? kNever : earliest);
    }
    Choice choice() const { return {best_ == kNone ? -1 : RequestQueue::bank_of(best_), wake_}; }

  private:
    static constexpr std::uint64_t kNone = ~0ull;
    Cycle now_;
    std::uint64_t best_ = kNone;
    Cycle wake_ = kNever;
};

class FrFcfs : public Scheduler {
  public:
    Choice column(const RequestQueue& queue, const Device& device, Direction direction,
                  BankMask blocked, Cycle now) const override {
        Selection selection(now);
        for (BankMask banks = queue.hits() & ~blocked; banks != 0; banks &= banks - 1) {
            const std::uint32_t bank = static_cast<std::uint32_t>(std::countr_zero(banks));
            selection.consider(device.earliest_column(bank, direction), queue.oldest_hit_key(bank));
        }
        return selection.choice();
    }

    Choice row(const RequestQueue& queue, const Device& device, BankMask blocked,
               Cycle now) const override {
        Selection selection(now);
        for (BankMask banks = queue.pending() & ~queue.hits() & ~blocked; banks != 0;
             banks &= banks - 1) {
            const std::uint32_t bank = static_cast<std::uint32_t>(std::countr_zero(banks));
            selection.consider(device.earliest_row_command(bank), queue.oldest_key(bank));
        }
        return selection.choice();
    }
};

}  // namespace

const Scheduler& fr_fcfs() {
    static const FrFcfs scheduler;
    return scheduler;
}

}  // namespace lockstep::memory::dram
