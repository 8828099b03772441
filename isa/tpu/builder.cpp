// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/builder.h"

#include <algorithm>

#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint32_t kMaxWait = 255;

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
    next += (buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
    program_.buffers.push_back(std::move(buffer));
    return static_cast<std::uint32_t>(program_.buffers.size() - 1);
}

void ProgramBuilder::add_data(std::uint32_t buffer, std::uint64_t offset,
                              std::span<const std::uint8_t> bytes) {
    program_.segments.push_back({buffer, offset, {bytes.begin(), bytes.end()}});
}

std::uint32_t ProgramBuilder::begin_step(std::string name, std::uint64_t macs) {
    program_.steps.push_back({std::move(name), macs});
    const auto step = static_cast<std::uint32_t>(program_.steps.size() - 1);
    emit(Opcode::kTag, {{Field::kStep, step}});
    return step;
}

void ProgramBuilder::split(Intervals& intervals, std::uint64_t at) {
    const auto after = intervals.upper_bound(at);
    if (after == intervals.begin()) return;
    const auto inside = std::prev(after);
    if (inside->first == at || inside->second.end <= at) return;
    Interval upper = inside->second;
    inside->second.end = at;
    intervals.emplace_hint(after, at, upper);
}

void ProgramBuilder::note(const Access& access, Queue queue, Count number,
                          std::array<Count, kQueues>& need) {
    Intervals& intervals = intervals_[static_cast<std::size_t>(access.space)];
    split(intervals, access.begin);
    split(intervals, access.end);
    const auto own = static_cast<std::size_t>(queue);
    const auto wait_for = [&](std::size_t other, Count count) {
        if (other != own) need[other] = std::max(need[other], count);
    };
    auto it = intervals.lower_bound(access.begin);
    for (std::uint64_t at = access.begin; at < access.end;) {
        if (it == intervals.end() || it->first > at) {  // not touched before
            const std::uint64_t end =
                it == intervals.end() ? access.end : std::min(access.end, it->first);
            it = intervals.emplace_hint(it, at, Interval{.end = end});
        }
        Interval& interval = it->second;
        if (interval.writer != Queue::kSequencer)
            wait_for(static_cast<std::size_t>(interval.writer), interval.written);
        if (access.write)
            for (std::size_t other = 0; other < kQueues; ++other)
                wait_for(other, interval.read[other]);
        else
            interval.read[own] = number;
        at = interval.end;
        ++it;
    }
    if (!access.write) return;
    // One interval for what was written: keeps the map as small as the program's own pieces.
    intervals.erase(intervals.lower_bound(access.begin), intervals.lower_bound(access.end));
    intervals[access.begin] = {.end = access.end, .writer = queue, .written = number};
}

void ProgramBuilder::emit(Instruction instruction) {
    const std::string wrong = check_operands(instruction);
    LOCKSTEP_CHECK(wrong.empty(), "instruction {}: {}", size(), wrong);
    const Queue queue = instruction.queue();
    if (queue != Queue::kSequencer) {
        const Count number = issued_[static_cast<std::size_t>(queue)] + 1;
        std::array<Count, kQueues> need{};
        const Footprint touched = footprint(instruction);
        for (const Access& access : touched.accesses())
            if (!access.write) note(access, queue, number, need);
        for (const Access& access : touched.accesses())
            if (access.write) note(access, queue, number, need);
        for (std::size_t other = 0; other < kQueues; ++other) {
            if (need[other] == 0) continue;
            // A wait for a later instruction of the queue includes all before it.
            const std::uint32_t distance = std::min(issued_[other] - need[other] + 1, kMaxWait);
            const std::uint32_t present = instruction.wait(static_cast<Queue>(other));
            instruction.set(static_cast<Field>(other),
                            present == 0 ? distance : std::min(distance, present));
        }
        issued_[static_cast<std::size_t>(queue)] = number;
    }
    program_.instructions.push_back(std::move(instruction));
}

Program ProgramBuilder::finish() {
    emit(Instruction(Opcode::kHalt));
    return std::move(program_);
}

}  // namespace lockstep::tpu
