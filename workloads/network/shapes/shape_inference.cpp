// SPDX-License-Identifier: Apache-2.0
// What the rules of all operators share, and the walk over the graph. Shapes are static: where a
// shape is itself computed (Shape -> Gather -> Concat -> Reshape), constant folding makes it known
// first. The rules are in shapes/.
#include "workloads/network/shapes/shape_inference.h"

#include <algorithm>
#include <set>

#include "workloads/network/shapes/rule.h"

namespace lockstep::network {

using shapes::fail;

void shapes::fail(const Node& node, const std::string& reason) {
    throw InputError(fmt::format("node {} ({}): {}", node.name, name_of(node.op), reason));
}

Shape broadcast(const Shape& a, const Shape& b, const Node& node) {
    Shape out(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1)
            fail(node, fmt::format("{} and {} do not broadcast", to_string(a), to_string(b)));
        out[out.size() - 1 - i] = x == 1 ? y : x;
    }
    return out;
}

std::size_t axis_of(const Node& node, std::int64_t axis, std::size_t rank) {
    const auto r = static_cast<std::int64_t>(rank);
    if (axis < -r || axis >= r) fail(node, fmt::format("axis {} of a rank of {}", axis, rank));
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

std::optional<std::vector<std::int64_t>> written_axes(const Graph& graph, const Node& node) {
    const ValueId input = node.input(1);
    if (input == kNoValue) return node.integers("axes");
    const Value& value = graph.value(input);
    if (!value.is_known() || is_floating(value.type)) return std::nullopt;
    return to_integers(*value.data);
}

std::vector<std::size_t> axes_of(const Graph& graph, const Node& node, std::size_t rank,
                                 bool& given) {
    given = node.has("axes") || node.input(1) != kNoValue;
    const std::optional<std::vector<std::int64_t>> written = written_axes(graph, node);
    // Of an input that is not known: its error.
    const std::vector<std::int64_t> axes = written ? *written : known_integers(graph, node, 1);
    std::set<std::size_t> sorted;
    for (const std::int64_t axis : axes)
        if (!sorted.insert(axis_of(node, axis, rank)).second)
            fail(node, fmt::format("axis {} twice", axis));
    return {sorted.begin(), sorted.end()};
}

std::vector<std::int64_t> known_integers(const Graph& graph, const Node& node, std::size_t input) {
    if (node.input(input) == kNoValue) fail(node, fmt::format("input {} is left out", input));
    const Value& value = graph.value(node.inputs[input]);
    if (!value.is_known())
        fail(node, fmt::format("input {} ({}) is not known before the run: shapes must be static",
                               input, value.name));
    if (is_floating(value.type)) fail(node, fmt::format("input {} is floating", input));
    return to_integers(*value.data);
}

std::vector<SliceRange> slice_ranges(const Graph& graph, const Node& node) {
    const Shape& in = graph.shape(node.inputs.at(0));
    const std::vector<std::int64_t> starts = known_integers(graph, node, 1);
    const std::vector<std::int64_t> ends = known_integers(graph, node, 2);
    std::vector<std::int64_t> axes, steps(starts.size(), 1);
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (node.input(3) != kNoValue) axes = known_integers(graph, node, 3);
    if (node.input(4) != kNoValue) steps = known_integers(graph, node, 4);
    if (ends.size() != starts.size() || axes.size() != starts.size() ||
        steps.size() != starts.size())
        fail(node, "starts, ends, axes and steps of different lengths");
    std::vector<SliceRange> ranges;
    for (const std::int64_t extent : in) ranges.push_back({0, 1, extent});
    for (std::size_t i = 0; i < starts.size(); ++i) {
        SliceRange& range = ranges[axis_of(node, axes[i], in.size())];
        const std::int64_t extent = in[axis_of(node, axes[i], in.size())], step = steps[i];
        if (step == 0 || step == INT64_MIN) fail(node, "a step of 0");
        const bool up = step > 0;
        if (extent == 0) continue;
        const auto clamp = [&](std::int64_t x, std::int64_t low, std::int64_t high) {
            return std::clamp(x < 0 ? x + extent : x, low, high);
        };
        const std::int64_t start = clamp(starts[i], 0, up ? extent : extent - 1);
        const std::int64_t end = up ? clamp(ends[i], 0, extent) : clamp(ends[i], -1, extent - 1);
        const std::int64_t span = up ? end - start : start - end;
        const std::int64_t size = up ? step : -step;
        range = {start, step, span <= 0 ? 0 : (span - 1) / size + 1};
    }
    return ranges;
}

void infer_node(Graph& graph, const Node& node) {
    using ShapeRule = void (*)(const shapes::Rule&);
    static constexpr ShapeRule kRules[] = {
#define OPERATOR(name, a, b, c, d, attributes, shape, ...) &shapes::infer_##shape,
#define COMPOSITE(name, ...) nullptr,
#include "workloads/network/graph/operators.table"
    };
    const ShapeRule infer = kRules[static_cast<std::size_t>(node.op)];
    if (infer == nullptr) fail(node, "is not decomposed");
    infer({graph, node});
}

void infer_shapes(Graph& graph) {
    for (const std::size_t n : topological_order(graph)) infer_node(graph, graph.nodes[n]);
}

}  // namespace lockstep::network
