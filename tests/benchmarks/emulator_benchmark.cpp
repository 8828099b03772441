// SPDX-License-Identifier: Apache-2.0
// Warp-instructions per CPU second of the emulator on one thread: every built-in workload with its
// default parameters, larger GEMMs, and all workloads taken together.
#include <benchmark/benchmark.h>

#include "models/device.h"
#include "sim/config/machine.h"
#include "workloads/cuda/workload.h"

namespace lockstep {
namespace {

std::uint64_t run(Device& device, const std::string& name, const std::string& parameters) {
    const cuda::Workload& workload = cuda::find_workload(name);
    const cuda::Outcome outcome = cuda::run_workload(
        workload, cuda::parse_parameters(workload, parameters), 1, false, device);
    std::uint64_t instructions = 0;
    for (const cuda::LaunchRecord& launch : outcome.launches)
        instructions += launch.result.warp_instructions;
    return instructions;
}

void count(benchmark::State& state, std::uint64_t instructions) {
    state.counters["warp-instructions"] =
        benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

void one_workload(benchmark::State& state, const std::string& name, const std::string& parameters) {
    std::uint64_t instructions = 0;
    for (auto _ : state) {
        const auto device = make_emulator(config::Machine::load("h200"), {});
        instructions += run(*device, name, parameters);
    }
    count(state, instructions);
}

void all_workloads(benchmark::State& state) {
    std::uint64_t instructions = 0;
    for (auto _ : state) {
        for (const cuda::Workload& workload : cuda::workloads()) {
            const auto device = make_emulator(config::Machine::load("h200"), {});
            instructions += run(*device, workload.name, "");
        }
    }
    count(state, instructions);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
    using namespace lockstep;
    const auto add = [](const std::string& name, const std::string& parameters) {
        const std::string label = parameters.empty() ? name : name + ":" + parameters;
        benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) {
            one_workload(state, name, parameters);
        })->Unit(benchmark::kMillisecond);
    };
    for (const cuda::Workload& workload : cuda::workloads()) add(workload.name, "");
    add("sgemm", "m=1024,n=1024,k=1024");
    add("hgemm", "m=1024,n=1024,k=1024");
    add("igemm", "m=1024,n=1024,k=1024");
    add("vector_add", "n=16777216");
    benchmark::RegisterBenchmark("all", all_workloads)->Unit(benchmark::kMillisecond);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
