// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/warps.h"

#include "models/gpu/sm/sub_core.h"

namespace lockstep::gpu {

Warps::Warps(const std::string& sm, const SmParameters& parameters, SmCounters& counters,
             SmWatch& watch)
    : sm_(sm),
      parameters_(parameters),
      counters_(counters),
      watch_(watch),
      contexts_(parameters.max_warps) {
    for (std::size_t slot = 0; slot < contexts_.size(); ++slot)
        contexts_[slot].slot = static_cast<std::uint16_t>(slot);
}

WarpContext& Warps::begin(std::uint16_t slot) {
    WarpContext& context = contexts_[slot];
    context = WarpContext{};
    context.slot = slot;
    context.age = ++ages_;
    context.since = now_;
    context.state = WarpState::kNoInstruction;
    if (watch_.trace() != nullptr) watch_.trace()->state(slot, context.state, now_);
    ++counters_.warps;
    return context;
}

void Warps::wake(const WarpContext& context, engine::Cycle at) {
    (*sub_cores_)[context.slot % parameters_.sub_cores].wake(context.slot / parameters_.sub_cores,
                                                             at);
}

void Warps::release(WarpContext& context, unsigned counter) {
    if (--context.counter[counter] == 0)
        context.long_mask &= static_cast<std::uint8_t>(~(1u << counter));
    if (context.waits_for_counter) {
        context.waits_for_counter = false;
        wake(context, now_);
    }
}

}  // namespace lockstep::gpu
