// SPDX-License-Identifier: Apache-2.0
// The SM's own translation buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "models/gpu/memory/message.h"

namespace lockstep::gpu {

/// Fully associative, least recently used leaves first. `page_bytes` is a power of two.
class Tlb {
  public:
    /// An ideal one knows every page.
    Tlb(std::uint32_t entries, std::uint64_t page_bytes, bool is_ideal = false);
    /// Whether the page of the line is known; it becomes the most recently used.
    bool look_up(std::uint64_t line) {
        const std::uint64_t page = line >> shift_;
        return is_ideal_ || (!pages_.empty() && pages_[0] == page) || find(page);
    }
    /// A reply that carried a translation came.
    void fill(std::uint64_t line);

  private:
    bool find(std::uint64_t page);

    bool is_ideal_;
    unsigned shift_;
    std::uint32_t entries_;
    std::vector<std::uint64_t> pages_;  ///< most recently used first
};

}  // namespace lockstep::gpu
