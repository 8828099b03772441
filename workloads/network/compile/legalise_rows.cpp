// SPDX-License-Identifier: Apache-2.0
// The cross-lane unit reduces along the last dimension: others are turned there, several become
// one.
#include <algorithm>
#include <cmath>

#include "workloads/network/compile/legalise.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::compile {

namespace {

std::vector<std::int64_t> reduced_axes(const Graph& graph, const Node& node, std::size_t rank,
                                       bool& given) {
    std::vector<std::int64_t> axes;
    for (const std::size_t axis : axes_of(graph, node, rank, given))
        axes.push_back(static_cast<std::int64_t>(axis));
    if (axes.empty() && node.integer("noop_with_empty_axes", 0) == 0)
        for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
    return axes;
}

/// The dimensions with those of `last` at the end.
std::vector<std::int64_t> moved_last(std::size_t rank, const std::vector<std::int64_t>& last) {
    std::vector<std::int64_t> perm;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d)
        if (std::find(last.begin(), last.end(), d) == last.end()) perm.push_back(d);
    perm.insert(perm.end(), last.begin(), last.end());
    return perm;
}

bool is_sorted_perm(const std::vector<std::int64_t>& perm) {
    return std::is_sorted(perm.begin(), perm.end());
}

bool write_reduction(NodeWriter& w, const Graph& graph, const Node& node) {
    using enum Operator;
    const ValueId x = node.inputs[0];
    const Shape in = graph.shape(x);
    bool given = false;
    const std::vector<std::int64_t> axes = reduced_axes(graph, node, in.size(), given);
    if (axes.empty() || element_count(in) == 0) return false;
    const ElementType type = graph.value(x).type;
    if (!is_floating(type)) return false;
    const std::string& name = node.name;
    const bool squares = node.op == kReduceL2 || node.op == kReduceSumSquare;
    const bool simple = node.op == kReduceMean || node.op == kReduceSum || node.op == kReduceMax;
    const auto rank = static_cast<std::int64_t>(in.size());
    if (simple && given && axes == std::vector<std::int64_t>{rank - 1}) return false;
    if (!simple && !squares && node.op != kReduceMin) return false;
    ValueId value = x;
    if (squares) value = w.add(kMul, name + ".squares", {x, x});
    if (node.op == kReduceMin) value = w.add(kNeg, name + ".negated", {x});
    const std::vector<std::int64_t> perm = moved_last(in.size(), axes);
    if (!is_sorted_perm(perm)) value = w.transpose(name + ".turn", value, perm);
    Shape rows;
    std::int64_t columns = 1;
    for (const std::int64_t d : perm) {
        const std::int64_t extent = in[static_cast<std::size_t>(d)];
        if (std::find(axes.begin(), axes.end(), d) == axes.end())
            rows.push_back(extent);
        else
            columns *= extent;
    }
    rows.push_back(columns);
    value = w.reshape(name + ".rows", value, rows);
    const Operator op = node.op == kReduceMin ? kReduceMax : squares ? kReduceSum : node.op;
    value =
        w.add(op, name, {value},
              {{"axes", std::vector<std::int64_t>{static_cast<std::int64_t>(rows.size()) - 1}}});
    if (node.op == kReduceMin) value = w.add(kNeg, name + ".least", {value});
    if (node.op == kReduceL2) value = w.add(kSqrt, name + ".root", {value});
    w.reshape(name + ".shape", value, graph.shape(node.outputs[0]), node.outputs[0]);
    return true;
}

bool write_softmax(NodeWriter& w, const Graph& graph, const Node& node) {
    using enum Operator;
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const Shape in = graph.shape(x);
    const auto axis = static_cast<std::int64_t>(axis_of(node, node.integer("axis", -1), in.size()));
    const bool last = axis + 1 == static_cast<std::int64_t>(in.size());
    const std::string& name = node.name;
    if (last && node.op == kSoftmax) return false;
    if (last) {  // LogSoftmax
        const std::vector<std::int64_t> axes = {axis};
        const ValueId most = w.add(kReduceMax, name + ".max", {x}, {{"axes", axes}});
        const ValueId less = w.add(kSub, name + ".less", {x, most});
        const ValueId sum = w.add(kReduceSum, name + ".sum",
                                  {w.add(kExp, name + ".powers", {less})}, {{"axes", axes}});
        w.add(kSub, name, {less, w.add(kLog, name + ".log", {sum})}, {}, 1, y);
        return true;
    }
    if (node.integer("flatten", 0) != 0) {
        const std::int64_t rows = element_count(Shape(in.begin(), in.begin() + axis));
        if (rows == 0) return false;
        const ValueId flat = w.reshape(name + ".rows", x, {rows, element_count(in) / rows});
        w.reshape(name + ".shape", w.add(node.op, name, {flat}, {{"axis", std::int64_t{1}}}), in,
                  y);
        return true;
    }
    std::vector<std::int64_t> perm = moved_last(in.size(), {axis}), back(in.size());
    for (std::size_t d = 0; d < perm.size(); ++d)
        back[static_cast<std::size_t>(perm[d])] = static_cast<std::int64_t>(d);
    const ValueId turned = w.transpose(name + ".turn", x, perm);
    w.transpose(name + ".return", w.add(node.op, name, {turned}, {{"axis", std::int64_t{-1}}}),
                back, y);
    return true;
}

bool write_layer_normalisation(NodeWriter& w, Graph& graph, const Node& node) {
    const Shape in = graph.shape(node.inputs[0]);
    const auto axis = static_cast<std::int64_t>(axis_of(node, node.integer("axis", -1), in.size()));
    if (axis + 1 == static_cast<std::int64_t>(in.size())) return false;
    const Shape slice(in.begin() + axis, in.end());
    const std::int64_t extent = element_count(slice);
    std::vector<ValueId> operands = {node.inputs[0]};
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
        const ValueId id = node.inputs[i];
        if (id != kNoValue && (!is_given(graph.value(id)) || graph.shape(id) != slice))
            return false;
        operands.push_back(id == kNoValue ? id : given_as(graph, id, {extent}));
    }
    Shape rows(in.begin(), in.begin() + axis);
    rows.push_back(extent);
    operands[0] = w.reshape(node.name + ".rows", node.inputs[0], rows);
    const ValueId y = w.add(Operator::kLayerNormalization, node.name, operands,
                            {{"epsilon", node.real("epsilon", 1e-5f)}});
    w.reshape(node.name + ".shape", y, in, node.outputs[0]);
    return true;
}

bool write_instance_normalisation(NodeWriter& w, Graph& graph, const Node& node) {
    const Shape in = graph.shape(node.inputs[0]);
    for (const std::size_t i : {1, 2})
        if (!is_given(graph.value(node.inputs[i]))) return false;
    const std::int64_t planes = in[0] * in[1];
    if (planes == 0 || element_count(in) == 0) return false;
    const std::int64_t extent = element_count(in) / planes;
    const std::string& name = node.name;
    const ElementType type = graph.value(node.inputs[0]).type;
    const std::vector<double> ones(static_cast<std::size_t>(extent), 1);
    const Shape rows = {in[0], in[1], extent}, channels = {in[1], 1};
    ValueId x = w.reshape(name + ".rows", node.inputs[0], rows);
    x = w.add(Operator::kLayerNormalization, name,
              {x, w.reals(name + ".ones", type, {extent}, ones)},
              {{"epsilon", node.real("epsilon", 1e-5f)}});
    x = w.add(Operator::kMul, name + ".scaled", {x, given_as(graph, node.inputs[1], channels)});
    x = w.add(Operator::kAdd, name + ".shifted", {x, given_as(graph, node.inputs[2], channels)});
    w.reshape(name + ".shape", x, in, node.outputs[0]);
    return true;
}

/// What BatchNormalization by known statistics is: channel by channel a factor and an addend.
struct Affine {
    std::vector<double> scale, shift;
};

std::optional<Affine> affine_of(const Graph& graph, const Node& node) {
    if (node.op != Operator::kBatchNormalization) return std::nullopt;
    for (std::size_t i = 1; i < 5; ++i)
        if (!graph.value(node.inputs[i]).is_known()) return std::nullopt;
    const auto values = [&](std::size_t i) {
        return to_doubles(*graph.value(node.inputs[i]).data);
    };
    const std::vector<double> gamma = values(1), beta = values(2), mean = values(3),
                              variance = values(4);
    Affine affine{std::vector<double>(gamma.size()), std::vector<double>(gamma.size())};
    for (std::size_t c = 0; c < gamma.size(); ++c) {
        affine.scale[c] = gamma[c] / std::sqrt(variance[c] + double{node.real("epsilon", 1e-5f)});
        affine.shift[c] = beta[c] - mean[c] * affine.scale[c];
    }
    return affine;
}

}  // namespace

bool write_reduced_ones(NodeWriter& w, Graph& graph, const Node& node) {
    using enum Operator;
    if (node.op != kReduceMax && node.op != kReduceMean && node.op != kReduceSum) return false;
    const Shape& in = graph.shape(node.inputs[0]);
    const auto axes = written_axes(graph, node);
    if (!axes || axes->empty()) return false;
    for (const std::int64_t axis : *axes)
        if (in.at(static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(in.size())
                                                    : axis)) != 1)
            return false;
    w.reshape(node.name, node.inputs[0], graph.shape(node.outputs[0]), node.outputs[0]);
    return true;
}

bool write_image_mean(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != Operator::kReduceMean) return false;
    const Shape& in = graph.shape(node.inputs[0]);
    bool given = false;
    if (in.size() != 4 || reduced_axes(graph, node, 4, given) != std::vector<std::int64_t>{2, 3} ||
        !is_floating(graph.value(node.inputs[0]).type))
        return false;
    const ValueId mean = w.add(Operator::kGlobalAveragePool, node.name, {node.inputs[0]});
    w.reshape(node.name + ".shape", mean, graph.shape(node.outputs[0]), node.outputs[0]);
    return true;
}

bool write_normalising_convolution(NodeWriter& w, Graph& graph, const Node& node) {
    const std::optional<Affine> affine = affine_of(graph, node);
    if (!affine || graph.shape(node.inputs[0]).size() != 4) return false;
    const ElementType type = graph.value(node.inputs[0]).type;
    const auto channels = static_cast<std::int64_t>(affine->scale.size());
    w.add(Operator::kConv, node.name,
          {node.inputs[0], w.reals(node.name + ".scale", type, {channels, 1, 1, 1}, affine->scale),
           w.reals(node.name + ".shift", type, {channels}, affine->shift)},
          {{"group", channels}}, 1, node.outputs[0]);
    return true;
}

bool write_normalising_product(NodeWriter& w, Graph& graph, const Node& node) {
    const std::optional<Affine> affine = affine_of(graph, node);
    if (!affine) return false;
    const ElementType type = graph.value(node.inputs[0]).type;
    const std::string& name = node.name;
    Shape along(graph.shape(node.inputs[0]).size() - 1, 1);
    along[0] = static_cast<std::int64_t>(affine->scale.size());
    const ValueId scaled =
        w.add(Operator::kMul, name + ".scaled",
              {node.inputs[0], w.reals(name + ".scale", type, along, affine->scale)});
    w.add(Operator::kAdd, name, {scaled, w.reals(name + ".shift", type, along, affine->shift)}, {},
          1, node.outputs[0]);
    return true;
}

bool write_along_last_axis(NodeWriter& w, Graph& graph, const Node& node) {
    using enum Operator;
    switch (node.op) {
        case kReduceL2:
        case kReduceMax:
        case kReduceMean:
        case kReduceMin:
        case kReduceSum:
        case kReduceSumSquare:
            return write_reduction(w, graph, node);
        case kLogSoftmax:
        case kSoftmax:
            return write_softmax(w, graph, node);
        case kLayerNormalization:
            return write_layer_normalisation(w, graph, node);
        case kInstanceNormalization:
            return write_instance_normalisation(w, graph, node);
        default:
            return false;
    }
}

}  // namespace lockstep::network::compile
