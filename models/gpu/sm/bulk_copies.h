// SPDX-License-Identifier: Apache-2.0
// UBLKCP: copies of many bytes between global and shared memory, line by line.
#pragma once

#include <algorithm>
#include <bit>
#include <deque>

#include "models/gpu/sm/coalescer.h"
#include "models/gpu/sm/memory_unit_parameters.h"

namespace lockstep::gpu {

/// In order; so many lines at a time wait for replies, so many bytes a cycle are asked for.
class BulkCopies {
  public:
    explicit BulkCopies(const MemoryUnitParameters& parameters) : p_(parameters) {}

    /// `pending`: the instruction's place in the table of those that wait.
    void start(engine::Cycle now, std::uint32_t pending, RequestKind kind, std::uint64_t begin,
               std::uint64_t bytes) {
        next_ = std::max(next_, now);
        copies_.push_back({pending, kind, begin, begin + bytes});
    }
    engine::Cycle next_event() const {
        return copies_.empty() || in_flight_ >= p_.bulk_copy_requests * kSectorsPerLine
                   ? engine::kNever
                   : next_;
    }

    struct Part {
        std::uint32_t pending;
        RequestKind kind;
        LineAccess line;
    };
    /// The next line to ask for; next_event() must have come.
    Part take(engine::Cycle now) {
        Copy& copy = copies_.front();
        const std::uint64_t end = std::min(copy.end, (copy.at / kLineBytes + 1) * kLineBytes);
        const Part part{copy.pending, copy.kind, line_of_run(copy.at, end)};
        next_ = now + divide_up(static_cast<unsigned>(end - copy.at), p_.bulk_copy_width);
        copy.at = end;
        if (copy.at == copy.end) copies_.pop_front();
        in_flight_ += static_cast<unsigned>(std::popcount(part.line.sectors));
        return part;
    }
    void came(std::uint8_t sectors) { in_flight_ -= static_cast<unsigned>(std::popcount(sectors)); }

  private:
    struct Copy {
        std::uint32_t pending;
        RequestKind kind;
        std::uint64_t at, end;
    };
    const MemoryUnitParameters& p_;
    std::deque<Copy> copies_;
    unsigned in_flight_ = 0;  ///< sectors
    engine::Cycle next_ = 0;
};

}  // namespace lockstep::gpu
