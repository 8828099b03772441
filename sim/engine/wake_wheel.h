// SPDX-License-Identifier: Apache-2.0
// Which Tiles have work in which window: a wheel of the next windows, each a set of bits, and a
// heap for wakes beyond it. A wake costs a few nanoseconds and a Tile without one costs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace lockstep::engine {

class WakeWheel {
  public:
    /// Forgets all wakes; the next window is 0.
    void reset(std::uint32_t tiles);

    /// Wakes a tile in a window, not before current(). Twice the same is once.
    void add(std::uint32_t tile, std::uint64_t window);

    /// The first window with a wake; kNever where there is none.
    std::uint64_t next() const;

    /// Takes the tiles of window next() in ascending order; current() becomes the window after it.
    void take(std::vector<std::uint32_t>& tiles);

    /// The first window that may still be added to.
    std::uint64_t current() const { return current_; }

  private:
    static constexpr std::uint64_t kSlots = 64;

    struct FarWake {
        std::uint64_t window;
        std::uint32_t tile;
        bool operator>(const FarWake& other) const { return window > other.window; }
    };

    void set(std::uint32_t tile, std::uint64_t window);

    std::uint64_t current_ = 0;
    std::uint64_t words_ = 0;
    std::uint64_t nonempty_ = 0;       // bit s: slot s has a wake
    std::vector<std::uint64_t> bits_;  // [slot][word]
    std::priority_queue<FarWake, std::vector<FarWake>, std::greater<>> far_;
    std::vector<std::uint64_t> last_far_;  // by tile: the latest window put into far_
};

}  // namespace lockstep::engine
