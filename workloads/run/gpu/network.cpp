// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/network/gpu/explain.h"
#include "workloads/network/gpu/prepare.h"
#include "workloads/run/gpu/gpu.h"
#include "workloads/run/gpu/launches.h"
#include "workloads/run/gpu/submission.h"
#include "workloads/run/network_source.h"
#include "workloads/run/network_values.h"
#include "workloads/run/steps.h"
#include "workloads/run/verdict.h"

namespace lockstep::run {

namespace {

namespace gpu = network::gpu;

/// What a launch did.
struct LaunchRow {
    std::string name;
    std::uint64_t cycles = 0, instructions = 0, macs = 0, bytes = 0;
    double seconds = 0;
};

gpu::Precision precision_of(const Job& job, const NetworkSource& source) {
    const std::string dtype = source.dtype ? std::string(network::name_of(*source.dtype)) : "";
    if (!job.precision.empty() && !dtype.empty() && job.precision != dtype)
        throw InputError(
            fmt::format("--precision {} and dtype={}: which of them?", job.precision, dtype));
    const std::string name = job.precision.empty() ? dtype : job.precision;
    return name.empty() ? gpu::Precision::kFp32 : gpu::precision_named(name);
}

std::string row_text(const LaunchRow& row, std::uint64_t all, std::size_t width) {
    const double share = all == 0 ? 0 : 100.0 * double(row.cycles) / double(all);
    const double rate = row.seconds == 0 ? 0 : 2e-12 * double(row.macs) / row.seconds;
    const double bandwidth = row.seconds == 0 ? 0 : 1e-9 * double(row.bytes) / row.seconds;
    return fmt::format("{:<{}} {:>10} {:>6.1f} {:>10.2f} {:>11} {:>8.2f} {:>8.1f}\n",
                       row.name.substr(0, width), width, row.cycles, share, row.seconds * 1e6,
                       row.instructions, rate, bandwidth);
}

/// The launches with most cycles, and what all came to.
void show(const std::vector<LaunchRow>& rows, const Job& job, Screen& screen) {
    constexpr std::size_t kWidest = 60;
    LaunchRow all{"all"};
    std::size_t width = 5;
    for (const LaunchRow& row : rows) {
        width = std::max(width, std::min(row.name.size(), kWidest));
        all.cycles += row.cycles;
        all.seconds += row.seconds;
        all.instructions += row.instructions;
        all.macs += row.macs;
        all.bytes += row.bytes;
    }
    screen.print(fmt::format("{:<{}} {:>10} {:>6} {:>10} {:>11} {:>8} {:>8}\n", "launch", width,
                             "cycles", "%", "us", "instr.", "TFLOP/s", "GB/s"));
    const std::vector<bool> shown = shown_steps(rows, job.top);
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (shown[i]) screen.print(row_text(rows[i], all.cycles, width));
    screen.print(row_text(all, all.cycles, width));
}

std::vector<network::Tensor> results_of(const network::Graph& graph, const gpu::Session& session) {
    std::vector<network::Tensor> results;
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) results.push_back(session.output(i));
    return results;
}

}  // namespace

Outcome run_gpu_network(const Job& given_job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen) {
    // A layer finds in L2 what the one before wrote, unless the user wants it otherwise.
    Job job = given_job;
    if (job.mode == Mode::kCycle && std::ranges::count(job.given, "--l2") == 0) job.l2 = "warm";
    Outcome outcome{{machine->name(), std::string(name_of(job.mode)), job.what}};
    screen.progress("preparing");
    NetworkSource source = read_network(job, subject, true);
    const gpu::Precision precision = precision_of(job, source);
    const gpu::Target target = gpu::target_of(*machine);
    network::compile::Prepared prepared =
        gpu::prepare(std::move(source.graph), target, precision, job.seed);
    put_inputs(job, prepared);
    const auto submission = submission_named(job.launches);
    if (submission && job.sample)
        throw InputError("--launches with --sample: launches that are sampled run by themselves");
    const gpu::Executable code = gpu::compile(
        prepared.graph, target,
        {.precision = precision, .beside = submission && submission != gpu::Submission::kStream});
    if (job.schedule) {
        screen.print_always(gpu::schedule_text(code));
        screen.print_always(gpu::branches_text(
            gpu::compile(prepared.graph, target, {.precision = precision, .beside = true})));
    }

    const std::unique_ptr<Device> device = make_gpu(job, machine);
    gpu::Session session(code, *device);
    for (std::size_t i = 0; i < prepared.inputs.size(); ++i)
        session.set_input(i, prepared.inputs[i]);
    std::vector<LaunchRow> rows;
    std::vector<double> kernels;
    const auto observe = [&](std::size_t i, const LaunchResult& result) {
        const gpu::Launch& launch = code.launches[i];
        stats::Step step =
            step_of(gpu::name_of(launch), launch.grid, launch.block, result, job.mode);
        if (launch.macs != 0) step.metrics.push_back({"macs", launch.macs});
        rows.push_back({step.name, result.cycles, result.warp_instructions, launch.macs,
                        launch.bytes, result.seconds});
        outcome.statistics.add(std::move(step));
        outcome.statistics.add_time(result.cycles, result.seconds, result.warp_instructions);
        kernels.push_back(result.seconds);
        screen.progress("launches", i + 1, code.launches.size());
    };
    double seconds = 0;
    if (submission)
        seconds = session.run(*submission, observe);
    else
        session.run(observe);
    if (submission) outcome.statistics.set_seconds(seconds);
    outcome.statistics.stop_clock();
    show(rows, job, screen);
    if (submission)
        screen.print(submission_text(*submission, seconds, kernels, code));
    else if (job.mode == Mode::kCycle)
        screen.print(submission_text(*machine, kernels));
    if (job.mode == Mode::kCycle) screen.print(speed_of_light(outcome.statistics));
    if (job.source) screen.print_always(stats::source_text(outcome.statistics));
    outcome.clean = device->findings() == 0;
    if (job.values != nullptr)
        take_outputs(job, prepared.graph, results_of(prepared.graph, session));
    if (job.verify) {
        screen.progress("comparing with the reference");
        judge(gpu::verify(prepared, precision, results_of(prepared.graph, session)), outcome,
              screen);
    }
    return outcome;
}

}  // namespace lockstep::run
