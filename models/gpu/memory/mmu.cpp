// SPDX-License-Identifier: Apache-2.0
// Hardware: a TLB of large reach shared by the chip and a few page walkers. Here each memory
// partition has its own, since Tiles share nothing: a page misses once in each. A walk takes a
// constant time; it is not resolved into reads of page tables. NVIDIA publishes none of this; the
// sizes come from pointer chases (Jia et al. 2018).
#include "models/gpu/memory/mmu.h"

#include <algorithm>

namespace lockstep::gpu {

Mmu::Mmu(const MemoryParameters& parameters)
    : parameters_(parameters),
      ways_(parameters.tlb_ways),
      sets_(parameters.tlb_entries / ways_),
      entries_(sets_ * ways_),
      walker_free_(parameters.walkers) {}

engine::Cycle Mmu::translate(engine::Cycle now, std::uint64_t line) {
    const std::uint64_t page = line / parameters_.page_lines;
    const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(page % sets_ * ways_);
    const auto last = first + static_cast<std::ptrdiff_t>(ways_);
    auto entry = std::find_if(first, last, [&](const Entry& e) { return e.page == page; });
    const engine::Cycle looked_up = now + parameters_.tlb_latency;
    const bool is_new = entry == last;
    if (is_new)
        entry = std::min_element(first, last,
                                 [](const Entry& a, const Entry& b) { return a.used < b.used; });
    if (is_new && parameters_.tlb_warm && entry->used == 0) {  // from a launch before
        ++hits_;
        *entry = {.page = page};
    } else if (is_new) {
        ++misses_;
        engine::Cycle& walker = *std::min_element(walker_free_.begin(), walker_free_.end());
        walker = std::max(looked_up, walker) + parameters_.walk_latency;
        *entry = {.page = page, .known = walker};
    } else {
        ++hits_;
    }
    entry->used = ++clock_;
    return std::max(looked_up, entry->known);
}

}  // namespace lockstep::gpu
