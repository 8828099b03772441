// SPDX-License-Identifier: Apache-2.0
// A TPU core as a Tile: a sequencer's queues, weight FIFOs, arrays, vector unit.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "isa/tpu/semantics/state.h"
#include "models/command/sequencer.h"
#include "models/tpu/core_trace.h"
#include "models/tpu/counters.h"
#include "models/tpu/parameters.h"
#include "models/tpu/timeline.h"
#include "models/tpu/vector_timing.h"
#include "models/tpu/window_setup.h"
#include "sim/engine/channel.h"

namespace lockstep::engine {
struct MemoryRequest;
struct MemoryResponse;
}  // namespace lockstep::engine

namespace lockstep::tpu {

using command::Completion;

/// What a sequencer needs to know of a TPU.
struct Machine {
    using Program = tpu::Program;
    using Instruction = tpu::Instruction;
    using Parameters = tpu::Parameters;
    using StepCounters = tpu::StepCounters;
    using State = tpu::State;
    using Trace = CoreTrace;
    using Entry = command::QueueEntry;
};

class Core : public command::Sequencer<Machine> {
  public:
    /// `state`: computes values, or null: only time counts. `trace` may be null. All must outlive
    /// the core.
    Core(engine::Simulation& simulation, std::string name, const Parameters& parameters,
         const Program& program, const Storage& storage, State* state, CoreTrace* trace);
    ~Core() override;

    engine::Sender<engine::MemoryRequest> memory_requests{*this, "memory_requests"};
    engine::Receiver<engine::MemoryResponse> memory_responses{*this, "memory_responses"};
    engine::Sender<engine::MemoryRequest> host_requests{*this, "host_requests"};
    engine::Receiver<engine::MemoryResponse> host_responses{*this, "host_responses"};

    /// After the run, by matrix unit.
    const std::vector<Timeline>& timelines() const { return timelines_; }

  private:
    /// A transfer whose requests have begun.
    struct Transfer {
        Entry entry;
        std::uint64_t sequence;
        bool host, write;
        std::uint64_t address, left;  ///< what is not yet requested
        std::uint64_t unanswered;     ///< bytes
        std::uint32_t under_way = 0;
        Cycle begin;
        Cycle ready;                 ///< when requests may begin; without memory: when it is done
        memory::BankLoads accesses;  ///< of the unified buffer, of all
        std::uint64_t bytes;
        Cycle drained = 0;  ///< when the unified buffer has taken or given what was requested
    };
    /// A direction of a link: when what was requested will have passed.
    struct Link {
        double bytes_per_cycle;
        Cycle free = 0;
    };
    struct DmaQueue {
        std::deque<Transfer> active;
        std::uint64_t next_sequence = 0;
        std::uint32_t under_way = 0;  ///< requests
        std::uint64_t bytes_under_way = 0;
    };
    struct MatrixUnit {
        std::uint32_t reserved = 0;  ///< FIFO slots: tiles on their way, waiting, or shifting in
        std::deque<Cycle> arrived;   ///< tiles in the FIFO
        bool shadow = false;  ///< the shadow registers hold the next tile (of weights, or is: of
                              ///< inputs), or get it
        Cycle shadow_arrived = 0, shadow_begin = 0, shadow_ready = 0;
        bool slot_held = false;  ///< the tile that shifts in, or streams, still has its FIFO slot
        Cycle stream_end = 0;
        Cycle sums_free = 0;   ///< os: when the PEs may begin with new sums
        Cycle unload_end = 0;  ///< os: when the last sums have begun to leave the last row
        std::deque<Completion> results;
        Cycle head_since = 0;
        Cycle issue_wait = 0;                  ///< the array was idle while the head was issued
        bool head_seen = false;                ///< since the head got there:
        Cycle raw_until = 0, input_until = 0;  ///< it waited for units, for transfers
    };

    void take_responses(Cycle now) override;
    bool retire(Cycle now) override;
    bool issue(const Instruction& next, Cycle now) override;
    bool run_units(Cycle now) override;
    Cycle next_event(Cycle now) override;
    void halt() override;
    Cycle issue_interval(const Instruction& instruction) const override;

    bool run_dma(std::size_t index, Cycle now);
    bool start_transfer(std::size_t index, Cycle now);
    void occupy_buffer(Transfer& transfer, std::uint64_t bytes, Cycle now);
    memory::BankLoads accesses_of(const Instruction& instruction) const;
    /// When what would last `cycles` ends.
    Cycle access_buffer(const memory::BankLoads& accesses, Cycle cycles, Cycle now,
                        std::uint64_t StepCounters::*stall, std::uint32_t step);
    bool request(std::size_t index, Cycle now);
    void finish_transfer(std::size_t index, Cycle now);
    bool run_matrix(std::size_t unit, Cycle now);
    bool free_slot(MatrixUnit& unit, Cycle now);
    bool shift_tile(std::size_t index, Cycle now);
    /// Whether the array holds, and its FIFO has, what the instruction takes.
    bool array_ready(const MatrixUnit& unit, const Instruction& next, Cycle now) const;
    /// The instruction streams from `now` on; when its results are complete.
    Cycle stream(MatrixUnit& unit, const Instruction& next, std::uint32_t step, Cycle now);
    void account_idle(std::size_t index, const Entry& entry, Cycle now);
    bool run_vector(Cycle now);

    const CoreLimits limits_;
    const Storage& storage_;
    const TileTiming tile_;

    // Load, store, and the weights of each matrix unit: a unit whose FIFO is full holds up no
    // other.
    std::array<DmaQueue, 2 + kMaxMatrixUnits> dma_;
    std::set<std::uint32_t> tiles_done_;  // read_weights that completed before one issued earlier
    std::array<MatrixUnit, kMaxMatrixUnits> units_;
    memory::BankArbiter unified_buffer_;
    WindowSetup windows_;
    Link memory_link_;                // both directions: one bus
    std::array<Link, 2> host_links_;  // read, write
    Cycle vector_free_ = 0, cross_lane_free_ = 0;
    std::deque<Completion> vector_results_;
    /// Instructions whose results the next one takes: they run with it.
    struct {
        VectorWork work;
        memory::BankLoads accesses{};
        std::vector<std::uint32_t> steps;
    } loop_;

    std::vector<Timeline> timelines_;
};

}  // namespace lockstep::tpu
