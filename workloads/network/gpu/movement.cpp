// SPDX-License-Identifier: Apache-2.0
// Operators that move elements. Reshaping, transposition, slicing, splitting and expansion only
// change how a value is seen; concatenation, padding and repetition copy.
#include <algorithm>

#include "workloads/network/gpu/lowering.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

void see_reshaped(Lowering& l, const Node& node) {
    const Shape& shape = l.graph().shape(node.outputs[0]);
    Place place = l.place(node.inputs[0]);
    auto seen = compile::reshaped(place, shape);
    if (!seen) seen = compile::reshaped(l.row_major(place), shape);
    LOCKSTEP_CHECK(seen.has_value(), "{}: a row-major value has any shape", node.name);
    l.set_place(node.outputs[0], *seen);
}

void see_transposed(Lowering& l, const Node& node) {
    const Place& place = l.place(node.inputs[0]);
    std::vector<std::int64_t> perm = node.integers("perm");
    if (!node.has("perm"))
        for (std::size_t i = place.shape.size(); i > 0; --i)
            perm.push_back(static_cast<std::int64_t>(i - 1));
    l.set_place(node.outputs[0], compile::permuted(place, perm));
}

void see_slice(Lowering& l, const Node& node) {
    Place place = l.place(node.inputs[0]);
    const std::vector<SliceRange> ranges = slice_ranges(l.graph(), node);
    for (std::size_t d = 0; d < ranges.size(); ++d) {
        place.offset += ranges[d].start * place.strides[d];
        // A step that is never taken may be larger than any offset.
        place.strides[d] = ranges[d].count > 1 ? place.strides[d] * ranges[d].step : 0;
    }
    place.shape = l.graph().shape(node.outputs[0]);
    // Elements from the last to the first: no view has them.
    if (std::ranges::any_of(place.strides, [](std::int64_t stride) { return stride < 0; })) {
        const Place forward = l.create(node.outputs[0]);
        l.copy(place, forward);
        return;
    }
    l.set_place(node.outputs[0], place);
}

void see_parts(Lowering& l, const Node& node) {
    Place place = l.place(node.inputs[0]);
    const std::size_t axis = axis_of(node, node.integer("axis", 0), place.shape.size());
    for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        l.set_place(id, place);
        place.offset += l.graph().shape(id)[axis] * place.strides[axis];
    }
}

void see_expanded(Lowering& l, const Node& node) {
    const Shape& shape = l.graph().shape(node.outputs[0]);
    Place place = l.place(node.inputs[0]);
    place.strides = broadcast_strides(place, shape);
    l.set_place(node.outputs[0], place);
}

/// Values that are joined lie as the first of them does.
void lower_concat(Lowering& l, const Node& node) {
    const Shape& shape = l.graph().shape(node.outputs[0]);
    const std::size_t axis = axis_of(node, node.integer("axis", 0), shape.size());
    Place to = l.create(node.outputs[0], compile::strides_like(l.place(node.inputs[0]), shape));
    for (const ValueId id : node.inputs) {
        const Place& from = l.place(id);
        to.shape = from.shape;
        if (element_count(from.shape) != 0) l.copy(from, to);
        to.offset += from.shape[axis] * to.strides[axis];
    }
}

void fill(Lowering& l, const Place& to, double real, std::int64_t integer) {
    const std::int64_t count = element_count(to.shape);
    const auto set = [&](auto& p, auto value) {
        p.count = static_cast<std::int32_t>(count);
        put_last(p.extent, {count});
        p.out.data = l.pointer(to);
        p.out.type = type_of(to.type);
        put_last(p.out.stride, {1}, 0);
        p.steps = 1;
        p.step[0].function = kernels::Function::kConstant;
        p.step[0].a = value;
    };
    LOCKSTEP_CHECK(compile::is_dense(to), "what is filled has gaps");
    if (is_floating(to.type)) {
        kernels::Map p;
        set(p, static_cast<float>(real));
        l.emit({"map", "map_real"}, Lowering::threads_for(count), p);
    } else {
        kernels::IntegerMap p;
        set(p, integer);
        l.emit({"map", "map_integer"}, Lowering::threads_for(count), p);
    }
}

void fill(Lowering& l, const Place& to, const Tensor& value) {
    is_floating(value.type) ? fill(l, to, to_doubles(value).at(0), 0)
                            : fill(l, to, 0, to_integers(value).at(0));
}

void lower_pad(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Place from = l.place(node.inputs[0]);
    Place to = l.create(node.outputs[0], compile::strides_like(from, graph.shape(node.outputs[0])));
    if (node.input(2) != kNoValue)
        fill(l, to, *graph.value(node.inputs[2]).data);
    else
        fill(l, to, 0, 0);
    const std::vector<std::int64_t> pads = known_integers(graph, node, 1);
    for (std::size_t d = 0; d < from.shape.size(); ++d) to.offset += pads[d] * to.strides[d];
    to.shape = from.shape;
    l.copy(from, to);
}

/// The result as [times, extent] of each dimension.
void lower_tile(Lowering& l, const Node& node) {
    Place from = l.place(node.inputs[0]);
    Place to = l.create(node.outputs[0]);
    const Shape in = from.shape, out = to.shape;
    Place source = from, target = to;
    source.shape.clear(), source.strides.clear();
    target.shape.clear(), target.strides.clear();
    for (std::size_t d = 0; d < in.size(); ++d) {
        for (Place* place : {&source, &target}) {
            place->shape.push_back(out[d] / in[d]);
            place->shape.push_back(in[d]);
        }
        source.strides.insert(source.strides.end(), {0, from.strides[d]});
        target.strides.insert(target.strides.end(), {to.strides[d] * in[d], to.strides[d]});
    }
    // A stride of 0 along what is repeated, though its extent is not 1.
    source.shape = target.shape;
    l.copy(source, target);
}

void lower_constant_of_shape(Lowering& l, const Node& node) {
    const Place to = l.create(node.outputs[0]);
    const auto value = node.attributes.find("value");
    if (value == node.attributes.end())
        fill(l, to, 0, 0);
    else
        fill(l, to, *std::get<std::shared_ptr<const Tensor>>(value->second));
}

compile::Reason reason_pad(const Graph& graph, const Node& node) {
    if (node.input(2) == kNoValue || graph.value(node.inputs[2]).is_known()) return std::nullopt;
    return "what it pads with is computed";
}

/// Of inference, with its mask.
void see_kept(Lowering& l, const Node& node) {
    l.set_place(node.outputs[0], l.place(node.inputs[0]));
    fill(l, l.create(node.outputs.at(1)), 1, 1);
}

constexpr OperatorRow kRows[] = {
    {Operator::kConcat, lower_concat},       {Operator::kConstantOfShape, lower_constant_of_shape},
    {Operator::kDropout, see_kept},          {Operator::kExpand, see_expanded},
    {Operator::kFlatten, see_reshaped},      {Operator::kIdentity, see_reshaped},
    {Operator::kPad, lower_pad, reason_pad}, {Operator::kReshape, see_reshaped},
    {Operator::kSlice, see_slice},           {Operator::kSplit, see_parts},
    {Operator::kSqueeze, see_reshaped},      {Operator::kTile, lower_tile},
    {Operator::kTranspose, see_transposed},  {Operator::kUnsqueeze, see_reshaped},
};

}  // namespace

std::span<const OperatorRow> movement_operators() {
    return kRows;
}

}  // namespace lockstep::network::gpu
