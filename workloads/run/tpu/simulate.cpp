// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/tpu/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/trace/trace.h"

namespace lockstep::run {

namespace {

/// The trace that --trace and --trace-window ask for, or nullptr. Throws InputError.
std::unique_ptr<trace::Trace> make_trace(const Job& job) {
    const std::string& path = job.trace_file;
    const std::string& text = job.trace_window;
    if (path.empty()) return nullptr;
    trace::Window window;
    if (!text.empty()) {
        const char* const end = text.data() + text.size();
        const auto from = std::from_chars(text.data(), end, window.from);
        bool good = from.ec == std::errc{} && from.ptr != end && *from.ptr == ':';
        if (good) {
            const auto until = std::from_chars(from.ptr + 1, end, window.until);
            good = until.ec == std::errc{} && until.ptr == end && window.from < window.until;
        }
        if (!good)
            throw InputError(fmt::format("--trace-window {}: wanted FROM:TO, in cycles", text));
    }
    return std::make_unique<trace::Trace>(path, window, job.what);
}

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

void show(const tpu::RunResult& result, const tpu::Parameters& parameters, Screen& screen) {
    std::size_t width = 5;
    for (const tpu::StepResult& step : result.steps) width = std::max(width, step.name.size());
    width = std::min<std::size_t>(width, 60);
    screen.print(
        fmt::format("{:<{}} {:>12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "step",
                    width, "cycles", "instr.", "util.%", "active%", "weight%", "shift%", "other%",
                    "DRAM KiB", "host KiB", "TOPS"));
    for (const tpu::StepResult& step : result.steps) screen.print(line(step, parameters, width));
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
    show(result, parameters, screen);
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
