// SPDX-License-Identifier: Apache-2.0
// What a GPU shows in a trace: kernels, CTAs by SM, warps and their states, pipes, memory queues,
// and counters over time; or each instruction's way through the pipeline.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "isa/sass/program.h"
#include "models/device.h"
#include "models/gpu/counters.h"
#include "models/gpu/sm/memory_instruction.h"
#include "models/gpu/sm/static_info.h"
#include "sim/trace/trace.h"

namespace lockstep::gpu {

/// The names that all SMs use.
struct TraceNames {
    trace::NameId cta{};
    std::array<trace::NameId, kWarpStates> state{};
    trace::NameId issue{}, read{}, execute{}, queue{}, memory{}, write_back{};
    std::vector<trace::NameId> instruction;  ///< by code index, of the running kernel's program
};

/// One SM's part. An SM that is not traced has none, which is all that asking costs.
class SmTrace {
  public:
    SmTrace(trace::Trace& trace, const TraceNames& names, const SmParameters& parameters,
            unsigned sm);

    /// Counters begin anew.
    void begin_kernel(engine::Cycle at) {
        instructions_ = sectors_ = 0;
        sampled_ = at;
    }
    void cta_begins(std::uint32_t slot, std::uint64_t linear_index, engine::Cycle at) {
        recorder_.begin(ctas_[slot], {names_.cta, linear_index}, at);
    }
    void cta_ends(std::uint32_t slot, engine::Cycle at) { recorder_.end(ctas_[slot], at); }
    /// The state of a warp from now on.
    void state(std::uint32_t warp, WarpState state, engine::Cycle at);
    void warp_ends(std::uint32_t warp, engine::Cycle at);

    /// An instruction is issued. The result is its number in the trace (0: it has none).
    /// `executes`: for at least one lane.
    trace::InstructionId issued(std::uint32_t warp, std::uint32_t code_index,
                                const StaticInstruction& in, bool executes, engine::Cycle now);
    /// Instructions that wait in a sub-core's memory queue.
    void queued(unsigned sub_core, unsigned instructions, engine::Cycle now) {
        recorder_.counter(queues_[sub_core], instructions, now);
    }
    /// The memory unit takes an instruction, and is done with it.
    void accepted(trace::InstructionId id, engine::Cycle now) {
        recorder_.stage(id, names_.memory, now);
    }
    void written_back(trace::InstructionId id, engine::Cycle at) {
        recorder_.stage(id, names_.write_back, at);
        recorder_.retire(id, at + 1);
    }
    /// Counters since the last sample.
    void sample(const SmCounters& sm, const MemoryCounters& memory, engine::Cycle at);

  private:
    struct Open {
        WarpState state = WarpState::kCount;  ///< kCount: no warp is there
        engine::Cycle since = 0;
    };
    void close(std::uint32_t warp, engine::Cycle at);

    trace::Recorder& recorder_;
    const TraceNames& names_;
    const bool shows_instructions_;
    const SmParameters& parameters_;
    std::vector<trace::TrackId> ctas_, warps_, queues_;
    std::vector<std::array<trace::TrackId, kPipes>> pipes_;  ///< by sub-core
    trace::TrackId ipc_, resident_, l1_sectors_;
    std::vector<Open> open_;
    engine::Cycle sampled_ = 0;
    std::uint64_t instructions_ = 0, sectors_ = 0;
};

class GpuTrace {
  public:
    /// Null where no trace is asked for. Throws InputError where the machine has no such SM.
    static std::unique_ptr<GpuTrace> make(const config::Machine& machine,
                                          const SmParameters& parameters,
                                          const TraceOptions& options);
    GpuTrace(const config::Machine& machine, const SmParameters& parameters,
             const TraceOptions& options);

    /// Null: not to be traced.
    SmTrace* sm(unsigned index) {
        return index >= first_ && index - first_ < sms_.size() ? sms_[index - first_].get()
                                                               : nullptr;
    }
    void begin_kernel(const std::string& name, const sass::Program& program, engine::Cycle at);
    void end_kernel(engine::Cycle at);
    /// True where it is time for sample(): some cycles after the last one.
    bool wants_sample(engine::Cycle now) const;
    /// What the chip's memory did since the last sample.
    void sample(const PartitionCounters& memory, engine::Cycle now);
    /// A window has ended: nothing that happens later is before this cycle.
    void end_window(engine::Cycle end) { trace_.drain(end); }

  private:
    trace::Trace trace_;
    TraceNames names_;
    const unsigned first_;
    std::vector<std::unique_ptr<SmTrace>> sms_;
    trace::Recorder* chip_;
    trace::TrackId kernels_, dram_read_, dram_write_, l2_sectors_;
    engine::Cycle sampled_ = 0;
    PartitionCounters before_;
};

}  // namespace lockstep::gpu
