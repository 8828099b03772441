// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/memory_arbiter.h"

#include <algorithm>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

MemoryInstruction& MemoryArbiter::push(unsigned sub_core, MemoryOperation operation, bool is_global,
                                       Cycle ready, Cycle now) {
    MemoryQueue& queue = queues_[sub_core];
    MemoryInstruction& entry = queue.push(ready, is_global);
    if (queue.size() == 1) look_at_head(sub_core, operation);
    if (watch_.trace() != nullptr) watch_.trace()->queued(sub_core, queue.size(), now);
    return entry;
}

unsigned MemoryArbiter::first(Entrance by) const {
    if (is_blocked(by)) return kNobody;
    unsigned first = kNobody;
    Cycle earliest = kNever;
    for (unsigned i = 0; i < heads_.size(); ++i) {
        if (heads_[i].ready >= earliest || heads_[i].by != by) continue;
        first = i;
        earliest = heads_[i].ready;
    }
    return first;
}

Cycle MemoryArbiter::due(Entrance by, unsigned first, Cycle now) const {
    if (first == kNobody) return kNever;
    const Cycle head = std::max({heads_[first].ready, free_[by], now});
    const Cycle accept = memory_->next_accept(head, heads_[first].operation);
    return accept == kNever ? kNever : std::max(head, accept);
}

void MemoryArbiter::update(Cycle now) {
    next_ = kNever;
    for (const Entrance by : kEach) next_ = std::min(next_, due(by, first(by), now));
}

unsigned MemoryArbiter::arbitrate(Cycle now) {
    unsigned served = 0;
    for (const Entrance by : kEach) {
        const unsigned sub_core = first(by);
        if (due(by, sub_core, now) > now) continue;
        hand_on(sub_core, now);
        free_[by] = now + 1;  // next_accept() knows how long the instruction takes
        served |= 1u << sub_core;
    }
    update(now + 1);
    return served;
}

void MemoryArbiter::hand_on(unsigned sub_core, Cycle now) {
    MemoryQueue& queue = queues_[sub_core];
    if (watch_.trace() != nullptr) watch_.trace()->accepted(queue.front().trace, now);
    SmProfile* const profile = watch_.profile();
    const std::uint32_t pc = queue.front().code_index;
    const MemoryCounters before = profile != nullptr ? counters_ : MemoryCounters{};
    memory_->accept(now, queue.front());
    WarpContext& context = warps_[queue.front().warp];
    if (--context.in_queue == 0 && context.waits_for_queue) {
        context.waits_for_queue = false;
        warps_.wake(context, now + 1);
    }
    if (profile != nullptr) profile->accessed(pc, since(counters_, before));
    queue.pop(now);
    if (queue.empty())
        heads_[sub_core].ready = kNever;
    else
        look_at_head(sub_core, queue.front().info->operation);
    if (watch_.trace() != nullptr) watch_.trace()->queued(sub_core, queue.size(), now);
}

}  // namespace lockstep::gpu
