// SPDX-License-Identifier: Apache-2.0
// Warp-instructions per CPU second of the cycle model of an H200 with all its SMs: GEMMs that fill
// the chip, vector addition over 64 MiB, one small CTA; and what a second host thread brings (by
// wall time, on two free cores).
#include "sim/engine/host_memory.h"
#include "workload_benchmark.h"

int main(int argc, char** argv) {
    using namespace lockstep;
    engine::prepare_host_memory();  // as the program does
    const auto make = [](unsigned threads) -> MakeDevice {
        return [threads, machine = config::Machine::load("h200")] {
            return make_simulator(machine, {.threads = threads});
        };
    };
    struct {
        const char *name, *parameters;
    } constexpr kWorkloads[] = {{"sgemm", "m=2048,n=2048,k=512"},
                                {"hgemm", "m=2048,n=2048,k=512"},
                                {"igemm", "m=2048,n=2048,k=512"},
                                {"attention_mma", "heads=32,seq=512,d=64"},
                                {"vector_add", "n=16777216"},
                                {"reduce", "n=16777216"},
                                {"transpose", ""},
                                {"histogram", ""},
                                {"vector_add", "n=128"}};
    for (const auto& [name, parameters] : kWorkloads) add_workload(make(1), name, parameters);
    for (const auto& [name, parameters] : std::span(kWorkloads).first(2))
        for (const unsigned threads : {1u, 2u})
            add_workload(make(threads), name, parameters,
                         "/threads:" + std::to_string(threads) + "/wall")
                ->UseRealTime();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
