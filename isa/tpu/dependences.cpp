// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/dependences.h"

#include <algorithm>

#include "isa/tpu/disassembler.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

/// Cuts the interval that reaches over `at` in two.
template <typename Intervals>
void split(Intervals& intervals, std::uint64_t at) {
    const auto after = intervals.upper_bound(at);
    if (after == intervals.begin()) return;
    const auto inside = std::prev(after);
    if (inside->first == at || inside->second.end <= at) return;
    const auto upper = inside->second;
    inside->second.end = at;
    intervals.emplace_hint(after, at, upper);
}

}  // namespace

void Dependences::note(const Access& access, Queue queue, std::uint32_t number, QueueCounts& need) {
    Intervals& intervals = intervals_[static_cast<std::size_t>(access.space)];
    split(intervals, access.begin);
    split(intervals, access.end);
    const auto own = static_cast<std::size_t>(queue);
    const auto wait_for = [&](std::size_t other, std::uint32_t count) {
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

QueueCounts Dependences::add(const Instruction& instruction) {
    QueueCounts need{};
    const Queue queue = instruction.queue();
    if (queue == Queue::kSequencer) return need;
    const std::uint32_t number = ++issued_[static_cast<std::size_t>(queue)];
    const Footprint touched = footprint(instruction);
    for (const bool write : {false, true})
        for (const Access& access : touched.accesses())
            if (access.write == write) note(access, queue, number, need);
    return need;
}

QueueCounts Dependences::writers(Space space, std::uint64_t begin, std::uint64_t end) const {
    QueueCounts need{};
    const Intervals& intervals = intervals_[static_cast<std::size_t>(space)];
    auto it = intervals.upper_bound(begin);
    if (it != intervals.begin() && std::prev(it)->second.end > begin) --it;
    for (; it != intervals.end() && it->first < end; ++it)
        if (it->second.writer != Queue::kSequencer) {
            std::uint32_t& count = need[static_cast<std::size_t>(it->second.writer)];
            count = std::max(count, it->second.written);
        }
    return need;
}

void check_waits(const Program& program) {
    Dependences dependences;
    // What is known to have completed when an instruction starts, by queue and number; and when
    // the sequencer issues the next (after a sync).
    std::array<std::vector<QueueCounts>, kQueues> known;
    QueueCounts at_issue{};
    bool host_works = false;
    const auto include = [&](QueueCounts& into, std::size_t queue, std::uint32_t count) {
        if (count == 0) return;
        into[queue] = std::max(into[queue], count);
        const QueueCounts& through = known[queue][count - 1];
        for (std::size_t q = 0; q < kQueues; ++q) into[q] = std::max(into[q], through[q]);
    };
    for (std::size_t index = 0; index < program.instructions.size(); ++index) {
        const Instruction& instruction = program.instructions[index];
        QueueCounts before = at_issue;
        for (std::size_t q = 0; q < kQueues; ++q) {
            const std::uint32_t distance = instruction.wait(static_cast<Queue>(q));
            const std::uint32_t issued = dependences.issued()[q];
            if (distance != 0 && distance <= issued) include(before, q, issued - distance + 1);
        }
        const Queue queue = instruction.queue();
        if (queue == Queue::kSequencer) {
            at_issue = before;  // of sync and the like: the sequencer itself has waited
            if (instruction.opcode() == Opcode::kSyncHost) host_works = false;
            if (instruction.opcode() == Opcode::kInterruptHost &&
                instruction[Field::kCode] < program.host_tasks.size()) {
                host_works = true;
                for (const Queue mover : {Queue::kLoad, Queue::kStore})
                    if (const auto q = static_cast<std::size_t>(mover);
                        before[q] < dependences.issued()[q])
                        throw ProgramFault(fmt::format(
                            "instruction {} ({}) does not wait for all of queue {}, which may "
                            "touch what the host's task does",
                            index, disassemble(instruction), queue_names()[q]));
            }
            continue;
        }
        if (host_works && (instruction.opcode() == Opcode::kReadHost ||
                           instruction.opcode() == Opcode::kWriteHost))
            throw ProgramFault(
                fmt::format("instruction {} ({}) comes before the sync_host of a "
                            "task that may touch the same place",
                            index, disassemble(instruction)));
        const auto own = static_cast<std::size_t>(queue);
        // A queue works in order, but weight tiles of different units may overtake each other; once
        // it has completed, so has all before it.
        QueueCounts after = before;
        include(after, own, dependences.issued()[own]);
        if (queue != Queue::kWeights) before = after;
        const QueueCounts need = dependences.add(instruction);
        for (std::size_t q = 0; q < kQueues; ++q)
            if (q != own && need[q] > before[q])
                throw ProgramFault(fmt::format(
                    "instruction {} ({}) does not wait for instruction {} of queue {}, which "
                    "touches the same place",
                    index, disassemble(instruction), need[q], queue_names()[q]));
        known[own].push_back(after);
    }
}

}  // namespace lockstep::tpu
