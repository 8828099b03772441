// SPDX-License-Identifier: Apache-2.0
// Sequencer and queues. Instructions are issued in program order, one every issue_interval cycles,
// to queues that work in order and apart; an instruction starts when what its waits name has
// completed. An instruction computes its values when it is issued, in program order; its time comes
// from the units. That is the same because programs whose result would depend on timing are refused
// (check_waits). transfers.cpp has the DMA, cores.cpp the cores.
#include "models/npu/core_complex.h"

#include <algorithm>

#include "isa/command/disassembler.h"
#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::npu {

CoreComplex::CoreComplex(engine::Simulation& owner, std::string name, const Parameters& parameters,
                         const DramShape& dram, const Program& program,
                         const command::Storage& storage, State* state, CoreTrace* trace)
    : Tile(owner, std::move(name), engine::ClockDomain::from_megahertz(parameters.clock_mhz)),
      parameters_(parameters),
      dram_(dram),
      limits_(parameters.limits()),
      program_(program),
      storage_(storage),
      state_(state),
      trace_(trace),
      banks_({parameters.sram.banks, parameters.sram.width, parameters.sram.ports}),
      link_bytes_(parameters.speed().memory_bytes),
      steps_(std::max<std::size_t>(1, program.steps.size())) {}

CoreComplex::~CoreComplex() = default;

void CoreComplex::fault(std::uint32_t index, const std::string& reason) const {
    throw ProgramFault(fmt::format(
        "{}: instruction {}{}: {}: {}", name(), index,
        program_.steps.empty() ? std::string()
                               : fmt::format(" (step {})", program_.steps[current_step_].name),
        command::disassemble(program_.instructions[index]), reason));
}

bool CoreComplex::satisfied(const QueueCounts& need) const {
    for (std::size_t queue = 0; queue < kQueues; ++queue)
        if (queues_[queue].completed < need[queue]) return false;
    return true;
}

QueueCounts CoreComplex::needs(const Instruction& instruction) const {
    QueueCounts need{};
    for (std::size_t queue = 0; queue < kQueues; ++queue) {
        const std::uint32_t distance = instruction.wait(static_cast<npu::Queue>(queue));
        if (distance != 0 && distance <= queues_[queue].issued)
            need[queue] = queues_[queue].issued - distance + 1;
    }
    return need;
}

void CoreComplex::complete(std::size_t queue, std::uint32_t step_index, Cycle at) {
    ++queues_[queue].completed;
    step(step_index).end = std::max(step(step_index).end, at);
    end_ = std::max(end_, at);
    report_progress();
}

bool CoreComplex::retire(Cycle now) {
    bool any = false;
    for (std::size_t core = 0; core < parameters_.cores; ++core) {
        std::deque<Completion>& results = cores_[core].results;
        for (; !results.empty() && results.front().at <= now; results.pop_front(), any = true)
            complete(kFirstCore + core, results.front().step, results.front().at);
    }
    return any;
}

bool CoreComplex::sequence(Cycle now) {
    if (halted_ || now < next_issue_) return false;
    if (!take_next(program_.instructions[next_instruction_], now)) return false;
    if (halted_) return true;
    ++next_instruction_;
    next_issue_ = now + parameters_.issue_interval;
    return true;
}

bool CoreComplex::take_next(const Instruction& next, Cycle now) {
    switch (next.opcode()) {
        case Opcode::kNop:
            break;
        case Opcode::kTag:
            current_step_ = static_cast<std::uint32_t>(next[Field::kStep]);
            break;
        case Opcode::kSync:
            if (!satisfied(needs(next))) return false;
            break;
        case Opcode::kInterruptHost:
            if (!satisfied(needs(next))) return false;
            interrupt_host(next, now);
            break;
        case Opcode::kSyncHost:
            if (now < host_done_) return false;
            step(current_step_).end = std::max(step(current_step_).end, host_done_);
            break;
        case Opcode::kHalt:
            for (const Queue& queue : queues_)
                if (queue.completed != queue.issued) return false;
            halted_ = true;
            end_ = std::max(end_, now);
            charge_stalls();
            break;
        default:
            return issue(next, now);
    }
    return true;
}

void CoreComplex::compute(const Instruction& next) {
    if (state_ == nullptr) return;
    try {
        if (observe) observe(next, *state_);
        execute(next, *state_);
        if (progress) progress(next_instruction_ + 1);
    } catch (const ProgramFault& reason) {
        fault(next_instruction_, reason.what());
    }
}

void CoreComplex::interrupt_host(const Instruction& next, Cycle now) {
    const auto code = static_cast<std::uint32_t>(next[Field::kCode]);
    interrupts_.push_back(code);
    compute(next);
    if (code >= program_.host_tasks.size()) return;
    const Cycle duration = host_cycles(program_.host_tasks[code], parameters_);
    host_done_ = now + duration;
    step(current_step_).host_busy += duration;
    report_progress();
    if (trace_ != nullptr) trace_->host(program_.host_tasks[code].name, now, host_done_);
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
    Entry entry{next_instruction_, queue.issued + 1, current_step_, needs(next), {}, now};
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

engine::Cycle CoreComplex::advance(Cycle from, Cycle until) {
    for (Cycle now = from;;) {
        take_responses(now);
        for (bool any = true; any && !halted_;) {
            any = retire(now);
            any |= sequence(now);
            for (std::size_t index = 0; index < kDmaQueues; ++index) any |= run_dma(index, now);
            for (std::size_t core = 0; core < parameters_.cores; ++core) any |= run_core(core, now);
        }
        if (halted_) return engine::kNever;
        const Cycle next = next_event(now);
        if (next >= until) return next;
        now = next;
    }
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

std::string CoreComplex::explain_wait() const {
    std::string text;
    if (next_instruction_ < program_.instructions.size())
        text = fmt::format("the sequencer is at instruction {} ({})", next_instruction_,
                           command::disassemble(program_.instructions[next_instruction_]));
    for (std::size_t queue = 0; queue < kQueues; ++queue) {
        if (queues_[queue].waiting.empty()) continue;
        const Entry& head = queues_[queue].waiting.front();
        text +=
            fmt::format("; queue {} waits with instruction {} ({})", description().queues[queue],
                        head.index, command::disassemble(instruction(head)));
        for (std::size_t other = 0; other < kQueues; ++other)
            if (queues_[other].completed < head.need[other])
                text +=
                    fmt::format(" for {} instructions of {}, {} have completed", head.need[other],
                                description().queues[other], queues_[other].completed);
    }
    return text;
}

}  // namespace lockstep::npu
