// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/tpu_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cli {

namespace {

void print_line(const tpu::StepResult& step, const tpu::Parameters& parameters, std::size_t width) {
    double shown[6] = {};
    constexpr const char* kShown[] = {"array_utilization.pct",      "lockstep__array_active.pct",
                                      "lockstep__weight_stall.pct", "lockstep__weight_shift.pct",
                                      "lockstep__non_matrix.pct",   "lockstep__tops"};
    for (const auto& [name, value] : step.metrics(parameters))
        for (std::size_t i = 0; i < std::size(kShown); ++i)
            if (name == kShown[i]) shown[i] = value.number;
    fmt::print(
        "{:<{}} {:>12} {:>8} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.1f} {:>9.1f} "
        "{:>8.2f}\n",
        step.name, width, step.cycles, step.instructions, shown[0], shown[1], shown[2], shown[3],
        shown[4], double(step.dram_bytes_read + step.dram_bytes_written) / 1024,
        double(step.host_bytes_read + step.host_bytes_written) / 1024, shown[5]);
}

}  // namespace

void report_tpu_run(const RunRequest& request, const tpu::Parameters& parameters,
                    const tpu::RunResult& result, stats::Statistics& statistics) {
    if (!request.options.quiet) {
        std::size_t width = 5;
        for (const tpu::StepResult& step : result.steps) width = std::max(width, step.name.size());
        width = std::min<std::size_t>(width, 60);
        fmt::print("{:<{}} {:>12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "step",
                   width, "cycles", "instr.", "util.%", "active%", "weight%", "shift%", "other%",
                   "DRAM KiB", "host KiB", "TOPS");
        for (const tpu::StepResult& step : result.steps) print_line(step, parameters, width);
        if (result.steps.size() > 1) print_line(result.total(), parameters, width);
    }
    for (const tpu::StepResult& step : result.steps) {
        stats::Step made;
        made.name = step.name;
        made.metrics = step.metrics(parameters);
        statistics.add(std::move(made));
    }
    statistics.add_time(result.cycles, result.seconds, result.instructions);
    if (!request.options.stats_file.empty()) statistics.write(request.options.stats_file);
}

}  // namespace lockstep::cli
