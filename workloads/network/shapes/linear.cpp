// SPDX-License-Identifier: Apache-2.0
// Shapes of convolution, pooling, matrix products, LSTM and the normalisations, after the ONNX
// operator reference.
#include <limits>

#include "workloads/network/shapes/rule.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::shapes {

void infer_convolution(const Rule& r) {
    r.require_floating();
    const Shape out = convolution_shape(r, r.in(0), r.in(1));
    if (r.has(2)) r.require(r.in(2) == Shape{out[1]}, "the bias is " + to_string(r.in(2)));
    r.set(0, r.type(0), out);
}

namespace {

void infer_pool(const Rule& r) {
    const SlidingWindow window = window_of(r.node, r.in(0));
    Shape out = {r.in(0)[0], r.in(0)[1]};
    out.insert(out.end(), window.output.begin(), window.output.end());
    r.set(0, r.type(0), out);
}

}  // namespace

void infer_average_pool(const Rule& r) {
    r.require_floating();
    infer_pool(r);
}

void infer_max_pool(const Rule& r) {
    r.require(r.node.integer("storage_order", 0) == 0, "storage_order is not supported");
    if (r.type(0) != ElementType::kInt8 && r.type(0) != ElementType::kUint8) r.require_floating();
    infer_pool(r);
}

void infer_max_pool_gradient(const Rule& r) {
    r.require(r.node.integer("storage_order", 0) == 0, "storage_order is not supported");
    r.require_floating();
    Shape out = window_of(r.node, r.in(0)).output;
    out.insert(out.begin(), {r.in(0)[0], r.in(0)[1]});
    r.require(r.in(1) == out,
              fmt::format("a gradient {} of {}", to_string(r.in(1)), to_string(out)));
    infer_same(r);
}

void infer_global_pool(const Rule& r) {
    r.require_floating();
    r.require(r.in(0).size() >= 3, "input " + to_string(r.in(0)));
    Shape out(r.in(0).size(), 1);
    out[0] = r.in(0)[0];
    out[1] = r.in(0)[1];
    r.set(0, r.type(0), out);
}

void infer_resize_bilinear(const Rule& r) {
    r.require_floating();
    r.require_rank(0, 4);
    const std::vector<std::int64_t> size = r.node.integers("size");
    const auto fits = [](std::int64_t extent) { return extent >= 1 && extent <= 1 << 20; };
    r.require(size.size() == 2 && fits(size[0]) && fits(size[1]),
              fmt::format("size {} is no height and width", to_string(size)));
    r.require(
        r.node.integer("align_corners", 0) == 0 || r.node.integer("half_pixel_centers", 0) == 0,
        "align_corners with half_pixel_centers");
    r.set(0, r.type(0), {r.in(0)[0], r.in(0)[1], size[0], size[1]});
}

void infer_gemm(const Rule& r) {
    r.require_floating();
    r.require_rank(0, 2);
    r.require_rank(1, 2);
    const std::size_t ta = r.node.integer("transA", 0) != 0, tb = r.node.integer("transB", 0) != 0;
    const Shape &a = r.in(0), &b = r.in(1);
    r.require(a[1 - ta] == b[tb], fmt::format("{} times {}", to_string(a), to_string(b)));
    const Shape out = {a[ta], b[1 - tb]};
    if (r.has(2)) r.require(broadcast(out, r.in(2), r.node) == out, "C is " + to_string(r.in(2)));
    r.set(0, r.type(0), out);
}

void infer_matmul(const Rule& r) {
    r.require_type(1, 0);
    const Shape out = product_shape(r, r.in(0), r.in(1));
    if (r.has(2))
        r.require(r.in(1).size() > 1 && r.in(2) == Shape{r.in(1).back()},
                  "the bias is " + to_string(r.in(2)));
    r.set(0, r.type(0), out);
}

void infer_batch_normalisation(const Rule& r) {
    r.require_floating();
    r.require(r.in(0).size() >= 2, "input " + to_string(r.in(0)));
    r.require(r.node.integer("training_mode", 0) == 0, "training_mode is not supported");
    for (std::size_t i = 1; i < 5; ++i)
        r.require(r.in(i) == Shape{r.in(0)[1]},
                  fmt::format("input {} is {}", i, to_string(r.in(i))));
    r.set(0, r.type(0), r.in(0));
}

void infer_layer_normalisation(const Rule& r) {
    r.require_floating();
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", -1), r.in(0).size());
    const Shape slice(r.in(0).begin() + static_cast<std::int64_t>(axis), r.in(0).end());
    for (std::size_t i = 1; i < r.node.inputs.size(); ++i)
        if (r.has(i))
            r.require(broadcast(slice, r.in(i), r.node) == slice,
                      fmt::format("input {} is {}", i, to_string(r.in(i))));
    r.set(0, r.type(0), r.in(0));
}

void infer_lstm(const Rule& r) {
    r.require_floating();
    r.require_rank(0, 3);
    r.require_rank(1, 3);
    const Node& node = r.node;
    const std::string direction = node.text("direction", "forward");
    const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
    r.require(directions == 2 || direction == "forward" || direction == "reverse",
              "direction " + direction);
    r.require(node.integer("layout", 0) == 0, "layout 1 is not supported");
    r.require(node.integer("input_forget", 0) == 0, "input_forget is not supported");
    r.require(!node.has("activations"), "activations other than the default are not supported");
    r.require(!r.has(4) && !r.has(7), "sequence_lens and peepholes are not supported");
    const Shape &x = r.in(0), &recurrence = r.in(2);
    r.require(recurrence.size() == 3, "R is " + to_string(recurrence));
    const std::int64_t hidden = recurrence[2];
    r.require(node.integer("hidden_size", hidden) == hidden && hidden < (std::int64_t{1} << 30),
              fmt::format("R is {}", to_string(recurrence)));
    r.require(r.in(1) == Shape{directions, 4 * hidden, x[2]} &&
                  recurrence == Shape{directions, 4 * hidden, hidden},
              fmt::format("W is {}, R is {}", to_string(r.in(1)), to_string(recurrence)));
    if (r.has(3)) r.require(r.in(3) == Shape{directions, 8 * hidden}, "B is " + to_string(r.in(3)));
    for (std::size_t i = 5; i < 7; ++i)
        if (r.has(i))
            r.require(r.in(i) == Shape{directions, x[1], hidden},
                      fmt::format("input {} is {}", i, to_string(r.in(i))));
    r.set(0, r.type(0), {x[0], directions, x[1], hidden});
    r.set(1, r.type(0), {directions, x[1], hidden});
    r.set(2, r.type(0), {directions, x[1], hidden});
}

Shape convolution_shape(const Rule& r, const Shape& x, const Shape& w) {
    const SlidingWindow window = spread_window_of(r.node, x, w);
    const bool groups = window.group >= 1 && w[1] >= 0 && w[1] <= x[1] &&
                        x[1] % window.group == 0 && x[1] / window.group == w[1] &&
                        w[0] % window.group == 0;
    r.require(groups, fmt::format("input {} and weight {} in {} groups", to_string(x), to_string(w),
                                  window.group));
    Shape out = {x[0], w[0]};
    out.insert(out.end(), window.output.begin(), window.output.end());
    return out;
}

Shape product_shape(const Rule& r, const Shape& first, const Shape& second) {
    Shape a = first, b = second;
    r.require(!a.empty() && !b.empty(), "a scalar operand");
    const bool row = a.size() == 1, column = b.size() == 1;
    if (row) a.insert(a.begin(), 1);
    if (column) b.push_back(1);
    r.require(a.back() == b[b.size() - 2],
              fmt::format("{} times {}", to_string(first), to_string(second)));
    Shape out = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), r.node);
    if (!row) out.push_back(a[a.size() - 2]);
    if (!column) out.push_back(b.back());
    return out;
}

void infer_instance_normalisation(const Rule& r) {
    r.require_floating();
    for (const std::size_t i : {1, 2})
        r.require(r.in(0).size() >= 2 && r.in(i) == Shape{r.in(0)[1]},
                  fmt::format("input {} is {}", i, to_string(r.in(i))));
    r.set(0, r.type(0), r.in(0));
}

void infer_local_response(const Rule& r) {
    r.require_floating();
    const std::int64_t size = r.node.integer("size", 0);
    r.require(r.in(0).size() >= 3 && size >= 1 && size <= std::numeric_limits<std::int32_t>::max(),
              fmt::format("{} over {} channels", to_string(r.in(0)), size));
    r.set(0, r.type(0), r.in(0));
}

void infer_softmax(const Rule& r) {
    r.require_floating();
    axis_of(r.node, r.node.integer("axis", -1), r.in(0).size());
    r.set(0, r.type(0), r.in(0));
}

}  // namespace lockstep::network::shapes
