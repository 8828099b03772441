// SPDX-License-Identifier: Apache-2.0
// Warp-instructions per second of a device on built-in workloads.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>

#include "models/device.h"
#include "sim/config/machine.h"
#include "workloads/cuda/workload.h"

namespace lockstep {

using MakeDevice = std::function<std::unique_ptr<Device>()>;

/// Runs a workload without verification; returns its warp-instructions.
inline std::uint64_t run_workload_on(Device& device, const std::string& name,
                                     const std::string& parameters) {
    const cuda::Workload& workload = cuda::find_workload(name);
    const cuda::Outcome outcome = cuda::run_workload(
        workload, cuda::parse_parameters(workload, parameters), 1, false, device);
    std::uint64_t instructions = 0;
    for (const cuda::LaunchRecord& launch : outcome.launches)
        instructions += launch.result.warp_instructions;
    return instructions;
}

/// The rate is by the CPU time of the thread that runs the device.
inline void count_instructions(benchmark::State& state, std::uint64_t instructions) {
    state.counters["warp-instructions"] =
        benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

inline benchmark::internal::Benchmark* add_workload(const MakeDevice& make, const std::string& name,
                                                    const std::string& parameters,
                                                    const std::string& suffix = "") {
    const std::string label = (parameters.empty() ? name : name + ":" + parameters) + suffix;
    return benchmark::RegisterBenchmark(label.c_str(),
                                        [=](benchmark::State& state) {
                                            std::uint64_t instructions = 0;
                                            for (auto _ : state)
                                                instructions +=
                                                    run_workload_on(*make(), name, parameters);
                                            count_instructions(state, instructions);
                                        })
        ->Unit(benchmark::kMillisecond);
}

}  // namespace lockstep
