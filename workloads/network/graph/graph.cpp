// SPDX-License-Identifier: Apache-2.0
// The graph's own rules: what a node may have, the order of nodes, the counts. What an operator
// makes of its inputs' shapes is in shapes/.
#include "workloads/network/graph/graph.h"

#include <queue>

#include "sim/error/error.h"
#include "workloads/network/graph/uses.h"

namespace lockstep::network {

namespace {

char kind_letter(const Attribute& attribute) {
    return "ifstIFS"[attribute.index()];
}

template <class T>
const T* find(const Node& node, std::string_view attribute) {
    const auto found = node.attributes.find(attribute);
    if (found == node.attributes.end()) return nullptr;
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr)
        throw InputError(
            fmt::format("node {}: attribute {} has the wrong kind", node.name, attribute));
    return value;
}

[[noreturn]] void fail(const Node& node, const std::string& reason) {
    throw InputError(fmt::format("node {} ({}): {}", node.name, name_of(node.op), reason));
}

void check_node(const Graph& graph, const Node& node) {
    const OperatorInfo& info = info_of(node.op);
    if (node.inputs.size() < info.minimum_inputs || node.inputs.size() > info.maximum_inputs)
        fail(node, fmt::format("has {} inputs", node.inputs.size()));
    if (node.outputs.size() < info.minimum_outputs || node.outputs.size() > info.maximum_outputs)
        fail(node, fmt::format("has {} outputs", node.outputs.size()));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] == kNoValue && i < info.minimum_inputs)
            fail(node, fmt::format("input {} is left out", i));
        if (node.inputs[i] != kNoValue && node.inputs[i] >= graph.values.size())
            fail(node, fmt::format("input {} does not exist", i));
    }
    for (std::size_t i = 0; i < info.minimum_outputs; ++i)
        if (node.outputs[i] == kNoValue) fail(node, fmt::format("output {} is left out", i));
    for (const auto& [name, attribute] : node.attributes) {
        const std::optional<char> kind = attribute_kind(node.op, name);
        if (!kind) fail(node, fmt::format("attribute {} is not known", name));
        if (*kind != kind_letter(attribute))
            fail(node, fmt::format("attribute {} has the wrong kind", name));
    }
}

void check_value(const Value& value) {
    if (value.data != nullptr) {
        if (value.kind != ValueKind::kParameter && value.kind != ValueKind::kConstant)
            throw InputError(fmt::format("value {} is computed and given", value.name));
        if (value.data->type != value.type || value.shape != value.data->shape)
            throw InputError(
                fmt::format("value {} does not have its data's type and shape", value.name));
    }
    if (!value.quantisation) return;
    const Quantisation& q = *value.quantisation;
    std::size_t slices = 1;
    if (q.axis) {
        if (!value.shape || *q.axis < 0 ||
            *q.axis >= static_cast<std::int64_t>(value.shape->size()))
            throw InputError(fmt::format("value {}: no axis {} to quantise", value.name, *q.axis));
        slices = static_cast<std::size_t>((*value.shape)[static_cast<std::size_t>(*q.axis)]);
    }
    if (q.scale.size() != slices || q.zero_point.size() != slices)
        throw InputError(fmt::format("value {}: {} scales and {} zero points for {} slices",
                                     value.name, q.scale.size(), q.zero_point.size(), slices));
}

}  // namespace

std::int64_t Node::integer(std::string_view attribute, std::int64_t otherwise) const {
    const auto* value = find<std::int64_t>(*this, attribute);
    return value != nullptr ? *value : otherwise;
}

float Node::real(std::string_view attribute, float otherwise) const {
    const auto* value = find<float>(*this, attribute);
    return value != nullptr ? *value : otherwise;
}

std::string Node::text(std::string_view attribute, std::string_view otherwise) const {
    const auto* value = find<std::string>(*this, attribute);
    return value != nullptr ? *value : std::string(otherwise);
}

std::vector<std::int64_t> Node::integers(std::string_view attribute,
                                         std::vector<std::int64_t> otherwise) const {
    const auto* value = find<std::vector<std::int64_t>>(*this, attribute);
    return value != nullptr ? *value : otherwise;
}

ValueId Graph::add(Value value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
}

const Shape& Graph::shape(ValueId id) const {
    const Value& v = value(id);
    LOCKSTEP_CHECK(v.shape.has_value(), "the shape of {} is not inferred", v.name);
    return *v.shape;
}

void validate(const Graph& graph) {
    std::vector<bool> written(graph.values.size(), false);
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        check_value(graph.values[i]);
        written[i] = graph.values[i].kind != ValueKind::kComputed;
    }
    for (const Node& node : graph.nodes) {
        check_node(graph, node);
        for (const ValueId output : node.outputs) {
            if (output == kNoValue) continue;
            if (output >= graph.values.size()) fail(node, "an output does not exist");
            if (written[output])
                fail(node, fmt::format("writes {} again", graph.values[output].name));
            written[output] = true;
        }
    }
    const auto check_written = [&](ValueId id, std::string_view who) {
        if (id >= graph.values.size()) throw InputError(fmt::format("{} does not exist", who));
        if (!written[id])
            throw InputError(fmt::format("{} {} is never written", who, graph.values[id].name));
    };
    for (const Node& node : graph.nodes)
        for (const ValueId input : node.inputs)
            if (input != kNoValue) check_written(input, "input of a node");
    for (const ValueId input : graph.inputs) {
        check_written(input, "network input");
        if (graph.values[input].kind != ValueKind::kInput)
            throw InputError(fmt::format("{} is no input", graph.values[input].name));
    }
    for (const ValueId output : graph.outputs) check_written(output, "network output");
    topological_order(graph);
}

std::vector<std::size_t> topological_order(const Graph& graph) {
    const Uses uses(graph);
    std::vector<std::size_t> waits_for(graph.nodes.size(), 0);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        for (const ValueId input : graph.nodes[n].inputs)
            if (input != kNoValue && uses.writer(input) != Uses::kNobody) ++waits_for[n];

    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        if (waits_for[n] == 0) ready.push(n);
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        const std::size_t n = ready.top();
        ready.pop();
        order.push_back(n);
        for (const ValueId output : graph.nodes[n].outputs) {
            if (output == kNoValue || uses.writer(output) != n) continue;
            for (const std::size_t reader : uses.readers(output))
                if (--waits_for[reader] == 0) ready.push(reader);
        }
    }
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        if (waits_for[n] > 0) fail(graph.nodes[n], "is part of a cycle, or reads from one");
    return order;
}

std::int64_t parameter_count(const Graph& graph) {
    const Uses uses(graph);
    std::int64_t count = 0;
    for (ValueId id = 0; id < graph.values.size(); ++id)
        if (graph.values[id].kind == ValueKind::kParameter && !uses.readers(id).empty())
            count += element_count(graph.values[id].shape.value());
    return count;
}

}  // namespace lockstep::network
