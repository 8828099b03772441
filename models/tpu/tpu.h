// SPDX-License-Identifier: Apache-2.0
// A TPU core with its memory and host link: runs a program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isa/command/storage.h"
#include "isa/tpu/program.h"
#include "models/tpu/counters.h"
#include "models/tpu/parameters.h"

namespace lockstep::trace {
class Trace;
}

namespace lockstep::tpu {

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
};

/// Runs `program` on a core; inputs are what `storage` holds, results are left there. Throws
/// InputError where the program is for another generation or its buffers do not fit the memory,
/// ProgramFault where it does what the core does not allow.
RunResult run(const Program& program, const Parameters& parameters, Storage& storage,
              const RunOptions& options = {});

}  // namespace lockstep::tpu
