// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/layer_work.h"

#include "workloads/network/compile/cost.h"
#include "workloads/network/graph/fusion.h"

namespace lockstep::network::compile {

namespace {

LayerWork work_of(const Graph& graph, const Layer& layer, double bytes) {
    LayerWork work{.name = name_of(graph, layer)};
    for (const std::size_t n : layer.nodes) {
        const Node& node = graph.nodes[n];
        const auto operations = static_cast<double>(cost_of(graph, node).operations);
        work.operations += operations;
        if (info_of(node.op).product != ProductForm::kNone) work.macs += operations / 2;
    }
    const auto size = [&](ValueId id) {
        const Value& value = graph.value(id);
        const double element =
            is_floating(value.type) ? bytes : static_cast<double>(size_of(value.type));
        return static_cast<double>(element_count(graph.shape(id))) * element;
    };
    if (layer.nodes.size() == 1 && info_of(graph.nodes[layer.head()].op).work == Work::kView)
        return work;
    for (const ValueId id : layer.inputs) work.read += size(id);
    for (const ValueId id : layer.outputs) work.written += size(id);
    return work;
}

}  // namespace

std::vector<LayerWork> layer_works(const Graph& graph, double bytes) {
    std::vector<LayerWork> works;
    for (const Layer& layer : layers_of(graph)) works.push_back(work_of(graph, layer, bytes));
    return works;
}

double bytes_of(std::string_view precision) {
    if (precision == "fp64") return 8;
    if (precision == "fp32" || precision == "tf32") return 4;
    if (precision == "bf16" || precision == "fp16") return 2;
    return precision == "int4" ? 0.5 : 1;
}

}  // namespace lockstep::network::compile
