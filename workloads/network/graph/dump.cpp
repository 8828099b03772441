// SPDX-License-Identifier: Apache-2.0
// The graph as text, for people and for tests: inputs, nodes in execution order, outputs. Values of
// small constants are not printed; their shapes say enough.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

namespace {

std::string describe(const Graph& graph, ValueId id) {
    if (id == kNoValue) return "-";
    const Value& value = graph.value(id);
    std::string text = fmt::format("{}:{}{}", value.name, name_of(value.type),
                                   value.shape ? to_string(*value.shape) : "[?]");
    if (value.quantisation)
        text += value.quantisation->axis ? fmt::format("@axis{}", *value.quantisation->axis)
                                         : fmt::format("@{}{:+}", value.quantisation->scale.at(0),
                                                       value.quantisation->zero_point.at(0));
    return text;
}

std::string describe_list(const Graph& graph, const std::vector<ValueId>& ids) {
    std::vector<std::string> texts;
    for (const ValueId id : ids) texts.push_back(describe(graph, id));
    return fmt::format("{}", fmt::join(texts, ", "));
}

struct Describe {
    std::string operator()(std::int64_t x) const { return fmt::format("{}", x); }
    std::string operator()(float x) const { return fmt::format("{}", x); }
    std::string operator()(const std::string& x) const { return x; }
    std::string operator()(const std::shared_ptr<const Tensor>& x) const {
        return fmt::format("{}{}", name_of(x->type), to_string(x->shape));
    }
    template <class T>
    std::string operator()(const std::vector<T>& x) const {
        return fmt::format("[{}]", fmt::join(x, ","));
    }
};

}  // namespace

std::string dump(const Graph& graph) {
    std::string text = fmt::format("network {}: {} nodes, {} parameters\n", graph.name,
                                   graph.nodes.size(), parameter_count(graph));
    text += fmt::format("inputs {}\n", describe_list(graph, graph.inputs));
    for (const std::size_t n : topological_order(graph)) {
        const Node& node = graph.nodes[n];
        text += fmt::format("{} {}({}) -> {}", node.name, name_of(node.op),
                            describe_list(graph, node.inputs), describe_list(graph, node.outputs));
        std::vector<std::string> attributes;
        for (const auto& [name, attribute] : node.attributes)
            attributes.push_back(fmt::format("{}={}", name, std::visit(Describe{}, attribute)));
        if (!attributes.empty()) text += fmt::format(" {{{}}}", fmt::join(attributes, " "));
        text += "\n";
    }
    return text + fmt::format("outputs {}\n", describe_list(graph, graph.outputs));
}

}  // namespace lockstep::network
