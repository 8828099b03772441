// SPDX-License-Identifier: Apache-2.0
// What a GPU shows in a trace: its SMs, kernels, what the memory does over time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isa/sass/program.h"
#include "models/device.h"
#include "models/gpu/memory/memory_system.h"
#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/sm_trace.h"
#include "sim/trace/trace.h"

namespace lockstep::gpu {

class GpuTrace {
  public:
    /// Null where no trace is asked for. Throws InputError where the machine has no such SM.
    /// `prefix`: of the chip's Tiles; waves and signals stand beside those.
    static std::unique_ptr<GpuTrace> make(engine::Simulation& simulation,
                                          const config::Machine& machine,
                                          const SmParameters& parameters,
                                          const MemorySystem& memory, const TraceOptions& options,
                                          const std::string& prefix);
    GpuTrace(engine::Simulation& simulation, const config::Machine& machine,
             const SmParameters& parameters, const MemorySystem& memory,
             const TraceOptions& options, const std::string& prefix);

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
    std::string group() const { return trace_.shows_waves() ? prefix_ + "gpu" : "GPU"; }

    const bool is_signals_;
    const std::string prefix_;
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
