// SPDX-License-Identifier: Apache-2.0
// Operators that compute and are no products, each a step; the order of all.
#include "workloads/network/npu/lower.h"

#include <algorithm>

#include "workloads/network/graph/fusion.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/reference/local_response.h"
#include "workloads/network/reference/tflite.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::npu_code {

namespace {

[[noreturn]] void refuse(const std::string& reason) {
    throw compile::Refusal(reason);
}

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

Step Lowering::begin(std::size_t index, isa::Opcode opcode) {
    const Node& node = graph_.nodes[index];
    Step step;
    step.name = node.name;
    step.nodes = {index};
    step.opcode = opcode;
    step.input = values_.own(node.inputs.at(0));
    step.input_zero = zero(node.inputs[0]);
    set_output(step, node.outputs.at(0));
    step.window.rows = step.output.box.h;
    step.window.columns = step.output.box.w;
    return step;
}

/// The stored values as they are.
void Lowering::identity(Step& step, ValueId from) {
    step.result = {1 << 30, 30};
    step.output_zero = zero(from);
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

Step Lowering::pooling(std::size_t index) {
    const Node& node = graph_.nodes[index];
    Step step = begin(index, isa::Opcode::kPool);
    const bool global =
        node.op == Operator::kGlobalAveragePool || node.op == Operator::kGlobalMaxPool;
    const Shape& x = graph_.shape(node.inputs[0]);
    if (x.size() != 4) refuse("windows that are not over two dimensions");
    if (global) {
        step.window = {x[2], x[3]};
    } else {
        const SlidingWindow window = window_of(node, x);
        if (window.dilation != std::vector<std::int64_t>{1, 1}) refuse("dilated pooling windows");
        step.window = {
            window.kernel[0],    window.kernel[1],    window.stride[0], window.stride[1], 1, 1,
            window.pad_begin[0], window.pad_begin[1], window.output[0], window.output[1]};
    }
    if (info_of(node.op).integers == IntegerForm::kSameScale) {
        step.pooling = isa::PoolMode::kMax;
        identity(step, node.inputs[0]);
        return step;
    }
    if (divides_stored_values(graph_, node)) {
        if (node.integer("count_include_pad", 0) != 0 &&
            step.window.pad_top + step.window.pad_left != 0)
            refuse("an average that counts padding, of the same scale");
        step.pooling = isa::PoolMode::kAverage;
        return step;
    }
    step.pooling = isa::PoolMode::kMean;
    const double ratio = scale(node.inputs[0]) / scale(node.outputs[0]);
    const std::int64_t most = step.window.height * step.window.width;
    const bool all = node.integer("count_include_pad", 0) != 0;
    if (all && node.integer("ceil_mode", 0) != 0)
        refuse("an average that counts padding by ceil_mode");
    std::vector<std::uint8_t> shifts;
    for (std::int64_t count = 1; count <= most; ++count) {
        const numerics::FixedPointScale s = numerics::mean_scale(ratio, all ? most : count);
        for (int byte = 0; byte < 4; ++byte)
            step.parameters.push_back(static_cast<std::uint8_t>(s.multiplier >> (8 * byte)));
        shifts.push_back(static_cast<std::uint8_t>(s.shift));
    }
    step.parameters.insert(step.parameters.end(), shifts.begin(), shifts.end());
    return step;
}

Step Lowering::softmax(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const Shape& shape = graph_.shape(node.inputs[0]);
    const std::size_t axis = axis_of(node, node.integer("axis", -1), shape.size());
    Step step = begin(index, isa::Opcode::kSoftmax);
    std::int64_t others = 1;
    for (std::size_t d = axis + 1; d < shape.size() && node.integer("flatten", 0) != 0; ++d)
        others *= shape[d];
    const bool channels =
        values_.is_image(node.inputs[0])
            ? axis == 1
            : std::all_of(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end(),
                          [](std::int64_t extent) { return extent == 1; });
    if (!channels || shape[axis] != step.input.box.c || others != 1)
        refuse("over another dimension than the channels");
    if (step.input.box.type != isa::ElementType::kInt8 ||
        step.output.box.type != isa::ElementType::kInt8)
        refuse("of fewer than 8 bits");
    step.softmax = softmax_scale_of(graph_, node);
    return step;
}

Step Lowering::local_response(std::size_t index) {
    const Node& node = graph_.nodes[index];
    if (target_.neighbour_values == 0) refuse("the NPU has no unit for it");
    Step step = begin(index, isa::Opcode::kLocalResponse);
    if (!values_.is_image(node.inputs[0])) refuse("over another dimension than the channels");
    const IntegerLocalResponse rule = integer_local_response(graph_, node);
    step.before = static_cast<std::uint32_t>(rule.before);
    step.after = static_cast<std::uint32_t>(rule.after);
    step.input_zero = zero(node.inputs[0]);
    step.result = rule.scale;
    for (const std::uint16_t entry : rule.table.entries) {
        step.parameters.push_back(static_cast<std::uint8_t>(entry & 0xff));
        step.parameters.push_back(static_cast<std::uint8_t>(entry >> 8));
    }
    return step;
}

std::vector<Step> Lowering::node(std::size_t index, std::vector<Step>& before) {
    const Node& node = graph_.nodes[index];
    const bool quantised = is_quantised(graph_, node);
    if (!quantised) refuse("it computes floats");
    if (is_given(graph_.value(node.inputs.at(0))) &&
        info_of(node.op).integers != IntegerForm::kCombination)
        refuse("its operand is a constant");
    switch (node.op) {
        case Operator::kConcat:
            return concatenation(index, before);
        case Operator::kPad:
            return padding(index);
        case Operator::kGather:
            return {gather(index)};
        case Operator::kResizeBilinear:
            return {resize(index)};
        case Operator::kSlice:
        case Operator::kSplit:
            see_slice(node);
            return {};
        case Operator::kAdd:
        case Operator::kSub:
        case Operator::kMul:
            return {combination(index)};
        case Operator::kSoftmax:
            return {softmax(index)};
        case Operator::kLRN:
            return {local_response(index)};
        default:
            break;
    }
    if (info_of(node.op).role == LayerRole::kPooling) return {pooling(index)};
    if (info_of(node.op).integers == IntegerForm::kTable) return {activation(index)};
    if (info_of(node.op).integers == IntegerForm::kSameValues && node.op != Operator::kExpand) {
        see(node, before);
        return {};
    }
    refuse("the NPU has no command for it");
}

namespace {

/// Whether the node reads what one of the host step's nodes makes in another shape, which is the
/// NPU's to say: then it is a task of its own, after that.
bool sees_otherwise(const Graph& graph, Values& values, const Step& step, std::size_t node) {
    std::set<ValueId> made;
    for (const std::size_t n : step.nodes)
        made.insert(graph.nodes[n].outputs.begin(), graph.nodes[n].outputs.end());
    return std::any_of(graph.nodes[node].inputs.begin(), graph.nodes[node].inputs.end(),
                       [&](ValueId id) {
                           if (id == kNoValue || made.contains(id)) return false;
                           const Value& value = graph.value(id);
                           return value.quantisation && value.type == ElementType::kInt8 &&
                                  !is_given(value) && made.contains(values.root_of(id));
                       });
}

}  // namespace

Lowered lower(const Graph& graph, Values& values, const NpuTarget& target,
              const std::set<std::size_t>& on_host) {
    Lowering lowering(graph, values, target);
    Lowered result;
    const auto try_nodes = [&](const std::vector<std::size_t>& nodes, auto&& make) {
        try {
            make();
        } catch (const compile::Refusal& refusal) {
            result.refused.emplace(nodes.front(), refusal.what());
        } catch (const InputError& error) {
            result.refused.emplace(nodes.front(), error.what());
        }
    };
    const auto add_node = [&](std::size_t n) {
        try_nodes({n}, [&] {
            for (Step& step : lowering.node(n, result.steps))
                result.steps.push_back(std::move(step));
        });
    };
    for (const Layer& layer : layers_of(graph)) {
        std::vector<std::size_t> nodes = layer.nodes;
        const bool hosts = on_host.contains(nodes.front());
        if (!hosts && info_of(graph.nodes[nodes.front()].op).role == LayerRole::kProduct) {
            // As far as the first that is the host's.
            nodes.erase(std::find_if(nodes.begin(), nodes.end(),
                                     [&](std::size_t n) { return on_host.contains(n); }),
                        nodes.end());
            std::size_t taken = 1;
            try_nodes(nodes, [&] {
                Step step = lowering.product(nodes);
                taken = step.nodes.size();
                result.steps.push_back(std::move(step));
            });
            nodes = layer.nodes;
            nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::int64_t>(taken));
        }
        for (const std::size_t n : nodes) {
            if (!on_host.contains(n)) {
                add_node(n);
                continue;
            }
            if (result.steps.empty() || !result.steps.back().on_host ||
                sees_otherwise(graph, values, result.steps.back(), n)) {
                result.steps.emplace_back();
                result.steps.back().on_host = true;
            }
            result.steps.back().nodes.push_back(n);
        }
    }
    return result;
}

}  // namespace lockstep::network::npu_code
