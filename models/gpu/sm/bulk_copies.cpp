// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/bulk_copies.h"

namespace lockstep::gpu {

void BulkCopies::end(const WarpContext& context, std::uint16_t number) {
    const engine::Cycle now = warps_.now();
    deferred_.set_cycle(now);
    copies_.end(number, [&](const sass::AsyncCopy& copy) {
        // Another SM's memory is written at the window's end, as nobody may see it before.
        if (copy.target->sm != sm_)
            return deferred_.defer_copy(*copy.source->warps[copy.warp], copy);
        perform_copy(copy);
        report_copy(copy);
        if (copy.writes_shared()) mbarriers_.check(*copy.target, now + 1);
    });
    end_groups(context, now + 1);
}

}  // namespace lockstep::gpu
