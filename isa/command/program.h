// SPDX-License-Identifier: Apache-2.0
// A program: instructions, the buffers in host memory and memory that they name by address, the
// data of constants, and the names of its steps. The program file holds all of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/command/instruction.h"
#include "isa/command/types.h"

namespace lockstep::command {

enum class Role : std::uint8_t { kInput, kOutput, kConstant, kScratch };
inline constexpr std::string_view kRoleNames[] = {"input", "output", "constant", "scratch"};

/// Spaces that buffers lie in: host memory and memory, the first two of an ISA.
inline constexpr std::size_t kBufferSpaces = 2;

/// Bytes of a name. Names have no control characters and no `#`, those of buffers no space.
inline constexpr std::size_t kLongestName = 4095;

/// A range of host memory or memory. Buffers of a space do not overlap.
struct Buffer {
    std::string name;
    Id space;  ///< host (0) or memory (1)
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

/// A program of any ISA: ProgramOf has the instructions, of the ISA's own class.
class Program {
  public:
    int generation = 1;
    std::vector<Buffer> buffers;
    std::vector<Segment> segments;
    std::vector<ProgramStep> steps;
    std::vector<HostTask> host_tasks;

    virtual ~Program() = default;
    virtual const Description& isa() const = 0;
    virtual std::size_t size() const = 0;  ///< in instructions
    virtual const Instruction& instruction(std::size_t index) const = 0;
    /// A new last instruction, all its fields 0.
    virtual Instruction& append(Id opcode) = 0;
    virtual void reserve(std::size_t instructions) = 0;

    const Buffer* find(std::string_view name) const;

    /// Of all but the instructions.
    bool operator==(const Program& other) const {
        return generation == other.generation && buffers == other.buffers &&
               segments == other.segments && steps == other.steps && host_tasks == other.host_tasks;
    }

  protected:
    Program() = default;
    Program(const Program&) = default;
    Program(Program&&) = default;
    Program& operator=(const Program&) = default;
    Program& operator=(Program&&) = default;
};

template <typename I>
class ProgramOf : public Program {
  public:
    std::vector<I> instructions;

    const Description& isa() const override { return I::description(); }
    std::size_t size() const override { return instructions.size(); }
    const I& instruction(std::size_t index) const override { return instructions[index]; }
    I& append(Id opcode) override {
        return instructions.emplace_back(static_cast<typename I::Opcode>(opcode));
    }
    void reserve(std::size_t count) override { instructions.reserve(count); }

    bool operator==(const ProgramOf&) const = default;
};

/// What is wrong with a program apart from its file: overlapping buffers, segments outside of
/// them, steps that do not exist, instructions of another generation, host tasks that are not begun
/// and waited for one after the other, no halt at the end. Throws InputError, beginning with
/// `name`, and where it is about an instruction with where(its index), for the file's own places.
void validate(const Program& program, std::string_view name,
              const std::function<std::string(std::size_t)>& where = {});

/// Throws InputError where the program has host tasks and nobody does them.
void check_driver(const Program& program, bool has_driver);

/// Whether a file of these bytes is a program of the ISA.
bool is_program(const Description& isa, std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> write_program(const Program& program);
/// Fills an empty program. Throws InputError "name: offset 0x..: reason". The result is validated.
void read_program(Program& into, std::span<const std::uint8_t> bytes, std::string_view name);

/// Fills an empty program from the assembler's language (assembler.cpp). Throws InputError
/// "name:line: reason".
void assemble(Program& into, std::string_view text, std::string_view name);
/// Appends one line of it that is an instruction; operands are not checked against each other.
void assemble_instruction(Program& into, std::string_view line);
/// The text that assemble() reads back to the same program. `with_data`: contents of segments too.
std::string listing(const Program& program, bool with_data);

}  // namespace lockstep::command
