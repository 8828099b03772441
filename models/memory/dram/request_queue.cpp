// SPDX-License-Identifier: Apache-2.0
// A controller compares all waiting requests at once, in wires. The same choice is found here from
// one list a bank with a pointer to its oldest row hit; both are kept up as requests come and go.
#include "models/memory/dram/request_queue.h"

#include <algorithm>

#include "sim/error/error.h"

namespace lockstep::memory::dram {

RequestQueue::RequestQueue(std::uint32_t capacity, std::uint32_t cap)
    : slots_(capacity), cap_(cap) {
    LOCKSTEP_CHECK(capacity > 0 && capacity < kNoSlot, "a queue of {} requests", capacity);
    for (std::uint32_t i = 0; i < capacity; ++i)
        slots_[i].next = i + 1 < capacity ? static_cast<std::uint16_t>(i + 1) : kNoSlot;
}

void RequestQueue::set_hit(std::uint32_t bank, std::uint16_t slot) {
    lists_[bank].hit = slot;
    if (slot == kNoSlot) {
        hits_ &= ~(BankMask{1} << bank);
    } else {
        hits_ |= BankMask{1} << bank;
        hit_key_[bank] = key(slots_[slot]);
    }
}

void RequestQueue::push(std::uint32_t bank, std::uint32_t row, std::uint32_t open_row,
                        std::uint64_t id, std::uint64_t order, Cycle arrival) {
    const std::uint16_t index = free_;
    Slot& slot = slots_[index];
    free_ = slot.next;
    List& list = lists_[bank];
    slot = {id,        order,  arrival, row, static_cast<std::uint8_t>(bank), RowOutcome::kHit,
            list.tail, kNoSlot};
    (list.tail == kNoSlot ? list.head : slots_[list.tail].next) = index;
    list.tail = index;
    pending_ |= BankMask{1} << bank;
    ++size_;
    if (row == open_row && list.hit == kNoSlot && list.overtaken < cap_) set_hit(bank, index);
}

Slot RequestQueue::pop_hit(std::uint32_t bank) {
    List& list = lists_[bank];
    const std::uint16_t index = list.hit;
    const Slot slot = slots_[index];
    if (list.head == index)
        list.head = slot.next;
    else {
        slots_[slot.previous].next = slot.next;
        ++list.overtaken;
    }
    (slot.next == kNoSlot ? list.tail : slots_[slot.next].previous) = slot.previous;
    slots_[index].next = free_;
    free_ = index;
    --size_;

    std::uint16_t hit = kNoSlot;
    if (list.overtaken < cap_)
        for (hit = slot.next; hit != kNoSlot && slots_[hit].row != slot.row;)
            hit = slots_[hit].next;
    set_hit(bank, hit);
    if (list.head == kNoSlot) pending_ &= ~(BankMask{1} << bank);
    return slot;
}

void RequestQueue::row_opened(std::uint32_t bank, std::uint32_t row) {
    List& list = lists_[bank];
    list.overtaken = 0;
    std::uint16_t hit = list.head;
    while (hit != kNoSlot && slots_[hit].row != row) hit = slots_[hit].next;
    set_hit(bank, hit);
}

void RequestQueue::row_closed(std::uint32_t bank) {
    set_hit(bank, kNoSlot);
}

void RequestQueue::note_oldest(std::uint32_t bank, RowOutcome outcome) {
    Slot& slot = slots_[lists_[bank].head];
    slot.outcome = std::max(slot.outcome, outcome);
}

}  // namespace lockstep::memory::dram
