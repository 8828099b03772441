// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/tpu/simulate.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::run {

namespace {

std::string line(const tpu::StepResult& step, const tpu::Parameters& parameters,
                 std::size_t width) {
    double shown[6] = {};
    constexpr const char* kShown[] = {"array_utilization.pct",      "lockstep__array_active.pct",
                                      "lockstep__weight_stall.pct", "lockstep__weight_shift.pct",
                                      "lockstep__non_matrix.pct",   "lockstep__tops"};
    for (const auto& [name, value] : step.metrics(parameters))
        for (std::size_t i = 0; i < std::size(kShown); ++i)
            if (name == kShown[i]) shown[i] = value.number;
    return fmt::format(
        "{:<{}} {:>12} {:>8} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.1f} {:>9.1f} "
        "{:>8.2f}\n",
        step.name, width, step.cycles, step.instructions, shown[0], shown[1], shown[2], shown[3],
        shown[4], double(step.dram_bytes_read + step.dram_bytes_written) / 1024,
        double(step.host_bytes_read + step.host_bytes_written) / 1024, shown[5]);
}

void show(const tpu::RunResult& result, const tpu::Parameters& parameters, std::uint64_t top,
          Screen& screen) {
    std::size_t width = 5;
    for (const tpu::StepResult& step : result.steps) width = std::max(width, step.name.size());
    width = std::min<std::size_t>(width, 60);
    screen.print(
        fmt::format("{:<{}} {:>12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "step",
                    width, "cycles", "instr.", "util.%", "active%", "weight%", "shift%", "other%",
                    "DRAM KiB", "host KiB", "TOPS"));
    const std::vector<bool> shown = shown_steps(result.steps, top);
    std::uint64_t cycles = 0, others = 0, hidden = 0;
    for (std::size_t i = 0; i < result.steps.size(); ++i) {
        const tpu::StepResult& step = result.steps[i];
        cycles += step.cycles;
        if (shown[i])
            screen.print(line(step, parameters, width));
        else
            ++hidden, others += step.cycles;
    }
    if (hidden != 0)
        screen.print(fmt::format("and {} steps more, {:.1f}% of the cycles; --stats FILE has all\n",
                                 hidden,
                                 cycles == 0 ? 0.0 : 100.0 * double(others) / double(cycles)));
    if (result.steps.size() > 1) screen.print(line(result.total(), parameters, width));
}

}  // namespace

tpu::RunResult simulate_tpu_program(const Job& job, const tpu::Program& program,
                                    const tpu::Parameters& parameters, tpu::Storage& storage,
                                    stats::Statistics& statistics, Screen& screen,
                                    const std::function<void(std::uint32_t)>& host) {
    const std::unique_ptr<trace::Trace> trace = make_trace(job);
    tpu::RunResult result =
        tpu::run(program, parameters, storage,
                 {.values = !job.no_values,
                  .threads = job.threads,
                  .trace = trace.get(),
                  .host = host,
                  .progress = [&](std::uint64_t done) {
                      screen.progress("instructions", done, program.instructions.size());
                  }});
    show(result, parameters, job.top, screen);
    for (const tpu::StepResult& step : result.steps) {
        stats::Step made;
        made.name = step.name;
        made.metrics = step.metrics(parameters);
        statistics.add(std::move(made));
    }
    statistics.add_time(result.cycles, result.seconds, result.instructions);
    return result;
}

}  // namespace lockstep::run
