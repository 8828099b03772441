// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/gpu/sm/kernel_run.h"
#include "sim/engine/time.h"

namespace lockstep::gpu {

/// A kernel on the chip.
struct Grid {
    KernelRun run;
    int priority = 0;                              ///< CTAs of smaller numbers are placed first
    std::uint64_t order = 0;                       ///< of arrival
    std::uint64_t total = 0, next = 0, ended = 0;  ///< CTAs
    engine::Cycle begin = 0, last_end = 0;
    engine::Cycle first_cta = 0;                              ///< none starts before
    std::uint64_t instructions = 0, thread_instructions = 0;  ///< where it was not alone
    bool was_alone = true;
    const Grid* prerequisite = nullptr;  ///< that has not ended
    std::uint64_t triggered = 0;         ///< CTAs that let dependent launches begin
    engine::Cycle last_trigger = 0;
    unsigned lane = 0;  ///< in the trace, where kernels that overlap lie in rows
    bool is_clustered() const { return run.launch->is_clustered; }
    /// The index of the CTA that is placed next.
    std::uint64_t take_next() {
        const std::uint64_t number = next++;
        return run.ctas == nullptr ? number : (*run.ctas)[number];
    }
    bool has_left() const { return next != total; }
    bool is_done() const { return ended == total; }
};

}  // namespace lockstep::gpu
