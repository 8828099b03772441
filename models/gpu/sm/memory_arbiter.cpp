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

/// Heads change less often than they are looked at.
void MemoryArbiter::choose_first() {
    first_.fill(kNobody);
    for (unsigned i = 0; i < heads_.size(); ++i) {
        unsigned& first = first_[heads_[i].by];
        const Cycle earliest = first == kNobody ? kNever : heads_[first].ready;
        if (heads_[i].ready < earliest) first = i;
    }
}

Cycle MemoryArbiter::due(Entrance by, Cycle now) const {
    if (first_[by] == kNobody || is_blocked(by)) return kNever;
    const Head& first = heads_[first_[by]];
    const Cycle head = std::max({first.ready, free_[by], now});
    const Cycle accept = memory_->next_accept(head, first.operation);
    return accept == kNever ? kNever : std::max(head, accept);
}

void MemoryArbiter::update(Cycle now) {
    next_ = kNever;
    for (const Entrance by : kEach) next_ = std::min(next_, due(by, now));
}

unsigned MemoryArbiter::arbitrate(Cycle now) {
    unsigned served = 0;
    for (const Entrance by : kEach) {
        if (due(by, now) > now) continue;
        const unsigned sub_core = first_[by];
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
    if (queue.empty()) {
        heads_[sub_core].ready = kNever;
        choose_first();
    } else {
        look_at_head(sub_core, queue.front().info->operation);
    }
    if (watch_.trace() != nullptr) watch_.trace()->queued(sub_core, queue.size(), now);
}

}  // namespace lockstep::gpu
