// SPDX-License-Identifier: Apache-2.0
// An accelerator adds the bias, the residual and the activation while a product leaves the
// accumulators, and pools what passes (the TPU's activation pipeline, NVDLA's SDP and PDP). A chain
// is followed as long as each value has one reader, so that what is between is never stored.
// Contracting such chains cannot make a cycle: they have one way out, at their end.
#include "workloads/network/graph/fusion.h"

#include <algorithm>
#include <map>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/uses.h"

namespace lockstep::network {

namespace {

bool is_product(Operator op) {
    return info_of(op).role == LayerRole::kProduct;
}

/// The node that alone reads what `node` alone gives; Uses::kNobody where there is none.
std::size_t next_of(const Uses& uses, const Node& node) {
    const auto given = [](ValueId id) { return id != kNoValue; };
    if (std::count_if(node.outputs.begin(), node.outputs.end(), given) != 1) return Uses::kNobody;
    return node.outputs[0] == kNoValue ? Uses::kNobody : uses.only_reader(node.outputs[0]);
}

bool joins(const Graph& graph, const Node& node, ValueId from, const FusionOptions& options) {
    const auto others_are_constant = [&] {
        return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
            return id == from || id == kNoValue || is_given(graph.value(id));
        });
    };
    const auto same_shape = [&] { return graph.shape(node.outputs[0]) == graph.shape(from); };
    switch (info_of(node.op).role) {
        case LayerRole::kActivation:
            return node.inputs[0] == from && others_are_constant();
        case LayerRole::kAddend:
            return same_shape() && (options.residual || others_are_constant());
        case LayerRole::kDivisor:
            return node.inputs[0] == from && others_are_constant() && same_shape();
        case LayerRole::kFactor:
            return others_are_constant() && same_shape();
        case LayerRole::kPooling:
            return options.pooling && node.inputs[0] == from;
        case LayerRole::kNone:
        case LayerRole::kProduct:
            return false;
    }
    return false;
}

/// Adds each value once.
void add_once(std::vector<ValueId>& list, ValueId id) {
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

void find_edges(const Graph& graph, const Uses& uses, Layer& layer) {
    const auto inside = [&](std::size_t n) {
        return std::find(layer.nodes.begin(), layer.nodes.end(), n) != layer.nodes.end();
    };
    std::vector<ValueId> computed;
    for (const std::size_t n : layer.nodes) {
        for (const ValueId id : graph.nodes[n].inputs)
            if (id != kNoValue && std::find(computed.begin(), computed.end(), id) == computed.end())
                add_once(layer.inputs, id);
        for (const ValueId id : graph.nodes[n].outputs) {
            if (id == kNoValue) continue;
            computed.push_back(id);
            if (uses.is_result(id) || !std::ranges::all_of(uses.readers(id), inside))
                layer.outputs.push_back(id);
        }
    }
}

/// Whether an Add of `constant` is one bias an output channel (Conv) or a column of the product.
bool is_bias(const Graph& graph, const Node& product, ValueId constant) {
    const Value& value = graph.value(constant);
    const Shape& out = graph.shape(product.outputs[0]);
    if (!is_given(value) || !value.shape || out.size() < 2) return false;
    if (value.type != graph.value(product.outputs[0]).type || value.quantisation) return false;
    const std::size_t axis = product.op == Operator::kConv ? 1 : out.size() - 1;
    const std::size_t rank = value.shape->size();
    if (rank > out.size()) return false;
    for (std::size_t i = 0; i < rank; ++i)
        if (i + out.size() - rank != axis && (*value.shape)[i] != 1) return false;
    return element_count(*value.shape) == out[axis];
}

/// The same constant as a vector.
ValueId as_vector(Graph& graph, ValueId constant) {
    const Value& old = graph.value(constant);
    const Shape shape = {element_count(*old.shape)};
    if (old.shape == shape) return constant;
    Value value{old.name + ".vector", old.kind, old.type, shape};
    if (old.is_known()) {
        Tensor vector = *old.data;
        vector.shape = shape;
        value.data = std::make_shared<const Tensor>(std::move(vector));
    }
    return graph.add(std::move(value));
}

}  // namespace

std::vector<Layer> layers_of(const Graph& graph, FusionOptions options) {
    const Uses uses(graph);
    const std::vector<std::size_t> order = topological_order(graph);
    std::vector<std::size_t> place(graph.nodes.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<bool> taken(graph.nodes.size(), false);
    std::vector<Layer> layers;
    const auto make_layer = [&](std::size_t first) {
        Layer layer{{first}, {}, {}};
        taken[first] = true;
        while (is_product(graph.nodes[first].op)) {
            const Node& last = graph.nodes[layer.nodes.back()];
            const std::size_t next = next_of(uses, last);
            if (next == Uses::kNobody || taken[next]) break;
            if (!joins(graph, graph.nodes[next], last.outputs[0], options)) break;
            layer.nodes.push_back(next);
            taken[next] = true;
            if (info_of(graph.nodes[next].op).role == LayerRole::kPooling) break;
        }
        find_edges(graph, uses, layer);
        layers.push_back(std::move(layer));
    };
    // Of two products that are added, the later one takes the sum: the other is then ready.
    for (std::size_t i = order.size(); i-- > 0;)
        if (is_product(graph.nodes[order[i]].op)) make_layer(order[i]);
    for (const std::size_t n : order)
        if (!taken[n]) make_layer(n);
    std::sort(layers.begin(), layers.end(), [&](const Layer& a, const Layer& b) {
        return place[a.nodes.back()] < place[b.nodes.back()];
    });
    return layers;
}

std::string name_of(const Graph& graph, const Layer& layer) {
    std::string name;
    for (const std::size_t n : layer.nodes) name += (name.empty() ? "" : "+") + graph.nodes[n].name;
    return name;
}

int fold_bias(Graph& graph) {
    const Uses uses(graph);
    std::vector<bool> gone(graph.nodes.size(), false);
    int folded = 0;
    for (Node& product : graph.nodes) {
        if (!is_product(product.op) || product.input(2) != kNoValue) continue;
        const std::size_t next = next_of(uses, product);
        if (next == Uses::kNobody || graph.nodes[next].op != Operator::kAdd) continue;
        const Node& add = graph.nodes[next];
        const ValueId constant = add.inputs[add.inputs[0] == product.outputs[0] ? 1 : 0];
        if (graph.shape(add.outputs[0]) != graph.shape(product.outputs[0])) continue;
        if (!is_bias(graph, product, constant) || product.real("beta", 1) != 1) continue;
        product.inputs.resize(3, kNoValue);
        product.inputs[2] = as_vector(graph, constant);
        product.name += "+" + add.name;
        product.outputs = add.outputs;
        gone[next] = true;
        ++folded;
    }
    std::size_t n = 0;
    std::erase_if(graph.nodes, [&](const Node&) { return gone[n++]; });
    return folded;
}

}  // namespace lockstep::network
