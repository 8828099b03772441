// SPDX-License-Identifier: Apache-2.0
// A TPU program, and the .tpu file that holds one.
#pragma once

#include "isa/command/program.h"
#include "isa/command/storage.h"
#include "isa/tpu/instruction.h"

namespace lockstep::tpu {

using command::Buffer;
using command::HostTask;
using command::kRoleNames;
using command::ProgramStep;
using command::Role;
using command::Segment;
using command::Storage;
using Program = command::ProgramOf<Instruction>;

using command::listing;
using command::validate;
using command::write_program;

inline bool is_program(std::span<const std::uint8_t> bytes) {
    return command::is_program(description(), bytes);
}
/// Throws InputError "name: offset 0x..: reason". The result is validated.
inline Program read_program(std::span<const std::uint8_t> bytes, std::string_view name) {
    Program program;
    command::read_program(program, bytes, name);
    return program;
}
/// Reads the assembler's language (isa/command/assembler.cpp). Throws InputError
/// "name:line: reason".
inline Program assemble(std::string_view text, std::string_view name) {
    Program program;
    command::assemble(program, text, name);
    return program;
}
/// One line of it that is an instruction; operands are not checked against each other.
inline Instruction assemble_instruction(std::string_view line) {
    Program program;
    command::assemble_instruction(program, line);
    return program.instructions.front();
}

}  // namespace lockstep::tpu
