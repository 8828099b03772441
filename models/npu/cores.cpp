// SPDX-License-Identifier: Apache-2.0
// The cores: a command keeps its core busy for its time, or longer where the SRAM's banks give less
// than it asks for.
#include <algorithm>
#include <bit>
#include <cstring>

#include "models/npu/core_complex.h"
#include "models/npu/sram_streams.h"
#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::npu {

bool CoreComplex::run_core(std::size_t index, Cycle now) {
    Queue& queue = queues_[kFirstCore + index];
    Core& core = cores_[index];
    if (queue.waiting.empty() || core.free > now) return false;
    const Entry& head = queue.waiting.front();
    account_wait(core, head, now);
    if (!satisfied(head.need)) return false;
    const Instruction& next = instruction(head);
    const CommandTime& time = head.time;
    StepCounters& counters = step(head.step);
    // What it waited for since it was free, one cause after the other.
    const Cycle since = std::max(core.free, head.issued);
    const Cycle dma = std::clamp(core.dma_until, since, now);
    const auto stall = [&](std::uint64_t StepCounters::*counter, Cycle from, Cycle to) {
        if (from < to) stalls_.push_back({counter, from, to});
    };
    stall(&StepCounters::issue_stall, core.free, since);
    stall(&StepCounters::dma_stall, since, dma);
    stall(&StepCounters::core_stall, dma, std::clamp(core.core_until, dma, now));
    core.waits = false;

    const Cycle cycles = std::max<Cycle>(1, time.cycles);
    const Cycle end = banks_.access(now, now, cycles,
                                    memory::per_cycle(command_lines(next, time, parameters_.sram),
                                                      static_cast<double>(cycles)));
    counters.bank_stall += end - now - cycles;
    counters.core_busy += end - now;
    if (time_of(next.opcode()) != Time::kArray) counters.output_busy += end - now;
    core.free = end;
    const Cycle done = end + time.latency;
    core.results.push_back(
        {core.results.empty() ? done : std::max(done, core.results.back().at), head.step});
    if (trace_ != nullptr) {
        trace_->idle(index, since, now);
        trace_->work(kFirstCore + index, next, head.index, now, now + cycles);
        trace_->bank_stall(index, now + cycles, end);
    }
    queue.waiting.pop_front();
    return true;
}

/// A stall belongs to the steps in whose time it lies: what a core waits for before its first
/// command of a step is mostly the end of others, or the host's.
void CoreComplex::charge_stalls() {
    const std::vector<Cycle> ends = step_ends();
    for (const Stall& stall : stalls_)
        for (Cycle from = stall.from; from < stall.to;) {
            const auto end = std::upper_bound(ends.begin(), ends.end(), from);
            LOCKSTEP_CHECK(end != ends.end(), "a stall at cycle {} of {}", from, end_);
            const Cycle to = std::min(stall.to, *end);
            step(static_cast<std::uint32_t>(end - ends.begin())).*stall.counter += to - from;
            from = to;
        }
}

void CoreComplex::account_wait(Core& core, const Entry& head, Cycle now) {
    bool dma = false, other = false;
    for (std::size_t queue = 0; queue < kQueues; ++queue)
        if (queues_[queue].completed < head.need[queue]) (queue < kFirstCore ? dma : other) = true;
    if (!core.waits) core.dma_until = core.core_until = 0;
    core.waits = true;
    const auto note = [&](Cycle& until, bool waits) {
        if (waits)
            until = engine::kNever;
        else if (until == engine::kNever)
            until = now;
    };
    note(core.dma_until, dma);
    note(core.core_until, other);
}

void CoreComplex::count_command(const Instruction& i, const CommandTime& time,
                                StepCounters& counters) const {
    counters.macs += macs_of(i);
    (time.split == 1   ? counters.macs_8
     : time.split == 2 ? counters.macs_4
                       : counters.macs_2) += time.executed_macs;
    counters.array_active += time.array.active;
    counters.decode_stall += time.array.decode_stall;
    counters.output_stall += time.array.output_stall;
    counters.decoded_weights += time.array.decoded;
    counters.accumulator_updates += time.accumulator_updates;
    counters.output_values += time.output_values;
    counters.input_bytes += time.input_bytes + time.operand_bytes;
    counters.weight_bytes += time.weight_bytes + time.parameter_bytes;
    counters.output_bytes += time.output_bytes;
    counters.sram_bytes_read += time.read_bytes();
    counters.sram_bytes_written += time.output_bytes;
}

void CoreComplex::observe_toggles(const Instruction& i, StepCounters& counters) {
    if (time_of(i.opcode()) != Time::kArray) return;
    // Byte against byte, eight at a time.
    const auto observe = [&](const std::uint8_t* bytes, std::uint64_t count) {
        constexpr std::uint64_t kWord = sizeof(std::uint64_t);
        std::uint64_t toggled = 0, at = 0;
        for (; at + kWord < count; at += kWord) {
            std::uint64_t here, next;
            std::memcpy(&here, bytes + at, kWord);
            std::memcpy(&next, bytes + at + 1, kWord);
            toggled += static_cast<std::uint64_t>(std::popcount(here ^ next));
        }
        counters.toggled_bits += toggled;
        counters.stored_bits += 8 * at;
    };
    const Image input = input_of(i);
    for (std::uint64_t y = 0; y < input.height; ++y)
        observe(state_->sram(input.address + y * input.row),
                (input.width - 1) * input.pixel + input.run());
    observe(state_->sram(i[Field::kWeights]), i[Field::kWeightBytes]);
}

}  // namespace lockstep::npu
