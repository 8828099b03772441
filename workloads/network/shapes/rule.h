// SPDX-License-Identifier: Apache-2.0
// What the rule of an operator sees of its node, and the families of rules.
#pragma once

#include "sim/error/error.h"
#include "workloads/network/graph.h"
#include "workloads/network/shape_inference.h"

namespace lockstep::network::shapes {

[[noreturn]] void fail(const Node& node, const std::string& reason);

/// What a rule sees of its node.
struct Rule {
    Graph& graph;
    const Node& node;

    const Shape& in(size_t i) const { return graph.shape(node.inputs.at(i)); }
    ElementType type(size_t i) const { return graph.value(node.inputs.at(i)).type; }
    bool has(size_t i) const { return node.input(i) != kNoValue; }
    void set(size_t output, ElementType type, Shape shape) const {
        if (output >= node.outputs.size() || node.outputs[output] == kNoValue) return;
        element_count(shape);
        Value& value = graph.values.at(node.outputs[output]);
        value.type = type;
        value.shape = std::move(shape);
    }
    void require(bool condition, const std::string& reason) const {
        if (!condition) fail(node, reason);
    }
    void require_rank(size_t i, size_t rank) const {
        if (in(i).size() != rank)
            fail(node, fmt::format("input {} is {}, not of rank {}", i, to_string(in(i)), rank));
    }
    /// All inputs are floating, of one type.
    void require_floating() const {
        require(is_floating(type(0)), fmt::format("is not computed in {}", name_of(type(0))));
        for (size_t i = 1; i < node.inputs.size(); ++i)
            if (has(i)) require_type(i, 0);
    }
    void require_type(size_t i, size_t like) const {
        if (type(i) != type(like))
            fail(node,
                 fmt::format("inputs of types {} and {}", name_of(type(like)), name_of(type(i))));
    }
};

// One family of operators a file; false: not of this family.
bool infer_constant_family(const Rule& rule);
bool infer_elementwise_family(const Rule& rule);
bool infer_linear_family(const Rule& rule);
bool infer_movement_family(const Rule& rule);

}  // namespace lockstep::network::shapes
