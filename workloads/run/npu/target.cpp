// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/npu/target.h"

namespace lockstep::run {

network::NpuTarget npu_target(const npu::Parameters& parameters) {
    const npu::CoreSpeed speed = parameters.speed();
    network::NpuTarget target;
    target.sram_bytes = parameters.sram.bytes;
    target.cores = parameters.cores;
    target.array_inputs = parameters.array.inputs;
    target.array_outputs = parameters.array.outputs;
    target.array_pixels = parameters.array.pixels;
    target.depthwise_taps = parameters.array.depthwise_taps;
    target.taps_share_lanes = parameters.array.taps_share_lanes;
    target.lines_share_lanes = parameters.array.lines_share_lanes;
    target.winograd = parameters.array.winograd;
    target.winograd_values = parameters.array.winograd_values;
    target.splits_for_weights = parameters.array.split == npu::Split::kWeights;
    target.splits_for_both = parameters.array.split == npu::Split::kBoth;
    target.keeps_values = target.cascades = parameters.sram.keeps_results;
    target.accumulator_bytes = parameters.accumulators;
    target.output_values = speed.output_values;
    target.window_values = parameters.output.window_values;
    target.neighbour_values = parameters.output.neighbour_values;
    target.move_bytes = speed.move_bytes;
    target.memory_bytes = speed.memory_bytes;
    target.memory_latency = speed.memory_latency;
    target.transfer_setup = speed.transfer_setup;
    target.command_cycles =
        parameters.array.latency + parameters.output.latency + parameters.issue_interval;
    target.programming_cycles = double(parameters.registers.cycles) * parameters.registers.array;
    return target;
}

}  // namespace lockstep::run
