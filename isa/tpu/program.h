// SPDX-License-Identifier: Apache-2.0
// A TPU program: instructions, the buffers in host memory and memory that they name by address,
// the data of constants, and the names of its steps. The `.tpu` file holds all of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/tpu/instruction.h"

namespace lockstep::tpu {

enum class Role : std::uint8_t { kInput, kOutput, kConstant, kScratch };
inline constexpr std::string_view kRoleNames[] = {"input", "output", "constant", "scratch"};

/// Bytes of a name. Names have no control characters and no `#`, those of buffers no space.
inline constexpr std::size_t kLongestName = 4095;

/// A range of host memory or memory. Buffers of a space do not overlap.
struct Buffer {
    std::string name;
    Space space = Space::kHost;  ///< kHost or kMemory
    Role role = Role::kScratch;
    DataType type = DataType::kInt8;
    std::vector<std::uint64_t> shape;  ///< for the reader; may be empty
    std::uint64_t bytes = 0;
    std::uint64_t address = 0;
    bool operator==(const Buffer&) const = default;
};

/// The initial contents of a part of a buffer; what no segment covers is zero.
struct Segment {
    std::uint32_t buffer = 0;
    std::uint64_t offset = 0;
    std::vector<std::uint8_t> bytes;
    bool operator==(const Segment&) const = default;
};

/// A part of the program that is reported by itself, as a layer.
struct ProgramStep {
    std::string name;
    std::uint64_t macs = 0;  ///< that the step is for, padding not counted; 0: not known
    bool operator==(const ProgramStep&) const = default;
};

/// What the host computes, out of and into its own memory, between an interrupt_host and the
/// sync_host of its index. The program says how much it is; what it is, the host's driver knows.
struct HostTask {
    std::string name;
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;  ///< that it reads and writes
    bool operator==(const HostTask&) const = default;
};

struct Program {
    int generation = 1;
    std::vector<Buffer> buffers;
    std::vector<Segment> segments;
    std::vector<ProgramStep> steps;
    std::vector<HostTask> host_tasks;
    std::vector<Instruction> instructions;

    const Buffer* find(std::string_view name) const;
    bool operator==(const Program&) const = default;
};

/// What is wrong with a program apart from its file: overlapping buffers, segments outside of
/// them, steps that do not exist, instructions of another generation, host tasks that are not begun
/// and waited for one after the other, no halt at the end. Throws InputError, beginning with
/// `name`, and where it is about an instruction with where(its index), for the file's own places.
void validate(const Program& program, std::string_view name,
              const std::function<std::string(std::size_t)>& where = {});

inline constexpr std::string_view kProgramMagic{"LOCKTPU\0", 8};
inline constexpr std::uint32_t kProgramVersion = 1;

bool is_program(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> write_program(const Program& program);
/// Throws InputError "name: offset 0x..: reason". The result is validated.
Program read_program(std::span<const std::uint8_t> bytes, std::string_view name);

/// Reads the assembler's language (assembler.cpp). Throws InputError "name:line: reason".
Program assemble(std::string_view text, std::string_view name);
/// One line of it that is an instruction; operands are not checked against each other.
Instruction assemble_instruction(std::string_view line);
/// The text that assemble() reads back to the same program. `with_data`: contents of segments too.
std::string listing(const Program& program, bool with_data);

}  // namespace lockstep::tpu
