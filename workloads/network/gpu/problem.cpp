// SPDX-License-Identifier: Apache-2.0
// Convolutions are located as they are read (implicit GEMM): k is (tap, channel).
#include "workloads/network/gpu/problem.h"

#include "workloads/network/shapes/window.h"

namespace lockstep::network::gpu {

namespace {

void set_batches(kernels::Product& p, const Loops& loops) {
    put_last(p.batch, loops.extents);
    put_last(p.a_batch, loops.strides[1], 0);
    put_last(p.b_batch, loops.strides[2], 0);
    put_last(p.epilogue.batch, loops.strides[0], 0);
}

/// 16 bytes along k can be fetched at once.
void find_vectors(kernels::Product& p, const Place& a, const Place& b) {
    const auto wide = static_cast<std::int64_t>(16 / size_of(a.type));
    const std::int64_t channels = p.channels.divisor;
    p.a_vector =
        p.a_k == 1 && channels % wide == 0 &&
        all_multiples({a.offset, p.a_image, p.a_y, p.a_x, p.a_batch[0], p.a_batch[1], p.a_batch[2]},
                      wide);
    p.b_vector =
        p.b_k == 1 && channels % wide == 0 &&
        all_multiples({b.offset, p.b_n, p.b_tap, p.b_batch[0], p.b_batch[1], p.b_batch[2]}, wide);
}

Problem convolution(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Shape &sx = graph.shape(node.inputs[0]), &sw = graph.shape(node.inputs[1]);
    const SlidingWindow window = window_of(node, sx, &sw);
    const Place& x = l.place(node.inputs[0]);
    // Taps outside, channels inside: consecutive as the channels of an image are.
    const std::int64_t taps = sw[2] * sw[3];
    const Place& w = l.place(node.inputs[1], {taps * sw[1], 1, sw[3] * sw[1], sw[1]});
    Problem made;
    kernels::Product& p = made.p;
    const std::int64_t group = window.group, filters = sw[0] / group;
    const std::int64_t area = window.output[0] * window.output[1];
    p.m = static_cast<std::int32_t>(sx[0] * area);
    p.n = static_cast<std::int32_t>(filters);
    p.k = static_cast<std::int32_t>(sw[1] * taps);
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    p.a_image = narrow(x.strides[0]), p.a_k = narrow(x.strides[1]);
    p.a_y = narrow(x.strides[2]), p.a_x = narrow(x.strides[3]);
    p.pixels = divider_of(area), p.width = divider_of(window.output[1]);
    p.channels = divider_of(sw[1]), p.taps_x = divider_of(sw[3]);
    p.step_y = narrow(window.stride[0]), p.step_x = narrow(window.stride[1]);
    p.dilation_y = narrow(window.dilation[0]), p.dilation_x = narrow(window.dilation[1]);
    p.pad_y = narrow(window.pad_begin[0]), p.pad_x = narrow(window.pad_begin[1]);
    p.in_y = narrow(sx[2]), p.in_x = narrow(sx[3]);
    p.b_n = narrow(w.strides[0]), p.b_k = narrow(w.strides[1]);
    // The weights of a network in training lie as their graph has them.
    p.b_tap = narrow(w.strides[3]);
    LOCKSTEP_CHECK(sw[2] == 1 || w.strides[2] == w.strides[3] * sw[3], "{}: its weight's rows",
                   node.name);
    if (taps == 1) p.b_tap = 0;
    const bool moves_by_one = p.step_y == 1 && p.step_x == 1 && p.pad_y == 0 && p.pad_x == 0;
    const auto pixels =
        single_stride({sx[0], sx[2], sx[3]}, {x.strides[0], x.strides[2], x.strides[3]});
    if (taps == 1 && moves_by_one && area == sx[2] * sx[3] && pixels) {
        p.pixels = p.width = divider_of(1);
        p.a_image = narrow(*pixels);
        p.a_y = p.a_x = 0;
        p.in_y = p.in_x = 1;
    } else {
        made.is_matrix = false;
    }
    const Shape& shape = graph.shape(node.outputs[0]);
    made.out = compile::image_strides(shape);
    p.epilogue.row = narrow(sw[0]);
    Loops batches{{group}, {}};
    batches.add({filters});
    batches.add({sw[1] * x.strides[1]});
    batches.add({filters * w.strides[0]});
    made.batches = {group};
    set_batches(p, batches);
    find_vectors(p, x, w);
    made.axes = {{0, 2, 3}, 1, {}};
    made.macs = static_cast<std::uint64_t>(p.m) * static_cast<std::uint64_t>(p.k) *
                static_cast<std::uint64_t>(sw[0]);
    return made;
}

/// A product of matrices, given the strides of rows, k and columns.
struct Matrices {
    std::int64_t m = 1, n = 1, k = 1;
    std::int64_t a_m = 0, a_k = 0, b_k = 0, b_n = 0;
};

void set_matrices(Problem& made, const Matrices& s, const Place& a, const Place& b) {
    kernels::Product& p = made.p;
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    p.m = narrow(s.m), p.n = narrow(s.n), p.k = narrow(s.k);
    p.a_image = narrow(s.a_m), p.a_k = narrow(s.a_k);
    p.b_k = narrow(s.b_k), p.b_n = narrow(s.b_n);
    p.pixels = p.width = p.taps_x = divider_of(1);
    p.channels = divider_of(s.k);
    find_vectors(p, a, b);
    std::int64_t count = 1;
    for (const std::int64_t extent : made.batches) count *= extent;
    made.macs = static_cast<std::uint64_t>(count * s.m * s.n * s.k);
}

Problem gemm(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Shape &sa = graph.shape(node.inputs[0]), &sb = graph.shape(node.inputs[1]);
    const bool ta = node.integer("transA", 0) != 0, tb = node.integer("transB", 0) != 0;
    const Place& a = l.place(node.inputs[0]);
    const Place& b = l.place(node.inputs[1], tb ? std::vector<std::int64_t>{sb[1], 1}
                                                : std::vector<std::int64_t>{1, sb[0]});
    Problem made;
    Matrices s;
    s.m = sa[ta ? 1 : 0], s.k = sa[ta ? 0 : 1], s.n = sb[tb ? 0 : 1];
    s.a_m = a.strides[ta ? 1 : 0], s.a_k = a.strides[ta ? 0 : 1];
    s.b_n = b.strides[tb ? 0 : 1], s.b_k = b.strides[tb ? 1 : 0];
    set_matrices(made, s, a, b);
    made.out = {s.n, 1};
    made.p.epilogue.row = static_cast<std::int32_t>(s.n);
    made.p.epilogue.factor = node.real("alpha", 1);
    made.axes = {{0}, 1, {}};
    return made;
}

Problem matmul(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Shape &sa = graph.shape(node.inputs[0]), &sb = graph.shape(node.inputs[1]),
                &so = graph.shape(node.outputs[0]);
    const std::size_t ra = sa.size(), rb = sb.size(), ro = so.size();
    // A weight lies with k consecutive.
    std::vector<std::int64_t> columns_first = compile::dense_strides(sb);
    columns_first[rb - 2] = 1, columns_first[rb - 1] = sb[rb - 2];
    const Place a = l.place(node.inputs[0]);
    const Place& b = l.place(node.inputs[1], columns_first);
    Problem made;
    made.out = compile::dense_strides(so);
    Matrices s;
    s.m = so[ro - 2], s.n = so[ro - 1], s.k = sa[ra - 1];
    s.a_m = a.strides[ra - 2], s.a_k = a.strides[ra - 1];
    s.b_k = b.strides[rb - 2], s.b_n = b.strides[rb - 1];
    const Shape outer(so.begin(), so.end() - 2);
    const auto outer_strides = [&](const Place& place) {
        compile::View view = place;
        view.shape.resize(view.shape.size() - 2);
        view.strides.resize(view.strides.size() - 2);
        return broadcast_strides(view, outer);
    };
    const std::vector<std::int64_t> a_outer = outer_strides(a), b_outer = outer_strides(b);
    made.axes.column = ro - 1;
    // Batches that share B and whose rows follow each other are more rows.
    const bool shares_b =
        std::all_of(b_outer.begin(), b_outer.end(), [](std::int64_t x) { return x == 0; });
    Shape rows = outer;
    rows.push_back(s.m);
    std::vector<std::int64_t> row_strides = a_outer;
    row_strides.push_back(s.a_m);
    const auto all_rows = single_stride(rows, row_strides);
    made.p.epilogue.row = static_cast<std::int32_t>(s.n);
    if (shares_b && all_rows) {
        s.m = element_count(rows);
        s.a_m = *all_rows;
        for (std::size_t d = 0; d + 1 < ro; ++d) made.axes.rows.push_back(d);
    } else {
        made.axes.rows = {ro - 2};
        for (std::size_t d = 0; d + 2 < ro; ++d) made.axes.batches.push_back(d);
        Loops loops{outer, {}};
        loops.add({made.out.begin(), made.out.end() - 2});
        loops.add(a_outer);
        loops.add(b_outer);
        if (loops.joined().extents.size() <= kernels::kBatchDims) loops = loops.joined();
        if (loops.extents.size() > kernels::kBatchDims)
            throw InputError(fmt::format("node {} (MatMul): more than {} dimensions of batches",
                                         node.name, kernels::kBatchDims));
        made.batches = loops.extents;
        set_batches(made.p, loops);
        // Operands of the epilogue are found by the dimensions of the result.
        if (made.batches.size() != outer.size()) made.axes.batches.clear();
    }
    set_matrices(made, s, a, b);
    return made;
}

}  // namespace

Problem problem_of(Lowering& l, const Node& node) {
    return node.op == Operator::kConv   ? convolution(l, node)
           : node.op == Operator::kGemm ? gemm(l, node)
                                        : matmul(l, node);
}

}  // namespace lockstep::network::gpu
