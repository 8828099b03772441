// SPDX-License-Identifier: Apache-2.0
// The data stage of L1 and shared memory where the SMs of a TPC have one in common (Turing), as one
// of them sees it: what the other leaves free is its own. SMs do not meet within a window, so that
// each goes by what the other took in the window before; both can take half at any time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/engine/time.h"

namespace lockstep::gpu {

class StageShare {
  public:
    /// Has the stage in common with another SM.
    void connect(const StageShare& other) { other_ = &other; }
    bool is_shared() const { return other_ != nullptr; }

    /// A window begins: the other's is known up to here.
    void begin_window(engine::Cycle from, engine::Cycle until) {
        if (!is_shared()) return;
        if (from > until_) serve(from - until_);
        from_ = from;
        until_ = until;
        const std::uint32_t others = from <= other_->known_until_ ? other_->published_ : 0;
        pass_ = kOne * kOne / (kOne - others);
    }
    /// It has ended; on one thread, as what others see changes here.
    void end_window() {
        if (!is_shared() || until_ == from_) return;
        const engine::Cycle served = serve(until_ - from_);
        published_ = static_cast<std::uint32_t>(
            std::min<engine::Cycle>(served * kOne / (until_ - from_), kOne / 2));
        known_until_ = until_ + used_ * pass_ / kOne;
    }

    /// How long passes take that take `cycles` where the SM has the stage for itself; `least`: what
    /// is the SM's own takes as long beside them.
    unsigned take(unsigned cycles, unsigned least = 0) {
        if (!is_shared()) return std::max(cycles, least);
        used_ += cycles;
        rest_ += cycles * pass_;
        const unsigned whole = std::max(rest_ / kOne, least);
        rest_ %= kOne;
        waited_ += whole - std::max(cycles, least);
        return whole;
    }
    /// Cycles of passes that the other took since this was asked.
    engine::Cycle take_waited() { return std::exchange(waited_, 0); }

  private:
    static constexpr std::uint32_t kOne = 256;  ///< parts of a cycle

    /// Passes that the stage has made in `cycles`, of those that it was asked for.
    engine::Cycle serve(engine::Cycle cycles) {
        const engine::Cycle served = std::min(used_, cycles * kOne / pass_);
        used_ -= served;
        return served;
    }

    const StageShare* other_ = nullptr;
    engine::Cycle from_ = 0, until_ = 0;
    engine::Cycle used_ = 0;  ///< passes that are to be made
    engine::Cycle waited_ = 0;
    std::uint32_t pass_ = kOne;      ///< how long one takes
    std::uint32_t rest_ = 0;         ///< begun cycles
    std::uint32_t published_ = 0;    ///< share of the last window that was used
    engine::Cycle known_until_ = 0;  ///< from when on it is none
};

}  // namespace lockstep::gpu
