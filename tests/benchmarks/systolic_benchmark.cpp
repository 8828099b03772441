// SPDX-License-Identifier: Apache-2.0
// Speed of the systolic array at its three fidelities: array cycles per second, PE updates per
// second and products per second. SCALE-Sim v2 simulates 24,500 cycles per second of CPU time on
// average over 925 layers, 7,400 on a 256 x 256 array, without computing a value.
#include <benchmark/benchmark.h>

#include "models/tpu/systolic/netlist.h"
#include "models/tpu/systolic/registers.h"
#include "models/tpu/systolic/wavefront.h"

namespace lockstep::tpu {
namespace {

Operands<std::int32_t> operands(const GemmShape& shape) {
    Operands<std::int32_t> result{shape, {}, {}};
    for (std::int64_t i = 0; i < shape.m * shape.k; ++i)
        result.a.push_back(static_cast<std::int32_t>(i * 37 % 256 - 128));
    for (std::int64_t i = 0; i < shape.k * shape.n; ++i)
        result.b.push_back(static_cast<std::int32_t>(i * 91 % 253 - 126));
    return result;
}

template <typename Run>
void measure(benchmark::State& state, Dataflow dataflow, const Run& run) {
    const std::int64_t side = state.range(0);
    const ArrayShape array{side, side, dataflow};
    const auto o = operands({4 * side, 2 * side, 2 * side});
    double cycles = 0;
    for (auto _ : state) cycles += static_cast<double>(run(array, Overlap::kNone, o).cycles);
    using benchmark::Counter;
    state.counters["cycles/s"] = Counter(cycles, Counter::kIsRate);
    state.counters["PE/s"] = Counter(cycles * static_cast<double>(side * side), Counter::kIsRate);
    state.counters["MAC/s"] =
        Counter(static_cast<double>(o.shape.macs()) * static_cast<double>(state.iterations()),
                Counter::kIsRate);
}

void registers(benchmark::State& state, Dataflow dataflow) {
    measure(state, dataflow, [](const auto&... a) { return run_registers(a...); });
}
void wavefront(benchmark::State& state, Dataflow dataflow) {
    measure(state, dataflow, [](const auto&... a) { return run_wavefront(a...); });
}
void netlist(benchmark::State& state, Dataflow dataflow) {
    measure(state, dataflow, [](const auto&... a) { return run_netlist(a...); });
}

BENCHMARK_CAPTURE(netlist, ws, Dataflow::kWeightStationary)->Arg(8)->Arg(32);
BENCHMARK_CAPTURE(registers, ws, Dataflow::kWeightStationary)->Arg(8)->Arg(32)->Arg(128)->Arg(256);
BENCHMARK_CAPTURE(registers, os, Dataflow::kOutputStationary)->Arg(128)->Arg(256);
BENCHMARK_CAPTURE(wavefront, ws, Dataflow::kWeightStationary)->Arg(128)->Arg(256);

}  // namespace
}  // namespace lockstep::tpu

BENCHMARK_MAIN();
