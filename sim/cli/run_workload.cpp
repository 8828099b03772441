// SPDX-License-Identifier: Apache-2.0
// Built-in workloads: launched through the Device interface, verified where asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "sim/cli/run_request.h"
#include "sim/cli/summary.h"
#include "sim/config/machine.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cli {

namespace {

// What a microbenchmark measured; emulation has no clock that would mean anything.
void print_measurements(const cuda::Outcome& outcome) {
    if (outcome.measurements.empty()) return;
    const bool all_timed =
        std::all_of(outcome.launches.begin(), outcome.launches.end(),
                    [](const cuda::LaunchRecord& launch) { return launch.result.cycles != 0; });
    if (!all_timed) {
        fmt::print("no time in emulation: nothing is measured (use --mode cycle)\n");
        return;
    }
    for (const cuda::Measurement& m : outcome.measurements)
        fmt::print("{:<28} {:>12.2f} {}\n", m.name, m.value, m.unit);
}

std::string text_of(const cuda::CheckRecord& check) {
    if (!check.passed) return fmt::format("MISMATCH {}: {}", check.output, check.message);
    return fmt::format("verified {}: {} elements, {}", check.output, check.elements,
                       check.message.empty() ? "equal bit for bit"
                                             : "within tolerance; the worst: " + check.message);
}

}  // namespace

int run_workload(const RunRequest& request) {
    const cuda::WorkloadText text = cuda::parse_workload(request.what);
    const cuda::Workload& workload = cuda::find_workload(text.name);
    const cuda::Parameters parameters = cuda::parse_parameters(workload, text.parameters);
    const std::unique_ptr<Device> device = cuda::make_device(request.options);
    Summary summary(request, device->machine());
    const cuda::Outcome outcome =
        cuda::run_workload(workload, parameters, request.options.seed, request.verify, *device);
    for (const cuda::LaunchRecord& launch : outcome.launches)
        summary.add(launch.kernel, launch.grid, launch.block, launch.result);
    summary.finish();
    print_measurements(outcome);
    for (const cuda::CheckRecord& check : outcome.checks)
        if (!request.options.quiet || !check.passed) fmt::print("{}\n", text_of(check));
    return static_cast<int>(outcome.passed() ? ExitStatus::kDone : ExitStatus::kMismatch);
}

}  // namespace lockstep::cli
