// SPDX-License-Identifier: Apache-2.0
// What is done element by element: tables and clamps, and sums, differences and products with a
// second operand; each a step, or taken into the step before.
#include <algorithm>

#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/npu/lower.h"
#include "workloads/network/reference/quantised.h"

namespace lockstep::network::npu_code {

namespace {

constexpr std::size_t kTableEntries = 256;

std::vector<std::uint8_t> bytes_of(const std::vector<std::int32_t>& table) {
    std::vector<std::uint8_t> bytes(kTableEntries, 0);
    for (std::size_t i = 0; i < table.size(); ++i) bytes[i] = static_cast<std::uint8_t>(table[i]);
    return bytes;
}

std::optional<isa::Broadcast> broadcast_of(const Layout& operand, const Layout& out) {
    const auto same = [](std::int64_t a, std::int64_t b) { return a == b; };
    const bool one_pixel = operand.h == 1 && operand.w == 1 && operand.n == 1;
    const bool all_pixels =
        same(operand.h, out.h) && same(operand.w, out.w) && same(operand.n, out.n);
    if (all_pixels && operand.c == out.c) return isa::Broadcast::kNone;
    if (one_pixel && operand.c == 1) return isa::Broadcast::kScalar;
    if (one_pixel && operand.c == out.c) return isa::Broadcast::kChannel;
    if (all_pixels && operand.c == 1) return isa::Broadcast::kPixel;
    return std::nullopt;
}

/// Whether the operand is the result's last dimensions, repeated along all before them.
bool is_tail(Shape operand, const Shape& out) {
    while (!operand.empty() && operand.front() == 1) operand.erase(operand.begin());
    return operand.size() <= out.size() &&
           std::equal(operand.rbegin(), operand.rend(), out.rbegin());
}

/// Rows as so many images of `rows` rows.
void see_as_images(Part& part, std::int64_t rows) {
    if (!part.is_whole() || part.box.n != 1)
        refuse("a part of a value, combined with a repeated one");
    part.box.n = part.box.h / rows;
    part.box.h = rows;
    part.whole = part.box;
}

}  // namespace

bool Lowering::absorb_activation(Step& step, const Node& node) {
    const ValueId from = node.inputs[0], to = node.outputs[0];
    if (values_.type_of(from) != values_.type_of(to)) return false;
    const std::vector<std::int32_t> table = activation_table(graph_, node, target_.requantisation);
    const std::int32_t least = range_of_type(values_.type_of(from)).low;
    bool clamps = true;
    for (std::size_t i = 0; i < table.size(); ++i)
        clamps =
            clamps && table[i] == std::clamp(least + static_cast<std::int32_t>(i), table.front(),
                                             std::max(table.front(), table.back()));
    if (step.table_at == isa::TableAt::kSum && !clamps) return false;
    if (step.table_at == isa::TableAt::kResult) {
        for (std::size_t i = 0; i < table.size(); ++i) {
            const auto stored = static_cast<std::int8_t>(step.table[i]);
            step.table[i] =
                static_cast<std::uint8_t>(table.at(static_cast<std::size_t>(stored - least)));
        }
        return true;
    }
    if (clamps) {
        step.low = std::clamp(step.low, table.front(), table.back());
        step.high = std::clamp(step.high, table.front(), table.back());
        return true;
    }
    step.table_at = isa::TableAt::kResult;
    step.table = bytes_of(table);
    return true;
}

/// Sets what is made of `first`, one of the node's inputs, and the other; false where the other
/// cannot be the second operand.
bool Lowering::set_combination(Step& step, const Node& node, ValueId first) {
    const bool swapped = node.inputs[1] == first && node.inputs[0] != first;
    if (swapped && node.op == Operator::kSub) return false;
    const ValueId other = node.inputs[swapped ? 0 : 1], out = node.outputs[0];
    const bool fused = step.is_product();
    // The sum's zero point is also that of what is added, which a table may have changed.
    if (fused &&
        (zero(first) != step.output_zero || values_.type_of(first) != values_.type_of(out)))
        return false;
    if (!graph_.value(other).quantisation || graph_.value(other).quantisation->axis) return false;
    const std::size_t rank = graph_.shape(out).size();
    Part operand;
    if (is_given(graph_.value(other)) || graph_.shape(other).size() != rank) {
        const Layout layout = values_.layout_of_operand(other, rank, values_.is_image(out));
        operand = {other, layout, layout};
        if (!is_given(graph_.value(other))) {
            if (!values_.seen(other).part.is_whole()) return false;
            operand.value = values_.own(other).value;
        }
    } else {
        operand = values_.own(other);
    }
    const Layout result = values_.own(out).box;
    if (fused && step.output.box.h * step.output.box.w != result.h * result.w) return false;
    const std::optional<isa::Broadcast> broadcast = broadcast_of(operand.box, result);
    const bool repeats = !broadcast && !fused && !values_.is_image(out) &&
                         is_tail(graph_.shape(other), graph_.shape(out));
    if (!broadcast && !repeats && fused) return false;
    if (!broadcast && !repeats) refuse("an operand that is repeated along some dimensions");
    if (repeats) {
        see_as_images(step.input, operand.box.h);
        see_as_images(step.output, operand.box.h);
        step.window.rows = operand.box.h;
    }
    step.broadcast = broadcast.value_or(isa::Broadcast::kNone);
    step.operand = operand;
    step.operand_zero = zero(other);
    step.combine = node.op == Operator::kMul   ? isa::Combine::kMultiply
                   : node.op == Operator::kSub ? isa::Combine::kSubtract
                                               : isa::Combine::kAdd;
    if (fused) {
        step.sum_zero = step.output_zero;
        step.sum_low = step.low;
        step.sum_high = step.high;
        if (step.table_at == isa::TableAt::kResult) step.table_at = isa::TableAt::kSum;
    }
    step.addition = numerics::addition_scales(scale(first), scale(other), scale(out));
    step.result = node.op == Operator::kMul
                      ? numerics::fixed_point_scale(double{static_cast<float>(scale(first)) *
                                                           static_cast<float>(scale(other)) /
                                                           static_cast<float>(scale(out))})
                      : step.addition.sum;
    step.output_zero = zero(out);
    const numerics::IntegerRange range = range_of_type(values_.type_of(out));
    step.low = range.low;
    step.high = range.high;
    return true;
}

Step Lowering::activation(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const ValueId from = node.inputs[0], to = node.outputs[0];
    Step step = begin(index, isa::Opcode::kElementwise);
    identity(step, from);
    if (absorb_activation(step, node)) return step;
    // Of another width: a rescaling, clamped.
    if (node.op != Operator::kRelu && node.op != Operator::kClip)
        refuse(fmt::format("a table from {} to {} bits", bits_of(graph_.value(from)),
                           bits_of(graph_.value(to))));
    const std::vector<std::int32_t> table = activation_table(graph_, node, target_.requantisation);
    step.result = numerics::fixed_point_scale(
        double{static_cast<float>(scale(from)) / static_cast<float>(scale(to))});
    step.output_zero = zero(to);
    step.low = *std::min_element(table.begin(), table.end());
    step.high = *std::max_element(table.begin(), table.end());
    return step;
}

Step Lowering::combination(std::size_t index) {
    const Node& node = graph_.nodes[index];
    Layout out = values_.own(node.outputs.at(0)).box;
    for (const std::size_t i : {0, 1}) {
        const ValueId first = node.inputs[i];
        if (is_given(graph_.value(first)) ||
            graph_.shape(first).size() != graph_.shape(node.outputs[0]).size())
            continue;
        Layout box = values_.own(first).box;
        box.type = out.type;
        if (box != out) continue;
        Step step = begin(index, isa::Opcode::kElementwise);
        step.input = values_.own(first);
        step.input_zero = zero(first);
        if (set_combination(step, node, first)) return step;
    }
    refuse("neither operand has the shape of the result, or the second is subtracted from");
}

}  // namespace lockstep::network::npu_code
