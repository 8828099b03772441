// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/warpgroup_products.h"

#include <utility>

namespace lockstep::gpu {

using engine::Cycle;

void WarpgroupProducts::advance(Cycle now, MemoryUnit& memory) {
    unit_.advance(now, memory, [this](const WarpgroupUnit::End& end) {
        warps_.events.schedule(end.at, {.kind = EventKind::kProductEnd,
                                        .warp = end.first,
                                        .closes_group = end.closes_group,
                                        .age = warps_[end.first].age});
    });
}

bool WarpgroupProducts::holds(WarpContext& context) {
    if (unit_.accepts(first_of(context), context.products)) return false;
    unit_.wait_for_room(context.slot);
    context.waits_for_room = true;
    return true;
}

/// A product's registers are read for as long as it holds the pipe.
void WarpgroupProducts::issue(WarpContext& context, const StaticInstruction& in, Cycle now) {
    if (in.product.closes_group) ++context.product_groups;
    // The sub-core has counted the pipe as busy for as long as it is held at issue.
    counters_.pipe_busy[static_cast<unsigned>(Pipe::kTensor)] += in.product.cycles - in.interval;
    unit_.arrive(now + in.interval, first_of(context), context.products++, in.product);
}

void WarpgroupProducts::end(const Event& event) {
    for (const std::uint16_t slot : unit_.end()) {
        WarpContext& context = warps_[slot];
        if (context.warp == nullptr || !std::exchange(context.waits_for_room, false)) continue;
        warps_.wake(context, warps_.now());
    }
    if (!event.closes_group || warps_[event.warp].age != event.age) return;
    for (unsigned i = 0; i < WarpgroupUnit::kWarps; ++i) {
        WarpContext& context = warps_[event.warp + i];
        if (context.warp == nullptr) continue;
        --context.product_groups;
        if (std::exchange(context.waits_for_products, false)) warps_.wake(context, warps_.now());
    }
}

}  // namespace lockstep::gpu
