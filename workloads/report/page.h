// SPDX-License-Identifier: Apache-2.0
// The page of a run.
#pragma once

#include <string>

#include "sim/config/machine.h"
#include "workloads/report/run_file.h"

namespace lockstep::report {

/// One page that needs nothing else: for launches on a GPU what Nsight Compute's report shows, for
/// networks the time by layer and the array's losses.
std::string run_page(const RunFile& run, const config::Machine& machine);

}  // namespace lockstep::report
