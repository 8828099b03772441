// SPDX-License-Identifier: Apache-2.0
// Accesses of memory, told to the checks that they concern.
#pragma once

#include <cstdint>

#include "isa/sass/tma/copy.h"
#include "models/gpu/check/cta_states.h"

namespace lockstep::gpu::check {

/// Which checks run.
struct Checks {
    bool race = false, init = false, sync = false, hazards = false;
};

class AccessChecks {
  public:
    AccessChecks(const Checks& checks, CtaStates& states, Clock& clock, RaceCheck& race,
                 InitCheck& init, SyncCheck& sync, HazardCheck& hazards)
        : checks_(checks),
          states_(states),
          clock_(clock),
          race_(race),
          init_(init),
          sync_(sync),
          hazards_(hazards) {}

    /// After a memory instruction that the lanes have executed.
    void memory(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                std::uint32_t lanes);
    /// After an operation on an mbarrier.
    void mbarrier(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t lanes,
                  CtaState& cta);
    /// A run of consecutive bytes that an asynchronous copy reads or writes.
    void copied(const sass::AsyncCopy& copy, sass::Space space, std::uint64_t begin,
                std::uint32_t bytes, bool is_write, CtaState& cta);
    // Copies into shared memory of another CTA of the cluster: only what is written is followed.
    void reads_for_other(const sass::AsyncCopy& copy, CtaState& source);
    void written_by_other(const sass::AsyncCopy& copy, CtaState& target);
    /// Whose access was last told of.
    const sass::Warp& warp() const { return *warp_; }

  private:
    /// An access that lanes make to shared memory of other CTAs of the cluster.
    void remote(const sass::Instruction& in, Observed access, CtaState& cta, bool is_async);
    void remote_arrival(const sass::Warp& warp, std::uint32_t lanes, CtaState& cta);
    void copy(const sass::Warp& warp, std::uint32_t pc, std::uint32_t lanes);
    /// Calls tell(Observed&) for the 16-byte pieces of what a copy reads or writes.
    template <typename Tell>
    void for_each_piece(const sass::AsyncCopy& copy, sass::Space space, std::uint64_t begin,
                        std::uint32_t bytes, bool is_write, Tell&& tell);
    /// One space, told to the race and the init check.
    void access(Observed& access, CtaState& cta, bool has_result);
    void synchronise(const Observed& access, CtaState& cta, bool acquires, bool releases);

    const Checks checks_;
    CtaStates& states_;
    Clock& clock_;
    RaceCheck& race_;
    InitCheck& init_;
    SyncCheck& sync_;
    HazardCheck& hazards_;
    const sass::Warp* warp_ = nullptr;
};

}  // namespace lockstep::gpu::check
