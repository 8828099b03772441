// SPDX-License-Identifier: Apache-2.0
// An NPU as a Tile: sequencer, queues, DMA, SRAM, and the cores. It is driven by events: between
// the starts and ends of instructions nothing costs host time.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "isa/command/dependences.h"
#include "isa/npu/semantics/state.h"
#include "models/memory/banks/bank_arbiter.h"
#include "models/npu/command_time.h"
#include "models/npu/core_trace.h"
#include "models/npu/counters.h"
#include "sim/engine/channel.h"
#include "sim/engine/tile.h"

namespace lockstep::engine {
struct MemoryRequest;
struct MemoryResponse;
}  // namespace lockstep::engine

namespace lockstep::npu {

using command::QueueCounts;

/// What of the DRAM counts of commands need.
struct DramShape {
    std::uint64_t burst_bytes = 32, row_bytes = 2048;
};

class CoreComplex : public engine::Tile {
  public:
    /// `state`: computes values, or null: only time counts. `trace` may be null. All must outlive
    /// it.
    CoreComplex(engine::Simulation& simulation, std::string name, const Parameters& parameters,
                const DramShape& dram, const Program& program, const command::Storage& storage,
                State* state, CoreTrace* trace);
    ~CoreComplex() override;

    /// RunOptions::progress, observe.
    std::function<void(std::uint64_t)> progress;
    std::function<void(const Instruction&, State&)> observe;

    engine::Sender<engine::MemoryRequest> memory_requests{*this, "memory_requests"};
    engine::Receiver<engine::MemoryResponse> memory_responses{*this, "memory_responses"};

    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override { return halted_; }
    std::string explain_wait() const override;

    /// After the run.
    engine::Cycle cycles() const { return end_; }
    const std::vector<StepCounters>& steps() const { return steps_; }  ///< one if there are none
    const std::vector<std::uint32_t>& interrupts() const { return interrupts_; }

  private:
    using Cycle = engine::Cycle;

    /// An instruction on its way through a queue.
    struct Entry {
        std::uint32_t index;   ///< in the program
        std::uint32_t number;  ///< in its queue, from 1
        std::uint32_t step;
        QueueCounts need;  ///< completed instructions of each queue that it waits for
        CommandTime time;  ///< of a core's command
        Cycle issued;
        bool answers = false;  ///< it begins when a processor has seen an earlier step's results
    };
    struct Queue {
        std::deque<Entry> waiting;
        std::uint32_t issued = 0, completed = 0;
    };
    /// A transfer whose requests have begun.
    struct Transfer {
        Entry entry;
        std::uint64_t sequence;
        bool write;
        std::uint64_t address, left;  ///< what is not yet requested
        std::uint32_t under_way = 0;  ///< requests
        std::uint64_t bytes;
        Cycle begin, ready;       ///< ready: when requests may begin
        Cycle drained = 0;        ///< when the SRAM has taken or given what was requested
        memory::BankLoads lines;  ///< of the SRAM, of all
    };
    struct Dma {
        std::deque<Transfer> active;
        std::uint64_t next_sequence = 0;
        std::uint32_t under_way = 0;
    };
    struct Completion {
        Cycle at;
        std::uint32_t step;
    };
    /// Of a core, from when on.
    struct Stall {
        std::uint64_t StepCounters::*counter;
        Cycle from, to;
    };
    struct Core {
        Cycle free = 0;
        std::deque<Completion> results;
        bool waits = false;                   ///< the head was seen while the core was free
        Cycle dma_until = 0, core_until = 0;  ///< it waited for transfers, for other cores
    };

    static constexpr std::size_t kFirstCore = static_cast<std::size_t>(npu::Queue::kCore0);
    static constexpr std::size_t kDmaQueues = kFirstCore;

    bool satisfied(const QueueCounts& need) const;
    QueueCounts needs(const Instruction& instruction) const;
    void complete(std::size_t queue, std::uint32_t step, Cycle at);
    StepCounters& step(std::uint32_t index) { return steps_[index]; }
    const Instruction& instruction(const Entry& entry) const {
        return program_.instructions[entry.index];
    }
    [[noreturn]] void fault(std::uint32_t index, const std::string& reason) const;

    bool sequence(Cycle now);
    bool take_next(const Instruction& next, Cycle now);
    bool issue(const Instruction& instruction, Cycle now);
    bool registers_written(const Instruction& instruction, Cycle now);
    bool waits_for_results(const QueueCounts& need) const;
    void compute(const Instruction& instruction);
    void interrupt_host(const Instruction& instruction, Cycle now);

    bool retire(Cycle now);
    bool run_core(std::size_t index, Cycle now);
    void account_wait(Core& core, const Entry& head, Cycle now);
    void charge_stalls();
    void count_command(const Instruction& instruction, const CommandTime& time,
                       StepCounters& counters) const;
    void observe_toggles(const Instruction& instruction, StepCounters& counters);

    void take_responses(Cycle now);
    bool run_dma(std::size_t index, Cycle now);
    bool start_transfer(std::size_t index, Cycle now);
    bool request(std::size_t index, Cycle now);
    void occupy_sram(Transfer& transfer, std::uint64_t bytes, Cycle now);

    Cycle next_event(Cycle now);

    const Parameters& parameters_;
    const DramShape dram_;
    const CoreLimits limits_;
    const Program& program_;
    const command::Storage& storage_;
    State* const state_;
    CoreTrace* const trace_;

    // The sequencer.
    std::uint32_t next_instruction_ = 0, current_step_ = 0;
    Cycle next_issue_ = 0;
    bool halted_ = false;
    // The processor that writes registers.
    bool writes_registers_ = false, group_was_taken_ = false;
    Cycle registers_written_ = 0;             ///< when it will have written them
    std::vector<std::uint32_t> store_steps_;  ///< of the store queue's instructions
    Cycle end_ = 0;
    std::vector<std::uint32_t> interrupts_;
    Cycle host_done_ = 0;  ///< when the host answers the latest interrupt

    std::array<Queue, kQueues> queues_;
    std::array<Dma, kDmaQueues> dma_;
    std::array<Core, kMaxCores> cores_;
    memory::BankArbiter banks_;
    double link_bytes_ = 1;  ///< of the memory's bus, a cycle
    Cycle link_free_ = 0;    ///< when what was requested will have passed

    std::vector<StepCounters> steps_;
    std::vector<Stall> stalls_;
};

}  // namespace lockstep::npu
