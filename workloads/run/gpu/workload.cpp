// SPDX-License-Identifier: Apache-2.0
// Built-in workloads: launched through the Device interface, verified where asked for.
#include "workloads/cuda/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/run/gpu/gpu.h"
#include "workloads/run/gpu/launches.h"

namespace lockstep::run {

namespace {

// What a microbenchmark measured; emulation has no clock that would mean anything.
void print_measurements(const cuda::Outcome& outcome, Screen& screen) {
    if (outcome.measurements.empty()) return;
    const bool all_timed =
        std::all_of(outcome.launches.begin(), outcome.launches.end(),
                    [](const cuda::LaunchRecord& launch) { return launch.result.cycles != 0; });
    if (!all_timed) {
        screen.print_always("no time in emulation: nothing is measured (use --mode cycle)\n");
        return;
    }
    for (const cuda::Measurement& m : outcome.measurements)
        screen.print_always(fmt::format("{:<28} {:>12.2f} {}\n", m.name, m.value, m.unit));
}

std::string text_of(const cuda::CheckRecord& check) {
    if (!check.passed) return fmt::format("MISMATCH {}: {}\n", check.output, check.message);
    return fmt::format("verified {}: {} elements, {}\n", check.output, check.elements,
                       check.message.empty() ? "equal bit for bit"
                                             : "within tolerance; the worst: " + check.message);
}

}  // namespace

Outcome run_workload(const Job& job, const Subject&, const MachinePtr& machine, Screen& screen) {
    const cuda::WorkloadText text = cuda::parse_workload(job.what);
    const cuda::Workload& workload = cuda::find_workload(text.name);
    const cuda::Parameters parameters = cuda::parse_parameters(workload, text.parameters);
    // What uses asynchronous copies is verified with an eye on what orders them.
    Job checked = job;
    if (job.verify && job.mode == Mode::kEmulate && workload.only_arch != 0 && job.checks.empty())
        checked.checks = "hazards";
    const std::unique_ptr<Device> device = make_gpu(checked, machine);
    Launches launches(job, *machine, screen);
    const cuda::Outcome outcome =
        cuda::run_workload(workload, parameters, job.seed, job.verify, *device);
    for (const cuda::LaunchRecord& launch : outcome.launches)
        launches.add(launch.kernel, launch.grid, launch.block, launch.result);
    Outcome result{launches.take(), outcome.passed(), device->findings() == 0};
    print_measurements(outcome, screen);
    for (const cuda::CheckRecord& check : outcome.checks)
        check.passed ? screen.print(text_of(check)) : screen.print_always(text_of(check));
    return result;
}

}  // namespace lockstep::run
