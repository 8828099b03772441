// SPDX-License-Identifier: Apache-2.0
// One rule an operator, after the ONNX operator reference. Shapes are static: where a shape is
// itself computed (Shape -> Gather -> Concat -> Reshape), constant folding makes it known first.
#include "workloads/network/shape_inference.h"

#include "sim/error/error.h"
#include "workloads/network/onnx_type.h"
#include "workloads/network/window.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace lockstep::network {

namespace {

[[noreturn]] void fail(const Node& node, const std::string& reason) {
    throw InputError(fmt::format("node {} ({}): {}", node.name, name_of(node.op), reason));
}

/// What a rule sees of its node.
struct Rule {
    Graph& graph;
    const Node& node;

    const Shape& in(size_t i) const { return graph.shape(node.inputs.at(i)); }
    ElementType type(size_t i) const { return graph.value(node.inputs.at(i)).type; }
    bool has(size_t i) const { return node.input(i) != kNoValue; }
    void set(size_t output, ElementType type, Shape shape) const {
        if (output >= node.outputs.size() || node.outputs[output] == kNoValue) return;
        element_count(shape);
        Value& value = graph.values.at(node.outputs[output]);
        value.type = type;
        value.shape = std::move(shape);
    }
    void require(bool condition, const std::string& reason) const {
        if (!condition) fail(node, reason);
    }
    void require_rank(size_t i, size_t rank) const {
        if (in(i).size() != rank)
            fail(node, fmt::format("input {} is {}, not of rank {}", i, to_string(in(i)), rank));
    }
    /// All inputs are floating, of one type.
    void require_floating() const {
        require(is_floating(type(0)), fmt::format("is not computed in {}", name_of(type(0))));
        for (size_t i = 1; i < node.inputs.size(); ++i)
            if (has(i)) require_type(i, 0);
    }
    void require_type(size_t i, size_t like) const {
        if (type(i) != type(like))
            fail(node,
                 fmt::format("inputs of types {} and {}", name_of(type(like)), name_of(type(i))));
    }
};

void infer_elementwise(const Rule& r) {
    const bool logical = r.node.op == Operator::kAnd || r.node.op == Operator::kOr;
    r.require(!logical || r.type(0) == ElementType::kBool, "an operand is not bool");
    Shape shape = r.in(0);
    for (size_t i = 1; i < r.node.inputs.size(); ++i) {
        // The exponent of Pow may have a type of its own.
        if (r.node.op != Operator::kPow) r.require_type(i, 0);
        shape = broadcast(shape, r.in(i), r.node);
    }
    const bool compares = r.node.op == Operator::kEqual || r.node.op == Operator::kLess ||
                          r.node.op == Operator::kGreater;
    r.set(0, compares ? ElementType::kBool : r.type(0), shape);
}

void infer_convolution(const Rule& r) {
    r.require_floating();
    const Shape &x = r.in(0), &w = r.in(1);
    const Window window = window_of(r.node, x, &w);
    const bool groups = window.group >= 1 && w[1] >= 0 && w[1] <= x[1] &&
                        x[1] % window.group == 0 && x[1] / window.group == w[1] &&
                        w[0] % window.group == 0;
    r.require(groups, fmt::format("input {} and weight {} in {} groups", to_string(x), to_string(w),
                                  window.group));
    if (r.has(2)) r.require(r.in(2) == Shape{w[0]}, "the bias is " + to_string(r.in(2)));
    Shape out = {x[0], w[0]};
    out.insert(out.end(), window.output.begin(), window.output.end());
    r.set(0, r.type(0), out);
}

void infer_pool(const Rule& r) {
    r.require_floating();
    const Window window = window_of(r.node, r.in(0));
    Shape out = {r.in(0)[0], r.in(0)[1]};
    out.insert(out.end(), window.output.begin(), window.output.end());
    r.set(0, r.type(0), out);
}

void infer_gemm(const Rule& r) {
    r.require_floating();
    r.require_rank(0, 2);
    r.require_rank(1, 2);
    const size_t ta = r.node.integer("transA", 0) != 0, tb = r.node.integer("transB", 0) != 0;
    const Shape &a = r.in(0), &b = r.in(1);
    r.require(a[1 - ta] == b[tb], fmt::format("{} times {}", to_string(a), to_string(b)));
    const Shape out = {a[ta], b[1 - tb]};
    if (r.has(2)) r.require(broadcast(out, r.in(2), r.node) == out, "C is " + to_string(r.in(2)));
    r.set(0, r.type(0), out);
}

void infer_matmul(const Rule& r) {
    r.require_type(1, 0);
    Shape a = r.in(0), b = r.in(1);
    r.require(!a.empty() && !b.empty(), "a scalar operand");
    const bool row = a.size() == 1, column = b.size() == 1;
    if (row) a.insert(a.begin(), 1);
    if (column) b.push_back(1);
    r.require(a.back() == b[b.size() - 2],
              fmt::format("{} times {}", to_string(r.in(0)), to_string(r.in(1))));
    Shape out = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), r.node);
    if (!row) out.push_back(a[a.size() - 2]);
    if (!column) out.push_back(b.back());
    r.set(0, r.type(0), out);
}

void infer_batch_normalisation(const Rule& r) {
    r.require_floating();
    r.require(r.in(0).size() >= 2, "input " + to_string(r.in(0)));
    r.require(r.node.integer("training_mode", 0) == 0, "training_mode is not supported");
    for (size_t i = 1; i < 5; ++i)
        r.require(r.in(i) == Shape{r.in(0)[1]},
                  fmt::format("input {} is {}", i, to_string(r.in(i))));
    r.set(0, r.type(0), r.in(0));
}

void infer_layer_normalisation(const Rule& r) {
    r.require_floating();
    const size_t axis = axis_of(r.node, r.node.integer("axis", -1), r.in(0).size());
    const Shape slice(r.in(0).begin() + static_cast<int64_t>(axis), r.in(0).end());
    for (size_t i = 1; i < r.node.inputs.size(); ++i)
        if (r.has(i))
            r.require(broadcast(slice, r.in(i), r.node) == slice,
                      fmt::format("input {} is {}", i, to_string(r.in(i))));
    r.set(0, r.type(0), r.in(0));
}

void infer_concat(const Rule& r) {
    Shape out = r.in(0);
    if (!r.node.has("axis")) fail(r.node, "axis is missing");
    const size_t axis = axis_of(r.node, r.node.integer("axis", 0), out.size());
    for (size_t i = 1; i < r.node.inputs.size(); ++i) {
        r.require_type(i, 0);
        Shape other = r.in(i);
        r.require(other.size() == out.size(), "inputs of different ranks");
        const int64_t extent = other[axis];
        other[axis] = out[axis];
        r.require(other == out, fmt::format("input {} is {}", i, to_string(r.in(i))));
        out[axis] += extent;
        element_count(out);
    }
    r.set(0, r.type(0), out);
}

void infer_constant(const Rule& r) {
    const Node& node = r.node;
    r.require(node.attributes.size() == 1, "needs one value");
    const Attribute& value = node.attributes.begin()->second;
    if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&value))
        r.set(0, (*tensor)->type, (*tensor)->shape);
    else if (std::holds_alternative<int64_t>(value))
        r.set(0, ElementType::kInt64, {});
    else if (std::holds_alternative<float>(value))
        r.set(0, ElementType::kFp32, {});
    else if (const auto* many = std::get_if<std::vector<int64_t>>(&value))
        r.set(0, ElementType::kInt64, {static_cast<int64_t>(many->size())});
    else if (const auto* reals = std::get_if<std::vector<float>>(&value))
        r.set(0, ElementType::kFp32, {static_cast<int64_t>(reals->size())});
}

void infer_reshape(const Rule& r) {
    const Shape& in = r.in(0);
    Shape out = known_integers(r.graph, r.node, 1);
    int64_t rest = -1;
    for (size_t i = 0; i < out.size(); ++i) {
        if (out[i] == 0 && r.node.integer("allowzero", 0) == 0) {
            r.require(i < in.size(), "a 0 beyond the input's rank");
            out[i] = in[i];
        } else if (out[i] == -1) {
            r.require(rest < 0, "two -1");
            rest = static_cast<int64_t>(i);
        }
    }
    if (rest >= 0) {
        int64_t& extent = out[static_cast<size_t>(rest)];
        extent = 1;
        const int64_t known = element_count(out);
        r.require(known > 0, "a -1 beside an empty dimension");
        extent = element_count(in) / known;
    }
    r.require(element_count(out) == element_count(in),
              fmt::format("{} as {}", to_string(in), to_string(out)));
    r.set(0, r.type(0), out);
}

void infer_flatten(const Rule& r) {
    const Shape& in = r.in(0);
    const auto rank = static_cast<int64_t>(in.size());
    int64_t axis = r.node.integer("axis", 1);
    if (axis < 0) axis += rank;
    r.require(axis >= 0 && axis <= rank, fmt::format("axis {} of {}", axis, to_string(in)));
    r.set(0, r.type(0),
          {element_count(Shape(in.begin(), in.begin() + axis)),
           element_count(Shape(in.begin() + axis, in.end()))});
}

void infer_transpose(const Rule& r) {
    const Shape& in = r.in(0);
    std::vector<int64_t> perm = r.node.integers("perm");
    if (!r.node.has("perm"))
        for (size_t i = in.size(); i > 0; --i) perm.push_back(static_cast<int64_t>(i - 1));
    r.require(perm.size() == in.size() &&
                  std::set<int64_t>(perm.begin(), perm.end()).size() == perm.size(),
              fmt::format("perm {} of {}", to_string(perm), to_string(in)));
    Shape out;
    for (const int64_t p : perm) {
        r.require(p >= 0 && p < static_cast<int64_t>(in.size()), "perm " + to_string(perm));
        out.push_back(in[static_cast<size_t>(p)]);
    }
    r.set(0, r.type(0), out);
}

void infer_reduce(const Rule& r) {
    bool given = false;
    Shape in = r.in(0), out;
    const std::vector<size_t> axes = axes_of(r.graph, r.node, in.size(), given);
    const bool all = axes.empty() && r.node.integer("noop_with_empty_axes", 0) == 0;
    const bool keep = r.node.integer("keepdims", 1) != 0;
    for (size_t i = 0; i < in.size(); ++i) {
        if (!all && std::find(axes.begin(), axes.end(), i) == axes.end())
            out.push_back(in[i]);
        else if (keep)
            out.push_back(1);
    }
    r.set(0, r.type(0), out);
}

void infer_squeeze(const Rule& r) {
    bool given = false;
    const Shape& in = r.in(0);
    const std::vector<size_t> axes = axes_of(r.graph, r.node, in.size(), given);
    Shape out;
    for (size_t i = 0; i < in.size(); ++i) {
        const bool listed = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (listed) r.require(in[i] == 1, fmt::format("axis {} of {}", i, to_string(in)));
        if (listed || (!given && in[i] == 1)) continue;
        out.push_back(in[i]);
    }
    r.set(0, r.type(0), out);
}

void infer_unsqueeze(const Rule& r) {
    bool given = false;
    const size_t more = r.node.has("axes") ? r.node.integers("axes").size()
                                           : known_integers(r.graph, r.node, 1).size();
    Shape out = r.in(0);
    for (const size_t axis : axes_of(r.graph, r.node, out.size() + more, given)) {
        r.require(axis <= out.size(), "an axis twice");
        out.insert(out.begin() + static_cast<int64_t>(axis), 1);
    }
    r.set(0, r.type(0), out);
}

void infer_split(const Rule& r) {
    const Shape& in = r.in(0);
    const size_t axis = axis_of(r.node, r.node.integer("axis", 0), in.size());
    std::vector<int64_t> parts = r.node.integers("split");
    const auto count = static_cast<int64_t>(r.node.outputs.size());
    if (r.has(1)) parts = known_integers(r.graph, r.node, 1);
    if (parts.empty()) {
        r.require(in[axis] % count == 0, fmt::format("{} in {} parts", to_string(in), count));
        parts.assign(r.node.outputs.size(), in[axis] / count);
    }
    r.require(parts.size() == r.node.outputs.size(), "as many parts as outputs are needed");
    int64_t rest = in[axis];
    for (size_t i = 0; i < parts.size(); ++i) {
        r.require(r.node.outputs[i] != kNoValue, "an output is left out");
        r.require(parts[i] >= 0 && parts[i] <= rest, "parts " + to_string(parts));
        rest -= parts[i];
        Shape out = in;
        out[axis] = parts[i];
        r.set(i, r.type(0), out);
    }
    r.require(rest == 0, "the parts do not add up to the whole");
}

void infer_gather(const Rule& r) {
    const Shape &in = r.in(0), &index = r.in(1);
    const size_t axis = axis_of(r.node, r.node.integer("axis", 0), in.size());
    r.require(!is_floating(r.type(1)), "floating indices");
    Shape out = in;
    out.erase(out.begin() + static_cast<int64_t>(axis));
    out.insert(out.begin() + static_cast<int64_t>(axis), index.begin(), index.end());
    r.set(0, r.type(0), out);
}

void infer_pad(const Rule& r) {
    const std::vector<int64_t> pads = known_integers(r.graph, r.node, 1);
    Shape out = r.in(0);
    if (r.has(2)) r.require_type(2, 0);
    const std::string mode = r.node.text("mode", "constant");
    r.require(mode == "constant", "mode " + mode + " is not supported");
    r.require(pads.size() == 2 * out.size(), fmt::format("{} pads", pads.size()));
    for (size_t i = 0; i < out.size(); ++i) {
        for (const int64_t pad : {pads[i], pads[i + out.size()]})
            r.require(pad >= 0 && pad < (int64_t{1} << 40), fmt::format("pad {}", pad));
        out[i] += pads[i] + pads[i + out.size()];
    }
    r.set(0, r.type(0), out);
}

void infer_range(const Rule& r) {
    r.require_type(1, 0);
    r.require_type(2, 0);
    double bound[3];
    for (size_t i = 0; i < 3; ++i) {
        const Value& value = r.graph.value(r.node.inputs[i]);
        if (!value.is_known() || value.data->size() != 1) fail(r.node, "needs known scalars");
        bound[i] = to_doubles(*value.data)[0];
    }
    const double count = std::ceil((bound[1] - bound[0]) / bound[2]);
    r.require(count < 0x1p40, "too many elements");
    r.set(0, r.type(0), {static_cast<int64_t>(std::max(0.0, count))});
}

void infer_lstm(const Rule& r) {
    r.require_floating();
    r.require_rank(0, 3);
    r.require_rank(1, 3);
    const Node& node = r.node;
    const std::string direction = node.text("direction", "forward");
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    r.require(directions == 2 || direction == "forward" || direction == "reverse",
              "direction " + direction);
    r.require(node.integer("layout", 0) == 0, "layout 1 is not supported");
    r.require(node.integer("input_forget", 0) == 0, "input_forget is not supported");
    r.require(!node.has("activations"), "activations other than the default are not supported");
    r.require(!r.has(4) && !r.has(7), "sequence_lens and peepholes are not supported");
    const Shape &x = r.in(0), &recurrence = r.in(2);
    r.require(recurrence.size() == 3, "R is " + to_string(recurrence));
    const int64_t hidden = recurrence[2];
    r.require(node.integer("hidden_size", hidden) == hidden && hidden < (int64_t{1} << 30),
              fmt::format("R is {}", to_string(recurrence)));
    r.require(r.in(1) == Shape{directions, 4 * hidden, x[2]} &&
                  recurrence == Shape{directions, 4 * hidden, hidden},
              fmt::format("W is {}, R is {}", to_string(r.in(1)), to_string(recurrence)));
    if (r.has(3)) r.require(r.in(3) == Shape{directions, 8 * hidden}, "B is " + to_string(r.in(3)));
    for (size_t i = 5; i < 7; ++i)
        if (r.has(i))
            r.require(r.in(i) == Shape{directions, x[1], hidden},
                      fmt::format("input {} is {}", i, to_string(r.in(i))));
    r.set(0, r.type(0), {x[0], directions, x[1], hidden});
    r.set(1, r.type(0), {directions, x[1], hidden});
    r.set(2, r.type(0), {directions, x[1], hidden});
}

void infer_shape_operator(const Rule& r) {
    const auto rank = static_cast<int64_t>(r.in(0).size());
    const auto clamp = [&](int64_t x) {
        return std::clamp(x < 0 ? x + rank : x, int64_t{0}, rank);
    };
    const int64_t start = clamp(r.node.integer("start", 0));
    const int64_t end = clamp(r.node.integer("end", rank));
    r.set(0, ElementType::kInt64, {std::max<int64_t>(0, end - start)});
}

}  // namespace

Shape broadcast(const Shape& a, const Shape& b, const Node& node) {
    Shape out(std::max(a.size(), b.size()), 1);
    for (size_t i = 0; i < out.size(); ++i) {
        const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1)
            fail(node, fmt::format("{} and {} do not broadcast", to_string(a), to_string(b)));
        out[out.size() - 1 - i] = x == 1 ? y : x;
    }
    return out;
}

size_t axis_of(const Node& node, int64_t axis, size_t rank) {
    const auto r = static_cast<int64_t>(rank);
    if (axis < -r || axis >= r) fail(node, fmt::format("axis {} of a rank of {}", axis, rank));
    return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

std::vector<size_t> axes_of(const Graph& graph, const Node& node, size_t rank, bool& given) {
    std::vector<int64_t> axes = node.integers("axes");
    given = node.has("axes");
    if (node.input(1) != kNoValue) {
        axes = known_integers(graph, node, 1);
        given = true;
    }
    std::set<size_t> sorted;
    for (const int64_t axis : axes)
        if (!sorted.insert(axis_of(node, axis, rank)).second)
            fail(node, fmt::format("axis {} twice", axis));
    return {sorted.begin(), sorted.end()};
}

std::vector<int64_t> known_integers(const Graph& graph, const Node& node, size_t input) {
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
    const std::vector<int64_t> starts = known_integers(graph, node, 1);
    const std::vector<int64_t> ends = known_integers(graph, node, 2);
    std::vector<int64_t> axes, steps(starts.size(), 1);
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    if (node.input(3) != kNoValue) axes = known_integers(graph, node, 3);
    if (node.input(4) != kNoValue) steps = known_integers(graph, node, 4);
    if (ends.size() != starts.size() || axes.size() != starts.size() ||
        steps.size() != starts.size())
        fail(node, "starts, ends, axes and steps of different lengths");
    std::vector<SliceRange> ranges;
    for (const int64_t extent : in) ranges.push_back({0, 1, extent});
    for (size_t i = 0; i < starts.size(); ++i) {
        SliceRange& range = ranges[axis_of(node, axes[i], in.size())];
        const int64_t extent = in[axis_of(node, axes[i], in.size())], step = steps[i];
        if (step == 0 || step == INT64_MIN) fail(node, "a step of 0");
        const bool up = step > 0;
        if (extent == 0) continue;
        const auto clamp = [&](int64_t x, int64_t low, int64_t high) {
            return std::clamp(x < 0 ? x + extent : x, low, high);
        };
        const int64_t start = clamp(starts[i], 0, up ? extent : extent - 1);
        const int64_t end = up ? clamp(ends[i], 0, extent) : clamp(ends[i], -1, extent - 1);
        const int64_t span = up ? end - start : start - end;
        const int64_t size = up ? step : -step;
        range = {start, step, span <= 0 ? 0 : (span - 1) / size + 1};
    }
    return ranges;
}

void infer_node(Graph& graph, const Node& node) {
    const Rule r{graph, node};
    switch (node.op) {
        case Operator::kAdd:
        case Operator::kAnd:
        case Operator::kDiv:
        case Operator::kEqual:
        case Operator::kGreater:
        case Operator::kLess:
        case Operator::kMax:
        case Operator::kMin:
        case Operator::kMul:
        case Operator::kOr:
        case Operator::kPow:
        case Operator::kSub:
        case Operator::kSum:
            return infer_elementwise(r);
        case Operator::kConv:
            return infer_convolution(r);
        case Operator::kMaxPool:
            r.require(node.integer("storage_order", 0) == 0, "storage_order is not supported");
            return infer_pool(r);
        case Operator::kAveragePool:
            return infer_pool(r);
        case Operator::kGlobalAveragePool: {
            r.require_floating();
            r.require(r.in(0).size() >= 3, "input " + to_string(r.in(0)));
            Shape out(r.in(0).size(), 1);
            out[0] = r.in(0)[0];
            out[1] = r.in(0)[1];
            return r.set(0, r.type(0), out);
        }
        case Operator::kGemm:
            return infer_gemm(r);
        case Operator::kMatMul:
            return infer_matmul(r);
        case Operator::kBatchNormalization:
            return infer_batch_normalisation(r);
        case Operator::kLayerNormalization:
            return infer_layer_normalisation(r);
        case Operator::kConcat:
            return infer_concat(r);
        case Operator::kConstant:
            return infer_constant(r);
        case Operator::kReshape:
            return infer_reshape(r);
        case Operator::kFlatten:
            return infer_flatten(r);
        case Operator::kTranspose:
            return infer_transpose(r);
        case Operator::kReduceMax:
        case Operator::kReduceMean:
        case Operator::kReduceSum:
            return infer_reduce(r);
        case Operator::kSqueeze:
            return infer_squeeze(r);
        case Operator::kUnsqueeze:
            return infer_unsqueeze(r);
        case Operator::kSplit:
            return infer_split(r);
        case Operator::kGather:
            return infer_gather(r);
        case Operator::kPad:
            return infer_pad(r);
        case Operator::kRange:
            return infer_range(r);
        case Operator::kLSTM:
            return infer_lstm(r);
        case Operator::kShape:
            return infer_shape_operator(r);
        case Operator::kCast: {
            const std::optional<ElementType> to = onnx_element_type(node.integer("to", 0));
            r.require(to.has_value(), fmt::format("to type {}", node.integer("to", 0)));
            return r.set(0, *to, r.in(0));
        }
        case Operator::kConstantOfShape: {
            Attribute zero = std::make_shared<const Tensor>(ElementType::kFp32, Shape{1});
            const auto found = node.attributes.find("value");
            const Attribute& value = found == node.attributes.end() ? zero : found->second;
            const auto& tensor = std::get<std::shared_ptr<const Tensor>>(value);
            r.require(tensor->size() == 1, "value needs one element");
            return r.set(0, tensor->type, known_integers(graph, node, 0));
        }
        case Operator::kExpand:
            return r.set(0, r.type(0), broadcast(r.in(0), known_integers(graph, node, 1), node));
        case Operator::kWhere:
            r.require(r.type(0) == ElementType::kBool, "the condition is not bool");
            r.require_type(2, 1);
            return r.set(0, r.type(1), broadcast(r.in(0), broadcast(r.in(1), r.in(2), node), node));
        case Operator::kSlice: {
            Shape out;
            for (const SliceRange& range : slice_ranges(graph, node)) out.push_back(range.count);
            return r.set(0, r.type(0), out);
        }
        case Operator::kSoftmax:
            r.require_floating();
            axis_of(node, node.integer("axis", -1), r.in(0).size());
            return r.set(0, r.type(0), r.in(0));
        case Operator::kNot:
            r.require(r.type(0) == ElementType::kBool, "the operand is not bool");
            return r.set(0, r.type(0), r.in(0));
        case Operator::kClip:
            for (size_t i = 1; i < node.inputs.size(); ++i)
                if (r.has(i)) r.require_type(i, 0);
            return r.set(0, r.type(0), r.in(0));
        case Operator::kDropout:
            r.set(1, ElementType::kBool, r.in(0));
            [[fallthrough]];
        case Operator::kAbs:
        case Operator::kElu:
        case Operator::kErf:
        case Operator::kExp:
        case Operator::kGelu:
        case Operator::kHardSigmoid:
        case Operator::kHardSwish:
        case Operator::kIdentity:
        case Operator::kLeakyRelu:
        case Operator::kLog:
        case Operator::kNeg:
        case Operator::kReciprocal:
        case Operator::kRelu:
        case Operator::kSigmoid:
        case Operator::kSqrt:
        case Operator::kTanh:
            return r.set(0, r.type(0), r.in(0));
    }
    LOCKSTEP_CHECK(false, "operator {}", static_cast<int>(node.op));
}

void infer_shapes(Graph& graph) {
    for (const size_t n : topological_order(graph)) infer_node(graph, graph.nodes[n]);
}

}  // namespace lockstep::network
