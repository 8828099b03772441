// SPDX-License-Identifier: Apache-2.0
// x / (bias + alpha / size * sum of the squares of neighbouring channels)^beta: squares, a
// convolution with a band matrix, a power and a quotient. Source: the ONNX operator reference, LRN.
#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/decompose/expand.h"
#include "workloads/network/decompose/node_writer.h"

namespace lockstep::network {

namespace {

/// The band is a whole matrix.
constexpr std::int64_t kMostChannels = 1 << 11;

void write_local_response(NodeWriter& w, const Node& node) {
    const ValueId x = node.inputs.at(0);
    const Shape in = w.shape(x);
    const std::int64_t size = node.integer("size", 0), channels = in.at(1);
    if (channels > kMostChannels)
        throw InputError(fmt::format("node {} (LRN): {} channels, of {} at most", node.name,
                                     channels, kMostChannels));
    const double share = double{node.real("alpha", 1e-4f)} / static_cast<double>(size);
    std::vector<double> weights(static_cast<std::size_t>(channels * channels), 0);
    for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t i = std::max<std::int64_t>(0, c - (size - 1) / 2);
             i < channels && i - c <= size / 2; ++i)
            weights[static_cast<std::size_t>(c * channels + i)] = share;
    Shape kernel(in.size(), 1);
    kernel[0] = kernel[1] = channels;
    const ElementType type = w.type(x);
    const std::vector<double> bias(static_cast<std::size_t>(channels),
                                   double{node.real("bias", 1)});
    const std::string& name = node.name;
    const ValueId squares = w.add(Operator::kMul, name + ".squares", {x, x});
    const ValueId sums = w.add(Operator::kConv, name + ".sums",
                               {squares, w.reals(name + ".weights", type, kernel, weights),
                                w.reals(name + ".bias", type, {channels}, bias)});
    const ValueId power = w.add(Operator::kPow, name + ".power",
                                {sums, w.scalar(name + ".beta", type, node.real("beta", 0.75f))});
    w.add(Operator::kDiv, name, {x, power}, {}, 1, node.outputs.at(0));
}

}  // namespace

int expand_local_response(Graph& graph) {
    std::vector<Node> nodes;
    int count = 0;
    for (Node& node : graph.nodes) {
        if (node.op != Operator::kLRN || graph.value(node.outputs.at(0)).quantisation) {
            nodes.push_back(std::move(node));
            continue;
        }
        NodeWriter w(graph);
        write_local_response(w, node);
        for (Node& part : w.take()) nodes.push_back(std::move(part));
        ++count;
    }
    graph.nodes = std::move(nodes);
    return count;
}

}  // namespace lockstep::network
