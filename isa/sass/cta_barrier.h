// SPDX-License-Identifier: Apache-2.0
// The sixteen barriers of a CTA: arrival, completion, reduction.
#pragma once

#include <cstdint>

#include "isa/sass/state.h"

namespace lockstep::sass {

/// Prepares the barriers of a CTA whose warps are known.
void reset_barriers(Cta& cta);

/// The running path of the warp arrives at a barrier. `count` is the number of threads it waits for
/// (a multiple of 32), 0 for all threads of the CTA.
void arrive(Warp& warp, unsigned number, std::uint32_t count, std::uint32_t predicate,
            BarrierReduction reduction);

/// Releases the barrier's waiting paths if everybody it waits for has arrived.
void complete_barrier(Cta& cta, unsigned number);

/// These lanes of the warp have exited; barriers that waited for them may be complete.
void note_exit(Warp& warp, std::uint32_t lanes);

}  // namespace lockstep::sass
