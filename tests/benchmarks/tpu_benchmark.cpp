// SPDX-License-Identifier: Apache-2.0
// Host time of TPU v1 on the convolutions of ResNet-50, batch 8, int8: with values, and time alone.
// A plain lowering of each convolution by itself; what stands between them costs little.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "isa/tpu/builder.h"
#include "models/tpu/tpu.h"
#include "sim/config/machine.h"

namespace lockstep::tpu {
namespace {

using enum Field;

struct Layer {
    int size, channels, outputs, kernel, stride, count;
};

// He et al., CVPR 2016: stem, then the bottlenecks of four stages (stride in the 3x3).
constexpr Layer kLayers[] = {
    {224, 3, 64, 7, 2, 1},   {56, 64, 64, 1, 1, 1},     {56, 256, 64, 1, 1, 2},
    {56, 64, 64, 3, 1, 3},   {56, 64, 256, 1, 1, 4},    {56, 256, 128, 1, 1, 1},
    {56, 128, 128, 3, 2, 1}, {56, 256, 512, 1, 2, 1},   {28, 512, 128, 1, 1, 3},
    {28, 128, 128, 3, 1, 3}, {28, 128, 512, 1, 1, 4},   {28, 512, 256, 1, 1, 1},
    {28, 256, 256, 3, 2, 1}, {28, 512, 1024, 1, 2, 1},  {14, 1024, 256, 1, 1, 5},
    {14, 256, 256, 3, 1, 5}, {14, 256, 1024, 1, 1, 6},  {14, 1024, 512, 1, 1, 1},
    {14, 512, 512, 3, 2, 1}, {14, 1024, 2048, 1, 2, 1}, {7, 2048, 512, 1, 1, 2},
    {7, 512, 512, 3, 1, 2},  {7, 512, 2048, 1, 1, 3},
};

void add_layer(ProgramBuilder& builder, const Layer& layer, int batch, std::uint64_t from,
               std::uint64_t to) {
    const int pad = layer.kernel / 2,
              out = (layer.size + 2 * pad - layer.kernel) / layer.stride + 1;
    const int lanes = layer.kernel * layer.kernel * layer.channels, rows = batch * out * out;
    constexpr int kChunk = 2048, kTile = 256;
    const int k_tiles = (lanes + kTile - 1) / kTile;
    const auto weights = builder.add_buffer(
        {.name = "w" + std::to_string(builder.size()),
         .space = Space::kMemory,
         .role = Role::kConstant,
         .bytes = static_cast<std::uint64_t>(lanes) * static_cast<std::uint64_t>(layer.outputs)});
    builder.begin_step("conv", static_cast<std::uint64_t>(rows) *
                                   static_cast<std::uint64_t>(lanes) *
                                   static_cast<std::uint64_t>(layer.outputs));
    int chunk = 0;
    for (int n = 0; n < layer.outputs; n += kTile) {
        const int columns = std::min(kTile, layer.outputs - n);
        for (int first = 0; first < rows; first += kChunk, ++chunk) {
            const int count = std::min(kChunk, rows - first);
            for (int k = 0; k < lanes; k += kTile) {
                const int used = std::min(kTile, lanes - k);
                const bool fresh = k_tiles > 1 || first == 0;
                if (fresh)
                    builder.emit(Opcode::kReadWeights,
                                 {{kAddress, builder.address(weights) +
                                                 static_cast<std::uint64_t>(k * layer.outputs + n)},
                                  {kPitch, layer.outputs},
                                  {kLanes, used},
                                  {kColumns, columns}});
                builder.emit(Opcode::kConvolve, {{kSource, from},
                                                 {kPixelPitch, layer.channels},
                                                 {kRows, count},
                                                 {kLanes, used},
                                                 {kColumns, columns},
                                                 {kAccumulator, chunk % 2 * kChunk},
                                                 {kAccumulate, k != 0},
                                                 {kSwitchWeights, fresh},
                                                 {kFirstRow, first},
                                                 {kFirstLane, k},
                                                 {kHeight, layer.size},
                                                 {kWidth, layer.size},
                                                 {kChannels, layer.channels},
                                                 {kOutHeight, out},
                                                 {kOutWidth, out},
                                                 {kKernelHeight, layer.kernel},
                                                 {kKernelWidth, layer.kernel},
                                                 {kStrideHeight, layer.stride},
                                                 {kStrideWidth, layer.stride},
                                                 {kPadTop, pad},
                                                 {kPadLeft, pad},
                                                 {kDilationHeight, 1},
                                                 {kDilationWidth, 1}});
            }
            builder.emit(
                Opcode::kActivate,
                {{kAccumulator, chunk % 2 * kChunk},
                 {kAccumulatorType, DataType::kInt32},
                 {kRows, count},
                 {kColumns, columns},
                 {kDestination, to + static_cast<std::uint64_t>(first * layer.outputs + n)},
                 {kPitch, layer.outputs},
                 {kFunction, Function::kRelu},
                 {kScale, 0.001f},
                 {kOutScale, 1.0f}});
        }
    }
}

Program resnet50(int batch) {
    ProgramBuilder builder(1);
    bool upper = false;
    constexpr std::uint64_t kHalf = 12 << 20;
    for (const Layer& layer : kLayers)
        for (int i = 0; i < layer.count; ++i, upper = !upper)
            add_layer(builder, layer, batch, upper ? kHalf : 0, upper ? 0 : kHalf);
    return builder.finish();
}

void tpu_v1_resnet50(benchmark::State& state) {
    const bool values = state.range(0) != 0;
    const Parameters parameters(*config::Machine::load("tpu_v1"));
    const Program program = resnet50(8);
    RunResult result;
    for (auto _ : state) {
        Storage storage(program, values);
        result = run(program, parameters, storage, {.values = values});
    }
    const StepResult total = result.total();
    state.counters["cycles"] = double(result.cycles);
    state.counters["instructions"] = double(result.instructions);
    state.counters["utilization_pct"] =
        100 * double(total.useful_macs) / (double(result.cycles) * 65536);
    state.counters["GMAC"] = double(total.useful_macs) / 1e9;
}
BENCHMARK(tpu_v1_resnet50)
    ->ArgName("values")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

void tpu_v1_resnet50_build(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(resnet50(8));
}
BENCHMARK(tpu_v1_resnet50_build)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::tpu
