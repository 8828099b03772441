// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/train/dropout.h"

#include <algorithm>
#include <cmath>

#include "sim/error/error.h"
#include "sim/numerics/philox.h"
#include "sim/numerics/random.h"
#include "workloads/network/decompose/node_writer.h"
#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/graph/uses.h"

namespace lockstep::network {

namespace {

/// Of the attribute (up to opset 11) or the second operand; ONNX's default is one half.
double ratio_of(const Graph& graph, const Node& node) {
    double ratio = double{node.real("ratio", 0.5f)};
    if (const ValueId id = node.input(1); id != kNoValue) {
        const Value& value = graph.value(id);
        if (!value.is_known() || value.data->size() != 1)
            throw InputError(fmt::format("node {} (Dropout): its ratio is computed", node.name));
        ratio = to_doubles(*value.data)[0];
    }
    if (!(ratio >= 0 && ratio < 1))
        throw InputError(
            fmt::format("node {} (Dropout): ratio {} is not in 0 to below 1", node.name, ratio));
    return ratio;
}

}  // namespace

std::vector<DropoutMask> write_dropout(Graph& graph) {
    const Uses uses(graph);
    std::vector<DropoutMask> masks;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node node = graph.nodes[n];
        if (node.op != Operator::kDropout) continue;
        const double ratio = ratio_of(graph, node);
        if (node.outputs.size() > 1 && node.outputs[1] != kNoValue && uses.is_read(node.outputs[1]))
            throw InputError(fmt::format("node {} (Dropout): its mask is read", node.name));
        if (ratio == 0) continue;  // an identity, which others remove
        const ValueId x = node.inputs[0];
        const ValueId mask =
            graph.add({node.name + ".mask", ValueKind::kInput, ElementType::kFp32, graph.shape(x)});
        masks.push_back({node.name, mask, ratio, static_cast<std::uint32_t>(masks.size())});
        NodeWriter w(graph);
        ValueId factor = mask;
        if (graph.value(x).type != ElementType::kFp32)
            factor = w.add(Operator::kCast, node.name + ".factor", {mask},
                           {{"to", onnx_type_of(graph.value(x).type)}});
        w.add(Operator::kMul, node.name, {x, factor}, {}, 1, node.outputs[0]);
        std::vector<Node> written = w.take();
        graph.nodes[n] = std::move(written.back());
        written.pop_back();
        graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(n), written.begin(),
                           written.end());
        n += written.size();
    }
    return masks;
}

Tensor draw_mask(const DropoutMask& mask, const Shape& shape, std::uint64_t seed,
                 std::uint64_t step) {
    const auto dropped = static_cast<std::uint32_t>(mask.ratio * 0x1p32);
    const auto kept = static_cast<float>(1 / (1 - mask.ratio));
    const std::uint64_t stream = numerics::mix(seed);
    const numerics::PhiloxKey key = {static_cast<std::uint32_t>(stream),
                                     static_cast<std::uint32_t>(stream >> 32)};
    Tensor tensor(ElementType::kFp32, shape);
    const std::span<float> values = tensor.as<float>();
    numerics::PhiloxCounter words{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % words.size() == 0)
            words = numerics::philox(
                {static_cast<std::uint32_t>(i / words.size()), mask.number,
                 static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)},
                key);
        values[i] = words[i % words.size()] < dropped ? 0 : kept;
    }
    return tensor;
}

}  // namespace lockstep::network
