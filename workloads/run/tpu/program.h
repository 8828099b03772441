// SPDX-License-Identifier: Apache-2.0
// A .tpu program, binary or text, on a TPU.
#pragma once

#include <functional>
#include <span>

#include "isa/tpu/program.h"
#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// A file with the magic, or a name that ends in .tpu (then it may be the assembler's text).
bool is_tpu_program(const std::string& path, std::span<const std::uint8_t> bytes);
/// Throws InputError with offset or line.
tpu::Program load_tpu_program(const std::string& path, std::span<const std::uint8_t> bytes);

/// Writes the program to the file of --program, if that was given. Throws InputError.
void write_tpu_program(const Job& job, const tpu::Program& program);

/// Input and output buffers come from --arg, in the program's order; inputs are random otherwise.
Outcome run_tpu_program(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen);

}  // namespace lockstep::run
