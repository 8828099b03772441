// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/attention.h"

#include <algorithm>
#include <set>

#include "sim/numerics/integer.h"
#include "workloads/network/gpu/chain.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

constexpr std::size_t kNone = SIZE_MAX;
/// Columns of a row that the kernels hold.
constexpr std::int64_t kMostColumns = 128;
/// A score that has this added, or is replaced by it, counts as hidden: e^-10000 is 0 in FP32, and
/// GPT-2 itself hides by -10000.
constexpr double kHidden = -1e4;

/// A product of two operands that something adds to neither.
bool is_plain_product(const Graph& graph, const Node& node) {
    return node.op == Operator::kMatMul && node.input(2) == kNoValue &&
           graph.shape(node.inputs[0]).size() >= 2 && graph.shape(node.inputs[1]).size() >= 2 &&
           !is_quantised(graph, node);
}

class Finder {
  public:
    explicit Finder(const Graph& graph) : graph_(graph), uses_(graph) {}

    std::optional<AttentionNodes> attention_of(std::size_t softmax) const {
        const Node& node = graph_.nodes[softmax];
        const std::size_t rank = graph_.shape(node.inputs[0]).size();
        if (node.op != Operator::kSoftmax || is_quantised(graph_, node) || rank < 2 ||
            node.integer("flatten", 0) != 0 ||
            axis_of(node, node.integer("axis", -1), rank) != rank - 1)
            return std::nullopt;
        AttentionNodes found;
        found.softmax = softmax;
        if (!find_scores(node.inputs[0], found)) return std::nullopt;
        found.nodes.push_back(softmax);
        // The product with the values: what is between changes nothing.
        ValueId value = node.outputs[0];
        for (;;) {
            const std::size_t next = uses_.only_reader(value);
            if (next == kNone) return std::nullopt;
            const Node& reader = graph_.nodes[next];
            found.nodes.push_back(next);
            if (is_plain_product(graph_, reader)) {
                if (reader.inputs[0] != value) return std::nullopt;
                found.context = next;
                break;
            }
            const auto steps = chain_steps(graph_, reader, 0);
            if (reader.inputs[0] != value || !steps || !steps->empty() || !keeps_type(reader))
                return std::nullopt;
            value = reader.outputs[0];
        }
        if (!fits(found)) return std::nullopt;
        std::ranges::sort(found.nodes);
        return found;
    }

  private:
    bool keeps_type(const Node& node) const {
        return node.outputs.size() == 1 &&
               graph_.value(node.inputs[0]).type == graph_.value(node.outputs[0]).type;
    }

    /// The product that `value` is of, through scale and mask.
    bool find_scores(ValueId value, AttentionNodes& found) const {
        const std::size_t writer = uses_.writer(value);
        if (writer == kNone || uses_.only_reader(value) == kNone) return false;
        const Node& node = graph_.nodes[writer];
        if (is_plain_product(graph_, node)) {
            found.scores = writer;
            found.nodes.push_back(writer);
            return true;
        }
        if (!keeps_type(node) && node.op != Operator::kWhere) return false;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const ValueId from = node.inputs[i];
            if (from == kNoValue || graph_.shape(from) != graph_.shape(value)) continue;
            const auto steps = chain_steps(graph_, node, i);
            AttentionNodes before = found;
            if (!steps || !find_scores(from, before)) continue;
            if (!std::ranges::all_of(*steps,
                                     [&](const ChainStep& step) { return add(before, step); }))
                continue;
            found = std::move(before);
            found.nodes.push_back(writer);
            return true;
        }
        return false;
    }

    static bool add(AttentionNodes& found, const ChainStep& step) {
        using kernels::Function;
        if (found.masked != kernels::AttentionMask::kNone) return false;
        const auto factor = static_cast<float>(step.a);
        switch (step.function) {
            case Function::kMultiply:
                found.scale *= factor;
                return step.x == kNoValue;
            case Function::kDivide:
                found.scale /= factor;
                return step.x == kNoValue;
            case Function::kAdd:
                found.masked = kernels::AttentionMask::kAdded;
                found.mask = step.x;
                return step.x != kNoValue;
            case Function::kChooseThen:
            case Function::kChooseElse:
                found.masked = kernels::AttentionMask::kChosen;
                found.mask = step.x;
                found.hides = step.function == Function::kChooseElse;
                found.hidden = static_cast<float>(step.b);
                return step.x != kNoValue && step.y == kNoValue;
            default:
                return false;
        }
    }

    bool fits(AttentionNodes& found) const {
        const Node &scores = graph_.nodes[found.scores], &context = graph_.nodes[found.context];
        const ValueId q = scores.inputs[0], k = scores.inputs[1], v = context.inputs[1],
                      out = context.outputs[0];
        const ElementType type = graph_.value(out).type;
        if (type != ElementType::kFp32 && type != ElementType::kFp16 && type != ElementType::kBf16)
            return false;
        for (const ValueId id : {q, k, v})
            if (graph_.value(id).type != type) return false;
        const Shape &made = graph_.shape(out), &weights = graph_.shape(scores.outputs[0]);
        if (weights.size() != made.size() || made.size() > 2 + kernels::kBatchDims ||
            !std::equal(made.begin(), made.end() - 2, weights.begin()) ||
            graph_.shape(q).back() > kMostColumns || made.back() > kMostColumns)
            return false;
        if (found.masked == kernels::AttentionMask::kNone) return true;
        const Value& mask = graph_.value(found.mask);
        if (graph_.shape(found.mask).size() > weights.size()) return false;
        if (mask.type !=
            (found.masked == kernels::AttentionMask::kAdded ? type : ElementType::kBool))
            return false;
        find_causal(mask, weights, found);
        return true;
    }

    /// Whether the mask hides later keys from queries, and no others.
    static void find_causal(const Value& mask, const Shape& scores, AttentionNodes& found) {
        const Shape& shape = *mask.shape;
        const std::int64_t queries = scores[scores.size() - 2], keys = scores.back();
        if (!mask.is_known() || shape.size() < 2 || shape.back() != keys ||
            shape[shape.size() - 2] != queries || keys < queries)
            return;
        const bool chosen = found.masked == kernels::AttentionMask::kChosen;
        if (chosen && found.hidden > kHidden) return;
        const std::vector<double> values = to_doubles(*mask.data);
        for (std::size_t at = 0; at < values.size(); ++at) {
            const auto place = static_cast<std::int64_t>(at);
            const std::int64_t query = place / keys % queries, key = place % keys;
            const bool is_seen = chosen ? (values[at] != 0) != found.hides : values[at] == 0;
            const bool is_hidden = chosen ? !is_seen : values[at] <= kHidden;
            if (key <= query + keys - queries ? !is_seen : !is_hidden) return;
        }
        found.causal = true;
        found.masked = kernels::AttentionMask::kNone;
        found.mask = kNoValue;
    }

    const Graph& graph_;
    Uses uses_;
};

/// Strides of a matrix's batches over those of the result.
std::vector<std::int64_t> outer_strides(const Place& place, const Shape& outer) {
    compile::View view = place;
    view.shape.resize(view.shape.size() - 2);
    view.strides.resize(view.strides.size() - 2);
    return broadcast_strides(view, outer);
}

/// 16 bytes along a row are consecutive and aligned.
bool has_vectors(const Place& place, std::int64_t columns, std::int64_t row, std::int64_t column,
                 const std::int32_t (&batch)[kernels::kBatchDims]) {
    const auto wide = static_cast<std::int64_t>(16 / size_of(place.type));
    return column == 1 && columns % wide == 0 && row % wide == 0 && place.offset % wide == 0 &&
           std::ranges::all_of(batch, [&](std::int32_t stride) { return stride % wide == 0; });
}

/// The result in the order in which whoever transposes it wants it, so that this moves nothing.
std::vector<std::int64_t> result_strides(const Graph& graph, ValueId value) {
    const Shape& shape = graph.shape(value);
    const Uses uses(graph);
    const std::span<const std::size_t> readers = uses.readers(value);
    if (readers.empty() || readers.front() != readers.back()) return compile::dense_strides(shape);
    const Node& reader = graph.nodes[readers.front()];
    if (reader.op != Operator::kTranspose) return compile::dense_strides(shape);
    const std::vector<std::int64_t> dense = compile::dense_strides(graph.shape(reader.outputs[0]));
    const std::vector<std::int64_t> perm = reader.integers("perm");
    if (perm.size() != shape.size()) return compile::dense_strides(shape);
    std::vector<std::int64_t> strides(shape.size());
    for (std::size_t d = 0; d < perm.size(); ++d)
        strides[static_cast<std::size_t>(perm[d])] = dense[d];
    // Rows of the result should stay consecutive.
    return strides.back() == 1 ? strides : compile::dense_strides(shape);
}

}  // namespace

std::vector<AttentionNodes> find_attention(const Graph& graph) {
    const Finder finder(graph);
    std::vector<AttentionNodes> all;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        if (graph.nodes[n].op != Operator::kSoftmax) continue;
        if (auto found = finder.attention_of(n)) all.push_back(std::move(*found));
    }
    return all;
}

AttentionShape shape_of(const Graph& graph, const AttentionNodes& attention) {
    const Node &scores = graph.nodes[attention.scores], &context = graph.nodes[attention.context];
    const Shape &made = graph.shape(context.outputs[0]), &weights = graph.shape(scores.outputs[0]);
    return {.batches = element_count({made.begin(), made.end() - 2}),
            .queries = weights[weights.size() - 2],
            .keys = weights.back(),
            .depth = graph.shape(scores.inputs[0]).back(),
            .columns = made.back(),
            .causal = attention.causal,
            .has_mask = attention.masked != kernels::AttentionMask::kNone,
            .type = graph.value(context.outputs[0]).type};
}

void lower_attention(Lowering& l, const AttentionNodes& attention, const AttentionChoice& choice) {
    const Graph& graph = l.graph();
    const Node &scores = graph.nodes[attention.scores], &context = graph.nodes[attention.context];
    const AttentionShape shape = shape_of(graph, attention);
    const ValueId result = context.outputs[0];
    const Place q = l.place(scores.inputs[0]), k = l.place(scores.inputs[1]),
                v = l.place(context.inputs[1]);
    const Place out = l.create(result, result_strides(graph, result));
    const auto narrow = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
    const auto from_end = [&](const Place& place, std::size_t i) {
        return narrow(place.strides[place.strides.size() - i]);
    };
    const Shape outer(out.shape.begin(), out.shape.end() - 2);
    Loops loops{outer, {}};
    for (const Place* const place : {&out, &q, &k, &v}) loops.add(outer_strides(*place, outer));
    kernels::Attention p;
    if (attention.mask != kNoValue) {
        const Place& mask = l.place(attention.mask);
        const std::vector<std::int64_t> strides =
            broadcast_strides(mask, graph.shape(scores.outputs[0]));
        loops.add({strides.begin(), strides.end() - 2});
        p.mask = l.pointer(mask);
        p.mask_row = narrow(strides[strides.size() - 2]);
        p.mask_column = narrow(strides.back());
    }
    loops = loops.joined();
    put_last(p.batch, loops.extents);
    put_last(p.out_batch, loops.strides[0], 0);
    put_last(p.q_batch, loops.strides[1], 0);
    put_last(p.k_batch, loops.strides[2], 0);
    put_last(p.v_batch, loops.strides[3], 0);
    if (attention.mask != kNoValue) put_last(p.mask_batch, loops.strides[4], 0);
    p.q = l.pointer(q), p.k = l.pointer(k), p.v = l.pointer(v), p.out = l.pointer(out);
    p.queries = narrow(shape.queries), p.keys = narrow(shape.keys);
    p.depth = narrow(shape.depth), p.columns = narrow(shape.columns);
    p.q_row = from_end(q, 2), p.q_column = from_end(q, 1);
    p.k_row = from_end(k, 1), p.k_column = from_end(k, 2);  // k is transposed
    p.v_row = from_end(v, 2), p.v_column = from_end(v, 1);
    p.out_row = from_end(out, 2), p.out_column = from_end(out, 1);
    p.q_vector = has_vectors(q, shape.depth, p.q_row, p.q_column, p.q_batch);
    p.k_vector = has_vectors(k, shape.depth, p.k_row, p.k_column, p.k_batch);
    p.v_vector = has_vectors(v, shape.columns, p.v_row, p.v_column, p.v_batch);
    p.out_vector = has_vectors(out, shape.columns, p.out_row, p.out_column, p.out_batch);
    p.masked = attention.masked;
    p.hides = attention.hides ? 1 : 0;
    p.hidden = attention.hidden;
    p.scale = attention.scale;
    p.causal = attention.causal ? 1 : 0;
    p.ahead = narrow(shape.keys - shape.queries);
    const bool real = shape.type == ElementType::kFp32;
    const std::int64_t rows =
        choice.warps * (real ? kernels::kRealQueries : kernels::kTensorQueries);
    Lowering::Shape3 grid;
    grid.block.x = static_cast<std::uint32_t>(choice.warps * 32);
    grid.grid.x = static_cast<std::uint32_t>(numerics::divide_up(shape.queries, rows));
    grid.grid.y = static_cast<std::uint32_t>(shape.batches);
    grid.shared_bytes = choice.shared_bytes;
    Launch& launch = l.emit(choice.kernel, grid, p);
    // Of pairs that the mask lets through.
    const std::int64_t pairs = attention.causal ? shape.queries * (shape.keys - shape.queries) +
                                                      shape.queries * (shape.queries + 1) / 2
                                                : shape.queries * shape.keys;
    launch.macs = static_cast<std::uint64_t>(shape.batches * pairs * (shape.depth + shape.columns));
    std::int64_t elements = 0;
    for (const Place* const place : {&q, &k, &v, &out}) elements += element_count(place->shape);
    launch.bytes = static_cast<std::uint64_t>(elements) * size_of(shape.type);
    launch.choice = choice.reason;
    launch.cycles = choice.cycles;
}

}  // namespace lockstep::network::gpu
