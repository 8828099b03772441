// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/quantise/fp8.h"

#include <algorithm>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/rounded_operands.h"

namespace lockstep::network {

namespace {

/// The largest of e4m3 (OCP 8-bit Floating Point Specification 1.0).
constexpr float kLargest = 448;
/// Channels that 16 bytes hold.
constexpr std::int64_t kAtOnce = 16;

float scale_for(float largest) {
    return largest > 0 && std::isfinite(largest)
               ? std::exp2(std::ceil(std::log2(largest / kLargest)))
               : 1.0f;
}

float largest_of(const Graph& graph, ValueId id, const Ranges& ranges) {
    const Value& value = graph.value(id);
    if (!value.is_known())
        return std::max(std::abs(ranges.at(id).low), std::abs(ranges.at(id).high));
    float largest = 0;
    for (const float x : to_floats(*value.data)) largest = std::max(largest, std::abs(x));
    return largest;
}

/// Extent of the dimension that 16 bytes are fetched along.
std::int64_t channels_of(const Graph& graph, const Node& node) {
    const Shape& weight = graph.shape(node.inputs[1]);
    if (node.op == Operator::kConv) return weight[1];
    const bool transposed = node.op == Operator::kGemm && node.integer("transB", 0) != 0;
    return weight[weight.size() - (transposed ? 1 : 2)];
}

bool is_of_a_weight(const Graph& graph, const Node& node) {
    if (info_of(node.op).role != LayerRole::kProduct || is_quantised(graph, node)) return false;
    const Value &x = graph.value(node.inputs[0]), &w = graph.value(node.inputs[1]);
    return !is_given(x) && is_given(w) && w.is_known() && is_floating(x.type) &&
           is_floating(w.type) && w.shape->size() >= 2 && channels_of(graph, node) % kAtOnce == 0;
}

}  // namespace

std::optional<float> e4m3_scale_of(const Node& node) {
    if (node.op != Operator::kCast || !node.has("e4m3_scale")) return std::nullopt;
    return node.real("e4m3_scale", 1);
}

Graph round_product_operands_to_e4m3(const Graph& graph, const Ranges& ranges) {
    RoundedOperands rounded(graph);
    for (Node node : graph.nodes) {
        if (is_of_a_weight(graph, node))
            for (std::size_t i = 0; i < 2; ++i) {
                const ValueId id = node.inputs[i];
                const auto round = [&](Value& value, std::size_t number) {
                    value.name = fmt::format("{}.e4m3{}", value.name, number);
                    value.kind = ValueKind::kComputed;
                    value.data = nullptr;
                    return decltype(Node::attributes){
                        {"to", onnx_type_of(value.type)},
                        {"e4m3_scale", scale_for(largest_of(graph, id, ranges))}};
                };
                // A convolution's operand and a matrix product's may lie differently.
                node.inputs[i] = rounded.of(id, static_cast<int>(node.op), round);
            }
        rounded.add(std::move(node));
    }
    return rounded.finish();
}

}  // namespace lockstep::network
