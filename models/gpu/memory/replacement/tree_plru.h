// SPDX-License-Identifier: Apache-2.0
// Pseudo-LRU by a binary tree over the ways of a set: each node has a bit that points to the half
// that was not used last; the bits lead to the line that leaves, and a use turns those on its way.
// ways - 1 bits a set where LRU needs an order (So, Rechtschaffen: "Cache Operations by MRU
// Change", IEEE Transactions on Computers, 1988). Where the ways are no power of two, or some
// lines must stay, a half without candidates is passed over.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace lockstep::gpu {

class TreePlru {
  public:
    TreePlru() = default;
    TreePlru(std::uint32_t sets, std::uint32_t ways)
        : leaves_(std::bit_ceil(ways)), points_right_(std::size_t{sets} * leaves_) {}

    void use(std::uint32_t set, std::uint32_t way) {
        const auto tree = points_right_.begin() + std::ptrdiff_t{set} * leaves_;
        for (std::uint32_t node = leaves_ + way; node > 1; node /= 2)
            tree[node / 2] = node % 2 == 0;
    }

    template <typename Lines>
    std::uint32_t victim(std::uint32_t set, const Lines& lines) const {
        const auto tree = points_right_.begin() + std::ptrdiff_t{set} * leaves_;
        std::uint32_t first = 0, node = 1;
        for (std::uint32_t half = leaves_ / 2; half > 0; half /= 2) {
            bool right = tree[node];
            if (!lines.any(right ? first + half : first, half)) right = !right;
            first += right ? half : 0;
            node = node * 2 + right;
        }
        return first;
    }

    void clear() { points_right_.assign(points_right_.size(), false); }

  private:
    std::uint32_t leaves_ = 0;
    std::vector<bool> points_right_;  ///< by set, then node; a node's halves are 2n and 2n + 1
};

}  // namespace lockstep::gpu
