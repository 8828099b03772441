// SPDX-License-Identifier: Apache-2.0
// Operands of products in fp8. A weight is rounded when the network is compiled, an activation by a
// kernel; both lie with k consecutive, so that 16 bytes of it are one access.
#include <algorithm>

#include "sim/numerics/fp8.h"
#include "workloads/network/gpu/map_arguments.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/quantise/fp8.h"

namespace lockstep::network::gpu {

namespace {

/// How the operand lies for the product that reads it.
std::vector<std::int64_t> operand_strides(const Graph& graph, const Node& rounding) {
    const ValueId id = rounding.outputs[0];
    const Uses uses(graph);
    LOCKSTEP_CHECK(!uses.readers(id).empty(), "{}: nobody reads it", rounding.name);
    const Node& reader = graph.nodes[uses.readers(id).front()];
    const bool is_first = reader.inputs[0] == id;
    const Shape& shape = graph.shape(id);
    std::vector<std::int64_t> strides = compile::dense_strides(shape);
    if (reader.op == Operator::kConv) {
        if (is_first) return compile::image_strides(shape);
        const std::int64_t taps = shape[2] * shape[3];
        return {taps * shape[1], 1, shape[3] * shape[1], shape[1]};
    }
    // k is the last dimension of the left operand, of the right one the last but one.
    const bool transposed =
        reader.op == Operator::kGemm && reader.integer(is_first ? "transA" : "transB", 0) != 0;
    if (is_first == !transposed) return strides;
    strides[shape.size() - 2] = 1;
    strides[shape.size() - 1] = shape[shape.size() - 2];
    return strides;
}

Tensor rounded(const Tensor& weight, float scale) {
    Tensor bytes(ElementType::kUint8, weight.shape);
    const std::vector<float> values = to_floats(weight);
    for (std::size_t i = 0; i < values.size(); ++i)
        bytes.bytes[i] = std::byte{numerics::fp32_to_e4m3(values[i] / scale, true)};
    return bytes;
}

}  // namespace

void lower_e4m3(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const ValueId id = node.outputs[0];
    const float scale = e4m3_scale_of(node).value();
    const Shape& shape = graph.shape(id);
    const std::vector<std::int64_t> strides = operand_strides(graph, node);
    const Value& from = graph.value(node.inputs[0]);
    if (is_given(from)) {
        l.set_place(id, l.constant(node.name, rounded(*from.data, scale), strides));
        return;
    }
    const Place in = l.place(node.inputs[0]);
    const Place out = l.scratch(node.name, ElementType::kUint8, shape, strides);
    l.set_place(id, out);
    Loops loops{shape, {}};
    loops.add(out.strides);
    loops.add(in.strides);
    loops = loops.sorted().joined();
    auto p = map_over<kernels::Map>(l, loops, out, {&in, 1});
    p.step[0].a = 1 / scale;
    const bool fours = p.out.vector != 0 && loops.extents.back() % 4 == 0;
    Launch& launch = l.emit({"round_fp8", fours ? "round_e4m3_4" : "round_e4m3"},
                            Lowering::threads_for(loops.count() / (fours ? 4 : 1)), p);
    launch.bytes = static_cast<std::uint64_t>(loops.count()) * (size_of(in.type) + 1);
}

}  // namespace lockstep::network::gpu
