// SPDX-License-Identifier: Apache-2.0
// Counts of operations for a processor with fused multiply-add on vectors. What takes a polynomial,
// a division or a root counts as kSlow: Cephes' single-precision expf is a range reduction and a
// polynomial of degree 5; a Haswell divides 8 values in 14 cycles (Fog, instruction tables).
#include "workloads/network/products.h"
#include "workloads/network/tpu/host.h"

#include <algorithm>

namespace lockstep::network {

namespace {

constexpr uint64_t kSlow = 16;

uint64_t operations_per_element(Operator op) {
    switch (op) {
        case Operator::kConcat:
        case Operator::kConstantOfShape:
        case Operator::kExpand:
        case Operator::kFlatten:
        case Operator::kGather:
        case Operator::kIdentity:
        case Operator::kPad:
        case Operator::kReshape:
        case Operator::kSlice:
        case Operator::kSplit:
        case Operator::kSqueeze:
        case Operator::kTile:
        case Operator::kTranspose:
        case Operator::kUnsqueeze:
            return 0;
        case Operator::kCos:
        case Operator::kDiv:
        case Operator::kElu:
        case Operator::kErf:
        case Operator::kExp:
        case Operator::kGelu:
        case Operator::kLog:
        case Operator::kPow:
        case Operator::kReciprocal:
        case Operator::kSigmoid:
        case Operator::kSin:
        case Operator::kSoftplus:
        case Operator::kSoftsign:
        case Operator::kSqrt:
        case Operator::kTanh:
            return kSlow;
        case Operator::kLogSoftmax:
        case Operator::kSoftmax:
            return kSlow + 4;  // maximum, difference, sum, quotient by a common factor
        case Operator::kInstanceNormalization:
        case Operator::kLayerNormalization:
            return 8;  // mean, deviation and its square, scale and bias
        case Operator::kDequantizeLinear:
        case Operator::kQuantizeLinear:
            return 3;
        default:
            return 1;
    }
}

/// Nothing is moved.
bool is_view(Operator op) {
    return op == Operator::kFlatten || op == Operator::kIdentity || op == Operator::kReshape ||
           op == Operator::kSqueeze || op == Operator::kUnsqueeze;
}

/// Multiplications of a node that has_products(), a convolution over any number of dimensions.
uint64_t macs_of(const Graph& graph, const Node& node) {
    const auto count = [&](const Shape& shape) {
        return static_cast<uint64_t>(element_count(shape));
    };
    const auto extent = [](const Shape& shape, size_t d) {
        return static_cast<uint64_t>(std::max<int64_t>(1, shape.at(d)));
    };
    const Shape& x = graph.shape(node.input(0));
    switch (node.op) {
        case Operator::kConv:
        case Operator::kConvInteger:
        case Operator::kQLinearConv: {
            const Shape& filters =
                graph.shape(node.input(node.op == Operator::kQLinearConv ? 3 : 1));
            return count(graph.shape(node.outputs[0])) * count(filters) / extent(filters, 0);
        }
        case Operator::kLSTM: {
            const Shape &w = graph.shape(node.input(1)), &r = graph.shape(node.input(2));
            return extent(x, 0) * extent(x, 1) * (count(w) + count(r));
        }
        default: {
            const bool turned = node.integer("transA", 0) != 0;
            return count(graph.shape(node.outputs[0])) * extent(x, turned ? 0 : x.size() - 1);
        }
    }
}

}  // namespace

NodeCost cost_of(const Graph& graph, const Node& node) {
    NodeCost cost;
    if (is_view(node.op)) return cost;
    uint64_t read = 0, written = 0, elements = 0;
    const auto add = [&](ValueId id, uint64_t& bytes) {
        const auto count = static_cast<uint64_t>(element_count(graph.shape(id)));
        bytes += count * size_of(graph.value(id).type);
        elements = std::max(elements, count);
    };
    for (const ValueId id : node.outputs)
        if (id != kNoValue) add(id, written);
    // These read no more of their operand than they give.
    const bool part = node.op == Operator::kGather || node.op == Operator::kSlice;
    for (const ValueId id : node.inputs)
        if (id != kNoValue && !part) add(id, read);
    cost.bytes = (part ? written : read) + written;
    cost.operations = elements * operations_per_element(node.op);
    if (has_products(node.op)) cost.operations = 2 * macs_of(graph, node);
    return cost;
}

}  // namespace lockstep::network
