// SPDX-License-Identifier: Apache-2.0
#include "isa/command/dependences.h"

#include <algorithm>

#include "isa/command/disassembler.h"
#include "sim/error/error.h"

namespace lockstep::command {

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

void Dependences::note(const Access& access, std::size_t own, std::uint32_t number,
                       QueueCounts& need) {
    Intervals& intervals = intervals_[access.space.value];
    split(intervals, access.begin);
    split(intervals, access.end);
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
        if (interval.written != 0) wait_for(interval.writer, interval.written);
        if (access.write)
            for (std::size_t other = 0; other < kMaxQueues; ++other)
                wait_for(other, interval.read[other]);
        else
            interval.read[own] = number;
        at = interval.end;
        ++it;
    }
    if (!access.write) return;
    // One interval for what was written: keeps the map as small as the program's own pieces.
    intervals.erase(intervals.lower_bound(access.begin), intervals.lower_bound(access.end));
    intervals[access.begin] = {.end = access.end, .writer = own, .written = number};
}

bool conflict(const Instruction& a, const Instruction& b) {
    const Footprint first = footprint(a), second = footprint(b);
    for (const Access& x : first.accesses())
        for (const Access& y : second.accesses())
            if ((x.write || y.write) && x.space == y.space && x.begin < y.end && y.begin < x.end)
                return true;
    return false;
}

QueueCounts Dependences::add(const Instruction& instruction) {
    QueueCounts need{};
    const std::size_t queue = instruction.queue_number();
    if (queue == instruction.isa().queue_count()) return need;  // the sequencer does it
    const std::uint32_t number = ++issued_[queue];
    const Footprint touched = footprint(instruction);
    for (const bool write : {false, true})
        for (const Access& access : touched.accesses())
            if (access.write == write) note(access, queue, number, need);
    return need;
}

QueueCounts Dependences::writers(Id space, std::uint64_t begin, std::uint64_t end) const {
    QueueCounts need{};
    const Intervals& intervals = intervals_[space.value];
    auto it = intervals.upper_bound(begin);
    if (it != intervals.begin() && std::prev(it)->second.end > begin) --it;
    for (; it != intervals.end() && it->first < end; ++it)
        need[it->second.writer] = std::max(need[it->second.writer], it->second.written);
    return need;
}

std::vector<std::size_t> host_queues(const Description& isa) {
    std::vector<std::size_t> result;
    for (std::size_t queue = 0; queue < isa.queue_count(); ++queue)
        if (std::any_of(isa.opcodes.begin(), isa.opcodes.end(), [&](const OpcodeRow& opcode) {
                return opcode.queue == Id::of(queue) && isa.has_field(opcode, isa.host);
            }))
            result.push_back(queue);
    return result;
}

namespace {

[[noreturn]] void fault(const Program& program, std::size_t index, const std::string& reason) {
    throw ProgramFault(fmt::format("instruction {} ({}) {}", index,
                                   disassemble(program.instruction(index)), reason));
}

}  // namespace

void check_waits(const Program& program) {
    const Description& isa = program.isa();
    const std::size_t queues = isa.queue_count();
    Dependences dependences;
    // What is known to have completed when an instruction starts, by queue and number; and when
    // the sequencer issues the next (after a sync).
    std::array<std::vector<QueueCounts>, kMaxQueues> known;
    QueueCounts at_issue{};
    bool host_works = false;
    const auto include = [&](QueueCounts& into, std::size_t queue, std::uint32_t count) {
        if (count == 0) return;
        into[queue] = std::max(into[queue], count);
        const QueueCounts& through = known[queue][count - 1];
        for (std::size_t q = 0; q < queues; ++q) into[q] = std::max(into[q], through[q]);
    };
    for (std::size_t index = 0; index < program.size(); ++index) {
        const Instruction& instruction = program.instruction(index);
        const Id opcode = instruction.row().opcode;
        QueueCounts before = at_issue;
        for (std::size_t q = 0; q < queues; ++q) {
            const std::uint32_t distance = instruction.wait(q);
            const std::uint32_t issued = dependences.issued()[q];
            if (distance != 0 && distance <= issued) include(before, q, issued - distance + 1);
        }
        const std::size_t own = instruction.queue_number();
        if (own == queues) {
            at_issue = before;  // of sync and the like: the sequencer itself has waited
            if (opcode == isa.sync_host) host_works = false;
            if (opcode == isa.interrupt_host &&
                instruction.value(isa.code) < program.host_tasks.size()) {
                host_works = true;
                for (const std::size_t q : host_queues(isa))
                    if (before[q] < dependences.issued()[q])
                        fault(program, index,
                              fmt::format("does not wait for all of queue {}, which may touch what "
                                          "the host's task does",
                                          isa.queues[q]));
            }
            continue;
        }
        if (host_works && isa.has_field(instruction.row(), isa.host))
            fault(program, index,
                  "comes before the sync_host of a task that may touch the same place");
        // A queue works in order, but those of one queue may overtake each other; once an
        // instruction has completed, so have all before it in its queue.
        QueueCounts after = before;
        include(after, own, dependences.issued()[own]);
        if (Id::of(own) != isa.unordered_queue) before = after;
        const QueueCounts need = dependences.add(instruction);
        for (std::size_t q = 0; q < queues; ++q)
            if (q != own && need[q] > before[q])
                fault(program, index,
                      fmt::format("does not wait for instruction {} of queue {}, which touches the "
                                  "same place",
                                  need[q], isa.queues[q]));
        known[own].push_back(after);
    }
}

}  // namespace lockstep::command
