// SPDX-License-Identifier: Apache-2.0
// Sums and functions that are written with others. Source: the ONNX operator reference.
#include "workloads/network/decompose/parts.h"

#include <algorithm>
#include <numeric>

namespace lockstep::network::decomposing {

namespace {

/// A sum over neighbours as a product with a matrix of ones has so many elements at most.
constexpr int64_t kMaximumMatrix = int64_t{1} << 22;

}  // namespace

void write_local_response(NodeWriter& w, const Node& node) {
    // x / (bias + alpha / size * sum of the squares of neighbouring channels) ^ beta
    const ValueId x = node.inputs.at(0);
    const Shape in = w.shape(x);
    const int64_t size = node.integer("size", 0);
    if (in.size() < 3 || size < 1 || !is_floating(w.type(x)))
        fail(node, fmt::format("{} over {} channels", to_string(in), size));
    const int64_t channels = in[1];
    if (channels > (1 << 11)) fail(node, fmt::format("{} channels", channels));
    const double share = double{node.real("alpha", 1e-4f)} / static_cast<double>(size);
    std::vector<double> weights(static_cast<size_t>(channels * channels), 0);
    for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = std::max<int64_t>(0, c - (size - 1) / 2);
             i < channels && i - c <= size / 2; ++i)
            weights[static_cast<size_t>(c * channels + i)] = share;
    Shape kernel(in.size(), 1);
    kernel[0] = kernel[1] = channels;
    const ElementType type = w.type(x);
    const std::vector<double> bias(static_cast<size_t>(channels), double{node.real("bias", 1)});
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
    const std::vector<int64_t> given = known_integers(graph, node, 1);
    if (given.size() != 1) fail(node, fmt::format("{} axes", given.size()));
    const size_t axis = axis_of(node, given[0], in.size());
    const int64_t extent = in[axis];
    if (extent > (1 << 11)) fail(node, fmt::format("more than {} elements along an axis", 1 << 11));
    const bool exclusive = node.integer("exclusive", 0) != 0,
               reverse = node.integer("reverse", 0) != 0;
    std::vector<double> ones(static_cast<size_t>(extent * extent), 0);
    static_assert((int64_t{1} << 11) * (1 << 11) <= kMaximumMatrix);
    for (int64_t i = 0; i < extent; ++i)
        for (int64_t o = 0; o < extent; ++o) {
            const bool before = reverse ? i > o : i < o;
            if (before || (i == o && !exclusive)) ones[static_cast<size_t>(i * extent + o)] = 1;
        }
    std::vector<int64_t> perm(in.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[axis], perm.back());
    const std::string& name = node.name;
    x = w.transpose(name + ".turn", x, perm);
    x = w.add(Operator::kMatMul, name,
              {x, w.reals(name + ".ones", w.type(x), {extent, extent}, ones)});
    w.transpose(name + ".return", x, perm, node.outputs.at(0));
}

void write_reduction(NodeWriter& w, const Graph& graph, const Node& node) {
    using enum Operator;
    const ValueId x = node.inputs.at(0);
    const std::string& name = node.name;
    bool given = false;
    const Shape in = w.shape(x);
    std::vector<int64_t> axes;
    for (const size_t axis : axes_of(graph, node, in.size(), given))
        axes.push_back(static_cast<int64_t>(axis));
    if (axes.empty()) {
        axes.resize(in.size());
        std::iota(axes.begin(), axes.end(), 0);
    }
    const int64_t keep = node.integer("keepdims", 1);
    const auto sum = [&](ValueId value, int64_t keeps, ValueId into) {
        return w.add(kReduceSum, name + ".sum", {value}, {{"axes", axes}, {"keepdims", keeps}}, 1,
                     into);
    };
    const ValueId y = node.outputs.at(0);
    if (node.op == kReduceL1) {
        sum(w.add(kAbs, name + ".abs", {x}), keep, y);
    } else if (node.op == kReduceLogSum) {
        w.add(kLog, name, {sum(x, keep, kNoValue)}, {}, 1, y);
    } else {
        const ValueId most =
            w.add(kReduceMax, name + ".max", {x}, {{"axes", axes}, {"keepdims", int64_t{1}}});
        const ValueId powers =
            w.add(kExp, name + ".powers", {w.add(kSub, name + ".less", {x, most})});
        const ValueId log = w.add(kLog, name + ".log", {sum(powers, 1, kNoValue)});
        const ValueId whole = w.add(kAdd, name + ".whole", {log, most});
        Shape shape = w.shape(whole);
        if (keep == 0)
            for (size_t d = axes.size(); d-- > 0;) shape.erase(shape.begin() + axes[d]);
        w.reshape(name, whole, shape, y);
    }
}

void write_elementwise(NodeWriter& w, const Node& node) {
    using enum Operator;
    const ValueId x = node.inputs.at(0), y = node.outputs.at(0);
    const std::string& name = node.name;
    const ElementType type = w.type(x);
    if (node.op == kSize) {
        const int64_t count = element_count(w.shape(x));
        return w.give(w.constant(name, make_tensor({}, std::span(&count, 1))), y);
    }
    if (!is_floating(type)) fail(node, fmt::format("is not computed in {}", name_of(type)));
    const auto scalar = [&](const char* what, double value) {
        return w.scalar(name + what, type, value);
    };
    const auto where = [&](Operator compares, const char* what, double bound, ValueId then,
                           ValueId otherwise, ValueId into) {
        const std::string part = name + what;
        const ValueId condition =
            w.add(compares, part + ".if", {x, w.scalar(part + ".bound", type, bound)});
        return w.add(kWhere, part, {condition, then, otherwise}, {}, 1, into);
    };
    switch (node.op) {
        case kMean: {
            const ValueId sum = w.add(kSum, name + ".sum", node.inputs);
            w.add(kMul, name, {sum, scalar(".share", 1 / static_cast<double>(node.inputs.size()))},
                  {}, 1, y);
            break;
        }
        case kSelu: {
            const ValueId elu = w.add(kElu, name + ".elu", {x},
                                      {{"alpha", node.real("alpha", 1.67326319217681884765625f)}});
            w.add(kMul, name,
                  {elu, scalar(".gamma", node.real("gamma", 1.05070102214813232421875f))}, {}, 1,
                  y);
            break;
        }
        case kCelu: {
            const double alpha = node.real("alpha", 1);
            const ValueId steps = w.add(kDiv, name + ".steps", {x, scalar(".alpha", alpha)});
            const ValueId elu = w.add(kElu, name + ".elu", {steps}, {{"alpha", 1.0f}});
            w.add(kMul, name, {elu, scalar(".factor", alpha)}, {}, 1, y);
            break;
        }
        case kThresholdedRelu:
            where(kGreater, ".above", node.real("alpha", 1), x, scalar(".zero", 0), y);
            break;
        default: {  // kShrink
            const double bound = node.real("lambd", 0.5f), bias = node.real("bias", 0);
            const ValueId shift = scalar(".bias", bias);
            const ValueId low =
                where(kLess, ".below", -bound, w.add(kAdd, name + ".up", {x, shift}),
                      scalar(".zero", 0), kNoValue);
            where(kGreater, ".above", bound, w.add(kSub, name + ".down", {x, shift}), low, y);
            break;
        }
    }
}

}  // namespace lockstep::network::decomposing
