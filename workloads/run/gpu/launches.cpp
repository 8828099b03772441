// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/launches.h"

#include <fmt/format.h>

namespace lockstep::run {

stats::Step step_of(std::string name, const sass::Dim3& grid, const sass::Dim3& block,
                    const LaunchResult& result, Mode mode) {
    stats::Step step;
    step.name = std::move(name);
    step.grid = {grid.x, grid.y, grid.z};
    step.block = {block.x, block.y, block.z};
    step.metrics = result.metrics;
    step.profile = result.profile;
    if (result.cycles == 0 && mode == Mode::kCycle) step.mode = name_of(Mode::kEmulate);
    return step;
}

Launches::Launches(const Job& job, const config::Machine& machine, Screen& screen)
    : job_(job),
      screen_(screen),
      statistics_(machine.name(), std::string(name_of(job.mode)), job.what) {}

void Launches::add(const std::string& kernel, const sass::Dim3& grid, const sass::Dim3& block,
                   const LaunchResult& result) {
    statistics_.add(step_of(kernel, grid, block, result, job_.mode));
    statistics_.add_time(result.cycles, result.seconds, result.warp_instructions);
    if (result.cycles == 0)
        screen_.print(fmt::format("{}  grid ({},{},{})  block ({},{},{})  {} warp-instructions\n",
                                  kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                  result.warp_instructions));
}

stats::Statistics Launches::take() {
    if (job_.mode == Mode::kCycle) screen_.print(speed_of_light(statistics_));
    if (job_.source) screen_.print_always(stats::source_text(statistics_));
    return std::move(statistics_);
}

}  // namespace lockstep::run
