// SPDX-License-Identifier: Apache-2.0
// Global stores of one SM in the current window of the cycle model. Within a window SMs run in any
// order and on several host threads, so that none may see what another stores: stores stay here,
// loads of the same SM see them over memory, and commit() brings them to memory at the window's
// end, SM by SM in a fixed order. A machine turns this on by Cta::stores; without it (emulation)
// stores go to memory at once. Checks and faults are the same either way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/sass/global_memory.h"
#include "isa/sass/line_index.h"

namespace lockstep::sass {

class StoreBuffer {
  public:
    bool empty() const { return index_.empty(); }

    /// Stores bytes at a device address. They are known to lie in writable memory.
    void write(std::uint64_t address, const std::byte* from, std::size_t bytes);

    /// Replaces those of `bytes`, as memory has them from `address` on, that were stored since.
    void overlay(std::uint64_t address, std::byte* bytes, std::size_t count) const;

    /// False where no byte of [address, address + bytes), bytes > 0, was stored; true where one
    /// near it was.
    bool may_hold(std::uint64_t address, std::size_t bytes) const;
    /// The same for the lanes of mask that access elements, which never straddle lines.
    bool may_hold(const std::uint64_t* address, std::uint32_t mask) const;

    /// Brings everything to memory and empties the buffer.
    void commit(const GlobalMemory& memory);
    /// Memory has other bytes than what was stored.
    bool changes(const GlobalMemory& memory) const;

  private:
    struct Line {
        std::uint64_t number = 0;
        ByteMask stored;
        std::byte bytes[kLineBytes];
    };

    Line& line(std::uint64_t number);
    /// Calls visit(host, from, bytes) for each run of stored bytes.
    template <typename F>
    void for_each_part(const GlobalMemory& memory, F&& visit) const;

    LineIndex index_;
    std::vector<Line> lines_;  // by place in index_; those beyond its size are spare
};

}  // namespace lockstep::sass
