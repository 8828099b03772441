// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram/policies.h"

#include <cmath>

#include "sim/error/error.h"

namespace lockstep::memory::dram {
namespace {

const Scheduler& find(SchedulerName name) {
    switch (name) {
        case SchedulerName::kFrFcfs:
            return fr_fcfs();
        case SchedulerName::kFcfs:
            return fcfs();
    }
    throw InternalError("no such DRAM scheduler");
}

const RowPolicy& find(RowPolicyName name) {
    switch (name) {
        case RowPolicyName::kOpen:
            return open_rows();
        case RowPolicyName::kClosed:
            return closed_rows();
        case RowPolicyName::kTimeout:
            return timeout_rows();
        case RowPolicyName::kAdaptive:
            return adaptive_rows();
    }
    throw InternalError("no such row policy");
}

}  // namespace

ControllerParameters Policies::controller(const Geometry& geometry) const {
    constexpr double kKilohertzNanoseconds = 1e6;
    ControllerParameters parameters;
    parameters.scheduler = &find(scheduler);
    parameters.row_policy = &find(rows);
    parameters.row_timeout = static_cast<Cycle>(std::ceil(
        row_timeout_ns * static_cast<double>(geometry.clock_khz) / kKilohertzNanoseconds));
    parameters.refresh = refresh;
    return parameters;
}

}  // namespace lockstep::memory::dram
