// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/execution/warp_state.h"

#include <cstring>

namespace lockstep::gpu {

std::uint64_t state_of(const sass::Warp& warp) {
    constexpr std::uint64_t kPrime = 0x0000'0100'0000'01b3;  // FNV-1a, by words
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
    const auto mix = [&hash](std::uint64_t word) { hash = (hash ^ word) * kPrime; };
    mix(warp.pc);
    mix(warp.active);
    for (const std::uint32_t predicate : warp.predicate) mix(predicate);
    for (const sass::Path& path : warp.parked) mix(path.pc ^ std::uint64_t{path.lanes} << 32);
    const std::byte* const rows = warp.bases[0];
    const std::size_t bytes = warp.cta->launch->rows * sizeof(sass::Row);
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
        std::uint64_t word;
        std::memcpy(&word, rows + at, sizeof word);
        mix(word);
    }
    return hash | 1;
}

}  // namespace lockstep::gpu
