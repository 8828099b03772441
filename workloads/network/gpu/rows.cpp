// SPDX-License-Identifier: Apache-2.0
// What gives rows for rows: softmax and normalisations.
#include "workloads/network/gpu/row_split.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

kernels::RowOperand row_operand(const Lowering& l, const Place& place,
                                const std::vector<std::int64_t>& kept, std::int64_t along) {
    kernels::RowOperand made;
    made.data = l.pointer(place);
    made.type = type_of(place.type);
    made.along = static_cast<std::int32_t>(along);
    put_last(made.kept, kept, 0);
    return made;
}

/// The operand, or a copy whose rows are a few loops and one stride.
Place with_simple_rows(Lowering& l, const Place& place, const std::vector<std::size_t>& axes) {
    const Split split(place.shape, axes);
    Loops kept{split.kept, {}};
    kept.add(split.kept_of(place));
    const bool simple = single_stride(split.along, split.along_of(place)).has_value() &&
                        kept.joined().extents.size() < kernels::kRowDims;
    return simple ? place : l.row_major(place);
}

/// softmax and the two normalisations; scale and shift by kept dimension and along the row.
struct RowWork {
    std::string_view kernel;
    std::vector<std::size_t> axes;
    bool logarithm = false;
    float epsilon = 0;
    ValueId scale = kNoValue, shift = kNoValue;
    bool by_channel = false;  ///< scale and shift are of dimension 1, else along the row
};

void lower_row_work(Lowering& l, const Node& node, const RowWork& work) {
    const Graph& graph = l.graph();
    const Place in = with_simple_rows(l, l.place(node.inputs[0]), work.axes);
    const Shape& shape = in.shape;
    const Place out = l.create(node.outputs[0], compile::strides_like(in, shape));
    const Split split(shape, work.axes);
    Loops loops{split.kept, {}};
    loops.add(split.kept_of(out));
    loops.add(split.kept_of(in));
    std::vector<std::int64_t> channel(split.kept.size(), 0);
    if (work.by_channel)
        for (std::size_t d = 0; d < split.kept_axes.size(); ++d)
            channel[d] = split.kept_axes[d] == 1 ? 1 : 0;
    loops.add(channel);
    loops = loops.sorted().joined();
    LOCKSTEP_CHECK(loops.extents.size() <= kernels::kRowDims, "{}: its rows", node.name);
    kernels::Rows p;
    p.extent = static_cast<std::int32_t>(element_count(split.along));
    p.rows = static_cast<std::int32_t>(loops.count());
    put_last(p.kept, loops.extents);
    p.logarithm = work.logarithm ? 1 : 0;
    p.epsilon = work.epsilon;
    const auto along = [&](const Place& place) {
        return single_stride(split.along, split.along_of(place)).value_or(0);
    };
    p.out = row_operand(l, out, loops.strides[0], along(out));
    p.in = row_operand(l, in, loops.strides[1], along(in));
    const auto parameter = [&](ValueId id) {
        Place place = l.place(id);
        if (work.by_channel) return row_operand(l, place, loops.strides[2], 0);
        const std::int64_t count = element_count(place.shape);
        if (count != p.extent && count != 1) {
            const Place spread =
                l.scratch(graph.value(id).name + ".spread", place.type, split.along);
            l.copy(place, spread);
            place = spread;
        }
        place = l.row_major(place);
        return row_operand(l, place, std::vector<std::int64_t>(loops.extents.size(), 0),
                           count == 1 ? 0 : 1);
    };
    if (work.scale != kNoValue) p.scale = parameter(work.scale);
    if (work.shift != kNoValue) p.shift = parameter(work.shift);
    l.emit({"rows", work.kernel}, block_for_rows(p.rows, p.extent), p).bytes =
        2 * static_cast<std::uint64_t>(element_count(shape)) * size_of(in.type);
}

void lower_softmax(Lowering& l, const Node& node) {
    const std::size_t rank = rank_of(l, node), axis = axis_of(node, node.integer("axis", -1), rank);
    const bool flatten = node.integer("flatten", 0) != 0;
    lower_row_work(l, node,
                   {.kernel = "softmax_rows",
                    .axes = flatten ? all_from(axis, rank) : std::vector{axis},
                    .logarithm = node.op == Operator::kLogSoftmax});
}

void lower_layer_normalisation(Lowering& l, const Node& node) {
    const std::size_t rank = rank_of(l, node);
    lower_row_work(l, node,
                   {.kernel = "normalise_rows",
                    .axes = all_from(axis_of(node, node.integer("axis", -1), rank), rank),
                    .epsilon = node.real("epsilon", 1e-5f),
                    .scale = node.inputs[1],
                    .shift = node.input(2)});
}

void lower_instance_normalisation(Lowering& l, const Node& node) {
    lower_row_work(l, node,
                   {.kernel = "normalise_rows",
                    .axes = all_from(2, rank_of(l, node)),
                    .epsilon = node.real("epsilon", 1e-5f),
                    .scale = node.inputs[1],
                    .shift = node.inputs[2],
                    .by_channel = true});
}

constexpr OperatorRow kRows[] = {
    {Operator::kInstanceNormalization, lower_instance_normalisation},
    {Operator::kLayerNormalization, lower_layer_normalisation},
    {Operator::kLogSoftmax, lower_softmax},
    {Operator::kSoftmax, lower_softmax},
};

}  // namespace

std::span<const OperatorRow> row_operators() {
    return kRows;
}

}  // namespace lockstep::network::gpu
