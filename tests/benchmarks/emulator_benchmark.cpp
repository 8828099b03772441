// SPDX-License-Identifier: Apache-2.0
// Warp-instructions per CPU second of the emulator on one thread: every built-in workload with its
// default parameters, larger GEMMs, and all workloads taken together.
#include "workload_benchmark.h"

int main(int argc, char** argv) {
    using namespace lockstep;
    // Reading the machine file takes milliseconds, which are not the emulator's.
    const MakeDevice make = [machine = config::Machine::load("h200")] {
        return make_emulator(machine, {});
    };
    for (const cuda::Workload& workload : cuda::workloads()) add_workload(make, workload.name, "");
    add_workload(make, "sgemm", "m=1024,n=1024,k=1024");
    add_workload(make, "hgemm", "m=1024,n=1024,k=1024");
    add_workload(make, "igemm", "m=1024,n=1024,k=1024");
    add_workload(make, "vector_add", "n=16777216");
    benchmark::RegisterBenchmark("all", [&](benchmark::State& state) {
        std::uint64_t instructions = 0;
        for (auto _ : state)
            for (const cuda::Workload& workload : cuda::workloads())
                instructions += run_workload_on(*make(), workload.name, "");
        count_instructions(state, instructions);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("emulated with checks", [&](benchmark::State& state) {
        std::uint64_t instructions = 0;
        for (auto _ : state)
            for (const char* name : {"sgemm", "hgemm", "softmax", "layernorm", "attention",
                                     "sgemm_shared", "reduce", "conv2d_im2col"})
                instructions += run_workload_on(
                    *make_emulator(config::Machine::load("h200"),
                                   {.checks = kCheckRace | kCheckInit | kCheckSync}),
                    name, "");
        count_instructions(state, instructions);
    })->Unit(benchmark::kMillisecond);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
