// SPDX-License-Identifier: Apache-2.0
// Operands decoded lately: a warp multiplies each tile of A by several of B, and each of B by
// several of A, so that most operands of an HMMA have just been decoded for another. Found by
// their bits: results cannot depend on what is kept.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "isa/sass/row.h"
#include "isa/sass/tensor_core/decoded_tile.h"

namespace lockstep::sass {

class TileCache {
  public:
    /// The tile in `count` (at most 4) registers, decoded from `type`: kept, or made by
    /// `decode(tile)`.
    template <typename Decode>
    const DecodedTile& tile(TensorType type, const Row* registers, unsigned count,
                            Decode&& decode) {
        Entry& entry = entries_[place(registers)];
        if (entry.count == count && entry.tile.type == type && same(entry.bits, registers, count))
            return entry.tile;
        entry.count = 0;  // until it is decoded
        std::memcpy(entry.bits, registers, count * sizeof(Row));
        decode(entry.tile);
        entry.count = count;
        return entry.tile;
    }

  private:
    static constexpr std::size_t kEntries = 16;
    struct Entry {
        Row bits[4];
        unsigned count = 0;
        DecodedTile tile;
    };

    /// By where the registers lie: neighbours of one warp have places of their own.
    static std::size_t place(const Row* registers) {
        return reinterpret_cast<std::uintptr_t>(registers) / (2 * sizeof(Row)) % kEntries;
    }

    static bool same(const Row* a, const Row* b, unsigned count) {
        using Words [[gnu::vector_size(64)]] = std::uint64_t;
        Words differ = {};
        for (unsigned i = 0; i < count; ++i) {
            Words of_a[2], of_b[2];
            std::memcpy(of_a, a[i].lane, sizeof of_a);
            std::memcpy(of_b, b[i].lane, sizeof of_b);
            differ |= (of_a[0] ^ of_b[0]) | (of_a[1] ^ of_b[1]);
        }
        std::uint64_t any = 0;
        for (unsigned i = 0; i < 8; ++i) any |= differ[i];
        return any == 0;
    }

    std::array<Entry, kEntries> entries_;
};

/// Those of A and of B, of this thread.
struct TileCaches {
    TileCache a, b;

    static TileCaches& of_thread() {
        thread_local const std::unique_ptr<TileCaches> kCaches(new TileCaches);
        return *kCaches;
    }
};

}  // namespace lockstep::sass
