// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/copy_groups.h"

#include <bit>

#include "isa/sass/cluster.h"
#include "models/gpu/sm/mbarrier_waits.h"

namespace lockstep::gpu {

using engine::Cycle;

void CopyGroups::close_for(WarpContext& context, std::uint16_t barrier, Cycle now) {
    LOCKSTEP_CHECK(!context.copy_groups_full(), "{}: more than {} groups of asynchronous copies",
                   sm_, WarpContext::kCopyGroups);
    context.group_barrier[context.open_group % WarpContext::kCopyGroups] = barrier;
    ++context.open_group;
    finish(context, now);
}

void CopyGroups::finish(WarpContext& context, Cycle now) {
    const bool was_full = context.copy_groups_full();
    while (context.oldest_group != context.open_group &&
           context.group_pending[context.oldest_group % WarpContext::kCopyGroups] == 0) {
        const std::uint16_t barrier =
            context.group_barrier[context.oldest_group++ % WarpContext::kCopyGroups];
        if (barrier != CopyBarriers::kNone) {
            end_copy(barrier, now);
            continue;
        }
        warps_.release_later(context, context.group_counter, now + 1);
    }
    if (was_full && context.waits_for_counter) {
        context.waits_for_counter = false;
        warps_.wake(context, now + 1);
    }
}

void CopyGroups::end_copy(std::uint16_t barrier, Cycle now) {
    barriers_.end(barrier, [&](std::uint16_t slot) {
        warps_[slot].waits_for_copies = false;
        warps_.wake(warps_[slot], now + 1);
    });
}

bool CopyGroups::holds(WarpContext& context) {
    const sass::Warp& warp = *context.warp;
    for (std::uint32_t lanes = warp.mask; lanes != 0; lanes &= lanes - 1) {
        const std::uint64_t address = warp.access.address[std::countr_zero(lanes)];
        const std::uint32_t offset =
            sass::own_shared_offset(*warp.cta, static_cast<std::uint32_t>(address));
        const std::uint16_t barrier =
            barriers_.find(context.cta_slot, offset / kMbarrierBytes * kMbarrierBytes);
        if (barrier == CopyBarriers::kNone) continue;
        barriers_.wait(barrier, context.slot);
        context.waits_for_copies = true;
        return true;
    }
    return false;
}

}  // namespace lockstep::gpu
