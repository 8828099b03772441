// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/builder.h"

#include <algorithm>

#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint32_t kMaxWait = 255;

/// Waits that the instruction has are kept where they are stricter.
void add_waits(Instruction& instruction, const QueueCounts& issued, const QueueCounts& need) {
    for (std::size_t other = 0; other < kQueues; ++other) {
        if (need[other] == 0) continue;
        // A wait for a later instruction of the queue includes all before it.
        const std::uint32_t distance = std::min(issued[other] - need[other] + 1, kMaxWait);
        const std::uint32_t present = instruction.wait(static_cast<Queue>(other));
        instruction.set(static_cast<Field>(other),
                        present == 0 ? distance : std::min(distance, present));
    }
}

/// A name that a program can have: what is not allowed becomes '_'.
std::string allowed(std::string name, bool is_word) {
    name.resize(std::min(name.size(), kLongestName / 2));
    for (char& c : name) {
        const auto code = static_cast<unsigned char>(c);
        if (code < ' ' || code == 127 || code == '#' || (is_word && code == ' ')) c = '_';
    }
    if (name.empty()) return "_";
    if (name.front() == ' ') name.front() = '_';
    if (name.back() == ' ') name.back() = '_';
    return name;
}

}  // namespace

ProgramBuilder::ProgramBuilder(int generation) {
    LOCKSTEP_CHECK(generation >= 1 && generation <= kGenerations, "no TPU generation {}",
                   generation);
    program_.generation = generation;
}

std::uint32_t ProgramBuilder::add_buffer(Buffer buffer) {
    LOCKSTEP_CHECK(buffer.space == Space::kHost || buffer.space == Space::kMemory,
                   "buffer {} is neither in host memory nor in memory", buffer.name);
    std::uint64_t& next = next_address_[static_cast<std::size_t>(buffer.space)];
    buffer.address = next;
    const std::string name = allowed(std::move(buffer.name), true);
    buffer.name = name;
    for (int i = 2; !names_.insert(buffer.name).second; ++i)
        buffer.name = fmt::format("{}~{}", name, i);
    next += (buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
    program_.buffers.push_back(std::move(buffer));
    return static_cast<std::uint32_t>(program_.buffers.size() - 1);
}

void ProgramBuilder::add_data(std::uint32_t buffer, std::uint64_t offset,
                              std::span<const std::uint8_t> bytes) {
    program_.segments.push_back({buffer, offset, {bytes.begin(), bytes.end()}});
}

std::uint32_t ProgramBuilder::add_host_task(HostTask task) {
    task.name = allowed(std::move(task.name), false);
    program_.host_tasks.push_back(std::move(task));
    return static_cast<std::uint32_t>(program_.host_tasks.size() - 1);
}

void ProgramBuilder::call_host(std::uint32_t task) {
    LOCKSTEP_CHECK(task < program_.host_tasks.size(), "no host task {}", task);
    emit(Opcode::kInterruptHost,
         {{Field::kWaitLoad, 1}, {Field::kWaitStore, 1}, {Field::kCode, task}});
    emit(Opcode::kSyncHost, {{Field::kCode, task}});
}

std::uint32_t ProgramBuilder::begin_step(std::string name, std::uint64_t macs) {
    program_.steps.push_back({allowed(std::move(name), false), macs});
    const auto step = static_cast<std::uint32_t>(program_.steps.size() - 1);
    emit(Opcode::kTag, {{Field::kStep, step}});
    return step;
}

void ProgramBuilder::emit(Instruction instruction) {
    const std::string wrong = check_operands(instruction);
    LOCKSTEP_CHECK(wrong.empty(), "instruction {}: {}", size(), wrong);
    const QueueCounts issued = dependences_.issued();
    add_waits(instruction, issued, dependences_.add(instruction));
    program_.instructions.push_back(std::move(instruction));
}

void ProgramBuilder::wait_for_writes(Instruction& instruction, Space space, std::uint64_t begin,
                                     std::uint64_t end) const {
    QueueCounts need = dependences_.writers(space, begin, end);
    need[static_cast<std::size_t>(instruction.queue())] = 0;  // a queue works in order
    add_waits(instruction, dependences_.issued(), need);
}

ProgramBuilder::Mark ProgramBuilder::mark() const {
    Mark mark;
    mark.instructions = size();
    mark.dependences = dependences_;
    return mark;
}

void ProgramBuilder::rewind(const Mark& mark) {
    LOCKSTEP_CHECK(mark.instructions <= size(), "a mark of {} in {} instructions",
                   mark.instructions, size());
    program_.instructions.resize(mark.instructions);
    dependences_ = mark.dependences;
}

Program ProgramBuilder::finish() {
    emit(Instruction(Opcode::kHalt));
    return std::move(program_);
}

}  // namespace lockstep::tpu
