// SPDX-License-Identifier: Apache-2.0
// The SM's own translation buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "models/gpu/memory/message.h"

namespace lockstep::gpu {

/// What a TLB knows at first: nothing; the pages that it is asked for first, as many as it has room
/// for, as after launches before that used the same memory; or at all times every page.
enum class TlbStart : std::uint8_t { kCold, kWarm, kIdeal };

/// Fully associative, least recently used leaves first. `page_bytes` is a power of two.
class Tlb {
  public:
    Tlb(std::uint32_t entries, std::uint64_t page_bytes, TlbStart start = TlbStart::kCold);
    /// Whether the page of the line is known; it becomes the most recently used.
    bool look_up(std::uint64_t line) {
        const std::uint64_t page = line >> shift_;
        return start_ == TlbStart::kIdeal || (!pages_.empty() && pages_[0] == page) || find(page);
    }
    /// A reply that carried a translation came.
    void fill(std::uint64_t line);

  private:
    bool find(std::uint64_t page);

    TlbStart start_;
    unsigned shift_;
    std::uint32_t entries_;
    std::vector<std::uint64_t> pages_;  ///< most recently used first
};

}  // namespace lockstep::gpu
