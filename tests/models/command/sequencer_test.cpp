// SPDX-License-Identifier: Apache-2.0
// A machine of the toy ISA: each queue works on an instruction for as many cycles as it has bytes.
#include "models/command/sequencer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "sim/engine/simulation.h"
#include "sim/error/error.h"
#include "tests/isa/command/toy_isa.h"

namespace lockstep::command::toy {

struct Parameters {
    double clock_mhz = 1000;
    engine::Cycle issue_interval = 1;
    std::size_t queue_depth = 4;
    std::size_t idle_queue = 99;  ///< one that works on nothing
};
struct State {
    std::vector<Opcode> executed;
};
struct StepCounters {
    std::uint64_t instructions = 0, host_busy = 0, end = 0;
};
struct Trace {
    void host(const std::string& name, engine::Cycle from, engine::Cycle until) {
        tasks.push_back(fmt::format("{} {}-{}", name, from, until));
    }
    std::vector<std::string> tasks;
};

void execute(const Instruction& instruction, State& state) {
    if (instruction.opcode() == Opcode::kAdd && instruction[Field::kShift] == 1)
        throw ProgramFault("shifts by one");
    state.executed.push_back(instruction.opcode());
}
engine::Cycle host_cycles(const HostTask& task, const Parameters&) {
    return task.operations;
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Machine {
    using Program = toy::Program;
    using Instruction = toy::Instruction;
    using Parameters = toy::Parameters;
    using StepCounters = toy::StepCounters;
    using State = toy::State;
    using Trace = toy::Trace;
    using Entry = QueueEntry;
};

class Toy : public Sequencer<Machine> {
  public:
    Toy(engine::Simulation& owner, const Parameters& parameters, const Program& program,
        State& state, Trace& trace)
        : Sequencer(owner, "toy", parameters, program, &state, &trace) {}

    std::vector<engine::Cycle> starts;  ///< by instruction of the program
    bool halted = false;

  private:
    void take_responses(Cycle) override {}
    bool retire(Cycle now) override {
        bool any = false;
        for (std::size_t queue = 0; queue < queues_.size(); ++queue)
            any |= drain(results_[queue], queue, now);
        return any;
    }
    bool issue(const Instruction& next, Cycle) override {
        Queue& queue = queues_[next.queue_number()];
        if (queue.waiting.size() >= parameters_.queue_depth) return false;
        compute(next);
        queue.waiting.push_back(next_entry(queue, next));
        ++queue.issued;
        ++step(current_step_).instructions;
        return true;
    }
    bool run_units(Cycle now) override {
        bool any = false;
        starts.resize(program_.instructions.size());
        for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
            if (queues_[queue].waiting.empty() || free_[queue] > now ||
                queue == parameters_.idle_queue)
                continue;
            const Entry head = queues_[queue].waiting.front();
            if (!satisfied(head.need)) continue;
            starts[head.index] = now;
            free_[queue] = now + instruction(head)[Field::kBytes];
            results_[queue].push_back({free_[queue], head.step});
            queues_[queue].waiting.pop_front();
            any = true;
        }
        return any;
    }
    Cycle next_event(Cycle now) override {
        Cycle next = engine::kNever;
        const auto consider = [&](Cycle at) {
            if (at > now) next = std::min(next, at);
        };
        consider(next_issue_);
        consider(host_done_);
        for (const Cycle at : free_) consider(at);
        return next;
    }
    void halt() override { halted = true; }

    std::array<Cycle, 3> free_{};
    std::array<std::deque<Completion>, 3> results_;
};

class SequencerTest : public testing::Test {
  protected:
    void run(const std::string& text) {
        assemble(program, text, "test");
        toy.emplace(simulation, parameters, program, state, trace);
        simulation.run();
    }
    /// What a run of it reports.
    std::string failure(const std::string& text) {
        try {
            run(text);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }

    engine::Simulation simulation{{.name = "test"}};
    Parameters parameters;
    Program program;
    State state;
    Trace trace;
    std::optional<Toy> toy;
};

TEST_F(SequencerTest, QueuesRunDecoupledAndWaitsHold) {
    run(".generation 2\n.step first\n.step second\n"
        "tag\n"
        "move bytes=100\n"
        "add bytes=10\n"                      // another queue: at once
        "add alu=1, bytes=20, wait_move=1\n"  // when the move is done
        "tag step=1\n"
        "add bytes=30, wait_alu1=1\n"
        "halt\n");
    EXPECT_THAT(toy->starts, ElementsAre(0, 1, 2, 101, 0, 121, 0));
    EXPECT_THAT(toy->step_ends(), ElementsAre(121, 151));
    EXPECT_EQ(toy->cycles(), 151u);
    EXPECT_EQ(toy->steps()[0].instructions, 3u);
    EXPECT_EQ(toy->steps()[1].instructions, 1u);
    EXPECT_TRUE(toy->halted);
    // Values are computed in program order, whatever the queues do.
    EXPECT_THAT(state.executed,
                ElementsAre(Opcode::kMove, Opcode::kAdd, Opcode::kAdd, Opcode::kAdd));
}

TEST_F(SequencerTest, AFullQueueHoldsUpTheOthers) {
    parameters.queue_depth = 1;
    run(".generation 2\n.step only\n"
        "move bytes=100\nmove bytes=100\nmove bytes=100\nadd bytes=10\nhalt\n");
    // The third move is issued when the second one begins.
    EXPECT_THAT(toy->starts, ElementsAre(0, 100, 200, 101, 0));
}

TEST_F(SequencerTest, TheHostHasItsTimeWhereTheProgramWaitsForIt) {
    run(".generation 2\n.step only\n.host task 500 20\n"
        "move bytes=100\n"
        "call_host wait_move=1\n"
        "sync_host\n"
        "add bytes=10\n"
        "halt\n");
    EXPECT_THAT(toy->interrupts(), ElementsAre(0));
    EXPECT_THAT(trace.tasks, ElementsAre("task 100-600"));
    EXPECT_EQ(toy->steps()[0].host_busy, 500u);
    EXPECT_EQ(toy->starts[3], 601u);
    EXPECT_EQ(toy->cycles(), 611u);
}

TEST_F(SequencerTest, WithoutStepsAllCountsAsOne) {
    run(".generation 2\nmove bytes=100\nhalt\n");
    EXPECT_THAT(toy->step_ends(), ElementsAre(100));
    EXPECT_EQ(toy->steps()[0].instructions, 1u);
}

TEST_F(SequencerTest, AFaultNamesInstructionAndStep) {
    EXPECT_EQ(failure(".generation 2\n.step conv\ntag\nadd bytes=10, shift=1\nhalt\n"),
              "toy: instruction 1 (step conv): add bytes=10, shift=1: shifts by one");
}

TEST_F(SequencerTest, AWaitThatNothingEndsIsExplained) {
    parameters.idle_queue = 2;
    EXPECT_THAT(failure(".generation 2\nadd alu=1, bytes=10\nadd bytes=10, wait_alu1=1\nhalt\n"),
                HasSubstr("the sequencer is at instruction 2 (halt); "
                          "queue alu0 waits with instruction 1 (add bytes=10, wait_alu1=1) for 1 "
                          "instructions of alu1, 0 have completed; "
                          "queue alu1 waits with instruction 0 (add alu=1, bytes=10)"));
}

}  // namespace
}  // namespace lockstep::command::toy
