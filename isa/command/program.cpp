// SPDX-License-Identifier: Apache-2.0
#include "isa/command/program.h"

#include <algorithm>
#include <set>

#include "isa/command/footprint.h"
#include "sim/error/error.h"

namespace lockstep::command {

namespace {

/// What the assembler's text can say: of a buffer a word, of a step or task also several.
bool is_name(std::string_view text, bool is_word) {
    const auto fits = [&](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code >= (is_word ? '!' : ' ') && code != 127 && code != '#';
    };
    return !text.empty() && text.size() <= kLongestName && text.front() != ' ' &&
           text.back() != ' ' && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

const Buffer* Program::find(std::string_view name) const {
    for (const Buffer& buffer : buffers)
        if (buffer.name == name) return &buffer;
    return nullptr;
}

void validate(const Program& program, std::string_view name,
              const std::function<std::string(std::size_t)>& where) {
    const auto fail = [&](const std::string& reason) {
        throw InputError(fmt::format("{}: {}", name, reason));
    };
    const auto fail_at = [&](std::size_t instruction, const std::string& reason) {
        throw InputError(fmt::format("{}: instruction {}: {}",
                                     where ? where(instruction) : std::string(name), instruction,
                                     reason));
    };
    const Description& isa = program.isa();
    if (program.generation < 1 || program.generation > isa.generations)
        fail(fmt::format("{} generation {} does not exist (1 to {})", isa.name, program.generation,
                         isa.generations));
    std::set<std::string_view> names;
    std::vector<const Buffer*> by_place;
    for (const Buffer& buffer : program.buffers) {
        if (!is_name(buffer.name, true)) fail("a buffer's name is empty or not one word");
        if (!names.insert(buffer.name).second)
            fail(fmt::format("two buffers are named {}", buffer.name));
        if (buffer.address > (std::uint64_t{1} << 48) || buffer.bytes > (std::uint64_t{1} << 48))
            fail(fmt::format("buffer {} lies past 2^48 bytes", buffer.name));
        if (buffer.bytes != 0) by_place.push_back(&buffer);
    }
    std::sort(by_place.begin(), by_place.end(), [](const Buffer* a, const Buffer* b) {
        return std::pair(a->space, a->address) < std::pair(b->space, b->address);
    });
    for (std::size_t i = 1; i < by_place.size(); ++i)
        if (by_place[i - 1]->space == by_place[i]->space &&
            by_place[i - 1]->address + by_place[i - 1]->bytes > by_place[i]->address)
            fail(
                fmt::format("buffers {} and {} overlap", by_place[i - 1]->name, by_place[i]->name));
    for (const Segment& segment : program.segments) {
        if (segment.buffer >= program.buffers.size())
            fail(fmt::format("data for buffer {} of {}", segment.buffer, program.buffers.size()));
        const Buffer& buffer = program.buffers[segment.buffer];
        if (segment.offset > buffer.bytes || segment.bytes.size() > buffer.bytes - segment.offset)
            fail(fmt::format("{} bytes of data at {} do not fit into buffer {} of {} bytes",
                             segment.bytes.size(), segment.offset, buffer.name, buffer.bytes));
    }
    for (const ProgramStep& step : program.steps)
        if (!is_name(step.name, false)) fail("a step's name is empty or not printable");
    for (const HostTask& task : program.host_tasks)
        if (!is_name(task.name, false)) fail("a host task's name is empty or not printable");
    for (std::size_t i = 0; i < program.size(); ++i) {
        const Instruction& instruction = program.instruction(i);
        const OpcodeRow& opcode = instruction.row();
        if (program.generation < opcode.first_generation ||
            program.generation > opcode.last_generation)
            fail_at(i, fmt::format("{} does not exist on {} generation {}", opcode.mnemonic,
                                   isa.name, program.generation));
        if (opcode.opcode == isa.tag && instruction.value(isa.step) >= program.steps.size())
            fail_at(
                i, fmt::format("step {} of {}", instruction.value(isa.step), program.steps.size()));
        const std::string wrong = check_operands(instruction);
        if (!wrong.empty()) fail_at(i, fmt::format("{}: {}", opcode.mnemonic, wrong));
    }
    // The host has one task at a time, and nobody waits for one that was not begun.
    constexpr std::uint64_t kNone = UINT64_MAX;
    std::uint64_t task = kNone;
    for (std::size_t i = 0; i < program.size(); ++i) {
        const Instruction& instruction = program.instruction(i);
        const Id opcode = instruction.row().opcode;
        const std::uint64_t code = instruction.value(isa.code);
        if (opcode == isa.interrupt_host && code < program.host_tasks.size()) {
            if (task != kNone) fail_at(i, fmt::format("the host still has task {}", task));
            task = code;
        } else if (opcode == isa.sync_host) {
            if (task != code) fail_at(i, fmt::format("the host has not begun task {}", code));
            task = kNone;
        }
    }
    if (task != kNone) fail(fmt::format("nothing waits for the host's task {}", task));
    if (program.size() == 0 || program.instruction(program.size() - 1).row().opcode != isa.halt)
        fail("the last instruction is not halt");
}

void check_driver(const Program& program, bool has_driver) {
    if (!has_driver && !program.host_tasks.empty())
        throw InputError(
            fmt::format("the program has the host compute {}, and no driver is there "
                        "to do it; only its time can be simulated (--no-values)",
                        program.host_tasks[0].name));
}

}  // namespace lockstep::command
