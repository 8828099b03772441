// SPDX-License-Identifier: Apache-2.0
// Who looks on while an SM works, and changes nothing: the trace, counts by instruction, samples of
// the bits that toggle, the watch for writes that change nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "models/gpu/execution/byte_probe.h"
#include "models/gpu/sm/sm_profile.h"
#include "models/gpu/sm/sm_trace.h"
#include "models/gpu/sm/toggle_sampler.h"
#include "models/gpu/sm/warp_context.h"

namespace lockstep::gpu {

class SmWatch {
  public:
    SmWatch(const SmParameters& parameters, SmCounters& counters)
        : parameters_(parameters), counters_(counters) {}

    /// Records what happens from now on; null: nothing.
    void trace_to(SmTrace* trace) {
        trace_ = trace;
        is_watched_ = trace_ != nullptr || profile_ != nullptr;
    }
    /// Counts by instruction from the next kernel on that comes to an idle chip.
    void count_by_instruction() {
        profile_ = std::make_unique<SmProfile>(parameters_.max_warps);
        is_watched_ = true;
    }
    /// Samples from now on which bits toggle.
    void count_toggles() {
        toggles_ = std::make_unique<ToggleSampler>(counters_);
        is_probed_ = true;
    }
    /// From now on changes() counts the writes of memory that change it.
    void observe_changes(bool observes) {
        observes_changes_ = observes;
        is_probed_ = observes || toggles_ != nullptr;
    }

    /// The chip was idle and is to run kernels.
    void begin_kernels() {
        observe_changes(false);
        if (profile_ != nullptr) profile_->clear();
    }
    /// The first of them comes here, with a program of so many instructions.
    void begin_kernel(std::size_t instructions) {
        if (profile_ != nullptr) profile_->begin(instructions);
    }

    /// Null: not traced.
    SmTrace* trace() const { return trace_; }
    /// Null: nothing is counted by instruction.
    SmProfile* profile() const { return profile_.get(); }
    bool observes_changes() const { return observes_changes_; }
    std::uint64_t changes() const { return changes_; }
    void note_change() { ++changes_; }
    /// The last issued instruction's number in the trace.
    trace::InstructionId traced() const { return traced_; }

    /// Warps' states and issues are to be told to it.
    bool is_watched() const { return is_watched_; }
    /// What holds the warp from now on is its next instruction.
    void came_to(const WarpContext& context) {
        if (profile_ != nullptr) profile_->came_to(context.slot, context.warp->pc);
    }
    void state(const WarpContext& context, WarpState next, engine::Cycle now);
    void issued(const WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
                std::uint32_t mask, engine::Cycle now);

    /// Instructions are to be executed by execute().
    bool is_probed() const { return is_probed_; }
    void execute(unsigned sub_core, const StaticInstruction& in, const sass::Instruction& code,
                 sass::Warp& warp);

  private:
    const SmParameters& parameters_;
    SmCounters& counters_;
    bool is_watched_ = false;  ///< by a trace or a profile
    bool is_probed_ = false;   ///< what executes: toggles, changes of memory
    bool observes_changes_ = false;
    std::uint64_t changes_ = 0;
    ByteProbe probe_;
    SmTrace* trace_ = nullptr;
    std::unique_ptr<SmProfile> profile_;
    std::unique_ptr<ToggleSampler> toggles_;
    trace::InstructionId traced_ = 0;
};

}  // namespace lockstep::gpu
