// SPDX-License-Identifier: Apache-2.0
// The time of a tile operation is the array's closed form (systolic/): a vector enters each cycle,
// results are complete a skew later. What the array holds next shifts into shadow registers as soon
// as it has arrived and the last is in use, and takes effect with the first vector: weights (ws),
// rows of inputs (is). Sums that it holds (os) move to such registers with the last vector and
// leave from there, a row a cycle.
#include <algorithm>

#include "models/tpu/core.h"
#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using enum Field;

/// Cycles a vector takes: 8-bit operands one, 16-bit ones two each (Jouppi et al., section 2).
std::uint64_t vector_length(const Instruction& i) {
    if (is_float(i.type(kType))) return 1;
    return size_of(i.type(kType)) * size_of(i.type(kWeightType));
}

/// Vectors that stream through what the array holds.
std::uint64_t vectors(const Instruction& i) {
    switch (dataflow_of(i)) {
        case Dataflow::kWeightStationary:
            return i[kRows];
        case Dataflow::kOutputStationary:
            return i[kLanes];
        case Dataflow::kInputStationary:
            return i[kColumns];
    }
    internal_error(__FILE__, __LINE__, "no such dataflow");
}

std::uint64_t stream_cycles(const Instruction& i) {
    return std::max<std::uint64_t>(1, vectors(i) * vector_length(i));
}

/// Whether the tile that the array holds (of weights, or of inputs) is exchanged first.
bool switches_held(const Instruction& i) {
    switch (dataflow_of(i)) {
        case Dataflow::kWeightStationary:
            return i.flag(kSwitchWeights);
        case Dataflow::kOutputStationary:
            return false;
        case Dataflow::kInputStationary:
            return i.flag(kSwitchInputs);
    }
    internal_error(__FILE__, __LINE__, "no such dataflow");
}

/// os: whether the PEs begin with new sums.
bool begins_sums(const Instruction& i) {
    return dataflow_of(i) == Dataflow::kOutputStationary && !i.flag(kAccumulate);
}

}  // namespace

bool Core::free_slot(MatrixUnit& unit, Cycle now) {
    const bool weights = parameters_.array.dataflow == Dataflow::kWeightStationary;
    if (!unit.slot_held || (weights ? unit.shadow_ready : unit.stream_end) > now) return false;
    unit.slot_held = false;
    --unit.reserved;
    return true;
}

bool Core::shift_tile(std::size_t index, Cycle now) {
    MatrixUnit& unit = units_[index];
    const Dataflow dataflow = parameters_.array.dataflow;
    if (unit.shadow || dataflow == Dataflow::kOutputStationary) return false;
    // Without shadow registers, the array must first be empty.
    if (parameters_.overlap != Overlap::kDouble && unit.stream_end > now) return false;
    if (parameters_.overlap == Overlap::kNone && !unit.results.empty()) return false;
    unit.shadow_ready = now + static_cast<Cycle>(tile_.load);
    if (dataflow == Dataflow::kWeightStationary) {
        if (unit.arrived.empty()) return false;
        unit.slot_held = true;
        unit.shadow_arrived = unit.arrived.front();
        unit.arrived.pop_front();
    } else {
        // The next rows to be held, as soon as they are there; without shadow registers they must
        // be the next instruction's.
        const auto& waiting =
            queues_[static_cast<std::size_t>(tpu::Queue::kMatrix0) + index].waiting;
        const auto next = std::find_if(waiting.begin(), waiting.end(), [&](const Entry& entry) {
            return instruction(entry).flag(kSwitchInputs);
        });
        if (next == waiting.end() || !satisfied(next->need)) return false;
        if (parameters_.overlap != Overlap::kDouble && next != waiting.begin()) return false;
        unit.shadow_ready =
            access_buffer(accesses_of(instruction(*next)), static_cast<Cycle>(tile_.load), now,
                          &StepCounters::bank_stall, next->step);
    }
    unit.shadow = true;
    unit.shadow_begin = now;
    if (trace_ != nullptr) trace_->shift(index, now, unit.shadow_ready);
    return true;
}

bool Core::array_ready(const MatrixUnit& unit, const Instruction& next, Cycle now) const {
    if (unit.stream_end > now) return false;
    if (switches_held(next) && (!unit.shadow || unit.shadow_ready > now)) return false;
    if (parameters_.array.dataflow != Dataflow::kWeightStationary && unit.arrived.empty())
        return false;
    if (!begins_sums(next)) return true;
    return unit.sums_free <= now && (parameters_.overlap != Overlap::kNone || unit.results.empty());
}

engine::Cycle Core::stream(MatrixUnit& unit, const Instruction& next, std::uint32_t step,
                           Cycle now) {
    const Cycle duration = stream_cycles(next);
    // Inputs that are held have been read before.
    unit.stream_end =
        parameters_.array.dataflow == Dataflow::kInputStationary
            ? now + duration
            : access_buffer(accesses_of(next), duration, now, &StepCounters::bank_stall, step);
    const bool takes_rows =
        parameters_.array.dataflow != Dataflow::kInputStationary || next.flag(kSwitchInputs);
    const Cycle rows_made = takes_rows ? windows_.assemble(next, now) : now;
    if (rows_made > unit.stream_end) {
        this->step(step).window_stall += rows_made - unit.stream_end;
        unit.stream_end = rows_made;
    }
    if (switches_held(next)) unit.shadow = false;
    if (parameters_.array.dataflow != Dataflow::kWeightStationary) {
        unit.arrived.pop_front();
        unit.slot_held = true;
    }
    Cycle complete = unit.stream_end + static_cast<Cycle>(tile_.skew);
    if (next.flag(kUnload)) {
        // The sums leave row by row: from second registers, when those before have left them, while
        // the next sums begin; else from the PEs themselves.
        const Cycle begin = std::max(unit.stream_end, unit.unload_end);
        unit.unload_end = begin + static_cast<Cycle>(tile_.unload);
        unit.sums_free = parameters_.overlap == Overlap::kDouble ? begin : unit.unload_end;
        complete = unit.unload_end + static_cast<Cycle>(tile_.skew);
        if (trace_ != nullptr)
            trace_->shift(static_cast<std::size_t>(&unit - units_.data()), begin, unit.unload_end);
    }
    return unit.results.empty() ? complete : std::max(complete, unit.results.back().at);
}

bool Core::run_matrix(std::size_t index, Cycle now) {
    MatrixUnit& unit = units_[index];
    bool any = free_slot(unit, now) | shift_tile(index, now);
    const std::size_t queue_index = static_cast<std::size_t>(tpu::Queue::kMatrix0) + index;
    Queue& queue = queues_[queue_index];
    if (queue.waiting.empty()) return any;
    const Entry& head = queue.waiting.front();
    // What the head waits for, by kind; what it never had to wait for leaves 0.
    bool raw = false, input = false;
    for (std::size_t other = 0; other < kQueues; ++other)
        if (queues_[other].completed < head.need[other])
            (other <= static_cast<std::size_t>(tpu::Queue::kStore) ? input : raw) = true;
    if (!unit.head_seen) {
        unit.raw_until = unit.input_until = 0;
        unit.head_since = now;
        unit.issue_wait = now - std::min(now, std::max(timelines_[index].end(), issuing_since_));
    }
    unit.head_seen = true;
    if (raw) unit.raw_until = engine::kNever;
    if (input) unit.input_until = engine::kNever;
    if (!raw && unit.raw_until == engine::kNever) unit.raw_until = now;
    if (!input && unit.input_until == engine::kNever) unit.input_until = now;
    const Instruction& next = instruction(head);
    if (raw || input || !array_ready(unit, next, now)) return any;

    account_idle(index, head, now);
    const bool loads = dataflow_of(next) != Dataflow::kInputStationary || next.flag(kSwitchInputs);
    const bool sums = dataflow_of(next) != Dataflow::kOutputStationary;
    const Cycle complete = stream(unit, next, head.step, now);
    const Cycle unhindered = now + stream_cycles(next);
    timelines_[index].add(unhindered, ArrayState::kActive, head.step);
    timelines_[index].add(unit.stream_end, ArrayState::kNonMatrix, head.step);
    if (trace_ != nullptr) {
        trace_->work(queue_index, next, head.index, now, unhindered);
        trace_->bank_stall(queue_index, unhindered, unit.stream_end);
        trace_->west(index, next, head.index, now, unit.stream_end);
        const auto skew = static_cast<Cycle>(tile_.skew);
        if (sums)
            trace_->south(index, next, head.index, now + skew, unit.stream_end + skew);
        else if (next.flag(kUnload))
            trace_->south(index, next, head.index,
                          unit.unload_end - static_cast<Cycle>(tile_.unload) + skew,
                          unit.unload_end + skew);
    }
    unit.results.push_back({complete, head.step});
    StepCounters& counters = step(head.step);
    counters.streamed += unhindered - now;
    counters.macs += next[kRows] * next[kLanes] * next[kColumns];
    if (loads) counters.input_reads += next[kRows] * next[kLanes];
    if (next.flag(kSwitchWeights)) counters.weight_reads += next[kLanes] * next[kColumns];
    if (sums || next.flag(kUnload)) counters.sums_written += next[kRows] * next[kColumns];
    if (sums && next.flag(kAccumulate)) counters.sums_read += next[kRows] * next[kColumns];
    unit.head_seen = false;
    queue.waiting.pop_front();
    return true;
}

void Core::account_idle(std::size_t index, const Entry& entry, Cycle now) {
    const MatrixUnit& unit = units_[index];
    const Instruction& next = instruction(entry);
    Timeline& timeline = timelines_[index];
    // Before the instruction was there, nothing waited.
    const Cycle begin = std::max(timeline.end(), unit.head_since);
    StepCounters& counters = step(entry.step);
    const auto waited = [&](Cycle until) { return std::min(until, now) - std::min(until, begin); };
    counters.raw_stall += waited(unit.raw_until);
    counters.input_stall += waited(unit.input_until);
    counters.issue_stall += unit.issue_wait;
    const auto add = [&](Cycle until, ArrayState state) {
        if (trace_ != nullptr) trace_->idle(index, state, timeline.end(), std::min(now, until));
        timeline.add(std::min(now, until), state, entry.step);
    };
    add(begin, ArrayState::kNonMatrix);
    const bool weights = parameters_.array.dataflow == Dataflow::kWeightStationary;
    if (!weights) add(unit.arrived.front(), ArrayState::kWeightStall);
    if (switches_held(next)) {
        if (weights) add(unit.shadow_arrived, ArrayState::kWeightStall);
        add(unit.shadow_begin, ArrayState::kNonMatrix);
        add(unit.shadow_ready, ArrayState::kShift);
    }
    if (begins_sums(next)) add(unit.sums_free, ArrayState::kShift);
    add(now, ArrayState::kNonMatrix);
}

}  // namespace lockstep::tpu
