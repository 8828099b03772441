// SPDX-License-Identifier: Apache-2.0
// The hardware performs global atomics in the L2 slice that owns the line, in the order in which
// they get there. Here they are performed in the order in which SMs issued them, once a window: the
// result is one that hardware may give, and the same for any number of host threads.
#include "isa/sass/deferred_queue.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "isa/sass/program.h"
#include "isa/sass/semantics/async_copy.h"
#include "isa/sass/semantics/atomic.h"
#include "isa/sass/tma/copy.h"

namespace lockstep::sass {

void Deferred::perform() const {
    if (copy != nullptr) {
        perform_copy(*copy);
        return report_copy(*copy);
    }
    if (reduction.reduce != nullptr)
        return reduction.reduce(reduction.host, reduction.operand.data(), reduction.operand.size());
    if (perform_atomic == nullptr) {
        warp->mask = lanes;
        instruction->execute(*instruction, *warp);
        return;
    }
    perform_atomic(*instruction, {.target = {.address = host},
                                  .lanes = lanes,
                                  .b = b,
                                  .c = c,
                                  .d = &warp->row(instruction->d)});
}

Deferred& DeferredQueue::add(const Instruction& in, Warp& warp) {
    if (size_ == waiting_.size()) waiting_.emplace_back();
    Deferred& added = waiting_[size_++];
    added.cycle = cycle_;
    added.instruction = &in;
    added.warp = &warp;
    added.lanes = warp.mask;
    added.reduction.reduce = nullptr;
    added.copy.reset();
    return added;
}

void DeferredQueue::defer(const Instruction& in, Warp& warp) {
    add(in, warp).perform_atomic = nullptr;
}

void DeferredQueue::defer_reduction(Warp& warp, WaitingReduction reduction) {
    static constexpr Instruction kNone;
    Deferred& added = add(kNone, warp);
    added.perform_atomic = nullptr;
    added.reduction = std::move(reduction);
}

void DeferredQueue::defer_atomic(const Instruction& in, Warp& warp, const AtomicTarget& target,
                                 unsigned width, PerformAtomic perform) {
    Deferred& added = add(in, warp);
    added.perform_atomic = perform;
    std::copy_n(&warp.row(in.b), width / 4, added.b);
    std::copy_n(&warp.row(in.c), width / 4, added.c);
    for_each_lane(warp.mask, [&](unsigned l) {
        added.host[l] = reinterpret_cast<std::uint64_t>(target.host(l, 0));
        const std::uint64_t address = target.address[l];
        const std::uint32_t place = index_.find_or_add(address / kLineBytes);
        if (place == changed_.size()) changed_.emplace_back();
        changed_[place] |= ByteMask::of(address % kLineBytes, width);
    });
}

void DeferredQueue::defer_copy(Warp& warp, const AsyncCopy& copy) {
    static constexpr Instruction kNone;
    Deferred& added = add(kNone, warp);
    added.perform_atomic = nullptr;
    added.copy = std::make_shared<const AsyncCopy>(copy);
}

bool DeferredQueue::is_changed(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t end = address + bytes;
    if (bytes == 0 || !index_.may_hold(address / kLineBytes, (end - 1) / kLineBytes)) return false;
    while (address < end) {
        const auto offset = static_cast<unsigned>(address % kLineBytes);
        const auto part =
            static_cast<unsigned>(std::min<std::uint64_t>(end - address, kLineBytes - offset));
        const std::uint32_t place = index_.find(address / kLineBytes);
        if (place != LineIndex::kNone && (changed_[place] & ByteMask::of(offset, part)).any())
            return true;
        address += part;
    }
    return false;
}

bool DeferredQueue::overlaps(const Program& program, std::uint32_t index, Warp& warp) const {
    if (index_.empty()) return false;
    const Instruction& in = program.code()[index];
    switch (program.words()[index].base_opcode()) {
        case 0x180:    // LD
        case 0x181:    // LDG
        case 0x185:    // ST
        case 0x186:    // STG
        case 0x1ae: {  // LDGSTS, whose addresses may have a byte count in the low bits
            compute_addresses(in, warp);
            bool found = false;
            for_each_lane(warp.mask, [&](unsigned l) {
                const std::uint64_t address = warp.access.address[l];
                found |= is_changed(address - address % in.width, in.width);
            });
            return found;
        }
        case 0x1ba: {  // UBLKCP
            const GlobalRange range = bulk_copy_range(in, warp);
            return is_changed(range.address, range.bytes);
        }
        default:
            return false;
    }
}

void DeferredQueue::clear() {
    size_ = 0;
    changed_.clear();
    index_.clear();
}

void perform_in_order(std::span<DeferredQueue* const> queues,
                      const std::function<void(const Deferred&)>& perform) {
    std::vector<const Deferred*> order;
    for (const DeferredQueue* queue : queues)
        for (const Deferred& deferred : queue->waiting()) order.push_back(&deferred);
    std::stable_sort(order.begin(), order.end(),
                     [](const Deferred* a, const Deferred* b) { return a->cycle < b->cycle; });
    for (const Deferred* deferred : order) perform(*deferred);
    for (DeferredQueue* queue : queues) queue->clear();
}

}  // namespace lockstep::sass
