// SPDX-License-Identifier: Apache-2.0
// The vector unit, and what it has in common with the matrix units: operands and results come from
// and go to the banks of the unified buffer, where others may be in the way.
#include "models/tpu/buffer_streams.h"
#include "models/tpu/core.h"
#include "models/tpu/vector_timing.h"
#include "sim/engine/tlm_memory_port.h"

namespace lockstep::tpu {

BankLoads Core::accesses_of(const Instruction& next) const {
    return bank_accesses(next, parameters_.banks, parameters_.vector.fixed_function);
}

Core::Cycle Core::access_buffer(const BankLoads& accesses, Cycle cycles, Cycle now,
                                std::uint64_t StepCounters::*stall, std::uint32_t step_index) {
    StepCounters& counters = step(step_index);
    for (const double bank : accesses) counters.buffer_lines += bank;
    const Cycle end =
        unified_buffer_.access(now, now, cycles, per_cycle(accesses, static_cast<double>(cycles)));
    counters.*stall += end - now - cycles;
    return end;
}

bool Core::run_vector(Cycle now) {
    Queue& queue = queues_[static_cast<std::size_t>(tpu::Queue::kVector)];
    if (queue.waiting.empty() || vector_free_ > now) return false;
    const Entry& head = queue.waiting.front();
    if (!satisfied(head.need)) return false;
    const Instruction& next = instruction(head);
    const BankLoads own = accesses_of(next);
    for (std::size_t bank = 0; bank < own.size(); ++bank) loop_.accesses[bank] += own[bank];
    if (next.flag(Field::kKeeps)) {
        // The loop begins when the operands of its last instruction are there, too.
        loop_.work += vector_work(next, parameters_.vector);
        loop_.steps.push_back(head.step);
        queue.waiting.pop_front();
        return true;
    }
    const auto [duration, cross_lane] = vector_time(next, parameters_.vector, loop_.work);
    vector_free_ =
        access_buffer(loop_.accesses, duration, now, &StepCounters::vector_bank_stall, head.step);
    Cycle done = vector_free_;
    if (cross_lane != 0) {
        cross_lane_free_ = std::max(cross_lane_free_, now) + cross_lane;
        done = std::max(done, cross_lane_free_) + parameters_.vector.cross_lane_latency;
    }
    // Results come in order.
    if (!vector_results_.empty())
        done = std::max(done + parameters_.vector.latency, vector_results_.back().at) -
               parameters_.vector.latency;
    for (const std::uint32_t step : loop_.steps)
        vector_results_.push_back({done + parameters_.vector.latency, step});
    vector_results_.push_back({done + parameters_.vector.latency, head.step});
    loop_ = {};
    step(head.step).vector_busy += duration;
    if (trace_ != nullptr) {
        constexpr auto kQueue = static_cast<std::size_t>(tpu::Queue::kVector);
        trace_->work(kQueue, next, head.index, now, now + duration);
        trace_->bank_stall(kQueue, now + duration, vector_free_);
    }
    queue.waiting.pop_front();
    return true;
}

}  // namespace lockstep::tpu
