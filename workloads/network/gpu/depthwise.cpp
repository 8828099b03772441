// SPDX-License-Identifier: Apache-2.0
// Each channel by itself: no product of matrices, but with a product's epilogue.
#include "workloads/network/gpu/problem.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::gpu {

bool is_depthwise(const Graph& graph, const Node& node) {
    if (node.op != Operator::kConv) return false;
    const std::int64_t group = node.integer("group", 1);
    return group > 1 && graph.shape(node.inputs[1])[1] == 1;
}

Problem depthwise_problem(const Lowering& l, const Node& node) {
    const Shape& shape = l.graph().shape(node.outputs[0]);
    Problem problem;
    problem.out = compile::image_strides(shape);
    problem.axes = {{0, 2, 3}, 1, {}};
    problem.batches = {1};
    problem.p.epilogue.row = static_cast<std::int32_t>(shape[1]);
    return problem;
}

void launch_depthwise(Lowering& l, const Node& node, const Problem& problem, const Place& out) {
    const Graph& graph = l.graph();
    const Shape &sx = graph.shape(node.inputs[0]), &sw = graph.shape(node.inputs[1]);
    const SlidingWindow window = window_of(node, sx, &sw);
    const Place& x = l.place(node.inputs[0]);
    const std::vector<std::int64_t> by_tap = {1, sw[0] * sw[2] * sw[3], sw[3] * sw[0], sw[0]};
    Place w = l.place(node.inputs[1], by_tap);
    if (w.strides != by_tap) {
        const Place ordered = l.scratch(node.name + ".weight", w.type, sw, by_tap);
        l.copy(w, ordered);
        w = ordered;
    }
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    kernels::Depthwise p;
    p.x = l.pointer(x);
    p.w = l.pointer(w);
    const std::int64_t area = window.output[0] * window.output[1];
    p.rows = narrow(sx[0] * area);
    p.channels = narrow(sw[0]);
    p.multiplier = narrow(sw[0] / sx[1]);
    p.pixels = divider_of(area), p.width = divider_of(window.output[1]);
    p.x_image = narrow(x.strides[0]), p.x_channel = narrow(x.strides[1]);
    p.x_y = narrow(x.strides[2]), p.x_x = narrow(x.strides[3]);
    p.taps_y = narrow(sw[2]), p.taps_x = narrow(sw[3]);
    p.step_y = narrow(window.stride[0]), p.step_x = narrow(window.stride[1]);
    p.dilation_y = narrow(window.dilation[0]), p.dilation_x = narrow(window.dilation[1]);
    p.pad_y = narrow(window.pad_begin[0]), p.pad_x = narrow(window.pad_begin[1]);
    p.in_y = narrow(sx[2]), p.in_x = narrow(sx[3]);
    p.epilogue = problem.p.epilogue;
    const bool integers = x.type == ElementType::kInt8;
    const bool fours = !integers && p.multiplier == 1 && p.x_channel == 1 &&
                       all_multiples({p.channels, p.x_image, p.x_y, p.x_x, x.offset}, 4);
    p.units = divider_of(fours ? sw[0] / 4 : sw[0]);
    static constexpr std::string_view kNames[3][2] = {{"depthwise_fp32_1", "depthwise_fp32_4"},
                                                      {"depthwise_fp16_1", "depthwise_fp16_4"},
                                                      {"depthwise_bf16_1", "depthwise_bf16_4"}};
    const int type = x.type == ElementType::kFp32 ? 0 : x.type == ElementType::kFp16 ? 1 : 2;
    const std::int64_t count = std::int64_t{p.rows} * p.units.divisor;
    const cuda::KernelName kernel =
        integers ? cuda::KernelName{"quantised", "depthwise_int8"}
                 : cuda::KernelName{"depthwise", kNames[type][fours ? 1 : 0]};
    Launch& launch = l.emit(kernel, Lowering::threads_for(count), p);
    const std::int64_t taps = sw[2] * sw[3];
    launch.macs = static_cast<std::uint64_t>(p.rows) * static_cast<std::uint64_t>(sw[0] * taps);
    launch.bytes =
        static_cast<std::uint64_t>(element_count(sx) + element_count(sw)) * size_of(x.type) +
        static_cast<std::uint64_t>(element_count(out.shape)) * size_of(out.type);
}

}  // namespace lockstep::network::gpu
