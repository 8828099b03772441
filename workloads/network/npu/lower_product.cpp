// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products with what is fused to them: an activation, the addition of a
// second value, another activation, a pooling.
#include <algorithm>

#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/npu/lower.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::npu_code {

namespace {

constexpr std::int64_t kLargestPool = 15;  ///< window, stride and padding of a fused pooling

isa::ElementType weight_type(const Value& value) {
    switch (bits_of(value)) {
        case 4:
            return isa::ElementType::kInt4;
        case 2:
            return isa::ElementType::kInt2;
        default:
            return isa::ElementType::kInt8;
    }
}

}  // namespace

void Lowering::set_output(Step& step, ValueId id) {
    step.output = values_.own(id);
    step.output_zero = zero(id);
    const numerics::IntegerRange range = range_of_type(step.output.box.type);
    step.low = range.low;
    step.high = range.high;
}

void Lowering::set_sums(Step& step, const Node& node, std::int64_t outputs) {
    const Value& weight = graph_.value(node.inputs[1]);
    step.weight_type = weight_type(weight);
    for (const std::int32_t z : weight.quantisation->zero_point)
        if (z != 0) refuse("its weights have a zero point");
    step.input_zero = zero(node.inputs[0]);
    for (const double s : requantisation_scales(graph_, node))
        step.scales.push_back(numerics::fixed_point_scale(s));
    const ValueId bias = node.input(2);
    if (bias == kNoValue) return;
    if (!graph_.value(bias).is_known()) {
        step.bias.assign(static_cast<std::size_t>(outputs), 0);
        return;
    }
    for (const std::int64_t b : to_integers(*graph_.value(bias).data))
        step.bias.push_back(static_cast<std::int32_t>(b - zero(bias)));
}

void Lowering::set_convolution(Step& step, const Node& node) {
    const Shape &x = graph_.shape(node.inputs[0]), &w = graph_.shape(node.inputs[1]);
    if (x.size() != 4) refuse("a convolution that is not over two dimensions");
    const SlidingWindow window = spread_window_of(node, x, w);
    step.window = {window.kernel[0],   window.kernel[1],   window.stride[0],    window.stride[1],
                   window.dilation[0], window.dilation[1], window.pad_begin[0], window.pad_begin[1],
                   window.output[0],   window.output[1],   window.upsample[0],  window.upsample[1]};
    step.groups = window.group;
    const std::int64_t outputs = w[0], depth = w[1], taps = w[2] * w[3];
    step.macs = element_count(graph_.shape(node.outputs[0])) * depth * taps;
    if (depth == 1 && step.groups == x[1] && step.groups > 1) {
        step.opcode = isa::Opcode::kDepthwise;
        step.groups = 1;
    } else if (step.groups > 1) {
        const std::uint32_t bits = isa::bits_of(step.input.box.type);
        if (depth * bits % 8 != 0 ||
            outputs / step.groups * isa::bits_of(values_.type_of(node.outputs[0])) % 8 != 0)
            refuse("groups of channels that do not begin at a byte");
    }
    step.weight_count = static_cast<std::uint64_t>(outputs * depth * taps);
    const Value& weight = graph_.value(node.inputs[1]);
    if (!weight.is_known()) return;
    const std::span<const std::int8_t> from = weight.data->as<std::int8_t>();
    step.weights.resize(from.size());
    for (std::int64_t k = 0; k < outputs; ++k)
        for (std::int64_t c = 0; c < depth; ++c)
            for (std::int64_t t = 0; t < taps; ++t)
                step.weights[static_cast<std::size_t>((k * taps + t) * depth + c)] =
                    from[static_cast<std::size_t>((k * depth + c) * taps + t)];
}

void Lowering::set_matrix(Step& step, const Node& node) {
    const Value& weight = graph_.value(node.inputs[1]);
    const bool transposed = node.op == Operator::kGemm && node.integer("transB", 0) != 0;
    if (node.op == Operator::kGemm && node.integer("transA", 0) != 0) refuse("transA");
    const Shape& w = *weight.shape;
    if (w.size() != 2) refuse("a product with several matrices");
    const std::int64_t outputs = w[transposed ? 0 : 1], depth = w[transposed ? 1 : 0];
    step.window.rows = step.input.box.h;
    step.window.columns = step.input.box.w;
    step.macs = element_count(graph_.shape(node.outputs[0])) * depth;
    step.weight_count = static_cast<std::uint64_t>(outputs * depth);
    if (!weight.is_known()) return;
    const std::span<const std::int8_t> from = weight.data->as<std::int8_t>();
    const Shape& flat = values_.seen(node.inputs[0]).flat;
    const std::int64_t channels = flat.empty() ? depth : flat[0], area = depth / channels;
    step.weights.resize(from.size());
    for (std::int64_t k = 0; k < outputs; ++k)
        for (std::int64_t c = 0; c < depth; ++c) {
            // The graph's order is c, h, w; the image lies as h, w, c.
            const std::int64_t at = flat.empty() ? c : c % area * channels + c / area;
            step.weights[static_cast<std::size_t>(k * depth + at)] =
                from[static_cast<std::size_t>(transposed ? k * depth + c : c * outputs + k)];
        }
}

bool Lowering::absorb_pool(Step& step, const Node& node) {
    if (node.op != Operator::kMaxPool) return false;
    const SlidingWindow window = window_of(node, graph_.shape(node.inputs[0]));
    if (window.kernel.size() != 2) return false;
    for (std::size_t d = 0; d < 2; ++d)
        if (std::max({window.kernel[d], window.stride[d], window.pad_begin[d], window.pad_end[d]}) >
                kLargestPool ||
            window.dilation[d] != 1)
            return false;
    FusedPool pool{isa::PoolMode::kMax, window.kernel[0],  window.kernel[1],
                   window.stride[0],    window.stride[1],  window.pad_begin[0],
                   window.pad_begin[1], window.pad_end[0], window.pad_end[1]};
    // As far as the last window reaches.
    pool.bottom = std::max<std::int64_t>(
        0, (window.output[0] - 1) * pool.stride_height + pool.height - pool.top - step.window.rows);
    pool.right = std::max<std::int64_t>(0, (window.output[1] - 1) * pool.stride_width + pool.width -
                                               pool.left - step.window.columns);
    if (pool.top >= pool.height || pool.bottom >= pool.height || pool.left >= pool.width ||
        pool.right >= pool.width)
        return false;
    step.pool = pool;
    return true;
}

/// Takes the node, which reads `from`, into the step; false where the step has no place for it.
bool Lowering::absorb(Step& step, const Node& node, ValueId from) {
    if (step.pool.mode != isa::PoolMode::kNone) return false;
    if (step.is_matrix_product() && info_of(node.op).role != LayerRole::kActivation) return false;
    switch (info_of(node.op).role) {
        case LayerRole::kActivation:
            return absorb_activation(step, node);
        case LayerRole::kAddend:
            return step.combine == isa::Combine::kNone && set_combination(step, node, from);
        case LayerRole::kPooling:
            return absorb_pool(step, node);
        default:
            return false;
    }
}

Step Lowering::product_of_weights(const Node& node) {
    Step step;
    step.name = node.name;
    step.input = values_.own(node.inputs[0]);
    values_.type_of(node.outputs[0]);
    if (node.op == Operator::kConv)
        set_convolution(step, node);
    else
        set_matrix(step, node);
    set_output(step, node.outputs[0]);
    set_sums(step, node, step.output.box.c);
    return step;
}

Step Lowering::product(const std::vector<std::size_t>& layer) {
    const Node& head = graph_.nodes[layer.front()];
    const bool of_values = !is_given(graph_.value(head.inputs.at(1)));
    if (is_given(graph_.value(head.inputs[0]))) refuse("its first operand is a constant");
    Step step = of_values ? product_of_values(head) : product_of_weights(head);
    step.nodes = {layer.front()};
    for (std::size_t i = 1; i < layer.size(); ++i) {
        const Node& node = graph_.nodes[layer[i]];
        if (!is_quantised(graph_, node) ||
            !absorb(step, node, graph_.nodes[layer[i - 1]].outputs[0]))
            break;
        step.nodes.push_back(layer[i]);
        step.name += "+" + node.name;
        if (of_values)  // its matrices lie as they did
            step.output.value = values_.own(node.outputs[0]).value;
        else
            step.output = values_.own(node.outputs[0]);
    }
    return step;
}

}  // namespace lockstep::network::npu_code
