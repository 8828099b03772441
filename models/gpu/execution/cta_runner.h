// SPDX-License-Identifier: Apache-2.0
// Runs one CTA for a while: its warps in turn, each for a slice of instructions.
#pragma once

#include <cstdint>
#include <string>

#include "isa/sass/state.h"

namespace lockstep::gpu::check {
class Checker;
}

namespace lockstep::gpu {

enum class CtaOutcome : std::uint8_t {
    kFinished,
    kPreempted,  ///< the budget is used up, or all its warps only wait for others
    kStuck,      ///< of a cluster: none of its warps can run before another CTA does something
};

/// A fault with the warp and the pc where it happened.
struct LocatedFault {
    sass::Fault fault;
    std::uint64_t cta = 0;  ///< linear index
    std::uint32_t warp = 0;
    std::uint32_t pc = 0;                  ///< code index of the instruction
    const sass::Launch* launch = nullptr;  ///< where several may run at a time
};

struct InstructionCount {
    std::uint64_t warp = 0;
    std::uint64_t thread = 0;
};

/// Throws the LocatedFault of a CTA none of whose threads can go on.
[[noreturn]] void report_stuck(const sass::Cta& cta);

/// Where a parked path waits: "barrier 0", "barrier.cluster", ...
std::string place_of(const sass::Path& path);

/// What a launch that executed more instructions than it may ends with, blamed on this CTA.
LocatedFault instruction_limit_fault(const sass::Cta& cta, std::uint64_t max_instructions);

/// Executes about `budget` warp-instructions of the CTA, and tells the checker of them if there is
/// one. Throws LocatedFault.
CtaOutcome run_cta(sass::Cta& cta, std::uint64_t budget, InstructionCount& count,
                   check::Checker* checker = nullptr);

/// Executes the next instruction of a warp that can run. Throws LocatedFault.
void step(sass::Warp& warp, InstructionCount& count, check::Checker* checker);

}  // namespace lockstep::gpu
