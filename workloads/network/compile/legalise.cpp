// SPDX-License-Identifier: Apache-2.0
// The rounds, and the rules for windows and products.
#include "workloads/network/compile/legalise.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::compile {

namespace {

/// Convolutions and pooling over parts of images, or all of them.
bool slides(const Node& node) {
    return node.op == Operator::kConv || info_of(node.op).role == LayerRole::kPooling;
}

}  // namespace

/// [n, c, w] as [n, c, 1, w].
bool write_in_two_dimensions(NodeWriter& w, Graph& graph, const Node& node) {
    if (!slides(node)) return false;
    Shape in = graph.shape(node.inputs[0]);
    if (in.size() != 3) return false;
    Node flat = node;
    if (node.op == Operator::kConv) {
        if (!is_given(graph.value(node.inputs[1]))) return false;
        Shape filter = graph.shape(node.inputs[1]);
        filter.insert(filter.begin() + 2, 1);
        flat.inputs[1] = given_as(graph, node.inputs[1], filter);
    }
    for (auto& [name, attribute] : flat.attributes)
        if (auto* list = std::get_if<std::vector<std::int64_t>>(&attribute))
            *list = name == "pads" ? std::vector<std::int64_t>{0, list->at(0), 0, list->at(1)}
                                   : std::vector<std::int64_t>{1, list->at(0)};
    in.insert(in.begin() + 2, 1);
    flat.inputs[0] = w.reshape(node.name + ".image", node.inputs[0], in);
    const ValueId y = w.add(node.op, node.name, flat.inputs, flat.attributes);
    w.reshape(node.name + ".line", y, graph.shape(node.outputs[0]), node.outputs[0]);
    return true;
}

/// Pooling over three dimensions of which one or two have windows of 1: local response
/// normalisation over channels is written so.
bool write_flat_pool(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != Operator::kMaxPool && node.op != Operator::kAveragePool) return false;
    const Shape in = graph.shape(node.inputs[0]), out = graph.shape(node.outputs[0]);
    if (in.size() != 5) return false;
    const SlidingWindow window = window_of(node, in);
    const auto passes = [&](std::size_t d) {
        return window.kernel[d] == 1 && window.stride[d] == 1 && window.pad_begin[d] == 0 &&
               window.pad_end[d] == 0;
    };
    const bool first = passes(1) && passes(2), last = passes(0);
    if (!first && !last) return false;
    // [n, c, d, h w] or [n, c d, h, w]
    const std::size_t from = first ? 0 : 1;
    const Shape flat = first ? Shape{in[0], in[1], in[2], in[3] * in[4]}
                             : Shape{in[0], in[1] * in[2], in[3], in[4]};
    const auto part = [&](const std::vector<std::int64_t>& list) {
        return std::vector<std::int64_t>(list.begin() + static_cast<std::int64_t>(from),
                                         list.begin() + static_cast<std::int64_t>(from) + 2);
    };
    std::vector<std::int64_t> pads = part(window.pad_begin);
    const std::vector<std::int64_t> end = part(window.pad_end);
    pads.insert(pads.end(), end.begin(), end.end());
    NodeAttributes attributes = {{"kernel_shape", part(window.kernel)},
                                 {"strides", part(window.stride)},
                                 {"pads", pads},
                                 {"ceil_mode", node.integer("ceil_mode", 0)}};
    if (node.op == Operator::kAveragePool)
        attributes["count_include_pad"] = node.integer("count_include_pad", 0);
    else
        attributes["dilations"] = part(window.dilation);
    const ValueId x = w.reshape(node.name + ".flat", node.inputs[0], flat);
    w.reshape(node.name + ".shape", w.add(node.op, node.name, {x}, attributes), out,
              node.outputs[0]);
    return true;
}

/// Averages whose last windows reach past the padding that they count (ceil_mode): of a padded
/// image they count what lies in it.
bool write_padded_average(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != Operator::kAveragePool || node.integer("ceil_mode", 0) == 0 ||
        node.integer("count_include_pad", 0) == 0)
        return false;
    const Shape& in = graph.shape(node.inputs[0]);
    if (in.size() != 4) return false;
    const SlidingWindow window = window_of(node, in);
    std::vector<std::int64_t> pads = {0, 0};
    pads.insert(pads.end(), window.pad_begin.begin(), window.pad_begin.end());
    pads.insert(pads.end(), {0, 0});
    pads.insert(pads.end(), window.pad_end.begin(), window.pad_end.end());
    Node average = node;
    average.attributes["count_include_pad"] = std::int64_t{0};
    average.attributes["pads"] = std::vector<std::int64_t>(4, 0);
    average.attributes.erase("auto_pad");
    Shape padded = in;
    for (std::size_t d = 0; d < 4; ++d) padded[d] += pads[d] + pads[d + 4];
    // A window that would begin in the padding at the end is one of the padded image alone.
    if (window_of(average, padded).output != window.output) return false;
    if (padded != in)
        average.inputs[0] = w.add(Operator::kPad, node.name + ".padded",
                                  {node.inputs[0], w.integers(node.name + ".pads", pads)});
    w.add(node.op, node.name, average.inputs, average.attributes, 1, node.outputs[0]);
    return true;
}

bool write_copy(NodeWriter& w, Graph&, const Node& node) {
    using enum Operator;
    const bool has_mask = node.outputs.size() > 1 && node.outputs[1] != kNoValue;
    const bool is_dropout = node.op == kDropout && !has_mask;
    const bool is_alone =
        (node.op == kSum || node.op == kMax || node.op == kMin) && node.inputs.size() == 1;
    if (!is_dropout && !is_alone) return false;
    w.add(kIdentity, node.name, {node.inputs[0]}, {}, 1, node.outputs[0]);
    return true;
}

bool write_chain(NodeWriter& w, Graph&, const Node& node) {
    using enum Operator;
    if (node.op != kSum && node.op != kMax && node.op != kMin) return false;
    // Max and Min of two are what machines have; a Sum of two is an Add.
    if (node.inputs.size() < (node.op == kSum ? 2 : 3)) return false;
    const Operator op = node.op == kSum ? kAdd : node.op;
    ValueId x = node.inputs[0];
    for (std::size_t i = 1; i < node.inputs.size(); ++i)
        x = w.add(op, fmt::format("{}.{}", node.name, i), {x, node.inputs[i]}, {}, 1,
                  i + 1 == node.inputs.size() ? node.outputs[0] : kNoValue);
    return true;
}

bool write_vector_product(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != Operator::kMatMul) return false;
    Shape a = graph.shape(node.inputs[0]), b = graph.shape(node.inputs[1]);
    if (a.size() > 1 && b.size() > 1) return false;
    if (a.size() == 1) a.insert(a.begin(), 1);
    if (b.size() == 1) b.push_back(1);
    const ValueId y = w.add(Operator::kMatMul, node.name,
                            {w.reshape(node.name + ".left", node.inputs[0], a),
                             is_given(graph.value(node.inputs[1]))
                                 ? given_as(graph, node.inputs[1], b)
                                 : w.reshape(node.name + ".right", node.inputs[1], b)});
    w.reshape(node.name + ".vector", y, graph.shape(node.outputs[0]), node.outputs[0]);
    return true;
}

bool write_quotient(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != Operator::kDiv) return false;
    const Value& divisor = graph.value(node.inputs[1]);
    if (divisor.type != ElementType::kFp32 || !is_given(divisor) || !divisor.is_known())
        return false;
    std::vector<float> inverse = to_floats(*divisor.data);
    for (float& x : inverse) {
        if (x == 0) return false;
        x = 1 / x;
    }
    const ValueId factor = w.constant(node.name + ".inverse",
                                      from_floats(ElementType::kFp32, *divisor.shape, inverse));
    w.add(Operator::kMul, node.name, {node.inputs[0], factor}, {}, 1, node.outputs[0]);
    return true;
}

/// alpha A' B + beta C, with its factors and the transposition by themselves.
bool write_gemm(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != Operator::kGemm) return false;
    const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
    const bool turns = node.integer("transA", 0) != 0, has_c = node.input(2) != kNoValue;
    const bool plain_c =
        !has_c || (is_given(graph.value(node.inputs[2])) &&
                   graph.shape(node.inputs[2]) == Shape{graph.shape(node.outputs[0])[1]});
    if (alpha == 1 && (beta == 1 || !has_c) && !turns && plain_c) return false;
    const std::string& name = node.name;
    const ElementType type = graph.value(node.inputs[0]).type;
    ValueId a = node.inputs[0];
    if (turns) a = w.transpose(name + ".turn", a, {1, 0});
    std::vector<ValueId> operands = {a, node.inputs[1]};
    const bool keeps_c = has_c && plain_c && alpha == 1 && beta == 1;
    if (keeps_c) operands.push_back(node.inputs[2]);
    ValueId y = w.add(Operator::kGemm, name, operands, {{"transB", node.integer("transB", 0)}});
    if (alpha != 1)
        y = w.add(Operator::kMul, name + ".scaled", {y, w.scalar(name + ".alpha", type, alpha)});
    if (has_c && !keeps_c) {
        ValueId c = node.inputs[2];
        if (beta != 1)
            c = w.add(Operator::kMul, name + ".c", {c, w.scalar(name + ".beta", type, beta)});
        y = w.add(Operator::kAdd, name + ".sum", {y, c});
    }
    w.give(y, node.outputs[0]);
    return true;
}

void legalise(Graph& graph, std::span<const Rule> rules) {
    // What is written may need a rule of its own: a few rounds are enough for all of them.
    for (int round = 0; round < 4; ++round) {
        std::vector<Node> nodes;
        bool changed = false;
        for (const std::size_t n : topological_order(graph)) {
            const Node node = graph.nodes[n];
            const bool quantised = graph.value(node.outputs.at(0)).quantisation.has_value();
            NodeWriter writer(graph);
            if (quantised || std::none_of(rules.begin(), rules.end(),
                                          [&](Rule write) { return write(writer, graph, node); })) {
                nodes.push_back(node);
                continue;
            }
            changed = true;
            for (Node& part : writer.take()) nodes.push_back(std::move(part));
        }
        graph.nodes = std::move(nodes);
        if (!changed) break;
    }
    validate(graph);
}

}  // namespace lockstep::network::compile
