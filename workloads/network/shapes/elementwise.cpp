// SPDX-License-Identifier: Apache-2.0
// Shapes and types of the operators that work element by element, after the ONNX operator
// reference.
#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/shapes/rule.h"

namespace lockstep::network::shapes {

namespace {

/// The shape of what is computed of all inputs, which have one type unless told otherwise.
Shape broadcast_all(const Rule& r, bool one_type = true) {
    Shape shape = r.in(0);
    for (std::size_t i = 1; i < r.node.inputs.size(); ++i) {
        if (one_type) r.require_type(i, 0);
        shape = broadcast(shape, r.in(i), r.node);
    }
    return shape;
}

}  // namespace

void infer_same(const Rule& r) {
    r.set(0, r.type(0), r.in(0));
}

void infer_arithmetic(const Rule& r) {
    r.set(0, r.type(0), broadcast_all(r));
}

void infer_power(const Rule& r) {
    // The exponent may have a type of its own.
    r.set(0, r.type(0), broadcast_all(r, false));
}

void infer_comparison(const Rule& r) {
    r.set(0, ElementType::kBool, broadcast_all(r));
}

void infer_logic(const Rule& r) {
    r.require(r.type(0) == ElementType::kBool, "an operand is not bool");
    infer_arithmetic(r);
}

void infer_negation(const Rule& r) {
    r.require(r.type(0) == ElementType::kBool, "the operand is not bool");
    infer_same(r);
}

void infer_classification(const Rule& r) {
    r.require_floating();
    r.set(0, ElementType::kBool, r.in(0));
}

void infer_sloped(const Rule& r) {
    r.require_floating();
    r.require(broadcast(r.in(0), r.in(1), r.node) == r.in(0), "slope " + to_string(r.in(1)));
    infer_same(r);
}

void infer_cast(const Rule& r) {
    const std::optional<ElementType> to = onnx_element_type(r.node.integer("to", 0));
    r.require(to.has_value(), fmt::format("to type {}", r.node.integer("to", 0)));
    r.set(0, *to, r.in(0));
}

void infer_choice(const Rule& r) {
    r.require(r.type(0) == ElementType::kBool, "the condition is not bool");
    r.require_type(2, 1);
    r.set(0, r.type(1), broadcast(r.in(0), broadcast(r.in(1), r.in(2), r.node), r.node));
}

void infer_clip(const Rule& r) {
    for (std::size_t i = 1; i < r.node.inputs.size(); ++i)
        if (r.has(i)) r.require_type(i, 0);
    infer_same(r);
}

void infer_dropout(const Rule& r) {
    r.set(1, ElementType::kBool, r.in(0));
    infer_same(r);
}

}  // namespace lockstep::network::shapes
