// SPDX-License-Identifier: Apache-2.0
// What the rule of an operator sees of its node, and the rules that operators.table names. A family
// of them a file.
#pragma once

#include "sim/error/error.h"
#include "workloads/network/graph/graph.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::shapes {

[[noreturn]] void fail(const Node& node, const std::string& reason);

/// What a rule sees of its node.
struct Rule {
    Graph& graph;
    const Node& node;

    const Shape& in(std::size_t i) const { return graph.shape(node.inputs.at(i)); }
    ElementType type(std::size_t i) const { return graph.value(node.inputs.at(i)).type; }
    bool has(std::size_t i) const { return node.input(i) != kNoValue; }
    void set(std::size_t output, ElementType type, Shape shape) const {
        if (output >= node.outputs.size() || node.outputs[output] == kNoValue) return;
        element_count(shape);
        Value& value = graph.values.at(node.outputs[output]);
        // A quantised value was given its type with its scale.
        if (!value.quantisation) value.type = type;
        value.shape = std::move(shape);
    }
    void require(bool condition, const std::string& reason) const {
        if (!condition) fail(node, reason);
    }
    void require_rank(std::size_t i, std::size_t rank) const {
        if (in(i).size() != rank)
            fail(node, fmt::format("input {} is {}, not of rank {}", i, to_string(in(i)), rank));
    }
    /// The node computes on quantised values.
    bool is_quantised() const {
        return !node.outputs.empty() && node.outputs[0] != kNoValue &&
               graph.value(node.outputs[0]).quantisation.has_value();
    }
    /// All inputs are floating, of one type; or all are quantised.
    void require_floating() const {
        if (is_quantised()) {
            for (const ValueId id : node.inputs)
                require(id == kNoValue || graph.value(id).quantisation.has_value(),
                        "mixes values with and without quantisation");
            return;
        }
        require(is_floating(type(0)), fmt::format("is not computed in {}", name_of(type(0))));
        for (std::size_t i = 1; i < node.inputs.size(); ++i)
            if (has(i)) require_type(i, 0);
    }
    void require_type(std::size_t i, std::size_t like) const {
        if (type(i) != type(like) && !is_quantised())
            fail(node,
                 fmt::format("inputs of types {} and {}", name_of(type(like)), name_of(type(i))));
    }
};

#define OPERATOR(name, a, b, c, d, attributes, shape, ...) void infer_##shape(const Rule& rule);
#define COMPOSITE(name, ...)
#include "workloads/network/graph/operators.table"

/// The shape of a convolution of x with w. InputError where they do not fit.
Shape convolution_shape(const Rule& rule, const Shape& x, const Shape& w);
/// The shape of a matrix product with numpy's broadcasting.
Shape product_shape(const Rule& rule, const Shape& a, const Shape& b);

}  // namespace lockstep::network::shapes
