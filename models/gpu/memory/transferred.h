// SPDX-License-Identifier: Apache-2.0
// What transfers have read and written since L2 was told last: its newest part, as much as finds
// room there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "models/transfer.h"

namespace lockstep::gpu {

class Transferred {
  public:
    struct Range {
        std::uint64_t begin = 0;
        std::uint64_t bytes = 0;
        Transfer transfer = Transfer::kRead;
    };

    /// `capacity`: bytes of L2.
    explicit Transferred(std::uint64_t capacity) : capacity_(capacity) {}

    void add(Range range) {
        const std::uint64_t bytes = std::min(range.bytes, capacity_);
        range.begin += range.bytes - bytes;
        range.bytes = bytes;
        bytes_ += bytes;
        ranges_.push_back(range);
        for (; bytes_ - ranges_.front().bytes >= capacity_; ranges_.pop_front())
            bytes_ -= ranges_.front().bytes;
    }
    /// In order; nothing is left.
    std::deque<Range> take() {
        bytes_ = 0;
        return std::exchange(ranges_, {});
    }

  private:
    std::uint64_t capacity_;
    std::uint64_t bytes_ = 0;  ///< of all ranges
    std::deque<Range> ranges_;
};

}  // namespace lockstep::gpu
