// SPDX-License-Identifier: Apache-2.0
// The time of commands, as the model has it but for what depends on neighbours: the array takes a
// tap, its input channels and output channels a cycle; results leave through the pipeline.
#include <algorithm>
#include <cmath>

#include "sim/numerics/integer.h"
#include "workloads/network/npu/plan.h"

namespace lockstep::network::npu_code {

namespace {

double ceil_ratio(std::int64_t a, std::int64_t b) {
    return static_cast<double>(numerics::divide_up(a, b));
}

double split_of(const Step& step, const NpuTarget& target) {
    const std::uint32_t weight = isa::bits_of(step.weight_type),
                        input = isa::bits_of(step.input.box.type);
    if (target.splits_for_weights) return 8.0 / weight;
    return target.splits_for_both ? 8.0 / std::max(weight, input) : 1;
}

}  // namespace

bool by_winograd(const Step& step, const NpuTarget& target) {
    const Window& w = step.window;
    return target.winograd && step.opcode == isa::Opcode::kConvolve && w.height == 3 &&
           w.width == 3 && w.stride_height == 1 && w.stride_width == 1 && w.dilation_height == 1 &&
           w.dilation_width == 1 && w.upsample_height == 1 && w.upsample_width == 1;
}

std::uint64_t stored_stream(const Step& step, const NpuTarget& target, std::uint64_t bytes) {
    constexpr std::uint64_t kKernel = 9;
    return by_winograd(step, target) ? numerics::divide_up(bytes * target.winograd_values, kKernel)
                                     : bytes;
}

std::uint64_t weight_bytes(const Step& step, const NpuTarget& target, std::int64_t channels,
                           std::int64_t inputs) {
    const auto outputs = static_cast<std::uint64_t>(step.output_channels());
    std::uint64_t each = outputs == 0 ? 0 : step.weight_count / outputs;
    if (inputs != 0)
        each = each / static_cast<std::uint64_t>(step.input.box.c) *
               static_cast<std::uint64_t>(inputs);
    const std::uint64_t values = each * static_cast<std::uint64_t>(channels);
    const std::uint64_t parameters = static_cast<std::uint64_t>(channels) * 9;
    // Each part of a stream, of a group of channels or a core, is rounded up.
    const auto parts = static_cast<std::uint64_t>(step.groups) + isa::kMaxCores;
    return stored_stream(step, target, isa::packed_bytes(values, step.weight_type)) + 32 * parts +
           parameters;
}

double core_cycles(const Step& step, const NpuTarget& target, std::int64_t rows,
                   std::int64_t channels) {
    const Rows windows = step.window_rows({0, rows});
    const double pixels = static_cast<double>(windows.count() * step.window.columns);
    const double values = pixels * static_cast<double>(channels);
    const double leaving = values / target.output_values;
    const auto taps = step.window.height * step.window.width;
    switch (step.opcode) {
        case isa::Opcode::kConvolve: {
            const std::int64_t depth = step.input.box.c / step.groups;
            const double split = split_of(step, target);
            const auto lanes = static_cast<std::int64_t>(target.array_inputs * split);
            double reads = static_cast<double>(taps) * ceil_ratio(depth, lanes);
            if (target.taps_share_lanes && depth * 2 <= lanes)
                reads = static_cast<double>(step.window.height) *
                        ceil_ratio(step.window.width, lanes / depth);
            const std::int64_t line = depth * std::max(step.window.width, step.window.stride_width);
            const bool shares_lines = target.taps_share_lanes && step.window.width > 1 &&
                                      step.window.dilation_height == 1 &&
                                      step.window.upsample_height == 1;
            for (const std::int64_t lines : {2, 4})
                if (shares_lines && lines <= target.lines_share_lanes && line <= lanes / lines)
                    reads = ceil_ratio(step.window.height, lines);
            const double passes = ceil_ratio(channels, target.array_outputs);
            if (by_winograd(step, target)) {  // patches of 2 x 2, of which an input takes 16 lanes
                const double patches =
                    ceil_ratio(windows.count(), 2) * ceil_ratio(step.window.columns, 2);
                const double steps = lanes >= 16
                                         ? ceil_ratio(depth, lanes / 16)
                                         : static_cast<double>(depth) * ceil_ratio(16, lanes);
                return std::max(leaving, steps * passes * patches / target.array_pixels);
            }
            return std::max(leaving, reads * passes * pixels / target.array_pixels);
        }
        case isa::Opcode::kDepthwise: {
            const double split = split_of(step, target);
            const auto lanes = static_cast<std::int64_t>(target.depthwise_taps * split);
            return std::max(leaving, ceil_ratio(taps, std::max<std::int64_t>(1, lanes)) *
                                         ceil_ratio(channels, target.array_outputs) * pixels /
                                         target.array_pixels);
        }
        case isa::Opcode::kMatrixMultiply: {
            const std::uint32_t narrow = std::max(
                isa::bits_of(step.operand.box.type),
                target.splits_for_weights ? std::uint32_t{0} : isa::bits_of(step.input.box.type));
            const bool splits = target.splits_for_weights || target.splits_for_both;
            const std::int64_t lanes =
                std::int64_t{target.array_inputs} * (splits ? 8 / narrow : 1);
            return std::max(leaving, ceil_ratio(step.input.box.c, lanes) *
                                         ceil_ratio(channels, target.array_outputs) *
                                         ceil_ratio(rows, target.array_pixels));
        }
        case isa::Opcode::kPool:
            return values * static_cast<double>(taps) / target.window_values;
        case isa::Opcode::kResize: {
            constexpr double kCorners = 4;
            const bool bilinear = step.interpolation >= isa::Interpolation::kBilinear;
            return values * (bilinear ? kCorners : 1) / target.window_values;
        }
        case isa::Opcode::kLocalResponse:
            return values / target.neighbour_values;
        case isa::Opcode::kFill:
            return values / target.move_bytes;
        default:
            return leaving;
    }
}

}  // namespace lockstep::network::npu_code
