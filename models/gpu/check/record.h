// SPDX-License-Identifier: Apache-2.0
// Who accessed a place, and when: what the shadow of a place remembers.
#pragma once

#include <cstdint>

#include "isa/sass/row.h"

namespace lockstep::gpu::check {

/// Counts what orders threads (barriers, atomics, fences, paths that part) in a launch. An access
/// bears the count at its time; 0: no access.
using Stamp = std::uint32_t;

/// One access by one thread.
struct Record {
    std::uint32_t cta = 0;  ///< linear index
    Stamp stamp = 0;
    std::uint32_t site = 0;  ///< thread in bits 0-9, strong in bit 10, code index above

    static constexpr unsigned kThreadBits = 10;
    static constexpr std::uint32_t kStrong = 1u << kThreadBits;

    static Record make(std::uint32_t cta, Stamp stamp, std::uint32_t pc, unsigned warp,
                       unsigned lane, bool is_strong) {
        return {
            cta, stamp,
            pc << (kThreadBits + 1) | (is_strong ? kStrong : 0) | warp * sass::kWarpSize | lane};
    }
    explicit operator bool() const { return stamp != 0; }
    std::uint32_t thread() const { return site & (kStrong - 1); }
    unsigned warp() const { return thread() / sass::kWarpSize; }
    unsigned lane() const { return thread() % sass::kWarpSize; }
    std::uint32_t pc() const { return site >> (kThreadBits + 1); }
    /// Atomic, volatile or stronger: such accesses of one place never race with each other.
    bool is_strong() const { return site & kStrong; }
};

}  // namespace lockstep::gpu::check
