// SPDX-License-Identifier: Apache-2.0
// An NPU with its memory: runs a program.
#pragma once

#include <functional>
#include <vector>

#include "isa/npu/program.h"
#include "models/npu/counters.h"
#include "models/npu/parameters.h"

namespace lockstep::trace {
class Trace;
}

namespace lockstep::npu {

struct RunResult {
    std::uint64_t cycles = 0, instructions = 0;
    double seconds = 0;  ///< simulated
    std::vector<StepResult> steps;
    std::vector<std::uint32_t> interrupts;
    StepResult total() const;
};

struct RunOptions {
    bool values = true;  ///< false: only time; storage needs no contents
    unsigned threads = 1;
    trace::Trace* trace = nullptr;  ///< one that shows tracks, or null
    /// Does a host task of the program (State::host). A program that has some cannot be run with
    /// values without it.
    std::function<void(std::uint32_t)> host = {};
    /// Told, with values, after each instruction how many of the program's are done.
    std::function<void(std::uint64_t)> progress = {};
    /// Shown, with values, each instruction before it is executed.
    std::function<void(const Instruction&, State&)> observe = {};
};

/// Runs `program`; inputs are what `storage` holds, results are left there. Throws InputError where
/// its buffers do not fit the memory or time needs values that are not computed, ProgramFault where
/// it does what the NPU does not allow.
RunResult run(const Program& program, const Parameters& parameters, command::Storage& storage,
              const RunOptions& options = {});

}  // namespace lockstep::npu
