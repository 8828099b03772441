// SPDX-License-Identifier: Apache-2.0
// What L2 holds after launches that were not simulated on it: the ranges that were used last, as
// far as they find room. Of launches whose caller says what they use (LaunchRanges).
#pragma once

#include <span>
#include <vector>

#include "models/gpu/memory/resident_lines.h"
#include "models/launch_ranges.h"

namespace lockstep::gpu {

class Residency {
  public:
    /// `capacity`: bytes that find room.
    explicit Residency(std::uint64_t capacity) : capacity_(capacity) {}

    /// A launch has used these. A range that is larger than the cache leaves nothing behind: who
    /// begins at its front again finds none of it.
    void use(std::span<const MemoryRange> ranges);
    /// Nothing is known to be there.
    void forget() { used_.clear(); }
    /// `copied`: what is there beside them, in both partitions.
    ResidentLines lines(std::vector<ResidentLines::Range> copied = {}) const;
    /// Which of these are there, a letter each: launches that find different ones take different
    /// times.
    std::string text_of(std::span<const MemoryRange> ranges) const;

  private:
    std::uint64_t capacity_;
    std::vector<MemoryRange> used_;  ///< the last one first
};

}  // namespace lockstep::gpu
