// SPDX-License-Identifier: Apache-2.0
// Least recently used. A ring of lines one longer than the set loses every line just before it is
// used again.
#pragma once

#include <cstdint>

namespace lockstep::gpu {

struct Lru {
    static constexpr bool kUseRenews = true;

    template <typename Lines>
    static std::uint32_t victim(const Lines& lines) {
        return lines.oldest();
    }
};

}  // namespace lockstep::gpu
