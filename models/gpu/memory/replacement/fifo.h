// SPDX-License-Identifier: Apache-2.0
// First in, first out: like LRU where lines are used once, but a use does not save a line. Needs
// a counter a set in hardware instead of an order.
#pragma once

#include <cstdint>

namespace lockstep::gpu {

struct Fifo {
    static constexpr bool kUseRenews = false;

    template <typename Lines>
    static std::uint32_t victim(const Lines& lines) {
        return lines.oldest();
    }
};

}  // namespace lockstep::gpu
