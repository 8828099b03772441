// SPDX-License-Identifier: Apache-2.0
// Functions of one element, a mean of several, and the size of a tensor. Source: the ONNX operator
// reference.
#include "workloads/network/decompose/parts.h"

namespace lockstep::network::decomposing {

namespace {

using enum Operator;

/// The parts of a function of a floating element x.
class Function {
  public:
    Function(NodeWriter& w, const Node& node)
        : x(node.inputs.at(0)), y(node.outputs.at(0)), w_(w), name_(node.name), type_(w.type(x)) {
        if (!is_floating(type_)) fail(node, fmt::format("is not computed in {}", name_of(type_)));
    }
    ValueId scalar(const char* what, double value) { return w_.scalar(name_ + what, type_, value); }
    /// Gives a value times a factor as the result.
    void give_scaled(ValueId value, const char* what, double factor) {
        w_.add(kMul, name_, {value, scalar(what, factor)}, {}, 1, y);
    }
    /// Where `compares(x, bound)`: then, else otherwise.
    ValueId choose(Operator compares, const char* what, double bound, ValueId then,
                   ValueId otherwise, ValueId into = kNoValue) {
        const std::string part = name_ + what;
        const ValueId condition =
            w_.add(compares, part + ".if", {x, w_.scalar(part + ".bound", type_, bound)});
        return w_.add(kWhere, part, {condition, then, otherwise}, {}, 1, into);
    }

    const ValueId x, y;

  private:
    NodeWriter& w_;
    const std::string& name_;
    const ElementType type_;
};

}  // namespace

void write_size(NodeWriter& w, const Graph&, const Node& node) {
    const std::int64_t count = element_count(w.shape(node.inputs.at(0)));
    w.give(w.constant(node.name, make_tensor({}, std::span(&count, 1))), node.outputs.at(0));
}

void write_mean(NodeWriter& w, const Graph&, const Node& node) {
    Function f(w, node);
    const ValueId sum = w.add(kSum, node.name + ".sum", node.inputs);
    f.give_scaled(sum, ".share", 1 / static_cast<double>(node.inputs.size()));
}

void write_selu(NodeWriter& w, const Graph&, const Node& node) {
    Function f(w, node);
    const ValueId elu = w.add(kElu, node.name + ".elu", {f.x},
                              {{"alpha", node.real("alpha", 1.67326319217681884765625f)}});
    f.give_scaled(elu, ".gamma", node.real("gamma", 1.05070102214813232421875f));
}

void write_celu(NodeWriter& w, const Graph&, const Node& node) {
    Function f(w, node);
    const double alpha = node.real("alpha", 1);
    const ValueId steps = w.add(kDiv, node.name + ".steps", {f.x, f.scalar(".alpha", alpha)});
    const ValueId elu = w.add(kElu, node.name + ".elu", {steps}, {{"alpha", 1.0f}});
    f.give_scaled(elu, ".factor", alpha);
}

void write_thresholded_relu(NodeWriter& w, const Graph&, const Node& node) {
    Function f(w, node);
    f.choose(kGreater, ".above", node.real("alpha", 1), f.x, f.scalar(".zero", 0), f.y);
}

void write_shrink(NodeWriter& w, const Graph&, const Node& node) {
    Function f(w, node);
    const std::string& name = node.name;
    const double bound = node.real("lambd", 0.5f);
    const ValueId shift = f.scalar(".bias", node.real("bias", 0));
    const ValueId up = w.add(kAdd, name + ".up", {f.x, shift}), zero = f.scalar(".zero", 0);
    const ValueId low = f.choose(kLess, ".below", -bound, up, zero);
    f.choose(kGreater, ".above", bound, w.add(kSub, name + ".down", {f.x, shift}), low, f.y);
}

}  // namespace lockstep::network::decomposing
