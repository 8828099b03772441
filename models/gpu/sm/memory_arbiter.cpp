// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/memory_arbiter.h"

#include <algorithm>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

MemoryInstruction& MemoryArbiter::push(unsigned sub_core, Cycle ready, Cycle now) {
    MemoryInstruction& entry = queues_[sub_core].push(ready);
    if (watch_.trace() != nullptr) watch_.trace()->queued(sub_core, queues_[sub_core].size(), now);
    return entry;
}

void MemoryArbiter::update(Cycle now) {
    next_ = kNever;
    if (is_blocked()) return;
    const MemoryQueue* first = nullptr;
    Cycle head = kNever;
    for (const MemoryQueue& queue : queues_) {
        if (queue.next() >= head) continue;
        head = queue.next();
        first = &queue;
    }
    if (head == kNever) return;
    head = std::max({head, free_, now});
    const Cycle accept = memory_->next_accept(head, first->front().info->operation);
    if (accept != kNever) next_ = std::max(head, accept);
}

std::optional<unsigned> MemoryArbiter::arbitrate(Cycle now) {
    unsigned best = 0;
    Cycle ready = kNever;
    for (unsigned i = 0; i < queues_.size(); ++i) {
        if (queues_[i].next() < ready) {
            ready = queues_[i].next();
            best = i;
        }
    }
    MemoryQueue& queue = queues_[best];
    const bool is_due = !is_blocked() && ready <= now && free_ <= now &&
                        memory_->next_accept(now, queue.front().info->operation) <= now;
    if (is_due) {
        if (watch_.trace() != nullptr) watch_.trace()->accepted(queue.front().trace, now);
        SmProfile* const profile = watch_.profile();
        const std::uint32_t pc = queue.front().code_index;
        const MemoryCounters before = profile != nullptr ? counters_ : MemoryCounters{};
        memory_->accept(now, queue.front());
        if (profile != nullptr) profile->accessed(pc, since(counters_, before));
        queue.pop(now);
        if (watch_.trace() != nullptr) watch_.trace()->queued(best, queue.size(), now);
        free_ = now + 1;  // next_accept() knows how long the instruction takes
    }
    update(now + 1);
    return is_due ? std::optional(best) : std::nullopt;
}

}  // namespace lockstep::gpu
