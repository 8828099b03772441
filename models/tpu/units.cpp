// SPDX-License-Identifier: Apache-2.0
// Matrix units and vector unit. The time of a tile operation is the array's closed form
// (systolic/): a row enters each cycle, results are complete a skew later; the next weights shift
// into shadow registers as soon as the tile has arrived and the last is in use, and take effect
// with the first row.
#include <algorithm>

#include "models/tpu/buffer_streams.h"
#include "models/tpu/core.h"
#include "models/tpu/vector_timing.h"
#include "sim/engine/tlm_memory_port.h"

namespace lockstep::tpu {

namespace {

using enum Field;

/// Cycles a row takes: 8-bit operands one, 16-bit ones two each (Jouppi et al., section 2).
std::uint64_t row_cycles(const Instruction& i) {
    if (is_float(i.type(kType))) return 1;
    return size_of(i.type(kType)) * size_of(i.type(kWeightType));
}

}  // namespace

bool Core::shift_weights(MatrixUnit& unit, Cycle now) {
    if (unit.slot_held && unit.shadow_ready <= now) {
        unit.slot_held = false;
        --unit.reserved;
        return true;
    }
    if (unit.shadow || unit.arrived.empty()) return false;
    // Without shadow registers, the array must first be empty.
    if (parameters_.overlap == Overlap::kDrain && unit.stream_end > now) return false;
    if (parameters_.overlap == Overlap::kNone && !unit.results.empty()) return false;
    unit.shadow = unit.slot_held = true;
    unit.shadow_arrived = unit.arrived.front();
    unit.arrived.pop_front();
    unit.shadow_begin = now;
    unit.shadow_ready = now + static_cast<Cycle>(tile_.load);
    if (trace_ != nullptr)
        trace_->shift(static_cast<std::size_t>(&unit - units_.data()), now, unit.shadow_ready);
    return true;
}

Core::Cycle Core::access_buffer(const Instruction& next, Cycle cycles, Cycle now,
                                std::uint64_t StepCounters::*stall, std::uint32_t step_index) {
    const BankLoads accesses =
        bank_accesses(next, parameters_.banks, parameters_.vector.fixed_function);
    StepCounters& counters = step(step_index);
    for (const double bank : accesses) counters.buffer_accesses += bank;
    const Cycle end =
        unified_buffer_.access(now, now, cycles, per_cycle(accesses, static_cast<double>(cycles)));
    counters.*stall += end - now - cycles;
    return end;
}

bool Core::run_matrix(std::size_t index, Cycle now) {
    MatrixUnit& unit = units_[index];
    bool any = shift_weights(unit, now);
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
    }
    unit.head_seen = true;
    if (raw) unit.raw_until = engine::kNever;
    if (input) unit.input_until = engine::kNever;
    if (!raw && unit.raw_until == engine::kNever) unit.raw_until = now;
    if (!input && unit.input_until == engine::kNever) unit.input_until = now;
    const Instruction& next = instruction(head);
    const bool switches = next.flag(kSwitchWeights);
    if (raw || input || unit.stream_end > now) return any;
    if (switches && (!unit.shadow || unit.shadow_ready > now)) return any;

    account_idle(index, head, switches, now);
    const Cycle duration = std::max<Cycle>(1, next[kRows] * row_cycles(next));
    unit.stream_end =
        access_buffer(next, duration, now, &StepCounters::matrix_bank_stall, head.step);
    timelines_[index].add(now + duration, ArrayState::kActive);
    timelines_[index].add(unit.stream_end, ArrayState::kNonMatrix);
    if (trace_ != nullptr) {
        trace_->work(queue_index, next, head.index, now, now + duration);
        trace_->bank_stall(queue_index, now + duration, unit.stream_end);
    }
    if (switches) unit.shadow = false;
    unit.results.push_back({unit.stream_end + static_cast<Cycle>(tile_.skew), head.step});
    StepCounters& counters = step(head.step);
    counters.macs += next[kRows] * next[kLanes] * next[kColumns];
    counters.streamed_rows += next[kRows];
    unit.head_seen = false;
    queue.waiting.pop_front();
    return true;
}

void Core::account_idle(std::size_t index, const Entry& entry, bool switches, Cycle now) {
    const MatrixUnit& unit = units_[index];
    Timeline& timeline = timelines_[index];
    // Before the instruction was there, nothing waited.
    const Cycle begin = std::max(timeline.end(), unit.head_since);
    StepCounters& counters = step(entry.step);
    const auto waited = [&](Cycle until) { return std::min(until, now) - std::min(until, begin); };
    counters.raw_stall += waited(unit.raw_until);
    counters.input_stall += waited(unit.input_until);
    const auto add = [&](Cycle until, ArrayState state) {
        if (trace_ != nullptr) trace_->idle(index, state, timeline.end(), std::min(now, until));
        timeline.add(std::min(now, until), state);
    };
    add(begin, ArrayState::kNonMatrix);
    if (switches) {
        add(unit.shadow_arrived, ArrayState::kWeightStall);
        add(unit.shadow_begin, ArrayState::kNonMatrix);
        add(unit.shadow_ready, ArrayState::kWeightShift);
    }
    add(now, ArrayState::kNonMatrix);
}

bool Core::run_vector(Cycle now) {
    Queue& queue = queues_[static_cast<std::size_t>(tpu::Queue::kVector)];
    if (queue.waiting.empty() || vector_free_ > now) return false;
    const Entry& head = queue.waiting.front();
    if (!satisfied(head.need)) return false;
    const auto [duration, cross_lane] = vector_time(instruction(head), parameters_.vector);
    vector_free_ = access_buffer(instruction(head), duration, now, &StepCounters::vector_bank_stall,
                                 head.step);
    if (cross_lane != 0) cross_lane_free_ = std::max(cross_lane_free_, now) + cross_lane;
    const Cycle done = std::max(vector_free_, cross_lane_free_);
    vector_results_.push_back({done + parameters_.vector.latency, head.step});
    step(head.step).vector_busy += duration;
    if (trace_ != nullptr) {
        constexpr auto kQueue = static_cast<std::size_t>(tpu::Queue::kVector);
        trace_->work(kQueue, instruction(head), head.index, now, now + duration);
        trace_->bank_stall(kQueue, now + duration, vector_free_);
    }
    queue.waiting.pop_front();
    return true;
}

}  // namespace lockstep::tpu
