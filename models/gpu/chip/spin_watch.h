// SPDX-License-Identifier: Apache-2.0
// Finds out that a chip's kernels wait for memory that only somebody else can change.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/gpu/sm/sm.h"
#include "models/gpu/sm/wait_report.h"

namespace lockstep::gpu {

/// Where memory has not changed and no warp has come or gone for a while, and every warp has been
/// in a state (registers, predicates, paths) that it has come back to, each of its paths having had
/// a turn, all of them go on like this for ever: what a warp does follows from its state and
/// memory. Writes count as changes; those that go on for long without any warp that comes or goes
/// are observed, for atomics that poll (a CAS that fails, a sum of 0) and stores of what is there
/// change nothing. Loops that read a clock come back to no state; those that ask mbarriers are
/// found all the same, by trying them with clocks that stand still (mbarrier_watch.h).
class SpinWatch {
  public:
    /// To be called now and then; looks again no sooner than after `interval`.
    void look(const std::vector<std::unique_ptr<Sm>>& sms, engine::Time now, engine::Time interval);
    bool spins() const { return spins_; }
    /// Writes are looked at one by one.
    bool observes() const { return observes_; }

  private:
    using Sms = std::vector<std::unique_ptr<Sm>>;
    /// Memory may have changed, or a warp has come or gone, since the last look.
    bool has_effects(const Sms& sms, engine::Time now);
    void observe(const Sms& sms, bool observes);
    void sample(const Sms& sms);

    std::uint64_t arrivals_ = ~std::uint64_t{0}, writes_ = 0, changes_ = 0;
    bool observes_ = false;
    engine::Time observe_at_ = 0, observe_pause_ = 0;
    engine::Time quiet_since_ = 0, next_ = 0;
    std::vector<WarpSample> reference_, samples_;  ///< by warp
    std::vector<bool> has_come_back_;
    engine::Time next_trial_ = 0, pause_ = 0;  ///< of warps that ask mbarriers
    unsigned looks_ = 0, most_looks_ = 0;      ///< at one reference
    bool spins_ = false;
};

}  // namespace lockstep::gpu
