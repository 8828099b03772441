// SPDX-License-Identifier: Apache-2.0
// L1 TLB: a few entries for pages of 2 MiB. V100's covers 32 MB (Jia et al. 2018); no later chip's
// is published. The L1 is virtually tagged there, so that only requests to L2 are translated. What
// a miss costs is the matter of the memory side.
#include "models/gpu/sm/tlb.h"

#include <algorithm>
#include <bit>

#include "sim/error/error.h"

namespace lockstep::gpu {

Tlb::Tlb(std::uint32_t entries, std::uint64_t page_bytes, TlbStart start)
    : start_(start),
      shift_(static_cast<unsigned>(std::countr_zero(page_bytes / kLineBytes))),
      entries_(entries) {
    LOCKSTEP_CHECK(std::has_single_bit(page_bytes) && page_bytes >= kLineBytes,
                   "a page of {} bytes", page_bytes);
    pages_.reserve(entries);
}

bool Tlb::find(std::uint64_t page) {
    const auto at = std::find(pages_.begin(), pages_.end(), page);
    if (at != pages_.end()) {
        std::rotate(pages_.begin(), at, at + 1);
        return true;
    }
    if (start_ != TlbStart::kWarm || pages_.size() == entries_) return false;
    pages_.insert(pages_.begin(), page);
    return true;
}

void Tlb::fill(std::uint64_t line) {
    const std::uint64_t page = line >> shift_;
    if (entries_ == 0 || look_up(line)) return;
    if (pages_.size() == entries_) pages_.pop_back();
    pages_.insert(pages_.begin(), page);
}

}  // namespace lockstep::gpu
