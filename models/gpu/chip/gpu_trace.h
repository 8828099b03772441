// SPDX-License-Identifier: Apache-2.0
// What a GPU shows in a trace: kernels, CTAs by SM, warps and their states, pipes, memory queues,
// and counters over time; or each instruction's way through the pipeline.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "isa/sass/program.h"
#include "models/device.h"
#include "models/gpu/memory/memory_system.h"
#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/l1_queues.h"
#include "models/gpu/sm/memory_instruction.h"
#include "models/gpu/sm/static_info.h"
#include "sim/trace/trace.h"

namespace lockstep::gpu {

/// The names that all SMs use.
struct TraceNames {
    trace::NameId cta{}, none{};
    std::array<trace::NameId, kWarpStates> state{};
    trace::NameId issue{}, read{}, execute{}, queue{}, memory{}, write_back{};
};

/// One SM's part. An SM that is not traced has none, which is all that asking costs.
class SmTrace {
  public:
    SmTrace(trace::Trace& trace, const TraceNames& names, const SmParameters& parameters,
            unsigned sm);

    /// The chip's clock is so many cycles behind the system's from now on.
    void shift(std::int64_t cycles) { recorder_.shift(cycles); }
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
    /// `lanes`: those that execute it; viewers show them with it.
    trace::InstructionId issued(std::uint32_t warp, trace::NameId name, const StaticInstruction& in,
                                std::uint32_t lanes, engine::Cycle now);
    /// How full the L1's queues and the way to the crossbar are; for waves.
    void queues(const L1Queues& l1, std::uint32_t outstanding, engine::Cycle at);
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
    /// What a waveform shows of a sub-core.
    struct SubCoreWaves {
        trace::TrackId issue, warp, stall;
        std::array<std::uint32_t, kWarpStates> warps{};  ///< by state
    };
    void add_waves(trace::Trace& trace, const std::string& group);
    void change(std::uint32_t warp, WarpState state, engine::Cycle since, engine::Cycle at);
    void close(std::uint32_t warp, engine::Cycle at);

    trace::Recorder& recorder_;
    const TraceNames& names_;
    const bool shows_instructions_;
    const SmParameters& parameters_;
    std::vector<trace::TrackId> ctas_, warps_, queues_;
    std::vector<std::array<trace::TrackId, kPipes>> pipes_;  ///< by sub-core
    std::vector<SubCoreWaves> waves_;                        ///< none: not a waveform
    trace::TrackId l1_data_, l1_misses_, l1_crossbar_, outstanding_;
    trace::TrackId ipc_, resident_, l1_sectors_;
    std::vector<Open> open_;
    engine::Cycle sampled_ = 0;
    std::uint64_t instructions_ = 0, sectors_ = 0;
};

class GpuTrace {
  public:
    /// Null where no trace is asked for. Throws InputError where the machine has no such SM.
    static std::unique_ptr<GpuTrace> make(engine::Simulation& simulation,
                                          const config::Machine& machine,
                                          const SmParameters& parameters,
                                          const MemorySystem& memory, const TraceOptions& options);
    GpuTrace(engine::Simulation& simulation, const config::Machine& machine,
             const SmParameters& parameters, const MemorySystem& memory,
             const TraceOptions& options);

    /// Null: not to be traced.
    SmTrace* sm(unsigned index) {
        return index >= first_ && index - first_ < sms_.size() ? sms_[index - first_].get()
                                                               : nullptr;
    }
    /// The chip has been idle: counters begin anew.
    void begin_kernels(engine::Cycle at);
    /// The instructions of what is bound of a program, by code index.
    const trace::NameId* names_of(const sass::Program& program);
    /// A kernel has run. Those that overlap have different lanes.
    void end_kernel(const std::string& name, unsigned lane, engine::Cycle begin, engine::Cycle end);
    /// True where it is time for sample(): some cycles after the last one.
    bool wants_sample(engine::Cycle now) const;
    /// What the chip's memory did since the last sample.
    void sample(const PartitionCounters& memory, engine::Cycle now);
    /// A waveform wants to know how full queues are at a cycle.
    bool wants_queues(engine::Cycle now) const;
    void queues(const MemorySystem& memory, engine::Cycle now);
    /// A window has ended: nothing that happens later is before this cycle.
    void end_window(engine::Cycle end) {
        trace_.drain(shift_ < 0 ? end + static_cast<engine::Cycle>(shift_) : end);
    }
    /// The chip's clock is so many cycles behind the system's from now on: see SmTrace.
    void shift(std::int64_t cycles);
    /// Something of the system around the chip, on the system's clock.
    void slice(const std::string& track, const std::string& name, engine::Cycle begin,
               engine::Cycle end);

  private:
    struct PartitionWaves {
        trace::TrackId replies;
        std::vector<trace::TrackId> slices, misses, channels;
    };
    void add_waves(const MemorySystem& memory);
    const char* group() const { return trace_.shows_waves() ? "gpu" : "GPU"; }

    const bool is_signals_;
    trace::Trace trace_;
    std::vector<PartitionWaves> partitions_;  ///< none: not a waveform
    TraceNames names_;
    const unsigned first_;
    std::vector<std::unique_ptr<SmTrace>> sms_;
    trace::Recorder* chip_;
    trace::Recorder* system_;
    std::int64_t shift_ = 0;
    trace::TrackId dram_read_, dram_write_, l2_sectors_;
    engine::Cycle sampled_ = 0;
    PartitionCounters before_;
    std::vector<trace::TrackId> kernels_;  ///< by lane
    std::map<const sass::Program*, std::vector<trace::NameId>> instructions_;
};

}  // namespace lockstep::gpu
