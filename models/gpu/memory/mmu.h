// SPDX-License-Identifier: Apache-2.0
// The MMU beside L2: translates for requests that missed in the SM's TLB.
#pragma once

#include <vector>

#include "models/gpu/memory/memory_parameters.h"

namespace lockstep::gpu {

class Mmu {
  public:
    explicit Mmu(const MemoryParameters& parameters);

    /// When the translation of a line's address is known, asked for at a cycle; calls go forward in
    /// time.
    engine::Cycle translate(engine::Cycle now, std::uint64_t line);
    std::uint64_t hits() const { return hits_; }
    std::uint64_t misses() const { return misses_; }

  private:
    struct Entry {
        std::uint64_t page = ~std::uint64_t{0};
        engine::Cycle known = 0;  ///< when its walk ends
        std::uint64_t used = 0;
    };

    const MemoryParameters& parameters_;
    std::size_t ways_, sets_;
    std::vector<Entry> entries_;  ///< by set, then way
    std::vector<engine::Cycle> walker_free_;
    std::uint64_t clock_ = 0, hits_ = 0, misses_ = 0;
};

}  // namespace lockstep::gpu
