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

void write_local_response(NodeWriter& w, const Graph&, const Node& node) {
    // x / (bias + alpha / size * sum of the squares of neighbouring channels) ^ beta
    const ValueId x = node.inputs.at(0);
    const Shape in = w.shape(x);
    const std::int64_t size = node.integer("size", 0);
    if (in.size() < 3 || size < 1 || !is_floating(w.type(x)))
        fail(node, fmt::format("{} over {} channels", to_string(in), size));
    const std::int64_t channels = in[1];
    if (channels > (1 << 11)) fail(node, fmt::format("{} channels", channels));
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
