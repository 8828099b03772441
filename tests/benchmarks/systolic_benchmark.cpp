// SPDX-License-Identifier: Apache-2.0
// Speed of the systolic array at its three fidelities: array cycles per second, PE updates per
// second and products per second. SCALE-Sim v2 simulates 24,500 cycles per second of CPU time on
// average over 925 layers, 7,400 on a 256 x 256 array, without computing a value; a layer takes it
// 0.49 s (median). `scalesim_layers` runs all layers, arrays and dataflows of
// validation/published's table, drawing int8 operands and computing every value.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

#include "models/tpu/systolic/netlist.h"
#include "models/tpu/systolic/registers.h"
#include "models/tpu/systolic/wavefront.h"
#include "validation/published/published.h"
#include "workloads/network/builtin/product_data.h"

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

std::vector<std::pair<ArrayShape, GemmShape>> scalesim_layers_of_table() {
    const validation::Table table = validation::published_table("scalesim");
    std::vector<std::pair<ArrayShape, GemmShape>> layers;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const auto integer = [&](std::string_view column) {
            return static_cast<std::int64_t>(table.number(i, column));
        };
        layers.push_back(
            {{integer("array_h"), integer("array_w"), parse_dataflow(table.text(i, "dataflow"))},
             {integer("M"), integer("N"), integer("K")}});
    }
    return layers;
}

void scalesim_layers(benchmark::State& state) {
    const auto layers = scalesim_layers_of_table();
    double cycles = 0, macs = 0;
    std::vector<double> seconds;
    for (auto _ : state)
        for (const auto& [array, shape] : layers) {
            const std::clock_t begin = std::clock();
            const network::ProductData<std::int32_t> data(
                {"layer", shape.m, shape.n, shape.k, 1, std::nullopt}, 0, 0);
            const auto result =
                run_wavefront<std::int32_t>(array, Overlap::kNone, {shape, data.a(), data.b()});
            benchmark::DoNotOptimize(result.c.data());
            cycles += static_cast<double>(result.cycles);
            macs += static_cast<double>(shape.macs());
            seconds.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        }
    constexpr double kScaleSim = 24500;  // cycles a second of CPU time
    double all = 0;
    for (const double s : seconds) all += s;
    std::sort(seconds.begin(), seconds.end());
    state.counters["cycles/s"] = cycles / all;
    state.counters["times_scalesim"] = cycles / all / kScaleSim;
    state.counters["MAC/s"] = macs / all;
    state.counters["median_s"] = seconds[seconds.size() / 2];
    state.counters["most_s"] = seconds.back();
}
BENCHMARK(scalesim_layers)->Iterations(1)->Unit(benchmark::kSecond);

BENCHMARK_CAPTURE(netlist, ws, Dataflow::kWeightStationary)->Arg(8)->Arg(32);
BENCHMARK_CAPTURE(registers, ws, Dataflow::kWeightStationary)->Arg(8)->Arg(32)->Arg(128)->Arg(256);
BENCHMARK_CAPTURE(registers, os, Dataflow::kOutputStationary)->Arg(128)->Arg(256);
BENCHMARK_CAPTURE(wavefront, ws, Dataflow::kWeightStationary)->Arg(128)->Arg(256);

}  // namespace
}  // namespace lockstep::tpu

BENCHMARK_MAIN();
