// SPDX-License-Identifier: Apache-2.0
// What the checks know of the CTAs that run.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/gpu/check/clock.h"
#include "models/gpu/check/hazards.h"
#include "models/gpu/check/init.h"
#include "models/gpu/check/products.h"
#include "models/gpu/check/race.h"
#include "models/gpu/check/sync.h"

namespace lockstep::gpu::check {

struct CtaState {
    CtaState(std::uint32_t cta, unsigned warps) : clock(cta, warps), running(warps) {}

    CtaClock clock;
    std::vector<std::uint32_t> running;  ///< by warp: lanes of the path that ran last
    RaceCheck::Shared shared;
    CtaWritten written;
    CtaArrivals arrivals;
    CtaHazards hazards;
    std::vector<WarpProducts> products;           ///< by warp
    std::unordered_set<std::uint32_t> mbarriers;  ///< sm_80: words that only hold one's state
};

class CtaStates {
  public:
    CtaState& begin(const sass::Cta& cta) {
        forget_last();
        auto& state = states_[&cta];
        state = std::make_unique<CtaState>(static_cast<std::uint32_t>(cta.linear_index),
                                           static_cast<unsigned>(cta.warps.size()));
        return *state;
    }
    void end(const sass::Cta& cta) {
        states_.erase(&cta);
        forget_last();
    }
    void clear() {
        states_.clear();
        forget_last();
    }
    CtaState& of(const sass::Cta& cta) {
        if (last_cta_ != &cta) {
            last_cta_ = &cta;
            last_ = states_.at(&cta).get();
            running_ = last_->running.data();
        }
        return *last_;
    }
    /// Null where the CTA has ended.
    CtaState* find(const sass::Cta& cta) {
        const auto found = states_.find(&cta);
        return found != states_.end() ? found->second.get() : nullptr;
    }
    /// The CTA that was last asked for.
    const sass::Cta& last_cta() const { return *last_cta_; }
    /// Lanes of the path of the warp that ran last.
    std::uint32_t& running(const sass::Warp& warp) {
        if (warp.cta != last_cta_) of(*warp.cta);
        return running_[warp.index];
    }

  private:
    void forget_last() {
        last_ = nullptr;
        last_cta_ = nullptr;
    }
    std::unordered_map<const sass::Cta*, std::unique_ptr<CtaState>> states_;
    CtaState* last_ = nullptr;
    const sass::Cta* last_cta_ = nullptr;
    std::uint32_t* running_ = nullptr;  ///< of last_cta_
};

}  // namespace lockstep::gpu::check
