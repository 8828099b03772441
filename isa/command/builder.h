// SPDX-License-Identifier: Apache-2.0
// Makes programs. Instructions are given in an order that would be right if they ran one after the
// other; the builder computes the waits that keep it right when the queues run decoupled.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "isa/command/dependences.h"
#include "isa/command/program.h"

namespace lockstep::command {

/// Makes the instruction wait until so many of each queue (0: none) have completed. Waits that it
/// has are kept where they are stricter.
void add_waits(Instruction& instruction, const QueueCounts& issued, const QueueCounts& need);

/// A name that a program can have: what is not allowed becomes '_'.
std::string allowed_name(std::string name, bool is_word);

/// Gives buffers their names and places.
class BufferPlaces {
  public:
    /// Places the buffer in its space (256-byte aligned) under a name of its own.
    void place(Buffer& buffer);

  private:
    std::array<std::uint64_t, kBufferSpaces> next_address_{};
    std::set<std::string> names_;
};

template <typename I>
class ProgramBuilder {
  public:
    explicit ProgramBuilder(int generation) {
        LOCKSTEP_CHECK(generation >= 1 && generation <= I::description().generations,
                       "no {} generation {}", I::description().name, generation);
        program_.generation = generation;
    }

    /// Places the buffer in its space and returns its index; `buffer.address` is ignored.
    std::uint32_t add_buffer(Buffer buffer) {
        places_.place(buffer);
        program_.buffers.push_back(std::move(buffer));
        return static_cast<std::uint32_t>(program_.buffers.size() - 1);
    }
    std::uint64_t address(std::uint32_t buffer) const { return program_.buffers[buffer].address; }
    const Buffer& buffer(std::uint32_t index) const { return program_.buffers[index]; }
    void add_data(std::uint32_t buffer, std::uint64_t offset, std::span<const std::uint8_t> bytes) {
        program_.segments.push_back({buffer, offset, {bytes.begin(), bytes.end()}});
    }

    /// A task of the host; returns its number.
    std::uint32_t add_host_task(HostTask task) {
        task.name = allowed_name(std::move(task.name), false);
        program_.host_tasks.push_back(std::move(task));
        return static_cast<std::uint32_t>(program_.host_tasks.size() - 1);
    }
    /// Has the host do the task after all that moved into and out of its memory before, and waits
    /// for it.
    void call_host(std::uint32_t task);

    /// Instructions from here on belong to this step.
    std::uint32_t begin_step(std::string name, std::uint64_t macs = 0) {
        release_all();
        program_.steps.push_back({allowed_name(std::move(name), false), macs});
        const auto step = static_cast<std::uint32_t>(program_.steps.size() - 1);
        emit_plain(I::description().tag, I::description().step, step);
        return step;
    }
    /// Adds an instruction with its waits (those that it has are kept where they are stricter).
    /// Checks its operands (LOCKSTEP_CHECK).
    void emit(I instruction) {
        const std::string wrong = check_operands(instruction);
        LOCKSTEP_CHECK(wrong.empty(), "instruction {}: {}", size(), wrong);
        if (holding_) return held_.push_back({*holding_, std::move(instruction)});
        release_conflicting(instruction);
        append(std::move(instruction));
    }
    void emit(typename I::Opcode opcode, typename I::Fields fields) { emit(I(opcode, fields)); }
    /// Until stop_holding(), instructions are held back, so that later independent ones come before
    /// them in their queues: software pipelining. `group`: never less than before. One that touches
    /// what a held one writes, or writes what it touches, releases that and all before it.
    void hold(std::uint64_t group) { holding_ = group; }
    void stop_holding() { holding_.reset(); }
    /// Emits the held instructions of groups before that.
    void release_before(std::uint64_t group) {
        std::size_t count = 0;
        while (count < held_.size() && held_[count].group < group) ++count;
        release(count);
    }
    void release_all() { release(held_.size()); }
    /// Makes an instruction that is emitted next wait until all of the range is written, also what
    /// it does not read itself.
    void wait_for_writes(I& instruction, Id space, std::uint64_t begin, std::uint64_t end) const {
        QueueCounts need = dependences_.writers(space, begin, end);
        need[instruction.queue_number()] = 0;  // a queue works in order
        add_waits(instruction, dependences_.issued(), need);
    }

    /// Makes an instruction that is emitted next wait for all of a queue that was emitted so far.
    void wait_for_queue(I& instruction, std::size_t queue) const {
        QueueCounts need{};
        need[queue] = dependences_.issued()[queue];
        add_waits(instruction, dependences_.issued(), need);
    }

    /// Emitted so far.
    std::size_t size() const { return program_.instructions.size(); }
    std::span<const I> instructions() const { return program_.instructions; }

    struct Held {
        std::uint64_t group;
        I instruction;
    };
    /// A place in the instructions to come back to.
    class Mark {
        friend class ProgramBuilder;
        std::size_t instructions = 0;
        Dependences dependences;
        std::vector<Held> held;
    };
    Mark mark() const {
        Mark mark;
        mark.instructions = size();
        mark.dependences = dependences_;
        mark.held = held_;
        return mark;
    }
    /// Takes back the instructions since; buffers, data, tasks and steps stay.
    void rewind(const Mark& mark) {
        LOCKSTEP_CHECK(mark.instructions <= size(), "a mark of {} in {} instructions",
                       mark.instructions, size());
        program_.instructions.resize(mark.instructions);
        dependences_ = mark.dependences;
        held_ = mark.held;
        holding_.reset();
    }

    /// Adds the halt and hands the program over.
    ProgramOf<I> finish() {
        release_all();
        emit(I(static_cast<typename I::Opcode>(I::description().halt)));
        return std::move(program_);
    }

  private:
    void append(I instruction) {
        const QueueCounts issued = dependences_.issued();
        add_waits(instruction, issued, dependences_.add(instruction));
        program_.instructions.push_back(std::move(instruction));
    }
    void release(std::size_t count) {
        // A loop stays together.
        if constexpr (requires(const I& i) { i.continues_loop(); })
            while (count != 0 && count < held_.size() && held_[count].instruction.continues_loop())
                ++count;
        for (std::size_t i = 0; i < count; ++i) append(std::move(held_[i].instruction));
        held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    void release_conflicting(const I& instruction) {
        std::size_t count = held_.size();
        while (count > 0 && !conflict(held_[count - 1].instruction, instruction)) --count;
        release(count);
    }
    /// An instruction of one field.
    void emit_plain(Id opcode, Id field, std::uint32_t value) {
        I made(static_cast<typename I::Opcode>(opcode));
        made.put(field, value);
        emit(std::move(made));
    }

    ProgramOf<I> program_;
    BufferPlaces places_;
    Dependences dependences_;
    std::vector<Held> held_;
    std::optional<std::uint64_t> holding_;  ///< the group that emitted instructions join
};

template <typename I>
void ProgramBuilder<I>::call_host(std::uint32_t task) {
    LOCKSTEP_CHECK(task < program_.host_tasks.size(), "no host task {}", task);
    const Description& isa = I::description();
    I interrupt(static_cast<typename I::Opcode>(isa.interrupt_host));
    for (const std::size_t queue : host_queues(isa)) interrupt.put(Id::of(queue), 1);
    interrupt.put(isa.code, task);
    emit(std::move(interrupt));
    emit_plain(isa.sync_host, isa.code, task);
}

}  // namespace lockstep::command
