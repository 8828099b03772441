// SPDX-License-Identifier: Apache-2.0
// What trainings need and machines lack: a bias that is an input, the way back from a maximum, sums
// of rows by computed indices.
#include <algorithm>
#include <limits>

#include "sim/error/error.h"
#include "workloads/network/compile/legalise.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::compile {

namespace {

using enum Operator;
using Integers = std::vector<std::int64_t>;

/// Of MaxPool: whose element of a window is the first of the largest, tap after tap. What is left
/// of the gradient goes to a tap where that equals the maximum, and then there is none left.
class MaximumGradient {
  public:
    MaximumGradient(NodeWriter& w, const Graph& graph, const Node& node)
        : w_(w),
          node_(node),
          in_(graph.shape(node.inputs[0])),
          type_(graph.value(node.inputs[0]).type),
          window_(window_of(node, in_)) {}

    void write() {
        Integers before = {0, 0, window_.pad_begin[0], window_.pad_begin[1]}, after = {0, 0};
        for (std::size_t d = 0; d < 2; ++d)
            after.push_back(
                std::max<std::int64_t>(0, (window_.output[d] - 1) * window_.stride[d] +
                                              (window_.kernel[d] - 1) * window_.dilation[d] + 1 -
                                              in_[d + 2] - window_.pad_begin[d]));
        Shape wide = in_;
        for (std::size_t d = 0; d < 4; ++d) wide[d] += before[d] + after[d];
        ValueId x = node_.inputs[0];
        if (wide != in_) {
            Integers pads = before;
            pads.insert(pads.end(), after.begin(), after.end());
            const double lowest = double{std::numeric_limits<float>::lowest()};
            x = op(kPad, "padded",
                   {x, w_.integers(name("pads"), pads), w_.scalar(name("lowest"), type_, lowest)});
        }
        const ValueId y = op(kMaxPool, "maximum", {node_.inputs[0]}, node_.attributes);
        ValueId left = node_.inputs[1];
        std::vector<ValueId> parts;
        const std::int64_t taps = window_.kernel[0] * window_.kernel[1];
        for (std::int64_t tap = 0; tap < taps; ++tap) {
            const std::string part = "tap" + std::to_string(tap);
            const ValueId equal = op(kEqual, part + ".equal", {elements(part, x, tap), y});
            parts.push_back(
                op(kWhere, part, {equal, left, w_.scalar(name(part + ".zero"), type_, 0)}));
            if (tap + 1 < taps) left = op(kSub, part + ".left", {left, parts.back()});
        }
        ValueId sum = covers() ? joined(parts) : added(parts, wide);
        // Without the padding.
        if (w_.shape(sum) != in_) {
            Integers to = before;
            for (std::size_t d = 0; d < 4; ++d)
                to[d] += std::min(in_[d], w_.shape(sum)[d] - before[d]);
            sum = op(kSlice, "image",
                     {sum, w_.integers(name("from"), before), w_.integers(name("to"), to)});
        }
        if (const Shape got = w_.shape(sum); got != in_) {  // what no window reaches
            Integers rest(4, 0);
            for (std::size_t d = 0; d < 4; ++d) rest.push_back(in_[d] - got[d]);
            sum = op(kPad, "rest", {sum, w_.integers(name("rest.pads"), rest)});
        }
        w_.give(sum, node_.outputs[0]);
    }

  private:
    std::string name(const std::string& part) const { return node_.name + "." + part; }
    ValueId op(Operator op, const std::string& part, std::vector<ValueId> inputs,
               NodeAttributes attributes = {}) {
        return w_.add(op, name(part), std::move(inputs), std::move(attributes));
    }
    std::int64_t offset(std::size_t d, std::int64_t tap) const {
        return (d == 0 ? tap / window_.kernel[1] : tap % window_.kernel[1]) * window_.dilation[d];
    }
    /// One of each window.
    ValueId elements(const std::string& part, ValueId x, std::int64_t tap) {
        Integers from, to;
        for (std::size_t d = 0; d < 2; ++d) {
            from.push_back(offset(d, tap));
            to.push_back(from[d] + (window_.output[d] - 1) * window_.stride[d] + 1);
        }
        return op(kSlice, part + ".x",
                  {x, w_.integers(name(part + ".from"), from), w_.integers(name(part + ".to"), to),
                   w_.integers(name(part + ".axes"), {2, 3}),
                   w_.integers(name(part + ".steps"), window_.stride)});
    }
    /// Each element is in one window.
    bool covers() const {
        return window_.stride == window_.kernel && window_.dilation == Integers{1, 1};
    }
    /// [n, c, h, w] of each tap as [n, c, h kernel, w kernel].
    ValueId joined(const std::vector<ValueId>& parts) {
        const Shape small = w_.shape(parts[0]);
        const Shape apart = {small[0], small[1], small[2], 1, small[3], 1};
        std::vector<ValueId> rows;
        for (std::int64_t i = 0; i < window_.kernel[0]; ++i) {
            const std::string part = "row" + std::to_string(i);
            std::vector<ValueId> columns;
            for (std::int64_t j = 0; j < window_.kernel[1]; ++j)
                columns.push_back(
                    w_.reshape(name(fmt::format("{}.{}", part, j)),
                               parts[static_cast<std::size_t>(i * window_.kernel[1] + j)], apart));
            rows.push_back(op(kConcat, part, columns, {{"axis", std::int64_t{5}}}));
        }
        const ValueId all = op(kConcat, "rows", rows, {{"axis", std::int64_t{3}}});
        return w_.reshape(
            name("joined"), all,
            {small[0], small[1], small[2] * window_.kernel[0], small[3] * window_.kernel[1]});
    }
    /// Each tap with zeros around its elements, and their sum.
    ValueId added(const std::vector<ValueId>& parts, const Shape& wide) {
        ValueId sum = kNoValue;
        const Shape small = w_.shape(parts[0]);
        for (std::size_t tap = 0; tap < parts.size(); ++tap) {
            const std::string part = "spread" + std::to_string(tap);
            ValueId x = parts[tap];
            if (window_.stride != Integers{1, 1}) {
                x = w_.reshape(name(part + ".apart"), x,
                               {small[0], small[1], small[2], 1, small[3], 1});
                x = op(kPad, part + ".gaps",
                       {x, w_.integers(name(part + ".gaps.pads"),
                                       {0, 0, 0, 0, 0, 0, 0, 0, 0, window_.stride[0] - 1, 0,
                                        window_.stride[1] - 1})});
                x = w_.reshape(name(part + ".together"), x,
                               {small[0], small[1], small[2] * window_.stride[0],
                                small[3] * window_.stride[1]});
            }
            // The last gap may reach beyond the image.
            Integers pads = {0, 0, 0, 0, 0, 0, 0, 0}, to = {small[0], small[1]};
            for (std::size_t d = 0; d < 2; ++d) {
                const std::int64_t first = offset(d, static_cast<std::int64_t>(tap)),
                                   reach = w_.shape(x)[d + 2];
                pads[d + 2] = first;
                pads[d + 6] = std::max<std::int64_t>(0, wide[d + 2] - first - reach);
                to.push_back(std::min(reach, wide[d + 2] - first));
            }
            if (to != w_.shape(x))
                x = op(kSlice, part + ".cut",
                       {x, w_.integers(name(part + ".zero"), {0, 0, 0, 0}),
                        w_.integers(name(part + ".to"), to)});
            x = op(kPad, part, {x, w_.integers(name(part + ".pads"), pads)});
            sum = sum == kNoValue ? x : op(kAdd, part + ".sum", {sum, x});
        }
        return sum;
    }

    NodeWriter& w_;
    const Node& node_;
    const Shape in_;
    const ElementType type_;
    const SlidingWindow window_;
};

}  // namespace

bool write_max_pool_gradient(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != kMaxPoolGrad || graph.shape(node.inputs[0]).size() != 4) return false;
    MaximumGradient(w, graph, node).write();
    return true;
}

bool write_computed_bias(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != kConv || node.input(2) == kNoValue || is_given(graph.value(node.inputs[2])))
        return false;
    Shape row(graph.shape(node.outputs[0]).size(), 1);
    row[1] = graph.shape(node.outputs[0])[1];
    const ValueId product =
        w.add(kConv, node.name, {node.inputs[0], node.inputs[1]}, node.attributes);
    w.add(kAdd, node.name + ".biased",
          {product, w.reshape(node.name + ".bias", node.inputs[2], row)}, {}, 1, node.outputs[0]);
    return true;
}

/// Rows added up by their indices are the product of a matrix with a one where index and row meet.
bool write_scattered_sum(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != kScatterND || node.text("reduction", "none") != "add") return false;
    const Shape data = graph.shape(node.inputs[0]), indices = graph.shape(node.inputs[1]);
    const ElementType type = graph.value(node.inputs[0]).type;
    if (data.size() != 2 || indices.size() != 2 || indices[1] != 1 || !is_floating(type))
        return false;
    const std::string& name = node.name;
    std::vector<std::int64_t> rows(static_cast<std::size_t>(data[0]));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
    const ElementType integer = graph.value(node.inputs[1]).type;
    const ValueId numbers = w.constant(name + ".rows", from_integers(integer, {data[0], 1}, rows));
    const ValueId list = w.reshape(name + ".list", node.inputs[1], {1, indices[0]});
    const ValueId real = w.add(kCast, name + ".list.real", {list},
                               {{"to", onnx_type_of(ElementType::kFp32)}}),
                  row = w.add(kCast, name + ".rows.real", {numbers},
                              {{"to", onnx_type_of(ElementType::kFp32)}});
    const ValueId spread = w.add(kExpand, name + ".list.spread",
                                 {real, w.integers(name + ".extents", {data[0], indices[0]})});
    const ValueId meet = w.add(kEqual, name + ".meet", {spread, row});
    const ValueId ones = w.add(kCast, name + ".ones", {meet}, {{"to", onnx_type_of(type)}});
    const ValueId sums = w.add(kMatMul, name + ".sums", {ones, node.inputs[2]});
    w.add(kAdd, name, {sums, node.inputs[0]}, {}, 1, node.outputs[0]);
    return true;
}

}  // namespace lockstep::network::compile
