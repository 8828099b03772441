// SPDX-License-Identifier: Apache-2.0
// From the addresses of a warp's lanes to the lines and sectors that its instruction touches.
#pragma once

#include <array>
#include <cstdint>

#include "isa/sass/state.h"
#include "isa/sass/texture/footprint.h"
#include "models/gpu/memory/message.h"

namespace lockstep::gpu {

inline constexpr unsigned kMaxTagBanks = 32;
inline constexpr unsigned kTextureQuad = 4;  ///< lanes that texture units sample together

/// What one instruction does in one line of 128 bytes.
struct LineAccess {
    std::uint64_t line = 0;
    std::uint8_t sectors = 0;
    std::uint8_t partial = 0;       ///< stores: sectors that are not written whole
    std::uint64_t halves = 0;       ///< ... and what is written of them, as MemoryRequest's
    std::uint8_t lanes = 0;         ///< atomics: lanes that operate in the line
    std::uint8_t same_address = 0;  ///< atomics: most lanes that meet at one address
    bool is_float = false;          ///< atomics: of floating-point numbers
};

/// In order of the lowest lane that touches the line. Local accesses touch up to four words a lane,
/// each in a line of its own, texture fetches up to sixteen texels.
struct LineAccesses {
    static constexpr unsigned kCapacity = sass::Taps::kCapacity * sass::kWarpSize;
    unsigned count = 0;
    /// The lanes' elements lie one after the other, or all at one address: no data bank is asked
    /// for two words in one pass.
    bool is_regular = false;
    bool is_uniform = false;  ///< all at one address
    std::array<LineAccess, kCapacity> line;
    const LineAccess* begin() const { return line.data(); }
    const LineAccess* end() const { return line.data() + count; }
    LineAccesses() {}  // leaves the lines as they are: they are many
};

/// Global memory. Elements are aligned to their width, so that each lies in one sector. Fills
/// `line` and `sectors`; coalesce_store also `partial`; coalesce_atomic also the two counts.
void coalesce_load(const sass::Access& access, std::uint32_t lanes, LineAccesses& out);
void coalesce_store(const sass::Access& access, std::uint32_t lanes, LineAccesses& out);
void coalesce_atomic(const sass::Access& access, std::uint32_t lanes, LineAccesses& out);

/// The texels of a texture fetch.
void coalesce_texels(const sass::TexelFootprint& texels, LineAccesses& out);
/// 128-byte passes that the texels of four lanes, from `first` on, take out of the data array.
unsigned texel_wavefronts(const sass::TexelFootprint& texels, unsigned first);

/// Cycles in which the tags of the lines are looked up, where `banks` (a power of two) look up one
/// each in a cycle.
unsigned tag_cycles(const LineAccesses& lines, unsigned banks);

/// The bytes [begin, end), all of one line, as a store would write them.
LineAccess line_of_run(std::uint64_t begin, std::uint64_t end);

/// Where the words of a warp's local memory lie in device memory: word w of its 32 lanes is one
/// line. Fills `partial` too.
struct LocalPlace {
    std::uint64_t first_line = 0;    ///< of word 0
    std::uint64_t block_stride = 0;  ///< lines from one block of kBlockWords words to the next
    static constexpr std::uint64_t kBlockWords = 64;
    std::uint64_t line_of(std::uint64_t word) const {
        return first_line + word / kBlockWords * block_stride + word % kBlockWords;
    }
};
void coalesce_local(const sass::Access& access, std::uint32_t lanes, const LocalPlace& place,
                    LineAccesses& out);

}  // namespace lockstep::gpu
