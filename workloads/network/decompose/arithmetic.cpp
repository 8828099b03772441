// SPDX-License-Identifier: Apache-2.0
// Sums and functions that are written with others. Source: the ONNX operator reference.
#include <algorithm>
#include <numeric>

#include "workloads/network/decompose/parts.h"

namespace lockstep::network::decomposing {

namespace {

/// A sum over neighbours as a product with a matrix of ones has so many elements at most.
constexpr std::int64_t kMaximumMatrix = std::int64_t{1} << 22;

}  // namespace

void write_cumulative_sum(NodeWriter& w, const Graph& graph, const Node& node) {
    ValueId x = node.inputs.at(0);
    const Shape in = w.shape(x);
    const std::vector<std::int64_t> given = known_integers(graph, node, 1);
    if (given.size() != 1) fail(node, fmt::format("{} axes", given.size()));
    const std::size_t axis = axis_of(node, given[0], in.size());
    const std::int64_t extent = in[axis];
    if (extent > (1 << 11)) fail(node, fmt::format("more than {} elements along an axis", 1 << 11));
    const bool exclusive = node.integer("exclusive", 0) != 0,
               reverse = node.integer("reverse", 0) != 0;
    std::vector<double> ones(static_cast<std::size_t>(extent * extent), 0);
    static_assert((std::int64_t{1} << 11) * (1 << 11) <= kMaximumMatrix);
    for (std::int64_t i = 0; i < extent; ++i)
        for (std::int64_t o = 0; o < extent; ++o) {
            const bool before = reverse ? i > o : i < o;
            if (before || (i == o && !exclusive))
                ones[static_cast<std::size_t>(i * extent + o)] = 1;
        }
    std::vector<std::int64_t> perm(in.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[axis], perm.back());
    const std::string& name = node.name;
    x = w.transpose(name + ".turn", x, perm);
    x = w.add(Operator::kMatMul, name,
              {x, w.reals(name + ".ones", w.type(x), {extent, extent}, ones)});
    w.transpose(name + ".return", x, perm, node.outputs.at(0));
}

namespace {

using enum Operator;

/// The sum over the axes of a reduction.
class Reduction {
  public:
    Reduction(NodeWriter& w, const Graph& graph, const Node& node) : w_(w), name_(node.name) {
        bool given = false;
        const Shape in = w.shape(node.inputs.at(0));
        for (const std::size_t axis : axes_of(graph, node, in.size(), given))
            axes_.push_back(static_cast<std::int64_t>(axis));
        if (!axes_.empty()) return;
        axes_.resize(in.size());
        std::iota(axes_.begin(), axes_.end(), 0);
    }
    const std::vector<std::int64_t>& axes() const { return axes_; }
    ValueId sum(ValueId x, std::int64_t keeps, ValueId into = kNoValue) {
        return w_.add(kReduceSum, name_ + ".sum", {x}, {{"axes", axes_}, {"keepdims", keeps}}, 1,
                      into);
    }

  private:
    NodeWriter& w_;
    const std::string& name_;
    std::vector<std::int64_t> axes_;
};

}  // namespace

void write_reduce_l1(NodeWriter& w, const Graph& graph, const Node& node) {
    Reduction(w, graph, node)
        .sum(w.add(kAbs, node.name + ".abs", {node.inputs.at(0)}), node.integer("keepdims", 1),
             node.outputs.at(0));
}

void write_reduce_log_sum(NodeWriter& w, const Graph& graph, const Node& node) {
    const ValueId sum =
        Reduction(w, graph, node).sum(node.inputs.at(0), node.integer("keepdims", 1));
    w.add(kLog, node.name, {sum}, {}, 1, node.outputs.at(0));
}

void write_reduce_log_sum_exp(NodeWriter& w, const Graph& graph, const Node& node) {
    const ValueId x = node.inputs.at(0);
    const std::string& name = node.name;
    Reduction reduction(w, graph, node);
    const std::vector<std::int64_t>& axes = reduction.axes();
    const ValueId most =
        w.add(kReduceMax, name + ".max", {x}, {{"axes", axes}, {"keepdims", std::int64_t{1}}});
    const ValueId powers = w.add(kExp, name + ".powers", {w.add(kSub, name + ".less", {x, most})});
    const ValueId log = w.add(kLog, name + ".log", {reduction.sum(powers, 1)});
    const ValueId whole = w.add(kAdd, name + ".whole", {log, most});
    Shape shape = w.shape(whole);
    if (node.integer("keepdims", 1) == 0)
        for (std::size_t d = axes.size(); d-- > 0;) shape.erase(shape.begin() + axes[d]);
    w.reshape(name, whole, shape, node.outputs.at(0));
}

}  // namespace lockstep::network::decomposing
