// SPDX-License-Identifier: Apache-2.0
// The decompositions that operators.table names, a family a file: each writes the nodes that
// compute the outputs of `node`.
#pragma once

#include "sim/error/error.h"
#include "workloads/network/decompose/node_writer.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::decomposing {

[[noreturn]] void fail(const Node& node, const std::string& reason);

#define OPERATOR(name, ...)
#define COMPOSITE(name, a, b, c, d, attributes, writer) \
    void write_##writer(NodeWriter& w, const Graph& graph, const Node& node);
#include "workloads/network/graph/operators.table"
/// Of a Pad that adds more than constant elements, or takes some away.
void write_pad(NodeWriter& w, const Graph& graph, const Node& node);

}  // namespace lockstep::network::decomposing
