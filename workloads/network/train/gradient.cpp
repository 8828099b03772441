// SPDX-License-Identifier: Apache-2.0
// The walk is the forward order backwards: when a node's turn comes all readers of its results have
// added their parts. Only nodes between what is wanted and the seeds are visited.
#include "workloads/network/train/gradient.h"

#include <algorithm>
#include <array>

#include "workloads/network/train/rule.h"

namespace lockstep::network {

namespace training {

ValueId Rule::dy(std::size_t i) const {
    const ValueId id = i < node.outputs.size() ? node.outputs[i] : kNoValue;
    return id == kNoValue ? kNoValue : gradients_.at(id);
}

std::string Rule::name(std::string_view part) const {
    return fmt::format("{}.grad.{}", node.name, part);
}

void Rule::fail(const std::string& reason) const {
    throw InputError(
        fmt::format("node {} ({}) has no gradient: {}", node.name, name_of(node.op), reason));
}

ValueId Rule::sum(std::string_view part, ValueId x, const std::vector<std::int64_t>& axes) {
    if (axes.empty()) return x;
    return op(kReduceSum, part, {x, w.integers(name(std::string(part) + ".axes"), axes)},
              {{"keepdims", std::int64_t{1}}});
}

void Rule::give(std::size_t i, ValueId gradient) {
    if (!needs(i) || gradient == kNoValue) return;
    const ValueId x = in(i);
    const Shape wanted = shape(x), got = w.shape(gradient);
    const std::string part = fmt::format("x{}", i);
    if (got != wanted) {
        const std::size_t more = got.size() - std::min(got.size(), wanted.size());
        std::vector<std::int64_t> axes;
        for (std::size_t d = 0; d < got.size(); ++d)
            if (got[d] != 1 && (d < more || wanted[d - more] == 1))
                axes.push_back(static_cast<std::int64_t>(d));
        gradient = sum(part + ".sum", gradient, axes);
        if (w.shape(gradient) != wanted) {
            // What was broadcast forward may be broadcast backward too: a sum of one number.
            if (element_count(w.shape(gradient)) == element_count(wanted))
                gradient = w.reshape(name(part + ".shape"), gradient, wanted);
            else
                gradient = op(kExpand, part + ".spread",
                              {gradient, w.integers(name(part + ".extents"), wanted)});
        }
    }
    ValueId& total = gradients_.at(x);
    total = total == kNoValue ? gradient : op(kAdd, part + ".total", {total, gradient});
}

namespace {

WriteGradient find_rule(Operator op) {
    static const std::array kFamilies = {element_rules(), indexing_rules(), movement_rules(),
                                         product_rules(), row_rules(),      window_rules()};
    for (const std::span<const RuleRow> rows : kFamilies)
        for (const RuleRow& row : rows)
            if (row.op == op) return row.write;
    return nullptr;
}

}  // namespace
}  // namespace training

bool has_gradient(Operator op) {
    return training::find_rule(op) != nullptr;
}

std::vector<ValueId> add_gradients(Graph& graph, std::span<const Seed> seeds,
                                   std::span<const ValueId> wanted) {
    const std::vector<std::size_t> order = topological_order(graph);
    std::vector<bool> needed(graph.values.size(), false);
    for (const ValueId id : wanted) needed.at(id) = true;
    for (const std::size_t n : order) {
        const Node& node = graph.nodes[n];
        const bool depends = std::any_of(node.inputs.begin(), node.inputs.end(),
                                         [&](ValueId id) { return id != kNoValue && needed[id]; });
        for (const ValueId id : node.outputs)
            if (id != kNoValue && depends && is_floating(graph.value(id).type)) needed[id] = true;
    }
    std::vector<ValueId> gradients(graph.values.size(), kNoValue);
    for (const Seed& seed : seeds) gradients.at(seed.value) = seed.gradient;

    NodeWriter writer(graph);
    for (auto n = order.rbegin(); n != order.rend(); ++n) {
        const Node& node = graph.nodes[*n];
        const auto has = [&](const auto& ids, const auto& test) {
            return std::any_of(ids.begin(), ids.end(),
                               [&](ValueId id) { return id != kNoValue && test(id); });
        };
        if (!has(node.outputs, [&](ValueId id) { return gradients[id] != kNoValue; }) ||
            !has(node.inputs, [&](ValueId id) { return needed[id]; }))
            continue;
        training::Rule rule(writer, graph, node, gradients, needed);
        const training::WriteGradient write = training::find_rule(node.op);
        if (write == nullptr) rule.fail("the operator is not differentiable here");
        write(rule);
    }
    for (Node& node : writer.take()) graph.nodes.push_back(std::move(node));
    std::vector<ValueId> results;
    for (const ValueId id : wanted) results.push_back(gradients[id]);
    return results;
}

}  // namespace lockstep::network
