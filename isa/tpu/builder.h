// SPDX-License-Identifier: Apache-2.0
// Makes programs. Instructions are given in an order that would be right if they ran one after the
// other; the builder computes the waits that keep it right when the queues run decoupled.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "isa/tpu/dependences.h"
#include "isa/tpu/program.h"

namespace lockstep::tpu {

class ProgramBuilder {
  public:
    explicit ProgramBuilder(int generation);

    /// Places the buffer in its space (256-byte aligned) and returns its index; `buffer.address` is
    /// ignored.
    std::uint32_t add_buffer(Buffer buffer);
    std::uint64_t address(std::uint32_t buffer) const { return program_.buffers[buffer].address; }
    const Buffer& buffer(std::uint32_t index) const { return program_.buffers[index]; }
    void add_data(std::uint32_t buffer, std::uint64_t offset, std::span<const std::uint8_t> bytes);

    /// A task of the host; returns its number.
    std::uint32_t add_host_task(HostTask task);
    /// Has the host do the task after all that was stored and loaded before, and waits for it.
    void call_host(std::uint32_t task);

    /// Instructions from here on belong to this step.
    std::uint32_t begin_step(std::string name, std::uint64_t macs = 0);
    /// Adds an instruction with its waits (those that it has are kept where they are stricter).
    /// Checks its operands (LOCKSTEP_CHECK).
    void emit(Instruction instruction);
    void emit(Opcode opcode, Instruction::Fields fields) { emit(Instruction(opcode, fields)); }
    /// Makes an instruction that is emitted next wait until all of the range is written, also what
    /// it does not read itself.
    void wait_for_writes(Instruction& instruction, Space space, std::uint64_t begin,
                         std::uint64_t end) const;

    /// Emitted so far.
    std::size_t size() const { return program_.instructions.size(); }
    std::span<const Instruction> instructions() const { return program_.instructions; }

    /// A place in the instructions to come back to.
    class Mark {
        friend class ProgramBuilder;
        std::size_t instructions = 0;
        Dependences dependences;
    };
    Mark mark() const;
    /// Takes back the instructions since; buffers, data, tasks and steps stay.
    void rewind(const Mark& mark);

    /// Adds the halt and hands the program over.
    Program finish();

  private:
    Program program_;
    std::array<std::uint64_t, 2> next_address_{};
    std::set<std::string> names_;  ///< of buffers
    Dependences dependences_;
};

}  // namespace lockstep::tpu
