// SPDX-License-Identifier: Apache-2.0
// Warps that wait by try_wait for the phase of an mbarrier: woken when it turns, or when the
// hardware's time limit has passed. Changes of mbarriers are one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

inline constexpr std::uint32_t kMbarrierBytes = 8;

class MbarrierWaits {
  public:
    MbarrierWaits(const SmParameters& parameters, Warps& warps)
        : parameters_(parameters), warps_(warps) {}

    void clear() { waits_.clear(); }
    /// One unit of the SM changes its mbarriers, an operation at a time: when it takes this one.
    engine::Cycle take_change(engine::Cycle now) {
        const engine::Cycle begin = std::max(now, free_);
        free_ = begin + parameters_.mbarrier_interval;
        return begin;
    }
    /// The warp, whose next instruction is a try_wait for the lanes of its mask, waits: until the
    /// phase is over for one lane at least, or for as long as the hardware lets it.
    bool holds(WarpContext& context, const sass::Instruction& code);
    /// The same, for the phase of which its last try_wait asked, and for so many cycles.
    bool waits(WarpContext& context, engine::Cycle limit);
    /// mbarriers of the CTA may have changed: wakes warps whose phase is over.
    void check(const sass::Cta& cta, engine::Cycle at);

  private:
    struct Wait {
        std::uint16_t slot;
        std::uint32_t cta_slot, offset;
        bool phase;
    };
    void remove(std::uint16_t slot);

    const SmParameters& parameters_;
    Warps& warps_;
    std::vector<Wait> waits_;  // in order of arrival
    engine::Cycle free_ = 0;   // of the unit that changes mbarriers
};

}  // namespace lockstep::gpu
