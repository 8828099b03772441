// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/buffer.h"

#include <algorithm>

#include "workloads/network/compile/refusal.h"

namespace lockstep::network::compile {

namespace {

/// No two ranges share an address, not even of nothing.
std::uint64_t range_bytes(std::uint64_t bytes) {
    return aligned(std::max<std::uint64_t>(bytes, 1));
}

}  // namespace

Heap::Heap(std::uint64_t begin, std::uint64_t size) : begin_(begin), end_(begin + size) {
    if (size != 0) free_[begin] = size;
}

std::uint64_t Heap::top() const {
    if (free_.empty()) return end_;
    const auto& [address, bytes] = *free_.rbegin();
    return address + bytes == end_ ? address : end_;
}

std::shared_ptr<void> Heap::allocate(std::uint64_t bytes, std::uint64_t& address) {
    bytes = range_bytes(bytes);
    for (auto range = free_.begin(); range != free_.end(); ++range) {
        if (range->second < bytes) continue;
        address = range->first;
        const std::uint64_t rest = range->second - bytes;
        free_.erase(range);
        if (rest != 0) free_[address + bytes] = rest;
        used_ += bytes;
        most_used_ = std::max(most_used_, used_);
        return {reinterpret_cast<void*>(1),
                [this, address, bytes](void*) { release(address, bytes); }};
    }
    return nullptr;
}

void Heap::release(std::uint64_t address, std::uint64_t bytes) {
    used_ -= bytes;
    auto range = free_.emplace(address, bytes).first;
    const auto next = std::next(range);
    if (next != free_.end() && address + bytes == next->first) {
        range->second += next->second;
        free_.erase(next);
    }
    if (range == free_.begin()) return;
    const auto before = std::prev(range);
    if (before->first + before->second != address) return;
    before->second += range->second;
    free_.erase(range);
}

std::optional<std::uint64_t> Ring::next(std::uint64_t bytes, const Pinned& a,
                                        const Pinned& b) const {
    const std::uint64_t end = begin_ + size_;
    std::uint64_t at = head_;
    // Round once: past each of the two, and the end.
    for (int attempt = 0; attempt < 6; ++attempt) {
        if (at + bytes > end)
            at = begin_;
        else if (a.meets(at, at + bytes))
            at = a.end;
        else if (b.meets(at, at + bytes))
            at = b.end;
        else
            return at;
    }
    return std::nullopt;
}

std::uint64_t Ring::allocate(std::uint64_t bytes) {
    bytes = range_bytes(bytes);
    const bool spares = pinned_.bytes() + before_.bytes() <= size_ / 2;
    std::optional<std::uint64_t> address = next(bytes, pinned_, spares ? before_ : Pinned{});
    if (!address) address = next(bytes, pinned_, {});
    if (!address)
        throw Refusal(fmt::format("{} is too small: {} bytes beside {} that stay, in {}", name_,
                                  bytes, pinned_.bytes(), size_));
    head_ = *address + bytes;
    hand_out(*address, head_);
    return *address;
}

void Ring::hand_out(std::uint64_t begin, std::uint64_t end) {
    auto it = ranges_.lower_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second.end > begin) --it;
    while (it != ranges_.end() && it->first < end) {
        overwritten_[it->second.serial] = true;
        it = ranges_.erase(it);
    }
    overwritten_.push_back(false);
    ranges_[begin] = {end, serial()};
}

void Ring::set_begin(std::uint64_t begin) {
    LOCKSTEP_CHECK(pinned_.bytes() == 0, "a ring moves under a pinned range");
    size_ = begin_ + size_ - begin;
    begin_ = begin;
    head_ = std::max(head_, begin);
}

std::uint64_t Ring::pin(std::uint64_t bytes) {
    bytes = range_bytes(bytes);
    if (bytes > size_)
        throw Refusal(
            fmt::format("{} is too small: {} bytes are to stay in {}", name_, bytes, size_));
    release();
    const std::uint64_t begin = pins_high_ ? begin_ + size_ - bytes : begin_;
    pinned_ = {begin, begin + bytes};
    pins_high_ = !pins_high_;
    if (bytes != 0) hand_out(pinned_.begin, pinned_.end);
    return begin;
}

std::uint64_t Ring::pin_next(std::uint64_t bytes) {
    release();
    const std::uint64_t begin = allocate(bytes);
    pinned_ = {begin, begin + range_bytes(bytes)};
    return begin;
}

}  // namespace lockstep::network::compile
