// SPDX-License-Identifier: Apache-2.0
// What the rule of an operator sees of its node when gradients are written, and the rules by
// family.
#pragma once

#include <span>

#include "sim/error/error.h"
#include "workloads/network/decompose/node_writer.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network::training {

using enum Operator;

/// The gradients of one node's operands from those of its results. Rules write ordinary nodes; each
/// is named after the forward node, "NODE.grad....".
class Rule {
  public:
    /// `gradients`: of values, by id; kNoValue where there is none yet. `needed`: by value, whether
    /// its gradient is asked for.
    Rule(NodeWriter& writer, const Graph& graph, const Node& node, std::vector<ValueId>& gradients,
         const std::vector<bool>& needed)
        : w(writer), node(node), graph_(graph), gradients_(gradients), needed_(needed) {}

    NodeWriter& w;
    const Node& node;

    ValueId in(std::size_t i) const { return node.inputs.at(i); }
    ValueId out(std::size_t i = 0) const { return node.outputs.at(i); }
    bool has(std::size_t i) const { return node.input(i) != kNoValue; }
    /// A copy: the graph's values move as nodes are written.
    Shape shape(ValueId id) const { return graph_.shape(id); }
    ElementType type(ValueId id) const { return graph_.value(id).type; }
    const Graph& graph() const { return graph_; }
    bool needs(std::size_t i) const { return has(i) && needed_.at(node.inputs[i]); }
    /// The gradient of a result; kNoValue where it has none.
    ValueId dy(std::size_t i = 0) const;

    std::string name(std::string_view part) const;
    /// A node named NODE.grad.PART.
    ValueId op(Operator op, std::string_view part, std::vector<ValueId> inputs,
               NodeAttributes attributes = {}, std::int64_t outputs = 1) {
        return w.add(op, name(part), std::move(inputs), std::move(attributes), outputs);
    }
    ValueId scalar(std::string_view part, double value) {
        return w.scalar(name(part), type(out()), value);
    }
    ValueId times(std::string_view part, ValueId a, ValueId b) { return op(kMul, part, {a, b}); }
    ValueId times(std::string_view part, ValueId a, double b) {
        return b == 1 ? a : op(kMul, part, {a, scalar(std::string(part) + ".factor", b)});
    }
    /// a where the condition holds, else 0.
    ValueId where(std::string_view part, ValueId condition, ValueId a) {
        return op(kWhere, part, {condition, a, scalar(std::string(part) + ".zero", 0)});
    }
    /// The sum along axes, whose extents become 1.
    ValueId sum(std::string_view part, ValueId x, const std::vector<std::int64_t>& axes);

    /// The gradient of input i, or a part of it: it is summed down to the input's shape where that
    /// was broadcast, cast to its type, and added to what is there.
    void give(std::size_t i, ValueId gradient);

    [[noreturn]] void fail(const std::string& reason) const;

  private:
    const Graph& graph_;
    std::vector<ValueId>& gradients_;
    const std::vector<bool>& needed_;
};

/// Gives the gradients of the operands that need one; InputError where the node has none.
using WriteGradient = void (*)(Rule& rule);

struct RuleRow {
    Operator op;
    WriteGradient write;
};

// The rows of a family, a file each.
std::span<const RuleRow> element_rules();
std::span<const RuleRow> indexing_rules();
std::span<const RuleRow> movement_rules();
std::span<const RuleRow> product_rules();
std::span<const RuleRow> row_rules();
std::span<const RuleRow> window_rules();

}  // namespace lockstep::network::training
