// SPDX-License-Identifier: Apache-2.0
// After NVDLA's convolution core (atomic operations, stripes, kernel groups; nvdla.org, unit
// description) and the block loops of Arm's Ethos-U as Vela's performance model counts them.
#include "models/npu/array_plan.h"

#include <algorithm>

#include "isa/npu/semantics/winograd.h"
#include "sim/numerics/integer.h"

namespace lockstep::npu {

namespace {

using enum Field;
using numerics::divide_up;

/// Lays the steps of one group of outputs out.
class Layout {
  public:
    Layout(const Instruction& i, const Parameters& p, std::uint32_t split)
        : i_(i), array_(p.array), decoder_(p.decoder), split_(split) {
        const std::uint64_t weights = weights_of(i);
        bytes_ = weights == 0 ? 0 : double(i[kWeightBytes]) / double(weights);
        if (weights == 0) bytes_ = bits_of(i.type(kOperandType)) / 8.0;  // a matrix from the SRAM
    }

    std::vector<Steps> steps(std::uint64_t outputs, std::span<const std::uint32_t> used) const {
        if (i_.opcode() == Opcode::kDepthwise) return depthwise(outputs);
        if (i_.opcode() == Opcode::kMatrixMultiply) return taps(outputs, 1, i_[kChannels]);
        const std::uint64_t taps_of = i_[kKernelHeight] * i_[kKernelWidth];
        if (winograd_) return by_winograd(outputs);
        if (!used.empty()) return skipping(outputs, used);
        const std::uint64_t channels = i_[kChannels], shared = lanes() / channels;
        if (!array_.taps_share_lanes || shared < 2 || i_[kKernelWidth] < 2)
            return taps(outputs, taps_of, channels);
        if (const std::uint64_t together = lines_together(i_, array_, lanes()); together > 1) {
            const std::uint64_t line = channels * i_[kKernelWidth], height = i_[kKernelHeight];
            std::vector<Steps> steps;
            if (height >= together) steps = taps(outputs, height / together, line * together);
            for (const Steps& rest : taps(outputs, 1, height % together * line))
                steps.push_back(rest);
            return steps;
        }
        // Taps of a kernel row side by side.
        return taps(outputs, i_[kKernelHeight], channels * i_[kKernelWidth],
                    channels * std::min(shared, i_[kKernelWidth]));
    }
    void set_winograd(bool winograd) { winograd_ = winograd; }

  private:
    std::uint64_t lanes() const { return std::uint64_t{array_.inputs} * split_; }

    Steps make(std::uint64_t count, std::uint64_t inputs, std::uint64_t weights) const {
        const auto from_bytes = static_cast<std::uint64_t>(double(weights) * bytes_);
        return {count, inputs, weights,
                std::max(divide_up(weights, std::uint64_t{decoder_.values}),
                         divide_up(from_bytes, std::uint64_t{decoder_.bytes}))};
    }
    /// `count` times `inputs` values, `most` a step.
    std::vector<Steps> taps(std::uint64_t outputs, std::uint64_t count, std::uint64_t inputs,
                            std::uint64_t most = ~std::uint64_t{0}) const {
        most = std::min(most, lanes());
        std::vector<Steps> steps;
        if (inputs >= most) steps.push_back(make(count * (inputs / most), most, most * outputs));
        if (inputs % most != 0)
            steps.push_back(make(count, inputs % most, inputs % most * outputs));
        return steps;
    }
    std::vector<Steps> depthwise(std::uint64_t outputs) const {
        const std::uint64_t taps_of = i_[kKernelHeight] * i_[kKernelWidth],
                            most = std::uint64_t{array_.depthwise_taps} * split_;
        return taps(outputs, 1, taps_of, most);
    }
    /// 16 positions of a patch take 16 lanes; of an input 9 weights are decoded and transformed.
    std::vector<Steps> by_winograd(std::uint64_t outputs) const {
        constexpr std::uint64_t kWeights = 9;
        const std::uint64_t channels = i_[kChannels], most = lanes() / kWinogradPositions;
        if (most == 0) {  // an input takes several steps
            const std::uint64_t parts = divide_up(std::uint64_t{kWinogradPositions}, lanes());
            std::vector<Steps> steps{make(channels * parts, lanes(), 0)};
            steps[0].weights = divide_up(kWeights * outputs, parts);
            steps[0].decode = divide_up(steps[0].weights, std::uint64_t{decoder_.values});
            return steps;
        }
        std::vector<Steps> steps;
        if (channels >= most)
            steps.push_back(
                make(channels / most, most * kWinogradPositions, most * kWeights * outputs));
        if (const std::uint64_t rest = channels % most; rest != 0)
            steps.push_back(make(1, rest * kWinogradPositions, rest * kWeights * outputs));
        return steps;
    }
    /// Of each tap the used inputs alone. A group without any still has one step.
    std::vector<Steps> skipping(std::uint64_t outputs, std::span<const std::uint32_t> used) const {
        std::vector<Steps> steps;
        for (const std::uint32_t inputs : used)
            for (const Steps& more : taps(outputs, 1, inputs))
                if (!steps.empty() && steps.back().inputs == more.inputs)
                    steps.back().count += more.count;
                else
                    steps.push_back(more);
        if (steps.empty()) steps.push_back(make(1, 0, 0));
        return steps;
    }

    const Instruction& i_;
    const ArrayParameters& array_;
    const DecoderParameters& decoder_;
    const std::uint32_t split_;
    double bytes_;  // of the stream, a weight
    bool winograd_ = false;
};

}  // namespace

std::uint64_t lines_together(const Instruction& i, const ArrayParameters& array,
                             std::uint64_t lanes) {
    const std::uint64_t most = array.lines_share_lanes, line = i[kChannels] * i[kKernelWidth],
                        stride = i[kChannels] * i[kStrideWidth];
    if (!array.taps_share_lanes || i[kKernelWidth] < 2 || i[kDilationHeight] > 1 ||
        i[kUpsampleHeight] > 1)
        return 1;
    for (const std::uint64_t lines : {4, 2})
        if (lines <= most && std::max(line, stride) <= lanes / lines) return lines;
    return 1;
}

std::uint32_t split_factor(const Instruction& i, const ArrayParameters& array) {
    const bool product = i.opcode() == Opcode::kMatrixMultiply;
    const std::uint32_t weights = bits_of(i.type(product ? kOperandType : kWeightType)),
                        inputs = bits_of(i.type(kInputType));
    switch (array.split) {
        case Split::kNone:
            return 1;
        case Split::kWeights:
            return 8 / weights;
        case Split::kBoth:
            return 8 / std::max(weights, inputs);
    }
    return 1;
}

std::uint64_t ArrayPlan::pixels_before(std::uint64_t position) const {
    const std::uint64_t a_row = divide_up(width, pixels_a_position);
    const std::uint64_t row = position / a_row * rows_a_position, column = position % a_row;
    if (row >= height) return height * width;
    return row * width +
           std::min(rows_a_position, height - row) * std::min(width, column * pixels_a_position);
}

ArrayPlan plan_array(const Instruction& i, const Parameters& parameters,
                     std::span<const std::uint32_t> used_inputs) {
    const ArrayParameters& array = parameters.array;
    const Image result = result_of(i);
    const bool winograd = uses_winograd(i, parameters.limits());
    ArrayPlan plan;
    plan.split = split_factor(i, array);
    plan.height = result.height;
    plan.width = result.width;
    plan.pixels = result.height * result.width;
    plan.rows_a_position = winograd ? 2 : 1;
    plan.pixels_a_position = std::uint64_t{array.pixels} * plan.rows_a_position;
    plan.positions = divide_up(plan.height, plan.rows_a_position) *
                     divide_up(plan.width, plan.pixels_a_position);
    plan.stripe = array.stripe;

    Layout layout(i, parameters, plan.split);
    layout.set_winograd(winograd);
    const std::uint64_t outputs = result.channels, whole = outputs / array.outputs;
    const std::size_t taps = used_inputs.empty() ? 0 : i[kKernelHeight] * i[kKernelWidth];
    for (std::uint64_t first = 0, g = 0; first < outputs; first += array.outputs, ++g) {
        const std::uint64_t here = std::min<std::uint64_t>(array.outputs, outputs - first);
        if (used_inputs.empty() && g > 0 && g < whole)
            plan.groups.push_back(plan.groups.front());
        else
            plan.groups.push_back(
                {here,
                 layout.steps(here, used_inputs.empty() ? used_inputs
                                                        : used_inputs.subspan(g * taps, taps))});
    }
    return plan;
}

ArrayTime array_time(const ArrayPlan& plan, std::uint32_t values_a_cycle) {
    ArrayTime time;
    if (plan.groups.empty() || plan.positions == 0) return time;
    // The first weights: nothing hides them.
    const std::uint64_t first_decode = plan.groups.front().steps.front().decode;
    std::uint64_t ready = first_decode;  // when the next group of outputs has its first weights
    time.decode_stall = ready;
    // Two groups' sums have room: one leaves while the next are added up.
    std::uint64_t left = 0, left_before = 0, summed = 0;
    for (std::uint64_t first = 0; first < plan.positions; first += plan.stripe) {
        const std::uint64_t end = std::min(first + plan.stripe, plan.positions),
                            positions = end - first,
                            pixels = plan.pixels_before(end) - plan.pixels_before(first);
        ++time.stripes;
        for (std::size_t g = 0; g < plan.groups.size(); ++g) {
            const OutputGroup& group = plan.groups[g];
            const bool last_group = g + 1 == plan.groups.size();
            const std::uint64_t next_decode = !last_group ? plan.groups[g + 1].steps.front().decode
                                              : end < plan.positions ? first_decode
                                                                     : 0;
            const std::uint64_t begin = std::max(ready, left_before);
            time.output_stall += begin - ready;
            // While the positions of a step pass, the next step's weights are decoded.
            std::uint64_t at = begin, steps = 0;
            for (std::size_t s = 0; s < group.steps.size(); ++s) {
                const Steps& step = group.steps[s];
                const bool last_kind = s + 1 == group.steps.size();
                const std::uint64_t after = last_kind ? next_decode : group.steps[s + 1].decode;
                at += (step.count - 1) * std::max(positions, step.decode) +
                      std::max(positions, after);
                if (last_kind) summed = at - std::max(positions, after) + positions;
                steps += step.count;
                time.decoded += step.count * step.weights;
            }
            ready = at;
            time.active += steps * positions;
            time.decode_stall += at - begin - steps * positions;
            time.steps += steps;
            left_before = left;
            const std::uint64_t leaving =
                values_a_cycle == 0 ? 0 : divide_up(pixels * group.outputs, values_a_cycle);
            left = std::max(summed, left) + leaving;
        }
    }
    time.cycles = std::max(summed, left);
    time.output_stall += time.cycles - summed;
    return time;
}

}  // namespace lockstep::npu
