// SPDX-License-Identifier: Apache-2.0
// Elements taken and put by indices that are computed.
#include <algorithm>

#include "workloads/network/gpu/lowering.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

/// The loops over elements that are moved, and where data and indices are along them.
struct Elements {
    Loops loops;                               ///< strides: of data, of indices
    std::vector<std::int64_t> extents, along;  ///< of the dimensions that are indexed
    std::int64_t index_step = 0;
};

std::int64_t product_of(const Shape& shape, std::size_t begin, std::size_t end) {
    std::int64_t count = 1;
    for (std::size_t d = begin; d < end; ++d) count *= shape[d];
    return count;
}

Elements gather(const Node& node, const Shape& data, const Shape& indices) {
    const std::size_t axis = axis_of(node, node.integer("axis", 0), data.size());
    const std::int64_t after = product_of(data, axis + 1, data.size());
    Elements made;
    made.loops.extents = {product_of(data, 0, axis), element_count(indices), after};
    made.loops.add({data[axis] * after, 0, 1});
    made.loops.add({0, 1, 0});
    made.extents = {data[axis]};
    made.along = {after};
    return made;
}

Elements elements(const Node& node, const Shape& data, const Shape& indices) {
    const std::size_t axis = axis_of(node, node.integer("axis", 0), data.size());
    std::vector<std::int64_t> strides = compile::dense_strides(data);
    Elements made;
    made.loops.extents = indices;
    made.extents = {data[axis]};
    made.along = {strides[axis]};
    strides[axis] = 0;
    made.loops.add(strides);
    made.loops.add(compile::dense_strides(indices));
    return made;
}

Elements slices(const Shape& data, const Shape& indices, std::int64_t batch_dims) {
    const auto batch = static_cast<std::size_t>(batch_dims),
               depth = static_cast<std::size_t>(indices.back());
    const std::vector<std::int64_t> strides = compile::dense_strides(data);
    const std::int64_t batches = product_of(data, 0, batch);
    const std::int64_t tuples = element_count(indices) / indices.back() / batches;
    const std::int64_t rest = product_of(data, batch + depth, data.size());
    Elements made;
    made.loops.extents = {batches, tuples, rest};
    made.loops.add({batch == 0 ? 0 : strides[batch - 1], 0, 1});
    made.loops.add({tuples * indices.back(), indices.back(), 0});
    for (std::size_t d = 0; d < depth; ++d) {
        made.extents.push_back(data[batch + d]);
        made.along.push_back(strides[batch + d]);
    }
    made.index_step = 1;
    return made;
}

kernels::Take arguments(Lowering& l, const Node& node, const Elements& e, const Place& data,
                        const Place& indices, const Place& values) {
    if (e.loops.extents.size() > kernels::kIndexDims || e.extents.size() > kernels::kIndexDims)
        throw InputError(fmt::format("node {} ({}): more than {} dimensions", node.name,
                                     name_of(node.op), kernels::kIndexDims));
    kernels::Take p;
    p.data = l.pointer(data);
    p.indices = l.pointer(indices);
    p.values = l.pointer(values);
    p.fault = static_cast<std::int32_t*>(l.pointer(l.code().faults));
    p.type = type_of(data.type);
    p.index_type = type_of(indices.type);
    p.count = static_cast<std::int32_t>(e.loops.count());
    p.node = static_cast<std::int32_t>(&node - l.graph().nodes.data());
    p.depth = static_cast<std::int32_t>(e.extents.size());
    p.index_step = static_cast<std::int32_t>(e.index_step);
    for (std::size_t d = 0; d < e.extents.size(); ++d) {
        p.extent[d] = static_cast<std::int32_t>(e.extents[d]);
        p.along[d] = static_cast<std::int32_t>(e.along[d]);
    }
    put_last(p.dims, e.loops.extents);
    put_last(p.data_stride, e.loops.strides[0], 0);
    put_last(p.index_stride, e.loops.strides[1], 0);
    return p;
}

void lower_take(Lowering& l, const Node& node, const Elements& e) {
    const Place data = l.row_major(l.place(node.inputs[0])),
                indices = l.row_major(l.place(node.inputs[1]));
    const Place out = l.create(node.outputs[0]);
    const kernels::Take p = arguments(l, node, e, data, indices, out);
    l.emit({"take", "take"}, Lowering::threads_for(p.count), p).bytes =
        2 * static_cast<std::uint64_t>(p.count) * size_of(data.type);
}

/// `columns`: elements next to each other that never meet.
void lower_put(Lowering& l, const Node& node, const Elements& e, std::int64_t columns) {
    const Place indices = l.row_major(l.place(node.inputs[1])),
                updates = l.row_major(l.place(node.inputs[2]));
    const Place out = l.create(node.outputs[0]);
    l.copy(l.place(node.inputs[0]), out);
    kernels::Take p = arguments(l, node, e, out, indices, updates);
    const std::string reduction = node.text("reduction", "none");
    p.operation = reduction == "add" ? 1 : reduction == "mul" ? 2 : 0;
    p.ordered = static_cast<std::int32_t>(columns);
    l.emit({"take", "put"}, Lowering::threads_for(columns), p).bytes =
        2 * static_cast<std::uint64_t>(p.count) * size_of(out.type);
}

void lower_top(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Place in = l.row_major(l.place(node.inputs[0]));
    const std::size_t axis = axis_of(node, node.integer("axis", -1), in.shape.size());
    const std::int64_t after = product_of(in.shape, axis + 1, in.shape.size()),
                       before = product_of(in.shape, 0, axis);
    const std::int64_t wanted = graph.shape(node.outputs[0])[axis];
    kernels::Top p;
    p.rows = static_cast<std::int32_t>(before * after);
    p.extent = static_cast<std::int32_t>(in.shape[axis]);
    p.wanted = static_cast<std::int32_t>(wanted);
    p.largest = node.integer("largest", 1) != 0 ? 1 : 0;
    put_last(p.kept, {before, after});
    const auto set = [&](kernels::RowOperand& operand, const Place& place, std::int64_t extent) {
        operand.data = l.pointer(place);
        operand.type = type_of(place.type);
        operand.along = static_cast<std::int32_t>(after);
        put_last(operand.kept, {extent * after, 1}, 0);
    };
    set(p.in, in, in.shape[axis]);
    set(p.values, l.create(node.outputs[0]), wanted);
    if (node.outputs.size() > 1 && node.outputs[1] != kNoValue)
        set(p.indices, l.create(node.outputs[1]), wanted);
    const std::int64_t threads = std::clamp<std::int64_t>((p.extent + 31) / 32 * 32, 32, 256);
    l.emit({"take", "top_rows"},
           {{static_cast<std::uint32_t>(p.rows), 1, 1},
            {static_cast<std::uint32_t>(threads), 1, 1},
            0},
           p);
}

const Shape& shape_of(const Lowering& l, const Node& node, std::size_t input) {
    return l.graph().shape(node.inputs[input]);
}

void lower_gather(Lowering& l, const Node& node) {
    lower_take(l, node, gather(node, shape_of(l, node, 0), shape_of(l, node, 1)));
}

void lower_gather_elements(Lowering& l, const Node& node) {
    lower_take(l, node, elements(node, shape_of(l, node, 0), shape_of(l, node, 1)));
}

void lower_gather_slices(Lowering& l, const Node& node) {
    lower_take(l, node,
               slices(shape_of(l, node, 0), shape_of(l, node, 1), node.integer("batch_dims", 0)));
}

void lower_scatter_elements(Lowering& l, const Node& node) {
    const Shape &data = shape_of(l, node, 0), &indices = shape_of(l, node, 1);
    const std::size_t axis = axis_of(node, node.integer("axis", 0), data.size());
    lower_put(l, node, elements(node, data, indices),
              product_of(indices, axis + 1, indices.size()));
}

void lower_scatter_slices(Lowering& l, const Node& node) {
    const Elements e = slices(shape_of(l, node, 0), shape_of(l, node, 1), 0);
    lower_put(l, node, e, e.loops.extents.back());
}

constexpr OperatorRow kRows[] = {
    {Operator::kGather, lower_gather},
    {Operator::kGatherElements, lower_gather_elements},
    {Operator::kGatherND, lower_gather_slices},
    {Operator::kScatterElements, lower_scatter_elements},
    {Operator::kScatterND, lower_scatter_slices},
    {Operator::kTopK, lower_top},
};

}  // namespace

std::span<const OperatorRow> indexing_operators() {
    return kRows;
}

}  // namespace lockstep::network::gpu
