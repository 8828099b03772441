// SPDX-License-Identifier: Apache-2.0
// An NPU as a Tile: a sequencer's queues, DMA, SRAM, and the cores.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "isa/npu/semantics/state.h"
#include "models/command/sequencer.h"
#include "models/memory/banks/bank_arbiter.h"
#include "models/npu/command_time.h"
#include "models/npu/core_trace.h"
#include "models/npu/counters.h"
#include "sim/engine/channel.h"

namespace lockstep::engine {
struct MemoryRequest;
struct MemoryResponse;
}  // namespace lockstep::engine

namespace lockstep::npu {

using command::Completion;
using command::QueueCounts;

/// What of the DRAM counts of commands need.
struct DramShape {
    std::uint64_t burst_bytes = 32, row_bytes = 2048;
};

/// What a sequencer needs to know of an NPU.
struct Machine {
    using Program = npu::Program;
    using Instruction = npu::Instruction;
    using Parameters = npu::Parameters;
    using StepCounters = npu::StepCounters;
    using State = npu::State;
    using Trace = CoreTrace;
    struct Entry : command::QueueEntry {
        CommandTime time;  ///< of a core's command
        engine::Cycle issued;
        bool answers = false;  ///< it begins when a processor has seen an earlier step's results
    };
};

class CoreComplex : public command::Sequencer<Machine> {
  public:
    /// `state`: computes values, or null: only time counts. `trace` may be null. All must outlive
    /// it.
    CoreComplex(engine::Simulation& simulation, std::string name, const Parameters& parameters,
                const DramShape& dram, const Program& program, const command::Storage& storage,
                State* state, CoreTrace* trace);
    ~CoreComplex() override;

    engine::Sender<engine::MemoryRequest> memory_requests{*this, "memory_requests"};
    engine::Receiver<engine::MemoryResponse> memory_responses{*this, "memory_responses"};

  private:
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

    void take_responses(Cycle now) override;
    bool retire(Cycle now) override;
    bool issue(const Instruction& next, Cycle now) override;
    bool run_units(Cycle now) override;
    Cycle next_event(Cycle now) override;
    void halt() override { charge_stalls(); }

    bool registers_written(const Instruction& instruction, Cycle now);
    bool waits_for_results(const QueueCounts& need) const;

    bool run_core(std::size_t index, Cycle now);
    void account_wait(Core& core, const Entry& head, Cycle now);
    void charge_stalls();
    void count_command(const Instruction& instruction, const CommandTime& time,
                       StepCounters& counters) const;
    void observe_toggles(const Instruction& instruction, StepCounters& counters);

    bool run_dma(std::size_t index, Cycle now);
    bool start_transfer(std::size_t index, Cycle now);
    bool request(std::size_t index, Cycle now);
    void occupy_sram(Transfer& transfer, std::uint64_t bytes, Cycle now);

    const DramShape dram_;
    const CoreLimits limits_;
    const command::Storage& storage_;

    // The processor that writes registers.
    bool writes_registers_ = false, group_was_taken_ = false;
    Cycle registers_written_ = 0;             ///< when it will have written them
    std::vector<std::uint32_t> store_steps_;  ///< of the store queue's instructions

    std::array<Dma, kDmaQueues> dma_;
    std::array<Core, kMaxCores> cores_;
    memory::BankArbiter banks_;
    double link_bytes_ = 1;  ///< of the memory's bus, a cycle
    Cycle link_free_ = 0;    ///< when what was requested will have passed

    std::vector<Stall> stalls_;
};

}  // namespace lockstep::npu
