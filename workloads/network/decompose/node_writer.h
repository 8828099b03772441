// SPDX-License-Identifier: Apache-2.0
// Writes the nodes that stand for another one.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

using NodeAttributes = std::map<std::string, Attribute, std::less<>>;

/// Makes nodes over the values of a graph, each with its shapes inferred; the graph gets the new
/// values, the caller the nodes (take()).
class NodeWriter {
  public:
    explicit NodeWriter(Graph& graph) : graph_(graph) {}

    /// The first of the node's new outputs, which have consecutive numbers; or `into`.
    ValueId add(Operator op, const std::string& name, std::vector<ValueId> inputs,
                NodeAttributes attributes = {}, std::int64_t outputs = 1, ValueId into = kNoValue);
    ValueId constant(const std::string& name, Tensor tensor);
    ValueId integers(const std::string& name, const std::vector<std::int64_t>& values);
    /// Real values of the type.
    ValueId reals(const std::string& name, ElementType type, Shape shape,
                  std::span<const double> values);
    ValueId scalar(const std::string& name, ElementType type, double value);
    ValueId reshape(const std::string& name, ValueId x, const Shape& shape,
                    ValueId into = kNoValue);
    ValueId transpose(const std::string& name, ValueId x, std::vector<std::int64_t> perm,
                      ValueId into = kNoValue);
    /// A value as the output of the node that is replaced.
    void give(ValueId from, ValueId to);

    const Shape& shape(ValueId id) const { return graph_.shape(id); }
    ElementType type(ValueId id) const { return graph_.value(id).type; }
    std::vector<Node> take() { return std::move(nodes_); }

  protected:
    Graph& graph_;

  private:
    std::vector<Node> nodes_;
};

}  // namespace lockstep::network
