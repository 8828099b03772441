// SPDX-License-Identifier: Apache-2.0
// What runs a program of commands, as a Tile. Instructions are issued in program order, one every
// issue_interval cycles, to queues that work in order and apart; an instruction starts when what
// its waits name has completed (decoupled access/execute). An instruction computes its values when
// it is issued, in program order; its time comes from the machine's units. That is the same because
// programs whose result would depend on timing are refused (command::check_waits). It is driven by
// events: between the starts and ends of instructions nothing costs host time.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "isa/command/dependences.h"
#include "isa/command/disassembler.h"
#include "sim/engine/tile.h"
#include "sim/error/error.h"

namespace lockstep::command {

/// An instruction on its way through a queue.
struct QueueEntry {
    std::uint32_t index;   ///< in the program
    std::uint32_t number;  ///< in its queue, from 1
    std::uint32_t step;
    QueueCounts need;  ///< completed instructions of each queue that it waits for
};

/// An instruction of a pipelined unit whose results are still on their way.
struct Completion {
    engine::Cycle at;
    std::uint32_t step;
};

/// Machine has the types Program, Instruction, Parameters (with issue_interval), StepCounters (with
/// instructions, host_busy and end), State, Trace (with host) and Entry (a QueueEntry, or derived
/// from it). execute(Instruction, State) and host_cycles(HostTask, Parameters) are
/// found by their arguments.
template <typename Machine>
class Sequencer : public engine::Tile {
  public:
    using Instruction = typename Machine::Instruction;
    using State = typename Machine::State;
    using StepCounters = typename Machine::StepCounters;

    /// Told, with values, after each instruction how many of the program's are done.
    std::function<void(std::uint64_t)> progress;
    /// Shown, with values, each instruction before it is executed.
    std::function<void(const Instruction&, State&)> observe;

    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override { return halted_; }
    std::string explain_wait() const override;

    /// After the run.
    engine::Cycle cycles() const { return end_; }
    const std::vector<StepCounters>& steps() const { return steps_; }  ///< one if there are none
    const std::vector<std::uint32_t>& interrupts() const { return interrupts_; }
    /// A step ends when its last instruction completes; what is left belongs to the last.
    std::vector<std::uint64_t> step_ends() const;

  protected:
    using Cycle = engine::Cycle;
    using Parameters = typename Machine::Parameters;
    using Program = typename Machine::Program;
    using Trace = typename Machine::Trace;
    using Entry = typename Machine::Entry;

    struct Queue {
        std::deque<Entry> waiting;
        std::uint32_t issued = 0, completed = 0;
    };

    /// `state`: computes values, or null: only time counts. `trace` may be null. All must outlive
    /// it.
    Sequencer(engine::Simulation& simulation, std::string name, const Parameters& parameters,
              const Program& program, State* state, Trace* trace)
        : Tile(simulation, std::move(name),
               engine::ClockDomain::from_megahertz(parameters.clock_mhz)),
          parameters_(parameters),
          program_(program),
          state_(state),
          trace_(trace),
          queues_(Instruction::description().queue_count()),
          steps_(std::max<std::size_t>(1, program.steps.size())) {}

    // What a machine does; each says whether anything happened.
    virtual void take_responses(Cycle now) = 0;
    /// Completes what has its results by now.
    virtual bool retire(Cycle now) = 0;
    /// An instruction for a queue; false: it has to wait.
    virtual bool issue(const Instruction& next, Cycle now) = 0;
    virtual bool run_units(Cycle now) = 0;
    /// The first cycle after `now` in which anything can happen.
    virtual Cycle next_event(Cycle now) = 0;
    /// The program has ended.
    virtual void halt() {}
    /// Until the instruction after `next` can be issued.
    virtual Cycle issue_interval(const Instruction&) const { return parameters_.issue_interval; }

    const Instruction& instruction(const Entry& entry) const {
        return program_.instructions[entry.index];
    }
    StepCounters& step(std::uint32_t index) { return steps_[index]; }
    bool satisfied(const QueueCounts& need) const;
    QueueCounts needs(const Instruction& instruction) const;
    /// The next instruction as an entry of `queue`.
    QueueEntry next_entry(const Queue& queue, const Instruction& next) const {
        return {next_instruction_, queue.issued + 1, current_step_, needs(next)};
    }
    void compute(const Instruction& next);
    void complete(std::size_t queue, std::uint32_t step, Cycle at);
    bool drain(std::deque<Completion>& results, std::size_t queue, Cycle now);
    [[noreturn]] void fault(std::uint32_t index, const std::string& reason) const;

    const Parameters& parameters_;
    const Program& program_;
    State* const state_;
    Trace* const trace_;

    std::uint32_t next_instruction_ = 0, current_step_ = 0;
    Cycle next_issue_ = 0;
    Cycle issuing_since_ = 0;  ///< without having been blocked
    Cycle host_done_ = 0;      ///< when the host answers the latest interrupt
    Cycle end_ = 0;
    std::vector<Queue> queues_;

  private:
    bool sequence(Cycle now);
    bool take_next(const Instruction& next, Cycle now);
    void interrupt_host(const Instruction& next, Cycle now);

    bool blocked_ = false;  // by a wait or a full queue
    bool halted_ = false;
    std::vector<std::uint32_t> interrupts_;
    std::vector<StepCounters> steps_;
};

template <typename Machine>
engine::Cycle Sequencer<Machine>::advance(Cycle from, Cycle until) {
    for (Cycle now = from;;) {
        take_responses(now);
        for (bool any = true; any && !halted_;) {
            any = retire(now);
            any |= sequence(now);
            any |= run_units(now);
        }
        if (halted_) {
            halt();
            return engine::kNever;
        }
        const Cycle next = next_event(now);
        if (next >= until) return next;
        now = next;
    }
}

template <typename Machine>
bool Sequencer<Machine>::sequence(Cycle now) {
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
    next_issue_ = now + issue_interval(next);
    return true;
}

template <typename Machine>
bool Sequencer<Machine>::take_next(const Instruction& next, Cycle now) {
    const Description& isa = Instruction::description();
    const OpcodeRow& row = next.row();
    if (row.opcode == isa.tag) {
        current_step_ = static_cast<std::uint32_t>(next.value(isa.step));
    } else if (row.opcode == isa.sync_host) {
        if (now < host_done_) return false;
        step(current_step_).end = std::max(step(current_step_).end, host_done_);
    } else if (row.opcode == isa.halt) {
        for (const Queue& queue : queues_)
            if (queue.completed != queue.issued) return false;
        halted_ = true;
        end_ = std::max(end_, now);
    } else if (row.queue == isa.sequencer()) {
        if (!satisfied(needs(next))) return false;
        if (row.opcode == isa.interrupt_host) interrupt_host(next, now);
    } else {
        return issue(next, now);
    }
    return true;
}

template <typename Machine>
void Sequencer<Machine>::interrupt_host(const Instruction& next, Cycle now) {
    const auto code = static_cast<std::uint32_t>(next.value(Instruction::description().code));
    interrupts_.push_back(code);
    compute(next);
    if (code >= program_.host_tasks.size()) return;
    const Cycle duration = host_cycles(program_.host_tasks[code], parameters_);
    host_done_ = now + duration;
    step(current_step_).host_busy += duration;
    report_progress();
    if (trace_ != nullptr) trace_->host(program_.host_tasks[code].name, now, host_done_);
}

template <typename Machine>
void Sequencer<Machine>::compute(const Instruction& next) {
    if (state_ == nullptr) return;
    try {
        if (observe) observe(next, *state_);
        execute(next, *state_);
        if (progress) progress(next_instruction_ + 1);
    } catch (const ProgramFault& reason) {
        fault(next_instruction_, reason.what());
    }
}

template <typename Machine>
void Sequencer<Machine>::complete(std::size_t queue, std::uint32_t step_index, Cycle at) {
    ++queues_[queue].completed;
    step(step_index).end = std::max(step(step_index).end, at);
    end_ = std::max(end_, at);
    report_progress();
}

/// Completes those of `results` that are there by now.
template <typename Machine>
bool Sequencer<Machine>::drain(std::deque<Completion>& results, std::size_t queue, Cycle now) {
    bool any = false;
    for (; !results.empty() && results.front().at <= now; results.pop_front(), any = true)
        complete(queue, results.front().step, results.front().at);
    return any;
}

template <typename Machine>
bool Sequencer<Machine>::satisfied(const QueueCounts& need) const {
    for (std::size_t queue = 0; queue < queues_.size(); ++queue)
        if (queues_[queue].completed < need[queue]) return false;
    return true;
}

template <typename Machine>
QueueCounts Sequencer<Machine>::needs(const Instruction& instruction) const {
    QueueCounts need{};
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
        const std::uint32_t distance =
            instruction.wait(static_cast<typename Instruction::Queue>(queue));
        if (distance != 0 && distance <= queues_[queue].issued)
            need[queue] = queues_[queue].issued - distance + 1;
    }
    return need;
}

template <typename Machine>
void Sequencer<Machine>::fault(std::uint32_t index, const std::string& reason) const {
    throw ProgramFault(fmt::format(
        "{}: instruction {}{}: {}: {}", name(), index,
        program_.steps.empty() ? std::string()
                               : fmt::format(" (step {})", program_.steps[current_step_].name),
        disassemble(program_.instructions[index]), reason));
}

template <typename Machine>
std::string Sequencer<Machine>::explain_wait() const {
    const auto& names = Instruction::description().queues;
    std::string text;
    if (next_instruction_ < program_.instructions.size())
        text = fmt::format("the sequencer is at instruction {} ({})", next_instruction_,
                           disassemble(program_.instructions[next_instruction_]));
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
        if (queues_[queue].waiting.empty()) continue;
        const Entry& head = queues_[queue].waiting.front();
        text += fmt::format("; queue {} waits with instruction {} ({})", names[queue], head.index,
                            disassemble(instruction(head)));
        for (std::size_t other = 0; other < queues_.size(); ++other)
            if (queues_[other].completed < head.need[other])
                text += fmt::format(" for {} instructions of {}, {} have completed",
                                    head.need[other], names[other], queues_[other].completed);
    }
    return text;
}

template <typename Machine>
std::vector<std::uint64_t> Sequencer<Machine>::step_ends() const {
    std::vector<std::uint64_t> ends;
    for (const StepCounters& counted : steps_)
        ends.push_back(std::max(ends.empty() ? 0 : ends.back(), counted.end));
    ends.back() = end_;
    return ends;
}

}  // namespace lockstep::command
