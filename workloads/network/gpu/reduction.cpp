// SPDX-License-Identifier: Apache-2.0
// Reductions of rows to one value each, and the places of extremes. Few long rows are cut in
// pieces.
#include <algorithm>

#include "sim/numerics/integer.h"
#include "workloads/network/gpu/row_split.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

using kernels::Reduction;

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

constexpr OperatorRow kRows[] = {
    {Operator::kArgMax, lower_extreme<Reduction::kFirstLargest, Reduction::kLastLargest>},
    {Operator::kArgMin, lower_extreme<Reduction::kFirstSmallest, Reduction::kLastSmallest>},
    {Operator::kGlobalAveragePool, lower_global_pool<Reduction::kMean>},
    {Operator::kGlobalMaxPool, lower_global_pool<Reduction::kMaximum>},
    {Operator::kReduceL2, lower_reduction<Reduction::kNorm>},
    {Operator::kReduceMax, lower_reduction<Reduction::kMaximum>},
    {Operator::kReduceMean, lower_reduction<Reduction::kMean>},
    {Operator::kReduceMin, lower_reduction<Reduction::kMinimum>},
    {Operator::kReduceProd, lower_reduction<Reduction::kProduct>},
    {Operator::kReduceSum, lower_reduction<Reduction::kSum>},
    {Operator::kReduceSumSquare, lower_reduction<Reduction::kSquares>},
};

}  // namespace

std::span<const OperatorRow> reduction_operators() {
    return kRows;
}

}  // namespace lockstep::network::gpu
