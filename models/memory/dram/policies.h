// SPDX-License-Identifier: Apache-2.0
// The policies of a controller as machine files choose them.
#pragma once

#include "models/memory/dram/controller.h"
#include "sim/config/schema.h"

namespace lockstep::memory::dram {

enum class SchedulerName : std::uint8_t { kFrFcfs, kFcfs };
inline constexpr config::Choice kSchedulers[] = {
    {"fr_fcfs", "hits of open rows first, then the oldest"},
    {"fcfs", "strictly in order of arrival"},
};

enum class RowPolicyName : std::uint8_t { kOpen, kClosed, kTimeout, kAdaptive };
inline constexpr config::Choice kRowPolicies[] = {
    {"open", "until another row of the bank is wanted"},
    {"closed", "as soon as no waiting request asks for it"},
    {"timeout", "after a time without use"},
    {"adaptive", "after a time that each bank learns"},
};

/// Of RefreshPolicy.
inline constexpr config::Choice kRefreshPolicies[] = {
    {"none", "never"},
    {"all_bank", "all banks of a rank at once"},
    {"per_bank", "one bank after the other"},
};

struct Policies {
    SchedulerName scheduler = SchedulerName::kFrFcfs;
    RowPolicyName rows = RowPolicyName::kOpen;
    double row_timeout_ns = 0;  ///< of kTimeout, and of kAdaptive at first
    RefreshPolicy refresh = RefreshPolicy::kPerBank;

    bool operator==(const Policies&) const = default;
    /// A controller with them; all else is the default.
    ControllerParameters controller(const Geometry& geometry) const;
};

}  // namespace lockstep::memory::dram
