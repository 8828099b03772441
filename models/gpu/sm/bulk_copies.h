// SPDX-License-Identifier: Apache-2.0
// Copies that TMA works on for the SM's warps: they begin at issue, and their bytes move and are
// reported to mbarriers when the last line has come.
#pragma once

#include "isa/sass/deferred_queue.h"
#include "models/gpu/sm/mbarrier_waits.h"
#include "models/gpu/sm/sm_copies.h"
#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

class BulkCopies {
  public:
    BulkCopies(std::uint16_t sm, Warps& warps, MbarrierWaits& mbarriers,
               sass::DeferredQueue& deferred)
        : sm_(sm), warps_(warps), mbarriers_(mbarriers), deferred_(deferred) {}

    void clear() { copies_.clear(); }
    /// What semantics start copies with.
    sass::AsyncEngine& engine() { return copies_; }
    /// What the warp's last instruction has started, for the memory unit.
    void take_started(const WarpContext& context, MemoryInstruction& entry) {
        entry.copy_group = copies_.take_started(context.slot);
        entry.copy = &copies_[entry.copy_group];
    }
    /// The last line of a copy has come.
    void end(const WarpContext& context, std::uint16_t number);
    /// UTMACMDFLUSH: a counter that is held is released when earlier copies to global memory are
    /// done, at `at` if they are.
    void commit_group(const WarpContext& context, std::uint8_t counter, engine::Cycle at) {
        copies_.commit_group(context.slot, counter);
        end_groups(context, at);
    }

  private:
    void end_groups(const WarpContext& context, engine::Cycle at) {
        copies_.end_groups(context.slot, [&](std::uint8_t counter) {
            warps_.release_later(context, counter, at);
        });
    }

    const std::uint16_t sm_;
    Warps& warps_;
    MbarrierWaits& mbarriers_;
    sass::DeferredQueue& deferred_;
    SmCopies copies_;
};

}  // namespace lockstep::gpu
