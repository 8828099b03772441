// SPDX-License-Identifier: Apache-2.0
// Finds out that a warp asks mbarriers for their phase for ever, as long as nobody else changes
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "isa/sass/state.h"
#include "isa/sass/word.h"

namespace lockstep::gpu {

/// A path of a warp that asks an mbarrier in vain.
struct PhaseWait {
    const sass::Cta* cta = nullptr;
    std::uint32_t warp = 0, pc = 0, lanes = 0;
    std::string what;  ///< "phase 0 of the mbarrier at ..."
};

enum class WarpFinding : std::uint8_t {
    kUnknown,     ///< it may go on, or change something, or depends on what others may change
    kReadsClock,  ///< it goes round as long as its clock stands still
    kStuck,
};

/// Executes the next instruction; true where it has read a clock, which stands still all the same.
using StepWarp = std::function<bool(sass::Warp&)>;

/// True where what the instruction does follows from the warp's registers and its CTA's shared
/// memory, and changes nothing but the warp's own registers and paths.
bool is_private(const sass::Instruction& in, const sass::Word& word, int arch);

/// Executes instructions of a warp that can run, until it comes back to the same state (registers,
/// predicates, paths) at a vain question, without having changed anything or read what others than
/// its cluster may change (global memory), or until it does so. Adds where it asks.
WarpFinding watch(sass::Warp& warp, const StepWarp& step, std::vector<PhaseWait>& found);

/// The same, of a machine whose asynchronous copies come in time, with clocks far ahead, so that
/// waits that give up after a time do so; the warp is left as it was. True: it never goes on by
/// itself. No other thread may execute instructions of the launch meanwhile.
bool never_goes_on(sass::Warp& warp);

}  // namespace lockstep::gpu
