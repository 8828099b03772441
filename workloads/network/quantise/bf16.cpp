// SPDX-License-Identifier: Apache-2.0
// TPUs from the second on multiply bf16 operands and add in fp32; between operators tensors are
// kept in fp32, or in bf16 to halve the traffic. Source: Norrie et al., "The Design Process for
// Google's Training Chips: TPUv2 and TPUv3" (2021).
#include "workloads/network/quantise/bf16.h"

#include <algorithm>
#include <optional>

#include "sim/error/error.h"
#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/graph/products.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/quantise/rounded_operands.h"

namespace lockstep::network {

namespace {

std::int64_t onnx_number(ElementType type) {
    LOCKSTEP_CHECK(type == ElementType::kBf16 || type == ElementType::kFp16, "{} is no short type",
                   name_of(type));
    return type == ElementType::kBf16 ? kOnnxBf16 : kOnnxFp16;
}

}  // namespace

Graph cast_to_bf16(const Graph& graph) {
    return cast_floats(graph, ElementType::kBf16);
}

Graph cast_floats(const Graph& graph, ElementType type) {
    Graph result = graph;
    for (Value& value : result.values) {
        if (value.type != ElementType::kFp32) continue;
        value.type = type;
        if (value.is_known())
            value.data = std::make_shared<const Tensor>(
                from_floats(type, value.data->shape, to_floats(*value.data)));
    }
    for (Node& node : result.nodes) {
        if (node.op == Operator::kCast && node.integer("to", 0) == kOnnxFp32)
            node.attributes["to"] = onnx_number(type);
        // What a node holds itself becomes short where it is computed.
        for (auto& [name, attribute] : node.attributes) {
            const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&attribute);
            if (tensor == nullptr || (*tensor)->type != ElementType::kFp32) continue;
            attribute = std::make_shared<const Tensor>(
                from_floats(type, (*tensor)->shape, to_floats(**tensor)));
        }
    }
    validate(result);
    return result;
}

namespace {

/// Whether results are computed, not moved, so that they can be rounded on the way.
bool computes(Operator op) {
    const OperatorInfo& info = info_of(op);
    return info.role != LayerRole::kNone && info.role != LayerRole::kPooling;
}

/// Whether products alone read the value, however it is shaped for them.
class ReadByProducts {
  public:
    explicit ReadByProducts(const Graph& graph)
        : graph_(graph), uses_(graph), known_(graph.values.size()) {
        for (const ValueId id : graph.outputs) known_[id] = false;
    }
    bool operator()(ValueId id) {
        if (!known_[id])
            known_[id] =
                uses_.is_read(id) &&
                std::ranges::all_of(uses_.readers(id), [&](std::size_t reader) {
                    const Node& node = graph_.nodes[reader];
                    // As one of the first operands alone.
                    for (std::size_t i = is_view(node.op) ? 1 : 2; i < node.inputs.size(); ++i)
                        if (node.inputs[i] == id) return false;
                    return is_view(node.op) ? (*this)(node.outputs[0])
                                            : info_of(node.op).product != ProductForm::kNone;
                });
        return *known_[id];
    }

  private:
    const Graph& graph_;
    const Uses uses_;
    std::vector<std::optional<bool>> known_;
};

}  // namespace

Graph narrow_product_operands(const Graph& graph) {
    Graph result = graph;
    ReadByProducts only_products(graph);
    for (const std::size_t n : topological_order(graph)) {
        const Node& node = graph.nodes[n];
        // A view has the type of what it shows.
        if (is_view(node.op) ? result.value(node.inputs[0]).type != ElementType::kBf16
                             : !computes(node.op))
            continue;
        for (const ValueId id : node.outputs)
            if (id != kNoValue && graph.value(id).type == ElementType::kFp32 && only_products(id))
                result.values[id].type = ElementType::kBf16;
    }
    validate(result);
    return result;
}

Graph round_product_operands(const Graph& graph, ElementType type) {
    const auto round = [type](Value& value, std::size_t) {
        value.name += fmt::format(".{}", name_of(type));
        value.type = type;
        if (value.is_known())
            value.data = std::make_shared<const Tensor>(
                from_floats(type, value.data->shape, to_floats(*value.data)));
        else
            value.kind = ValueKind::kComputed;
        return decltype(Node::attributes){{"to", onnx_number(type)}};
    };
    RoundedOperands rounded(graph);
    for (Node node : graph.nodes) {
        if (info_of(node.op).product != ProductForm::kNone)
            for (std::size_t i = 0; i < 2; ++i)
                if (const ValueId id = node.inputs.at(i);
                    graph.value(id).type == ElementType::kFp32)
                    node.inputs[i] = rounded.of(id, 0, round);
        rounded.add(std::move(node));
    }
    return rounded.finish();
}

}  // namespace lockstep::network
