// SPDX-License-Identifier: Apache-2.0
// Meanings: the ONNX operator reference (opset 17).
#include "workloads/network/decompose/decompose.h"

#include <algorithm>

#include "workloads/network/decompose/parts.h"

namespace lockstep::network {

void decomposing::fail(const Node& node, const std::string& reason) {
    throw InputError(fmt::format("node {} ({}): {}", node.name, name_of(node.op), reason));
}

namespace {

/// A Pad that only adds zeros or another value stays what it is.
bool stays(const Graph& graph, const Node& node) {
    if (node.text("mode", "constant") != "constant") return false;
    const std::vector<std::int64_t> pads = known_integers(graph, node, 1);
    return std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad >= 0; });
}

}  // namespace

std::optional<std::vector<Node>> decompose(Graph& graph, const Node& node) {
    using Writer = void (*)(NodeWriter&, const Graph&, const Node&);
    static constexpr Writer kWriters[] = {
#define OPERATOR(name, ...) nullptr,
#define COMPOSITE(name, a, b, c, d, attributes, writer) &decomposing::write_##writer,
#include "workloads/network/graph/operators.table"
    };
    Writer write = kWriters[static_cast<std::size_t>(node.op)];
    if (node.op == Operator::kPad && !stays(graph, node)) write = &decomposing::write_pad;
    if (write == nullptr) return std::nullopt;
    NodeWriter w(graph);
    write(w, graph, node);
    return w.take();
}

}  // namespace lockstep::network
