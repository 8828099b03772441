// SPDX-License-Identifier: Apache-2.0
// Pooling by windows over an image, one thread an element of the result.
#include <algorithm>

#include "workloads/network/gpu/lowering.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::gpu {

kernels::Pool pool_parameters(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Place in = l.place(node.inputs[0]);
    const Shape &sx = in.shape, &shape = graph.shape(node.outputs[0]);
    SlidingWindow window;
    if (node.op == Operator::kGlobalAveragePool)
        window = {{sx[2], sx[3]}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
    else
        window = window_of(node, sx);
    const Place out = l.create(node.outputs[0], compile::strides_like(in, shape));
    // The result's dimensions in the order of its memory.
    std::vector<std::size_t> order = {0, 1, 2, 3};
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return out.strides[a] > out.strides[b]; });
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    kernels::Pool p;
    p.pooling =
        node.op == Operator::kMaxPool ? kernels::Pooling::kMaximum : kernels::Pooling::kAverage;
    p.count = narrow(element_count(shape));
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t d = order[i];
        p.extent[i] = divider_of(shape[d]);
        p.in_stride[i] = narrow(in.strides[d]);
        p.out_stride[i] = narrow(out.strides[d]);
        if (d == 2) p.y = narrow(static_cast<std::int64_t>(i));
        if (d == 3) p.x = narrow(static_cast<std::int64_t>(i));
    }
    p.in = l.pointer(in);
    p.out = l.pointer(out);
    p.in_type = type_of(in.type);
    p.out_type = type_of(out.type);
    p.taps_y = narrow(window.kernel[0]), p.taps_x = narrow(window.kernel[1]);
    p.step_y = narrow(window.stride[0]), p.step_x = narrow(window.stride[1]);
    p.dilation_y = narrow(window.dilation[0]), p.dilation_x = narrow(window.dilation[1]);
    p.pad_y = narrow(window.pad_begin[0]), p.pad_x = narrow(window.pad_begin[1]);
    p.in_y = narrow(sx[2]), p.in_x = narrow(sx[3]);
    p.end_y = narrow(sx[2] + window.pad_end[0]), p.end_x = narrow(sx[3] + window.pad_end[1]);
    p.counts_padding = node.integer("count_include_pad", 0) != 0 ? 1 : 0;
    return p;
}

namespace {

void lower_pool(Lowering& l, const Node& node) {
    const kernels::Pool p = pool_parameters(l, node);
    const Place &in = l.place(node.inputs[0]), &out = l.place(node.outputs[0]);
    l.emit({"pool", "pool"}, Lowering::threads_for(p.count), p).bytes =
        static_cast<std::uint64_t>(element_count(in.shape)) * size_of(in.type) +
        static_cast<std::uint64_t>(p.count) * size_of(out.type);
}

compile::Reason reason_pool(const Graph& graph, const Node& node) {
    const std::size_t rank = graph.shape(node.inputs[0]).size();
    if (rank == 4) return std::nullopt;
    return fmt::format("windows over {} dimensions", rank - 2);
}

constexpr OperatorRow kRows[] = {
    {Operator::kAveragePool, lower_pool, reason_pool},
    {Operator::kMaxPool, lower_pool, reason_pool},
};

}  // namespace

std::span<const OperatorRow> pool_operators() {
    return kRows;
}

}  // namespace lockstep::network::gpu
