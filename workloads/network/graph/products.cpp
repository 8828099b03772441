// SPDX-License-Identifier: Apache-2.0
// An LSTM is two products: of all steps' inputs with W at once, and, step by step, of the state
// with R. A MatMul with one matrix on the right multiplies all batches with it as rows of one.
#include "workloads/network/graph/products.h"

#include <functional>
#include <numeric>

#include "sim/error/error.h"

namespace lockstep::network {

namespace {

std::int64_t product(std::span<const std::int64_t> extents) {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

MatrixProduct convolution(const Graph& graph, const Node& node) {
    Shape input = graph.shape(node.input(0));
    const Shape& weight = graph.shape(node.input(info_of(node.op).weight));
    if (input.size() != 4 && input.size() != 3)
        throw InputError(fmt::format(
            "node {}: only convolutions over one or two dimensions are run", node.name));
    Convolution c;
    c.window = spread_window_of(node, input, weight);
    if (input.size() == 3) {  // an image of one line
        SlidingWindow& w = c.window;
        for (std::vector<std::int64_t>* list :
             {&w.kernel, &w.stride, &w.dilation, &w.output, &w.upsample})
            list->insert(list->begin(), 1);
        for (std::vector<std::int64_t>* pad : {&w.pad_begin, &w.pad_end})
            pad->insert(pad->begin(), 0);
        input.insert(input.begin() + 2, 1);
    }
    const std::int64_t groups = c.window.group;
    c.batch = input[0];
    c.channels = input[1] / groups;
    c.height = input[2];
    c.width = input[3];
    c.filters = weight[0] / groups;
    MatrixProduct result{node.name, c.batch * product(c.window.output),
                         c.filters, c.channels * product(c.window.kernel),
                         groups,    std::nullopt};
    result.convolution = std::move(c);
    return result;
}

MatrixProduct gemm(const Graph& graph, const Node& node) {
    const Shape& a = graph.shape(node.input(0));
    const Shape& y = graph.shape(node.outputs[0]);
    return {node.name, y[0], y[1], a[node.integer("transA", 0) != 0 ? 0 : 1], 1, std::nullopt};
}

MatrixProduct matmul(const Graph& graph, const Node& node) {
    Shape a = graph.shape(node.input(0)), b = graph.shape(node.input(info_of(node.op).weight));
    if (a.size() == 1) a.insert(a.begin(), 1);
    if (b.size() == 1) b.push_back(1);
    const std::int64_t k = a.back(), n = b.back();
    const std::int64_t all_rows = product(graph.shape(node.outputs[0])) / n;
    const std::int64_t matrices = product(std::span(b).first(b.size() - 2));
    if (matrices == 1) return {node.name, all_rows, n, k, 1, std::nullopt};
    const std::int64_t m = a[a.size() - 2];
    return {node.name, m, n, k, all_rows / m, std::nullopt};
}

void lstm(const Graph& graph, const Node& node, std::vector<MatrixProduct>& products) {
    const Shape& x = graph.shape(node.input(0));  // steps, batch, inputs
    const Shape& w = graph.shape(node.input(1));  // directions, 4 hidden, inputs
    const Shape& r = graph.shape(node.input(2));  // directions, 4 hidden, hidden
    products.push_back({node.name + ".input", x[0] * x[1], w[1], w[2], w[0], std::nullopt});
    products.push_back({node.name + ".state", x[1], r[1], r[2], r[0] * x[0], std::nullopt});
}

}  // namespace

std::vector<MatrixProduct> matrix_products(const Graph& graph) {
    std::vector<MatrixProduct> products;
    for (const std::size_t index : topological_order(graph)) {
        const Node& node = graph.nodes[index];
        const ProductForm form = info_of(node.op).product;
        if (form == ProductForm::kNone) continue;
        for (const ValueId id : node.inputs)
            if (id != kNoValue && element_count(graph.shape(id)) == 0)
                throw InputError(fmt::format("node {}: {} is {}, without elements", node.name,
                                             graph.value(id).name, to_string(graph.shape(id))));
        switch (form) {
            case ProductForm::kNone:
                break;
            case ProductForm::kConvolution:
                products.push_back(convolution(graph, node));
                break;
            case ProductForm::kGemm:
                products.push_back(gemm(graph, node));
                break;
            case ProductForm::kRecurrent:
                lstm(graph, node, products);
                break;
            case ProductForm::kMatrices:
                products.push_back(matmul(graph, node));
                break;
        }
    }
    return products;
}

}  // namespace lockstep::network
