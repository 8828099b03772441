// SPDX-License-Identifier: Apache-2.0
// A .tpu program, binary or text, on a TPU.
#pragma once

#include "models/tpu/tpu.h"
#include "sim/cli/run_request.h"
#include "sim/stats/statistics.h"
#include "sim/trace/trace.h"

namespace lockstep::config {
class Machine;
}

namespace lockstep::cli {

/// A file with the magic, or a name that ends in .tpu (then it may be the assembler's text).
bool is_tpu_program(const std::string& path, std::span<const std::uint8_t> bytes);
/// Throws InputError with offset or line.
tpu::Program load_tpu_program(const std::string& path, std::span<const std::uint8_t> bytes);

/// The trace that --trace and --trace-window ask for, or nullptr. Throws InputError.
std::unique_ptr<trace::Trace> make_tpu_trace(const RunRequest& request);

/// Input and output buffers come from --arg, in the program's order; inputs are random otherwise.
/// Returns the exit status.
int run_tpu_program(const RunRequest& request, const config::Machine& machine,
                    std::span<const std::uint8_t> bytes);

/// Writes the program to the file of --program, if that was given. Throws InputError.
void write_tpu_program(const RunRequest& request, const tpu::Program& program);

/// Right answers, no time: the instructions in their order. `host` does the program's host tasks
/// (tpu::RunOptions::host). Adds the program's steps, and writes the statistics that were asked
/// for.
void emulate_tpu_program(const RunRequest& request, const tpu::Program& program,
                         const tpu::Parameters& parameters, tpu::Storage& storage,
                         stats::Statistics& statistics,
                         const std::function<void(std::uint32_t)>& host = {});

}  // namespace lockstep::cli
