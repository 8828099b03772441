// SPDX-License-Identifier: Apache-2.0
// A timing wheel with 64 slots of one window each (Varghese and Lauck, SOSP 1987), the slots being
// bit sets so that a Tile is taken once per window and always in the same order.
#include "sim/engine/wake_wheel.h"

#include <algorithm>
#include <bit>

#include "sim/engine/time.h"

namespace lockstep::engine {

void WakeWheel::reset(std::uint32_t tiles) {
    current_ = 0;
    words_ = (tiles + 63) / 64;
    nonempty_ = 0;
    bits_.assign(kSlots * words_, 0);
    far_ = {};
    last_far_.assign(tiles, kNever);
}

void WakeWheel::set(std::uint32_t tile, std::uint64_t window) {
    const std::uint64_t slot = window % kSlots;
    bits_[slot * words_ + tile / 64] |= std::uint64_t{1} << (tile % 64);
    nonempty_ |= std::uint64_t{1} << slot;
}

void WakeWheel::add(std::uint32_t tile, std::uint64_t window) {
    LOCKSTEP_CHECK(window >= current_, "wake of tile {} in window {}, past already", tile, window);
    if (window - current_ < kSlots) {
        set(tile, window);
    } else if (last_far_[tile] != window) {  // a sleeper says its distant cycle again and again
        last_far_[tile] = window;
        far_.push({window, tile});
    }
}

std::uint64_t WakeWheel::next() const {
    // What is in far_ lies beyond all slots: take() moved nearer ones out of it.
    if (nonempty_ == 0) return far_.empty() ? kNever : far_.top().window;
    return current_ + std::countr_zero(std::rotr(nonempty_, static_cast<int>(current_ % kSlots)));
}

void WakeWheel::take(std::vector<std::uint32_t>& tiles) {
    tiles.clear();
    const std::uint64_t window = next();
    LOCKSTEP_CHECK(window != kNever, "no window has a wake");
    current_ = window;
    const auto pull_far = [this] {
        for (; !far_.empty() && far_.top().window - current_ < kSlots; far_.pop()) {
            const FarWake& wake = far_.top();
            if (last_far_[wake.tile] == wake.window) last_far_[wake.tile] = kNever;
            set(wake.tile, wake.window);
        }
    };
    pull_far();
    const std::uint64_t slot = window % kSlots;
    for (std::uint64_t word = 0; word < words_; ++word) {
        std::uint64_t& set_bits = bits_[slot * words_ + word];
        for (; set_bits != 0; set_bits &= set_bits - 1)
            tiles.push_back(static_cast<std::uint32_t>(word * 64 + std::countr_zero(set_bits)));
    }
    nonempty_ &= ~(std::uint64_t{1} << slot);
    ++current_;
    pull_far();
}

}  // namespace lockstep::engine
