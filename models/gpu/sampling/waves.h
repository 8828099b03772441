// SPDX-License-Identifier: Apache-2.0
// How many CTAs of a launch are simulated before the time of the others is known.
//
// CTAs run in waves: as many as the chip holds at once, then as many again. The first waves are
// simulated, and the part of a wave by which the grid is more than whole ones; once three waves
// in a row have taken the same time, those that are left are taken to take it too. The first wave
// does not count: its CTAs begin together and find cold caches. Nor do waves count that fill the L2
// where later ones overflow it: those pay for what is written back.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/time.h"

namespace lockstep::gpu {

class SampledWaves {
  public:
    /// `ctas`: of the grid; `concurrent`: that the chip holds at once; `cache`: bytes of the L2.
    SampledWaves(std::uint64_t ctas, std::uint64_t concurrent, std::uint64_t cache);

    /// CTAs to begin with; all of them where there is little to gain.
    std::uint64_t simulated() const { return simulated_; }
    bool is_whole() const { return simulated_ == ctas_; }

    /// A CTA has ended; in the order of time.
    void ended(engine::Cycle at) { ends_.push_back(at); }
    /// To be asked before the last of simulated() is placed: adds a wave where the last ones have
    /// taken different times, or others than later ones will. `brought`: bytes that came into the
    /// L2 so far.
    void look(std::uint64_t brought);

    // Once all that are simulated have ended.
    /// Cycles of the waves that were not simulated.
    double missing_cycles() const;
    /// Half of the interval in which 95% of such sums of cycles lie, by how much waves have
    /// differed.
    double uncertainty() const;

  private:
    /// Cycles between the ends of the i-th wave and the one before; 0: not known yet.
    double duration(std::uint64_t wave) const;
    std::uint64_t last_wave() const { return ends_.size() / concurrent_; }
    double waves_left() const;

    /// Of the last waves that were looked at.
    struct Durations {
        double least = 0, most = 0, mean = 0;
    };
    Durations durations() const;
    bool is_cache_settled(std::uint64_t brought) const;

    const std::uint64_t ctas_, concurrent_, cache_;
    std::uint64_t simulated_;
    std::uint64_t judged_ = 0;  ///< the last of the waves that were looked at
    std::vector<engine::Cycle> ends_;
};

}  // namespace lockstep::gpu
