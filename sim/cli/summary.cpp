// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/summary.h"

#include <fmt/format.h>

#include "sim/config/machine.h"

namespace lockstep::cli {

Summary::Summary(const RunRequest& request, const config::Machine& machine)
    : request_(request), statistics_(machine.name(), request.options.mode, request.what) {}

void Summary::add(const std::string& kernel, const sass::Dim3& grid, const sass::Dim3& block,
                  const LaunchResult& result) {
    stats::Step step;
    step.name = kernel;
    step.grid = {grid.x, grid.y, grid.z};
    step.block = {block.x, block.y, block.z};
    step.metrics = result.metrics;
    if (result.cycles == 0 && statistics_.mode() == "cycle") step.mode = "emulate";
    statistics_.add(std::move(step));
    statistics_.add_time(result.cycles, result.seconds, result.warp_instructions);
    if (!request_.options.quiet && result.cycles == 0)
        fmt::print("{}  grid ({},{},{})  block ({},{},{})  {} warp-instructions\n", kernel, grid.x,
                   grid.y, grid.z, block.x, block.y, block.z, result.warp_instructions);
}

void Summary::finish() {
    if (!request_.options.quiet && request_.options.mode == "cycle")
        fmt::print("{}", speed_of_light(statistics_));
    if (!request_.options.stats_file.empty()) statistics_.write(request_.options.stats_file);
}

}  // namespace lockstep::cli
