// SPDX-License-Identifier: Apache-2.0
// What an NPU does of its own where a sequencer issues and completes; transfers.cpp has the DMA,
// cores.cpp the cores.
#include "models/npu/core_complex.h"

#include <algorithm>

#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::npu {

CoreComplex::CoreComplex(engine::Simulation& owner, std::string name, const Parameters& parameters,
                         const DramShape& dram, const Program& program,
                         const command::Storage& storage, State* state, CoreTrace* trace)
    : Sequencer(owner, std::move(name), parameters, program, state, trace),
      dram_(dram),
      limits_(parameters.limits()),
      storage_(storage),
      banks_({parameters.sram.banks, parameters.sram.width, parameters.sram.ports}),
      link_bytes_(parameters.speed().memory_bytes) {}

CoreComplex::~CoreComplex() = default;

bool CoreComplex::retire(Cycle now) {
    bool any = false;
    for (std::size_t core = 0; core < parameters_.cores; ++core)
        any |= drain(cores_[core].results, kFirstCore + core, now);
    return any;
}

/// Registers of a core's command are written when one of its groups is free, which an interrupt
/// tells where the processor had to wait for it.
bool CoreComplex::registers_written(const Instruction& next, Cycle now) {
    const RegisterParameters& registers = parameters_.registers;
    const std::uint64_t writes = register_writes(next, registers);
    if (writes == 0) return true;
    if (!writes_registers_) {
        const Queue& queue = queues_[next.queue_number()];
        if (registers.groups != 0 && queue.issued - queue.completed >= registers.groups) {
            group_was_taken_ = true;
            return false;
        }
        registers_written_ =
            now + writes * registers.cycles + (group_was_taken_ ? registers.interrupt : 0);
        writes_registers_ = true;
        group_was_taken_ = false;
    }
    if (now < registers_written_) return false;
    writes_registers_ = false;
    return true;
}

/// Of a transfer: its processor has to see that an earlier step's results are in memory.
bool CoreComplex::waits_for_results(const QueueCounts& need) const {
    constexpr auto kStores = static_cast<std::size_t>(npu::Queue::kStore);
    const std::uint32_t latest = need[kStores];
    return parameters_.registers.cycles != 0 && latest > queues_[kStores].completed &&
           store_steps_[latest - 1] != current_step_;
}

bool CoreComplex::issue(const Instruction& next, Cycle now) {
    const std::size_t queue_index = next.queue_number();
    Queue& queue = queues_[queue_index];
    if (queue.waiting.size() >= parameters_.queue_depth) return false;
    if (queue_index >= kFirstCore && !registers_written(next, now)) return false;
    const std::string wrong = check_bounds(next, limits_, storage_);
    if (!wrong.empty()) fault(next_instruction_, wrong);
    compute(next);
    StepCounters& counters = step(current_step_);
    Entry entry{next_entry(queue, next), {}, now};
    if (queue_index >= kFirstCore) {
        std::vector<std::uint32_t> used;
        if (skips_zeros(next, limits_)) used = state_->weights(next).used_inputs();
        entry.time = command_time(next, parameters_, used);
        count_command(next, entry.time, counters);
        if (state_ != nullptr) observe_toggles(next, counters);
    }
    if (queue_index < kDmaQueues) entry.answers = waits_for_results(entry.need);
    if (next.queue() == npu::Queue::kStore) store_steps_.push_back(current_step_);
    queue.waiting.push_back(entry);
    ++queue.issued;
    ++counters.instructions;
    return true;
}

bool CoreComplex::run_units(Cycle now) {
    bool any = false;
    for (std::size_t index = 0; index < kDmaQueues; ++index) any |= run_dma(index, now);
    for (std::size_t core = 0; core < parameters_.cores; ++core) any |= run_core(core, now);
    return any;
}

engine::Cycle CoreComplex::next_event(Cycle now) {
    Cycle next = engine::kNever;
    const auto consider = [&](Cycle at) {
        if (at > now) next = std::min(next, at);
    };
    consider(next_issue_);
    consider(registers_written_);
    consider(host_done_);
    for (std::size_t index = 0; index < parameters_.cores; ++index) {
        consider(cores_[index].free);
        if (!cores_[index].results.empty()) consider(cores_[index].results.front().at);
    }
    for (const Dma& dma : dma_)
        for (const Transfer& transfer : dma.active) {
            consider(transfer.ready);
            consider(transfer.drained);
        }
    consider(memory_responses.next_ready());
    if (memory_requests.credits(now) == 0) consider(memory_requests.next_credit(now));
    return next;
}

}  // namespace lockstep::npu
