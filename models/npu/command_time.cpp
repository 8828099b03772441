// SPDX-License-Identifier: Apache-2.0
// Each class of time has its rate. The output pipeline is what Ethos-U's output unit and NVDLA's
// SDP and PDP are: it takes the array's sums as they come, or works by itself.
#include "models/npu/command_time.h"

#include <algorithm>

#include "sim/numerics/integer.h"

namespace lockstep::npu {

namespace {

using enum Field;
using numerics::divide_up;

void add_array(CommandTime& time, const Instruction& i, const Parameters& parameters,
               std::span<const std::uint32_t> used_inputs) {
    const ArrayPlan plan = plan_array(i, parameters, used_inputs);
    const std::uint32_t rate = output_rate(i, parameters.output);
    time.array = array_time(plan, rate);
    time.cycles = time.array.cycles;
    time.split = plan.split;
    time.latency = parameters.array.latency + (rate == 0 ? 0 : parameters.output.latency);
    const bool depthwise = i.opcode() == Opcode::kDepthwise;
    const std::uint64_t bits = bits_of(i.type(kInputType));
    std::uint64_t inputs = 0;  // values
    for (const OutputGroup& group : plan.groups)
        for (const Steps& step : group.steps) {
            time.executed_macs += plan.pixels * step.count * step.inputs * group.outputs;
            time.accumulator_updates += plan.pixels * step.count * group.outputs;
            // Depthwise: each output has inputs of its own.
            inputs += plan.pixels * step.count * step.inputs * (depthwise ? group.outputs : 1);
        }
    if (plan.rows_a_position == 2) {  // of F(2x2, 3x3) a patch, not a pixel, takes the products
        constexpr std::uint64_t kPixels = 4;
        time.executed_macs = divide_up(time.executed_macs, kPixels);
        time.accumulator_updates = divide_up(time.accumulator_updates, kPixels);
        inputs = divide_up(inputs, kPixels);
    }
    time.input_bytes = divide_up(inputs * bits, std::uint64_t{8});
    // Weights are read again for each stripe.
    time.weight_bytes =
        time.array.stripes *
        (i.opcode() == Opcode::kMatrixMultiply ? operand_of(i).bytes() : i[kWeightBytes]);
    time.parameter_bytes = time.array.stripes * parameter_bytes(i);
    time.output_values = rate == 0 ? 0 : result_of(i).values();
}

std::uint64_t window_values(const Instruction& i) {
    constexpr std::uint64_t kCorners = 4;
    const bool pool = i.opcode() == Opcode::kPool;
    const bool bilinear = !pool && i.as<Interpolation>(kInterpolation) >= Interpolation::kBilinear;
    return result_of(i).values() * (pool       ? i[kKernelHeight] * i[kKernelWidth]
                                    : bilinear ? kCorners
                                               : 1);
}

/// An instruction that only the output pipeline works on.
void add_elements(CommandTime& time, const Instruction& i, const OutputParameters& output) {
    const std::uint64_t values = input_of(i).values();
    time.output_values = result_of(i).values();
    time.latency = output.latency;
    time.input_bytes = input_of(i).bytes();
    time.parameter_bytes = parameter_bytes(i);
    switch (time_of(i.opcode())) {
        case Time::kWindows: {
            const std::uint64_t inputs = window_values(i);
            time.input_bytes = divide_up(inputs * bits_of(i.type(kInputType)), std::uint64_t{8});
            time.cycles = divide_up(inputs, std::uint64_t{output.window_values});
            break;
        }
        case Time::kNeighbours:
            time.cycles = divide_up(
                values, std::max(std::uint64_t{1}, std::uint64_t{output.neighbour_values}));
            break;
        case Time::kRows:
            time.cycles = values * output.softmax_cycles;
            break;
        default:
            time.cycles = divide_up(values, std::uint64_t{output_rate(i, output)});
            break;
    }
}

}  // namespace

std::uint32_t output_rate(const Instruction& i, const OutputParameters& output) {
    if (i.flag(kKeep)) return 0;
    const bool combines = has_operand(i) && i.opcode() != Opcode::kMatrixMultiply;
    return combines ? std::min(output.values, output.operand_values) : output.values;
}

std::uint64_t register_writes(const Instruction& i, const RegisterParameters& registers) {
    if (registers.cycles == 0) return 0;
    switch (time_of(i.opcode())) {
        case Time::kArray:
            return registers.array;
        case Time::kNeighbours:  // and the entries of its table
            return registers.output + parameter_bytes(i) / sizeof(std::uint16_t);
        default:
            return registers.output;
    }
}

CommandTime command_time(const Instruction& i, const Parameters& parameters,
                         std::span<const std::uint32_t> used_inputs) {
    CommandTime time;
    switch (time_of(i.opcode())) {
        case Time::kArray:
            add_array(time, i, parameters, used_inputs);
            break;
        case Time::kMove: {
            const std::uint64_t bytes = i[kRowBytes] * i[kRows] * i[kPlanes];
            time.cycles = i[kRows] * i[kPlanes] *
                          divide_up(i[kRowBytes], std::uint64_t{parameters.output.move_bytes});
            time.input_bytes = i.opcode() == Opcode::kCopy ? bytes : 0;
            time.output_bytes = bytes;
            return time;
        }
        default:
            add_elements(time, i, parameters.output);
            break;
    }
    if (has_operand(i) && i.opcode() != Opcode::kMatrixMultiply)
        time.operand_bytes =
            divide_up(result_of(i).values() * bits_of(i.type(kOperandType)), std::uint64_t{8});
    if (!i.flag(kKeep)) time.output_bytes = output_of(i).bytes();
    return time;
}

}  // namespace lockstep::npu
