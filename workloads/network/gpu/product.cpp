// SPDX-License-Identifier: Apache-2.0
// Conv, Gemm and MatMul as one kind of product, whose sums pass through an epilogue; what does not
// fit into that follows as a chain.
#include <algorithm>

#include "workloads/network/gpu/choose.h"
#include "workloads/network/gpu/epilogue.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/fp8.h"

namespace lockstep::network::gpu {

namespace {

/// The product of both operands' scales, where they are of e4m3.
std::optional<float> e4m3_scales(const Graph& graph, const Node& product) {
    float scale = 1;
    int rounded = 0;
    for (const Node& node : graph.nodes)
        for (const std::size_t i : {0, 1})
            if (node.outputs[0] == product.inputs[i])
                if (const auto own = e4m3_scale_of(node)) {
                    scale *= *own;
                    ++rounded;
                }
    if (rounded == 0) return std::nullopt;
    LOCKSTEP_CHECK(rounded == 2, "{}: one operand of e4m3", product.name);
    return scale;
}

}  // namespace

void lower_product(Lowering& l, const Group& nodes) {
    const Graph& graph = l.graph();
    const Node& node = graph.nodes[nodes.front()];
    const Shape& shape = graph.shape(node.outputs[0]);
    const bool depthwise = is_depthwise(graph, node);
    Problem problem = depthwise ? depthwise_problem(l, node) : problem_of(l, node);
    const bool integers = is_quantised(graph, node);
    EpilogueWriter writer(l, problem, shape);
    std::size_t taken = 1;
    ValueId last = node.outputs[0];
    if (integers) {
        const bool is_relu = nodes.size() > 1 && is_limit_at_zero(graph, graph.nodes[nodes[1]]);
        if (is_relu) last = graph.nodes[nodes[taken++]].outputs[0];
        set_integer_epilogue(l, node, is_relu, problem.p.epilogue);
    } else {
        LOCKSTEP_CHECK(writer.add(bias_steps(node)), "{}: its bias", node.name);
    }
    for (; taken < nodes.size() && !integers; ++taken) {
        const Node& next = graph.nodes[nodes[taken]];
        if (std::ranges::count(next.inputs, last) != 1 ||
            !is_floating(graph.value(next.outputs[0]).type) ||
            graph.shape(next.outputs[0]) != shape)
            break;
        const auto from =
            static_cast<std::size_t>(std::ranges::find(next.inputs, last) - next.inputs.begin());
        const auto steps = chain_steps(graph, next, from);
        if (!steps || !writer.add(*steps)) break;
        last = next.outputs[0];
    }
    const Place out = l.create(last, problem.out);
    kernels::Epilogue& epilogue = problem.p.epilogue;
    epilogue.out = l.pointer(out);
    epilogue.type = type_of(out.type);
    epilogue.vector = out.offset % 4 == 0 && epilogue.row % 4 == 0 &&
                      all_multiples({epilogue.batch[0], epilogue.batch[1], epilogue.batch[2]}, 4);
    const std::optional<float> scale = e4m3_scales(graph, node);
    if (scale) epilogue.factor *= *scale;
    // Of e4m3, results are fp16.
    const bool own_type =
        !integers && out.type == (scale ? ElementType::kFp16 : l.place(node.inputs[0]).type);
    epilogue.is_simple = own_type && find_simple(epilogue, problem.p.n) ? 1 : 0;
    if (depthwise) {
        launch_depthwise(l, node, problem, out);
    } else {
        std::int64_t batches = 1;
        for (const std::int64_t extent : problem.batches) batches *= extent;
        const Place &a = l.place(node.inputs[0]), &b = l.place(node.inputs[1]);
        problem.p.a = l.pointer(a);
        problem.p.b = l.pointer(b);
        launch_product(l, problem.p,
                       {.batches = batches,
                        .is_matrix = problem.is_matrix,
                        .type = a.type,
                        .result = out.type,
                        .macs = problem.macs});
    }
    for (; taken < nodes.size() && is_quantised(graph, graph.nodes[nodes[taken]]); ++taken)
        lower_quantised(l, graph.nodes[nodes[taken]]);
    if (taken < nodes.size())
        lower_chain(l, Group(nodes.begin() + static_cast<std::ptrdiff_t>(taken), nodes.end()));
}

}  // namespace lockstep::network::gpu
