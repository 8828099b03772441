// SPDX-License-Identifier: Apache-2.0
// What works on rows as a whole: softmax, normalisation, reductions, places of extremes, the
// largest of a row. Rows may lie along any dimensions.
#include <algorithm>

#include "sim/numerics/integer.h"
#include "workloads/network/gpu/lowering.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

using kernels::Reduction;

/// The dimensions of a tensor that are kept, and those that a row runs along.
struct Split {
    Shape kept, along;
    std::vector<std::size_t> kept_axes, along_axes;
    Split(const Shape& shape, const std::vector<std::size_t>& axes) {
        for (std::size_t d = 0; d < shape.size(); ++d) {
            const bool is_along = std::ranges::find(axes, d) != axes.end();
            (is_along ? along : kept).push_back(shape[d]);
            (is_along ? along_axes : kept_axes).push_back(d);
        }
    }
    static std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& strides,
                                            const std::vector<std::size_t>& axes) {
        std::vector<std::int64_t> result;
        for (const std::size_t d : axes) result.push_back(strides[d]);
        return result;
    }
    std::vector<std::int64_t> kept_of(const compile::View& view) const {
        return chosen(view.strides, kept_axes);
    }
    std::vector<std::int64_t> along_of(const compile::View& view) const {
        return chosen(view.strides, along_axes);
    }
};

kernels::RowOperand row_operand(const Lowering& l, const Place& place,
                                const std::vector<std::int64_t>& kept, std::int64_t along) {
    kernels::RowOperand made;
    made.data = l.pointer(place);
    made.type = type_of(place.type);
    made.along = static_cast<std::int32_t>(along);
    put_last(made.kept, kept, 0);
    return made;
}

/// Blocks of whole warps, as many threads as a row has elements, at most 256.
Lowering::Shape3 block_for_rows(std::int64_t rows, std::int64_t extent) {
    const std::int64_t threads = std::clamp<std::int64_t>((extent + 31) / 32 * 32, 32, 256);
    return {
        {static_cast<std::uint32_t>(rows), 1, 1}, {static_cast<std::uint32_t>(threads), 1, 1}, 0};
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

std::vector<std::size_t> all_from(std::size_t axis, std::size_t rank) {
    std::vector<std::size_t> axes;
    for (std::size_t d = axis; d < rank; ++d) axes.push_back(d);
    return axes;
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

/// What adds up pieces of a reduction; nothing where it is none of pieces.
std::optional<Reduction> of_pieces(Reduction reduction) {
    switch (reduction) {
        case Reduction::kSum:
        case Reduction::kSquares:
            return Reduction::kSum;
        case Reduction::kMean:  // of pieces of one size
        case Reduction::kMaximum:
        case Reduction::kMinimum:
        case Reduction::kProduct:
            return reduction;
        default:
            return std::nullopt;
    }
}

/// Elements of a piece: a block's threads take a few each.
constexpr std::int64_t kPiece = 4096;

/// In how many pieces few long rows are reduced, so that they fill the machine: a divisor of the
/// row, which lies in one run.
std::optional<std::int64_t> pieces_of(const Target& target, const kernels::Reduce& p,
                                      const Loops& along) {
    if (!of_pieces(p.reduction) || along.extents.size() != 1 || p.in_type == kernels::Type::kFp64 ||
        p.kept[0].divisor != 1 || p.count >= target.sms || p.extent < 4 * kPiece)
        return std::nullopt;
    if (!is_floating(static_cast<ElementType>(p.in_type))) return std::nullopt;
    for (std::int64_t pieces = p.extent / kPiece; pieces > 1; --pieces)
        if (p.extent % pieces == 0) return pieces;
    return std::nullopt;
}

/// The pieces by themselves, then these.
void reduce_in_pieces(Lowering& l, const kernels::Reduce& whole, std::int64_t pieces) {
    const Place partial =
        l.scratch(l.layer() + ".pieces", ElementType::kFp32, {std::int64_t{whole.count}, pieces});
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    kernels::Reduce first = whole, second = whole;
    const std::int32_t step = whole.in_reduced[kernels::kRowDims - 1];
    first.count = narrow(whole.count * pieces);
    first.extent = narrow(whole.extent / pieces);
    // Pieces are one more of the dimensions that are kept, the innermost.
    for (int d = 0; d + 1 < kernels::kRowDims; ++d) {
        first.kept[d] = whole.kept[d + 1];
        first.in_kept[d] = whole.in_kept[d + 1];
    }
    first.kept[kernels::kRowDims - 1] = divider_of(pieces);
    first.in_kept[kernels::kRowDims - 1] = narrow(step * first.extent);
    put_last(first.reduced, {first.extent});
    for (int d = kernels::kRowDims - 1, stride = 1; d >= 0; --d) {
        first.out_kept[d] = stride;
        stride *= static_cast<int>(first.kept[d].divisor);
    }
    first.out = l.pointer(partial);
    first.out_type = type_of(partial.type);
    second.reduction = *of_pieces(whole.reduction);
    second.in = l.pointer(partial);
    second.in_type = type_of(partial.type);
    second.extent = narrow(pieces);
    put_last(second.reduced, {pieces});
    put_last(second.in_reduced, {1}, 0);
    // Strides over what is kept, each a row of pieces.
    for (int d = kernels::kRowDims - 1, stride = narrow(pieces); d >= 0; --d) {
        second.in_kept[d] = stride;
        stride *= static_cast<int>(whole.kept[d].divisor);
    }
    l.emit({"reduce_any", "reduce_block"}, block_for_rows(first.count, first.extent), first).bytes =
        static_cast<std::uint64_t>(whole.count) * static_cast<std::uint64_t>(whole.extent) *
        size_of(static_cast<ElementType>(whole.in_type));
    l.emit({"reduce_any", "reduce_block"}, block_for_rows(second.count, second.extent), second);
}

void reduce(Lowering& l, const Node& node, Reduction reduction,
            const std::vector<std::size_t>& axes) {
    Place in = l.place(node.inputs[0]);
    const Split split(in.shape, axes);
    const auto loops_of = [&](const Place& place) {
        Loops along{split.along, {}};
        along.add(split.along_of(place));
        // The place of an extreme counts in the order of the tensor.
        return along.joined();
    };
    if (loops_of(in).extents.size() > kernels::kRowDims) in = l.row_major(in);
    const Place out = l.create(node.outputs[0]);
    // The result is row-major over what is kept, whether it keeps the reduced dimensions or not.
    Loops kept{split.kept, {}};
    kept.add(split.kept_of(in));
    kept.add(compile::dense_strides(split.kept));
    kept = kept.sorted().joined();
    if (kept.extents.size() > kernels::kRowDims) {
        in = l.row_major(in);
        kept = {split.kept, {}};
        kept.add(split.kept_of(in));
        kept.add(compile::dense_strides(split.kept));
        kept = kept.sorted().joined();
    }
    const Loops along = loops_of(in);
    if (kept.extents.size() > kernels::kRowDims || along.extents.size() > kernels::kRowDims)
        throw InputError(fmt::format("node {} ({}): more than {} dimensions by turns", node.name,
                                     name_of(node.op), kernels::kRowDims));
    kernels::Reduce p;
    p.reduction = reduction;
    p.count = static_cast<std::int32_t>(kept.count());
    p.extent = static_cast<std::int32_t>(along.count());
    put_last(p.kept, kept.extents);
    put_last(p.in_kept, kept.strides[0], 0);
    put_last(p.out_kept, kept.strides[1], 0);
    put_last(p.reduced, along.extents);
    put_last(p.in_reduced, along.strides[0], 0);
    p.in = l.pointer(in);
    p.out = l.pointer(out);
    p.in_type = type_of(in.type);
    p.out_type = type_of(out.type);
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(element_count(in.shape)) * size_of(in.type) +
        static_cast<std::uint64_t>(p.count) * size_of(out.type);
    if (const auto pieces = pieces_of(l.target(), p, along)) return reduce_in_pieces(l, p, *pieces);
    // Threads of a block along the row where its elements are consecutive, or few are the rows.
    const bool consecutive = along.strides[0].back() == 1 || kept.strides[0].back() != 1;
    const std::int64_t all_threads = l.target().sms * l.target().warps * 32;
    const bool few = p.count < all_threads / 8;
    // A thread of reduce_columns waits for one element after the other.
    constexpr std::int64_t kMostByColumns = 256;
    const std::int64_t columns = numerics::divide_up(p.count, std::int64_t{32});
    if (!is_floating(in.type))
        l.emit({"reduce_any", "reduce_integer"}, Lowering::threads_for(p.count), p).bytes = bytes;
    else if (p.extent >= 32 && !consecutive && few &&
             (p.extent <= kMostByColumns || columns >= l.target().sms))
        l.emit({"reduce_any", "reduce_columns"},
               {{static_cast<std::uint32_t>(columns), 1, 1}, {32, kernels::kColumnWarps, 1}, 0}, p)
            .bytes = bytes;
    else if (p.extent >= 32 && (consecutive || few))
        l.emit({"reduce_any", "reduce_block"}, block_for_rows(p.count, p.extent), p).bytes = bytes;
    else
        l.emit({"reduce_any", "reduce_thread"}, Lowering::threads_for(p.count), p).bytes = bytes;
}

std::size_t rank_of(const Lowering& l, const Node& node) {
    return l.graph().shape(node.inputs[0]).size();
}

template <Reduction kReduction>
void lower_reduction(Lowering& l, const Node& node) {
    const std::size_t rank = rank_of(l, node);
    bool given = false;
    std::vector<std::size_t> axes = axes_of(l.graph(), node, rank, given);
    if (axes.empty() && node.integer("noop_with_empty_axes", 0) == 0) axes = all_from(0, rank);
    reduce(l, node, kReduction, axes);
}

template <Reduction kReduction>
void lower_global_pool(Lowering& l, const Node& node) {
    reduce(l, node, kReduction, all_from(2, rank_of(l, node)));
}

/// The place of an extreme: the first of several, or the last.
template <Reduction kFirst, Reduction kLast>
void lower_extreme(Lowering& l, const Node& node) {
    const bool last = node.integer("select_last_index", 0) != 0;
    reduce(l, node, last ? kLast : kFirst,
           {axis_of(node, node.integer("axis", 0), rank_of(l, node))});
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
    {Operator::kArgMax, lower_extreme<Reduction::kFirstLargest, Reduction::kLastLargest>},
    {Operator::kArgMin, lower_extreme<Reduction::kFirstSmallest, Reduction::kLastSmallest>},
    {Operator::kGlobalAveragePool, lower_global_pool<Reduction::kMean>},
    {Operator::kGlobalMaxPool, lower_global_pool<Reduction::kMaximum>},
    {Operator::kInstanceNormalization, lower_instance_normalisation},
    {Operator::kLayerNormalization, lower_layer_normalisation},
    {Operator::kLogSoftmax, lower_softmax},
    {Operator::kReduceL2, lower_reduction<Reduction::kNorm>},
    {Operator::kReduceMax, lower_reduction<Reduction::kMaximum>},
    {Operator::kReduceMean, lower_reduction<Reduction::kMean>},
    {Operator::kReduceMin, lower_reduction<Reduction::kMinimum>},
    {Operator::kReduceProd, lower_reduction<Reduction::kProduct>},
    {Operator::kReduceSum, lower_reduction<Reduction::kSum>},
    {Operator::kReduceSumSquare, lower_reduction<Reduction::kSquares>},
    {Operator::kSoftmax, lower_softmax},
};

}  // namespace

std::span<const OperatorRow> row_operators() {
    return kRows;
}

}  // namespace lockstep::network::gpu
