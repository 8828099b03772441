// SPDX-License-Identifier: Apache-2.0
// What a run prints about its launches, and the statistics file.
#pragma once

#include <string>

#include "models/device.h"
#include "sim/cli/run_request.h"
#include "sim/stats/statistics.h"

namespace lockstep::cli {

/// Made before the launches: the statistics' wall time begins with it.
class Summary {
  public:
    Summary(const RunRequest& request, const config::Machine& machine);
    void add(const std::string& kernel, const sass::Dim3& grid, const sass::Dim3& block,
             const LaunchResult& result);
    /// Prints what simulated launches came to and writes the statistics file, if there is to be
    /// one.
    void finish();

  private:
    const RunRequest& request_;
    stats::Statistics statistics_;
};

}  // namespace lockstep::cli
