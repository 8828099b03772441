// SPDX-License-Identifier: Apache-2.0
// What programs that run in time ask of the system around them.
#pragma once

#include "models/gpu/chip/chip.h"
#include "models/gpu/execution/system_calls.h"

namespace lockstep::gpu {

class SimulatedEnvironment final : public sass::Environment {
  public:
    SimulatedEnvironment(SystemCalls& calls, Chip& chip, std::uint32_t sms,
                         const std::int64_t& ahead)
        : calls_(calls), chip_(chip), sms_(sms), ahead_(ahead) {}
    void system_call(unsigned number, sass::Warp& warp) override {
        const std::uint64_t frees = calls_.frees();
        calls_.call(number, warp);
        if (calls_.frees() != frees) chip_.forget_extents();
    }
    std::uint64_t clock(const sass::Warp& warp) override { return chip_.now(warp.cta->sm); }
    std::uint64_t global_timer(const sass::Warp& warp) override {
        constexpr std::int64_t kNanosecond = 1000;
        const auto time = static_cast<std::int64_t>(chip_.clock().start_of(clock(warp)));
        return static_cast<std::uint64_t>((time + ahead_) / kNanosecond);
    }
    std::uint32_t sm_id(const sass::Warp& warp) override { return warp.cta->sm; }
    std::uint32_t sm_count() override { return sms_; }

  private:
    SystemCalls& calls_;
    Chip& chip_;
    const std::uint32_t sms_;  ///< of the whole chip
    const std::int64_t& ahead_;
};

}  // namespace lockstep::gpu
