// SPDX-License-Identifier: Apache-2.0
// Warps that wait by try_wait for the phase of an mbarrier: woken when it turns, or when the
// hardware's time limit has passed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lockstep::gpu {

class MbarrierWaits {
  public:
    bool empty() const { return waits_.empty(); }

    /// The warp in `slot` waits until the mbarrier at the offset in the CTA's shared memory has
    /// left the phase.
    void add(std::uint16_t slot, std::uint32_t cta_slot, std::uint32_t offset, bool phase) {
        remove(slot);
        waits_.push_back({slot, cta_slot, offset, phase});
    }
    void remove(std::uint16_t slot) {
        std::erase_if(waits_, [&](const Wait& wait) { return wait.slot == slot; });
    }
    /// mbarriers of the CTA may have changed: calls wake(slot) for warps whose phase is over, as
    /// phase(offset) says.
    template <typename Phase, typename Wake>
    void check(std::uint32_t cta_slot, Phase&& phase, Wake&& wake) {
        std::erase_if(waits_, [&](const Wait& wait) {
            if (wait.cta_slot != cta_slot || phase(wait.offset) == wait.phase) return false;
            wake(wait.slot);
            return true;
        });
    }
    void clear() { waits_.clear(); }

  private:
    struct Wait {
        std::uint16_t slot;
        std::uint32_t cta_slot, offset;
        bool phase;
    };
    std::vector<Wait> waits_;  // in order of arrival
};

}  // namespace lockstep::gpu
