// SPDX-License-Identifier: Apache-2.0
// What an SM shows in a trace: CTAs, warps and their states, pipes, memory queues, counters over
// time; or each instruction's way through the pipeline.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/l1_queues.h"
#include "models/gpu/sm/static_info.h"
#include "sim/trace/trace.h"

namespace lockstep::gpu {

/// A point of a counter's curve.
inline double per_cycle(std::uint64_t now, std::uint64_t before, engine::Cycle cycles) {
    return static_cast<double>(now - before) / static_cast<double>(cycles);
}

/// The names that all SMs use.
struct TraceNames {
    trace::NameId cta{}, none{};
    std::array<trace::NameId, kWarpStates> state{};
    trace::NameId issue{}, read{}, execute{}, queue{}, memory{}, write_back{};
};

/// One SM's part. An SM that is not traced has none, which is all that asking costs.
class SmTrace {
  public:
    /// `prefix`: of the groups of waves.
    SmTrace(trace::Trace& trace, const TraceNames& names, const SmParameters& parameters,
            unsigned sm, const std::string& prefix);

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

}  // namespace lockstep::gpu
