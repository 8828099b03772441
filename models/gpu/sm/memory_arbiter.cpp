// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/memory_arbiter.h"

#include <algorithm>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

MemoryInstruction& MemoryArbiter::push(unsigned sub_core, bool is_global, Cycle ready, Cycle now) {
    MemoryInstruction& entry = queues_[sub_core].push(ready, is_global);
    if (watch_.trace() != nullptr) watch_.trace()->queued(sub_core, queues_[sub_core].size(), now);
    return entry;
}

MemoryQueue* MemoryArbiter::first(Entrance by) {
    MemoryQueue* first = nullptr;
    for (MemoryQueue& queue : queues_) {
        if (queue.empty() || memory_->entrance(queue.front().info->operation) != by) continue;
        if (first == nullptr || queue.next() < first->next()) first = &queue;
    }
    return first;
}

Cycle MemoryArbiter::due(Entrance by, const MemoryQueue& queue, Cycle now) const {
    const Cycle head = std::max({queue.next(), free_[by], now});
    const Cycle accept = memory_->next_accept(head, queue.front().info->operation);
    return accept == kNever ? kNever : std::max(head, accept);
}

void MemoryArbiter::update(Cycle now) {
    next_ = kNever;
    for (const Entrance by : kEach) {
        const MemoryQueue* const queue = is_blocked(by) ? nullptr : first(by);
        if (queue != nullptr) next_ = std::min(next_, due(by, *queue, now));
    }
}

unsigned MemoryArbiter::arbitrate(Cycle now) {
    unsigned served = 0;
    for (const Entrance by : kEach) {
        MemoryQueue* const queue = is_blocked(by) ? nullptr : first(by);
        if (queue == nullptr || due(by, *queue, now) > now) continue;
        hand_on(*queue, now);
        free_[by] = now + 1;  // next_accept() knows how long the instruction takes
        served |= 1u << (queue - queues_.data());
    }
    update(now + 1);
    return served;
}

void MemoryArbiter::hand_on(MemoryQueue& queue, Cycle now) {
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
    if (watch_.trace() != nullptr)
        watch_.trace()->queued(static_cast<unsigned>(&queue - queues_.data()), queue.size(), now);
}

}  // namespace lockstep::gpu
