// SPDX-License-Identifier: Apache-2.0
// Sequencer and queues. Instructions are issued in program order, one every issue_interval cycles,
// to queues that work in order and apart; an instruction starts when what its waits name has
// completed (the dependency flags of the paper's decoupled access/execute). Here: what they have in
// common, and the sequencer; transfers.cpp and units.cpp have the units.
#include "models/tpu/core.h"

#include <algorithm>

#include "isa/command/disassembler.h"
#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

double host_bytes_per_cycle(const Parameters& parameters) {
    return parameters.host_gb_per_s * 1e3 / parameters.clock_mhz;
}

}  // namespace

Core::Core(engine::Simulation& owner, std::string name, const Parameters& parameters,
           const Program& program, const Storage& storage, State* state, CoreTrace* trace)
    : Tile(owner, std::move(name), engine::ClockDomain::from_megahertz(parameters.clock_mhz)),
      parameters_(parameters),
      limits_(parameters.limits()),
      program_(program),
      storage_(storage),
      state_(state),
      trace_(trace),
      tile_(tile_timing(parameters.array, parameters.overlap, 1)),
      unified_buffer_(parameters.banks),
      windows_(parameters_.vector),
      memory_link_{parameters.speed().memory_bytes},
      host_links_{Link{host_bytes_per_cycle(parameters)}, Link{host_bytes_per_cycle(parameters)}},
      steps_(std::max<std::size_t>(1, program.steps.size())),
      timelines_(parameters.units) {}

Core::~Core() = default;

void Core::fault(std::uint32_t index, const std::string& reason) const {
    throw ProgramFault(fmt::format(
        "{}: instruction {}{}: {}: {}", name(), index,
        program_.steps.empty() ? std::string()
                               : fmt::format(" (step {})", program_.steps[current_step_].name),
        disassemble(program_.instructions[index]), reason));
}

bool Core::satisfied(const QueueCounts& need) const {
    for (std::size_t queue = 0; queue < kQueues; ++queue)
        if (queues_[queue].completed < need[queue]) return false;
    return true;
}

QueueCounts Core::needs(const Instruction& instruction) const {
    QueueCounts need{};
    for (std::size_t queue = 0; queue < kQueues; ++queue) {
        const std::uint32_t distance = instruction.wait(static_cast<tpu::Queue>(queue));
        if (distance != 0 && distance <= queues_[queue].issued)
            need[queue] = queues_[queue].issued - distance + 1;
    }
    return need;
}

void Core::complete(std::size_t queue, std::uint32_t step_index, Cycle at) {
    ++queues_[queue].completed;
    step(step_index).end = std::max(step(step_index).end, at);
    end_ = std::max(end_, at);
    report_progress();
}

bool Core::retire(Cycle now) {
    bool any = false;
    const auto drain = [&](std::deque<Completion>& results, std::size_t queue) {
        for (; !results.empty() && results.front().at <= now; results.pop_front(), any = true)
            complete(queue, results.front().step, results.front().at);
    };
    for (std::size_t unit = 0; unit < parameters_.units; ++unit)
        drain(units_[unit].results, static_cast<std::size_t>(tpu::Queue::kMatrix0) + unit);
    drain(vector_results_, static_cast<std::size_t>(tpu::Queue::kVector));
    return any;
}

bool Core::sequence(Cycle now) {
    if (halted_ || now < next_issue_) return false;
    const Instruction& next = program_.instructions[next_instruction_];
    if (!take_next(next, now)) {
        blocked_ = true;
        return false;
    }
    if (blocked_) issuing_since_ = now;
    blocked_ = false;
    if (halted_) return true;
    ++next_instruction_;
    next_issue_ = now + (next.opcode() == Opcode::kTag
                             ? std::max(parameters_.issue_interval, parameters_.tag_cycles)
                             : parameters_.issue_interval);
    return true;
}

bool Core::take_next(const Instruction& next, Cycle now) {
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
            return true;
        default:
            return issue(next, now);
    }
    return true;
}

void Core::compute(const Instruction& next) {
    if (state_ == nullptr) return;
    try {
        execute(next, *state_);
        if (progress) progress(next_instruction_ + 1);
    } catch (const ProgramFault& reason) {
        fault(next_instruction_, reason.what());
    }
}

void Core::interrupt_host(const Instruction& next, Cycle now) {
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

bool Core::issue(const Instruction& next, Cycle) {
    const auto queue_index = static_cast<std::size_t>(next.queue());
    Queue& queue = queues_[queue_index];
    if (queue.waiting.size() >= parameters_.queue_depth) return false;
    const std::string wrong = check_bounds(next, limits_, storage_);
    if (!wrong.empty()) fault(next_instruction_, wrong);
    compute(next);
    queue.waiting.push_back({next_instruction_, queue.issued + 1, current_step_, needs(next)});
    ++queue.issued;
    ++step(current_step_).instructions;
    return true;
}

engine::Cycle Core::advance(Cycle from, Cycle until) {
    for (Cycle now = from;;) {
        take_responses(now);
        for (bool progress = true; progress && !halted_;) {
            progress = retire(now);
            progress |= sequence(now);
            for (std::size_t index = 0; index < 2 + parameters_.units; ++index)
                progress |= run_dma(index, now);
            for (std::size_t unit = 0; unit < parameters_.units; ++unit)
                progress |= run_matrix(unit, now);
            progress |= run_vector(now);
        }
        if (halted_) {
            for (Timeline& timeline : timelines_)
                timeline.add(end_, ArrayState::kNonMatrix, current_step_);
            return engine::kNever;
        }
        const Cycle next = next_event(now);
        if (next >= until) return next;
        now = next;
    }
}

engine::Cycle Core::next_event(Cycle now) {
    Cycle next = engine::kNever;
    const auto consider = [&](Cycle at) {
        if (at > now) next = std::min(next, at);
    };
    consider(next_issue_);
    consider(host_done_);
    consider(vector_free_);
    if (!vector_results_.empty()) consider(vector_results_.front().at);
    for (std::size_t index = 0; index < parameters_.units; ++index) {
        const MatrixUnit& unit = units_[index];
        consider(unit.stream_end);
        consider(unit.sums_free);
        if (unit.shadow) consider(unit.shadow_ready);
        if (!unit.results.empty()) consider(unit.results.front().at);
    }
    for (const DmaQueue& queue : dma_)
        for (const Transfer& transfer : queue.active) {
            consider(transfer.ready);
            consider(transfer.drained);
        }
    consider(memory_responses.next_ready());
    consider(host_responses.next_ready());
    if (memory_requests.credits(now) == 0) consider(memory_requests.next_credit(now));
    if (host_requests.credits(now) == 0) consider(host_requests.next_credit(now));
    return next;
}

std::string Core::explain_wait() const {
    std::string text;
    if (next_instruction_ < program_.instructions.size())
        text = fmt::format("the sequencer is at instruction {} ({})", next_instruction_,
                           disassemble(program_.instructions[next_instruction_]));
    for (std::size_t queue = 0; queue < kQueues; ++queue) {
        if (queues_[queue].waiting.empty()) continue;
        const Entry& head = queues_[queue].waiting.front();
        text += fmt::format("; queue {} waits with instruction {} ({})", queue_names()[queue],
                            head.index, disassemble(instruction(head)));
        for (std::size_t other = 0; other < kQueues; ++other)
            if (queues_[other].completed < head.need[other])
                text +=
                    fmt::format(" for {} instructions of {}, {} have completed", head.need[other],
                                queue_names()[other], queues_[other].completed);
    }
    return text;
}

}  // namespace lockstep::tpu
