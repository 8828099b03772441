// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/legalise.h"

#include <algorithm>
#include <map>

#include "workloads/network/compile/legalise.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network {

namespace {

/// Whether a value of four dimensions is what a convolution or pooling makes, or as many elements
/// computed from that: its channels lie last.
bool is_image(const Graph& graph, const Uses& uses, ValueId id, int depth = 8) {
    const std::size_t writer = uses.writer(id);
    if (writer == Uses::kNobody || depth == 0) return false;
    const Node& node = graph.nodes[writer];
    const OperatorInfo& info = info_of(node.op);
    if (info.product == ProductForm::kConvolution || info.role == LayerRole::kPooling) return true;
    if (info.work == Work::kView || info.product != ProductForm::kNone) return false;
    return std::ranges::any_of(node.inputs, [&](ValueId x) {
        return x != kNoValue && graph.shape(x) == graph.shape(id) &&
               is_image(graph, uses, x, depth - 1);
    });
}

/// The axes that a reduction or softmax joins, where they follow each other and others follow them:
/// those before, these and those after as one dimension each. The vector unit joins rows, so that
/// nothing needs to be turned. Images are left out.
std::optional<Shape> as_rows(const Graph& graph, const Node& node) {
    using enum Operator;
    const Shape& in = graph.shape(node.inputs[0]);
    const auto rank = static_cast<std::int64_t>(in.size());
    std::vector<std::int64_t> axes = {node.integer("axis", -1)};
    if (node.op == kReduceMax || node.op == kReduceMean || node.op == kReduceSum) {
        const auto written = written_axes(graph, node);
        if (!written) return std::nullopt;
        axes = *written;
    } else if (node.op != kSoftmax || node.integer("flatten", 0) != 0) {
        return std::nullopt;
    }
    if (axes.empty() || !is_floating(graph.value(node.inputs[0]).type)) return std::nullopt;
    for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::ranges::sort(axes);
    for (std::size_t i = 1; i < axes.size(); ++i)
        if (axes[i] != axes[i - 1] + 1) return std::nullopt;
    if (axes.front() < 0 || axes.back() + 1 >= rank) return std::nullopt;
    if (rank == 4 && is_image(graph, Uses(graph), node.inputs[0])) return std::nullopt;
    const auto count = [&](std::int64_t first, std::int64_t last) {
        return element_count(Shape(in.begin() + first, in.begin() + last));
    };
    return Shape{count(0, axes.front()), count(axes.front(), axes.back() + 1),
                 count(axes.back() + 1, rank)};
}

bool write_along_rows(NodeWriter& w, Graph& graph, const Node& node) {
    const std::optional<Shape> rows = as_rows(graph, node);
    if (!rows || element_count(*rows) == 0 || lowering::is_along_rows(graph, node)) return false;
    // It is one already, unless it joins dimensions of 1 beside or before those rows.
    const auto axes = node.op == Operator::kSoftmax ? std::nullopt : written_axes(graph, node);
    if (graph.shape(node.inputs[0]) == *rows && axes && axes->size() == 1 &&
        (axes->front() == 1 || axes->front() == -2))
        return false;
    const ValueId seen = w.reshape(node.name + ".rows", node.inputs[0], *rows);
    const ValueId joined =
        node.op == Operator::kSoftmax
            ? w.add(node.op, node.name, {seen}, {{"axis", std::int64_t{1}}})
            : w.add(node.op, node.name, {seen},
                    {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}});
    w.reshape(node.name + ".shape", joined, graph.shape(node.outputs[0]), node.outputs[0]);
    return true;
}

/// Statistics of channels: an image lies pixel by pixel, so that its pixels are the rows of a
/// matrix, which the vector unit joins.
bool write_channel_statistics(NodeWriter& w, Graph& graph, const Node& node) {
    using enum Operator;
    if (node.op != kReduceMax && node.op != kReduceMean && node.op != kReduceSum) return false;
    const Shape in = graph.shape(node.inputs[0]);
    std::optional<std::vector<std::int64_t>> axes = written_axes(graph, node);
    if (!axes || in.size() < 3 || element_count(in) == 0 ||
        !is_floating(graph.value(node.inputs[0]).type))
        return false;
    const auto rank = static_cast<std::int64_t>(in.size());
    for (std::int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
    std::ranges::sort(*axes);
    std::vector<std::int64_t> perm = {0};
    for (std::int64_t d = 2; d < rank; ++d) perm.push_back(d);
    if (*axes != perm) return false;
    perm.push_back(1);
    const ValueId seen = w.transpose(node.name + ".pixels", node.inputs[0], perm),
                  rows = w.reshape(node.name + ".rows", seen, {element_count(in) / in[1], in[1]});
    const ValueId joined =
        w.add(node.op, node.name, {rows},
              {{"axes", std::vector<std::int64_t>{0}}, {"keepdims", std::int64_t{0}}});
    w.reshape(node.name + ".shape", joined, graph.shape(node.outputs[0]), node.outputs[0]);
    return true;
}

/// What only repeats a value is not stored where it meets another element by element: XLA fuses
/// broadcasts with what reads them.
void read_unspread(Graph& graph) {
    using enum Operator;
    std::map<ValueId, ValueId> spread;
    for (const Node& node : graph.nodes)
        if (node.op == kExpand) spread[node.outputs[0]] = node.inputs[0];
    for (Node& node : graph.nodes) {
        const bool is_arithmetic = node.op == kAdd || node.op == kSub || node.op == kMul ||
                                   node.op == kDiv || node.op == kMax || node.op == kMin;
        if (!is_arithmetic || node.inputs.size() != 2) continue;
        for (const std::size_t i : {1, 0}) {
            const auto from = spread.find(node.inputs[i]);
            if (from == spread.end() ||
                graph.shape(node.inputs[1 - i]) != graph.shape(node.outputs[0]))
                continue;
            node.inputs[i] = from->second;
            break;
        }
    }
}

/// What is along rows of matrices has kernels of its own.
bool write_along_columns(NodeWriter& w, Graph& graph, const Node& node) {
    return !lowering::is_along_rows(graph, node) && !as_rows(graph, node) &&
           compile::write_along_last_axis(w, graph, node);
}

}  // namespace

void legalise_for_tpu(Graph& graph, int generation) {
    using namespace compile;
    static constexpr Rule kFirst[] = {
        write_in_two_dimensions, write_flat_pool, write_copy,       write_chain,
        write_vector_product,    write_gemm,      write_image_mean, write_normalising_convolution};
    static constexpr Rule kLater[] = {write_in_two_dimensions,
                                      write_flat_pool,
                                      write_padded_average,
                                      write_copy,
                                      write_chain,
                                      write_vector_product,
                                      write_gemm,
                                      write_reduced_ones,
                                      write_image_mean,
                                      write_normalising_product,
                                      write_channel_statistics,
                                      write_along_rows,
                                      write_along_columns,
                                      write_max_pool_gradient,
                                      write_computed_bias,
                                      write_scattered_sum,
                                      write_elements};
    if (generation != 1) read_unspread(graph);
    compile::legalise(graph, generation == 1 ? std::span<const Rule>(kFirst) : kLater);
}

}  // namespace lockstep::network
