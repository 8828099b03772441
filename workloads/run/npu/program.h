// SPDX-License-Identifier: Apache-2.0
// An .npu program, binary or text, on an NPU.
#pragma once

#include <span>

#include "isa/npu/program.h"
#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// A file with the magic, or a name that ends in .npu (then it may be the assembler's text).
bool is_npu_program(const std::string& path, std::span<const std::uint8_t> bytes);
/// Throws InputError with offset or line.
npu::Program load_npu_program(const std::string& path, std::span<const std::uint8_t> bytes);

/// Writes the program to the file of --program, if that was given. Throws InputError.
void write_npu_program(const Job& job, const npu::Program& program);

/// Input and output buffers come from --arg, in the program's order; inputs are random otherwise.
Outcome run_npu_program(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen);

}  // namespace lockstep::run
