// SPDX-License-Identifier: Apache-2.0
// First come, first served: the oldest request alone decides the next command, so a row miss at the
// head leaves every other bank idle. A baseline for teaching; no product is known to do this.
#include <bit>

#include "models/memory/dram/scheduler.h"

namespace lockstep::memory::dram {
namespace {

int oldest_bank(const RequestQueue& queue) {
    int oldest = -1;
    for (BankMask banks = queue.pending(); banks != 0; banks &= banks - 1) {
        const int bank = std::countr_zero(banks);
        if (oldest < 0 || queue.oldest(bank).order < queue.oldest(oldest).order) oldest = bank;
    }
    return oldest;
}

/// The oldest request's row is open, and it may use it.
bool is_hit(const RequestQueue& queue, int bank) {
    return (queue.hits() >> bank & 1) != 0 && queue.oldest_hit_key(bank) == queue.oldest_key(bank);
}

Choice when(int bank, Cycle earliest, Cycle now) {
    return earliest > now ? Choice{-1, earliest} : Choice{bank, kNever};
}

class Fcfs : public Scheduler {
  public:
    bool in_order() const override { return true; }

    Choice column(const RequestQueue& queue, const Device& device, Direction direction,
                  BankMask blocked, Cycle now) const override {
        const int bank = oldest_bank(queue);
        if (bank < 0 || (blocked >> bank & 1) != 0 || !is_hit(queue, bank)) return {};
        return when(bank, device.earliest_column(bank, direction), now);
    }

    Choice row(const RequestQueue& queue, const Device& device, BankMask blocked,
               Cycle now) const override {
        const int bank = oldest_bank(queue);
        if (bank < 0 || (blocked >> bank & 1) != 0 || is_hit(queue, bank)) return {};
        return when(bank,
                    device.open_row(bank) == kClosed ? device.earliest_activate(bank)
                                                     : device.earliest_precharge(bank),
                    now);
    }
};

}  // namespace

const Scheduler& fcfs() {
    static const Fcfs scheduler;
    return scheduler;
}

}  // namespace lockstep::memory::dram
