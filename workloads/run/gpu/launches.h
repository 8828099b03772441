// SPDX-License-Identifier: Apache-2.0
// What a run shows of its launches, and their statistics.
#pragma once

#include <string>

#include "models/device.h"
#include "workloads/run/job.h"

namespace lockstep::run {

/// A launch as statistics have it. In cycle mode one without cycles was emulated.
stats::Step step_of(std::string name, const sass::Dim3& grid, const sass::Dim3& block,
                    const LaunchResult& result, Mode mode);

/// Made before the launches: the statistics' wall time begins with it.
class Launches {
  public:
    Launches(const Job& job, const config::Machine& machine, Screen& screen);
    void add(const std::string& kernel, const sass::Dim3& grid, const sass::Dim3& block,
             const LaunchResult& result);
    /// Shows what simulated launches came to.
    stats::Statistics take();

  private:
    const Job& job_;
    Screen& screen_;
    stats::Statistics statistics_;
};

}  // namespace lockstep::run
