// SPDX-License-Identifier: Apache-2.0
// The policies of a controller as parameters `memory.*`, of every machine that has such.
#pragma once

#include <span>
#include <vector>

#include "models/memory/dram/policies.h"
#include "sim/config/row.h"

namespace lockstep::memory::dram {

inline std::span<const config::Row<Policies>> policy_rows() {
    static const std::vector<config::Row<Policies>> kRows{
        {"memory.scheduler", &Policies::scheduler, kSchedulers,
         "which waiting request a controller serves"},
        {"memory.row_policy", &Policies::rows, kRowPolicies,
         "when an open row is closed (page policy)"},
        {"memory.row_timeout", &Policies::row_timeout_ns, "ns", 0, 1e6,
         "of memory.row_policy timeout, and at first of adaptive"},
    };
    return kRows;
}

inline std::span<const config::Row<Policies>> refresh_rows() {
    static const std::vector<config::Row<Policies>> kRows{
        {"memory.refresh", &Policies::refresh, kRefreshPolicies, "what is refreshed"},
    };
    return kRows;
}

}  // namespace lockstep::memory::dram
