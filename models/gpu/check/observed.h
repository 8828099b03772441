// SPDX-License-Identifier: Apache-2.0
// An executed memory instruction as the checks see it.
#pragma once

#include <cstdint>
#include <cstring>

#include "isa/sass/instruction.h"
#include "isa/sass/state.h"

namespace lockstep::gpu::check {

/// What the lanes of one instruction did to one space. Shared and local addresses are offsets.
struct Observed {
    const sass::Warp& warp;
    std::uint32_t pc = 0;
    std::uint32_t lanes = 0;
    sass::Space space = sass::Space::kGlobal;  ///< global, shared or local
    bool is_write = false;                     ///< atomics write
    bool is_atomic = false;
    bool only_writes = false;           ///< atomics: an exchange whose result nobody gets
    bool is_strong = false;             ///< atomics and volatile accesses are
    bool is_async = false;              ///< by a copy in the background
    unsigned width = 0;                 ///< bytes a lane
    const sass::Row* stored = nullptr;  ///< rows that were stored, where registers were
    std::uint64_t address[sass::kWarpSize] = {};

    /// What a lane's byte or word at `offset` of its element holds now.
    std::uint32_t value(unsigned lane, unsigned offset, unsigned bytes) const {
        std::uint32_t value = 0;
        if (stored != nullptr) {
            value = stored[offset / 4].lane[lane] >> (offset % 4 * 8);
            return bytes == 4 ? value : value & ((1u << 8 * bytes) - 1);
        }
        const auto* const at = space == sass::Space::kShared
                                   ? warp.cta->shared + address[lane] + offset
                                   : reinterpret_cast<const std::byte*>(address[lane] + offset);
        std::memcpy(&value, at, bytes);
        return value;
    }
};

}  // namespace lockstep::gpu::check
