// SPDX-License-Identifier: Apache-2.0
// Whether instructions that write memory change it: a CAS that fails, an exchange of equals and a
// store of what is there already have no effect that any thread could notice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/sass/deferred_queue.h"
#include "isa/sass/state.h"
#include "isa/sass/word.h"

namespace lockstep::gpu {

class ByteProbe {
  public:
    /// Notes what lies where the instruction, to be executed for the lanes of warp.mask, will
    /// write. False where that is not known: it may change anything. Uses warp.access as scratch.
    bool begin(const sass::Instruction& in, const sass::Word& word, sass::Warp& warp);
    /// The same of an instruction that has waited for the window's end.
    bool begin(const sass::Deferred& deferred);

    bool has_changed() const;
    /// Writes back what was there.
    void undo() const;

  private:
    static constexpr unsigned kBytes = 16;  ///< that a lane writes at most
    struct Place {
        std::byte* host;
        unsigned bytes;
        std::byte before[kBytes];
    };
    bool add(std::byte* host, unsigned bytes);
    bool add_global(const sass::Warp& warp, std::uint64_t address, unsigned bytes);
    bool add_shared(const sass::Warp& warp, std::uint64_t address, unsigned bytes);
    bool add_local(const sass::Warp& warp, unsigned lane, std::uint64_t offset, unsigned bytes);

    std::vector<Place> places_;
};

/// True of what ByteProbe is for: stores, atomics and reductions.
bool writes_memory(const sass::Instruction& in, const sass::Word& word);

}  // namespace lockstep::gpu
