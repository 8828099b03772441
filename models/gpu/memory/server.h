// SPDX-License-Identifier: Apache-2.0
// What takes one thing after the other: a port, a link, a stage of L2. Fractions of a cycle count.
#pragma once

#include <algorithm>

#include "models/gpu/memory/memory_parameters.h"

namespace lockstep::gpu {

struct Server {
    engine::Cycle free = 0;  ///< in 256ths: when what it has taken is done

    /// When it comes to what reaches it now: in the cycle in which the last one ends.
    engine::Cycle turn(engine::Cycle now) const { return std::max(now, free / kFraction); }
    /// Takes what needs it for `duration`, in 256ths, in its turn, which is returned.
    engine::Cycle occupy(engine::Cycle now, engine::Cycle duration) {
        const engine::Cycle begin = turn(now);
        free = std::max(free, now * kFraction) + duration;
        return begin;
    }
    /// From when on it is behind by no more than a queue holds.
    engine::Cycle has_room(engine::Cycle queue) const {
        return free / kFraction - std::min(free / kFraction, queue);
    }
};

}  // namespace lockstep::gpu
