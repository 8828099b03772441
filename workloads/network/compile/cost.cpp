// SPDX-License-Identifier: Apache-2.0
// Counts of operations for a processor with fused multiply-add on vectors. What takes a polynomial,
// a division or a root counts as kSlow: Cephes' single-precision expf is a range reduction and a
// polynomial of degree 5; a Haswell divides 8 values in 14 cycles (Fog, instruction tables).
#include "workloads/network/compile/cost.h"

#include <algorithm>

namespace lockstep::network::compile {

namespace {

constexpr std::uint64_t kSlow = 16;

std::uint64_t operations_per_element(Work work) {
    switch (work) {
        case Work::kView:
        case Work::kPart:
        case Work::kMove:
            return 0;
        case Work::kSimple:
            return 1;
        case Work::kScaling:
            return 3;
        case Work::kNormalisation:
            return 8;
        case Work::kFunction:
            return kSlow;
        case Work::kSoftmax:
            return kSlow + 4;
    }
    return 1;
}

/// Multiplications of a node with a ProductForm, a convolution over any number of dimensions.
std::uint64_t macs_of(const Graph& graph, const Node& node) {
    const auto count = [&](const Shape& shape) {
        return static_cast<std::uint64_t>(element_count(shape));
    };
    const auto extent = [](const Shape& shape, std::size_t d) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(1, shape.at(d)));
    };
    const Shape& x = graph.shape(node.input(0));
    switch (info_of(node.op).product) {
        case ProductForm::kConvolution: {
            const Shape& filters = graph.shape(node.input(info_of(node.op).weight));
            return count(graph.shape(node.outputs[0])) * count(filters) / extent(filters, 0);
        }
        case ProductForm::kRecurrent: {
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
    const OperatorInfo& info = info_of(node.op);
    if (info.work == Work::kView) return cost;
    std::uint64_t read = 0, written = 0, elements = 0;
    const auto add = [&](ValueId id, std::uint64_t& bytes) {
        const auto count = static_cast<std::uint64_t>(element_count(graph.shape(id)));
        bytes += count * size_of(graph.value(id).type);
        elements = std::max(elements, count);
    };
    for (const ValueId id : node.outputs)
        if (id != kNoValue) add(id, written);
    const bool part = info.work == Work::kPart;
    for (const ValueId id : node.inputs)
        if (id != kNoValue && !part) add(id, read);
    cost.bytes = (part ? written : read) + written;
    cost.operations = elements * operations_per_element(info.work);
    if (info.product != ProductForm::kNone) cost.operations = 2 * macs_of(graph, node);
    return cost;
}

}  // namespace lockstep::network::compile
