// SPDX-License-Identifier: Apache-2.0
// Operations of elements that follow each other are one kernel, as XLA fuses them: a loop over
// registers, window by window. A chain has the same shape throughout, and the
// operands that join it lie as its first one does. Where a reduction of all elements follows, it
// ends the chain, and operands of one element may join, too.
#include <algorithm>

#include "workloads/network/graph/given.h"
#include "workloads/network/tpu/long_row.h"
#include "workloads/network/tpu/loop.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::DataType;
using tpu::Function;

namespace {

struct Link {
    Function function = Function::kIdentity;
    std::optional<float> immediate;
    ValueId other = kNoValue;   ///< beside what flows; none: a function of one value, or immediate
    bool flows_second = false;  ///< what flows is the second operand
    bool is_one = false;        ///< `other` is one element for all
    ValueId result = kNoValue;

    bool is_unary() const { return other == kNoValue && !immediate; }
};

bool is_arithmetic(Operator op) {
    using enum Operator;
    return op == kAdd || op == kSub || op == kMul || op == kDiv || op == kMax || op == kMin;
}

class Chain {
  public:
    Chain(Compilation& c, const Node& first) : c_(c) {
        head_ = first.inputs[0];
        if (!lies_plainly(head_)) return;
        const Place& place = c_.places.of(head_);
        shape_ = place.shape;
        strides_ = place.strides;
        const Node* node = &first;
        for (ValueId flows = head_; node != nullptr;) {
            const std::optional<Link> link = link_of(*node, flows);
            if (!link) break;
            links_.push_back(*link);
            nodes_.push_back(node);
            flows = link->result;
            node = c_.places.only_reader(flows);
        }
        if (node != nullptr && !links_.empty() && ends(*node)) {
            reduction_ = node;
            columns_ = PassingPieces::columns_of(place.half_tiles);
            return;
        }
        columns_ = compile::in_memory_order(place).shape.back();
        const auto one = std::ranges::find_if(links_, &Link::is_one);
        nodes_.resize(static_cast<std::size_t>(one - links_.begin()));
        links_.resize(nodes_.size());
    }
    bool is_worth_it() const { return links_.size() >= 2 || reduction_ != nullptr; }
    void lower();

  private:
    bool is_there(ValueId id) const {
        const Value& value = c_.value(id);
        return is_floating(value.type) && !value.quantisation &&
               (c_.places.has(id) || is_given(value));
    }
    bool lies_plainly(ValueId id) const {
        if (!is_there(id)) return false;
        const Place& place = c_.places.of(id);
        return compile::is_dense(place) && place.image.empty() && element_count(place.shape) > 1;
    }
    /// All elements are one row, of whole pieces.
    bool ends(const Node& node) const {
        return joins_rows(c_, node) && element_count(shape_) == shape_.back() &&
               shape_.back() % PassingPieces::kPiece == 0 && !c_.fused.contains(&node);
    }
    std::optional<Link> link_of(const Node& node, ValueId flows) const {
        const Value& out = c_.value(node.outputs[0]);
        if (out.quantisation || !is_floating(out.type) || c_.shape(node.outputs[0]) != shape_)
            return std::nullopt;
        Link link{.result = node.outputs[0]};
        if (const auto function = function_of(c_.graph, node)) {
            link.function = *function;
            return node.inputs[0] == flows ? std::optional(link) : std::nullopt;
        }
        if (!is_arithmetic(node.op) || node.inputs.size() != 2) return std::nullopt;
        link.function = binary_function_of(c_.graph, node);
        link.flows_second = node.inputs[0] != flows;
        const ValueId other = node.inputs[link.flows_second ? 0 : 1];
        link.immediate = scalar_of(c_.value(other));
        const bool commutes = node.op != Operator::kSub && node.op != Operator::kDiv;
        if (link.immediate)
            return !link.flows_second || commutes ? std::optional(link) : std::nullopt;
        link.other = other;
        link.is_one = is_there(other) && element_count(c_.shape(other)) == 1;
        if (link.is_one) return !link.flows_second || commutes ? std::optional(link) : std::nullopt;
        const bool fits = other != flows && lies_plainly(other) && c_.shape(other) == shape_ &&
                          c_.places.of(other).strides == strides_;
        return fits ? std::optional(link) : std::nullopt;
    }
    Matrix matrix_of(const Place& place) const {
        return {place.space, place.address, place.type,      element_count(shape_) / columns_,
                columns_,    columns_,      place.half_tiles};
    }
    /// Bytes of the result, if it is stored, and of operands beside an element that flows.
    std::uint64_t bytes_beside() const {
        std::uint64_t bytes = reduction_ != nullptr ? 0 : 4;
        for (const Link& link : links_) bytes += link.other != kNoValue && !link.is_one ? 4 : 0;
        return bytes * static_cast<std::uint64_t>(columns_);
    }
    /// Whether e^-x begins at the link: one instruction.
    bool is_negative_power(std::size_t i) const {
        return i + 1 < links_.size() && links_[i].function == Function::kNegate &&
               links_[i + 1].function == Function::kExp;
    }
    /// What is computed of a window.
    Loop compute(std::int64_t row, std::int64_t rows);
    void reduce_all();

    Compilation& c_;
    ValueId head_ = kNoValue;
    Shape shape_;
    std::vector<std::int64_t> strides_;
    std::vector<Link> links_;
    std::vector<const Node*> nodes_;
    const Node* reduction_ = nullptr;
    std::int64_t columns_ = 1;  ///< of a row of a window
    std::uint64_t ones_ = 0;    ///< operands of one element in the unified buffer, kOne apart
};

constexpr std::uint64_t kOne = 4;  // bytes, at most

Loop Chain::compute(std::int64_t row, std::int64_t rows) {
    Loop loop(c_, c_.staging.load(matrix_of(c_.places.of(head_)), row, rows), rows, columns_);
    for (std::size_t i = 0; i < links_.size();) {
        const std::size_t first = i++;
        const Link& link = links_[first];
        // A function of one value follows at once.
        Function then = Function::kIdentity;
        if (i < links_.size() && links_[i].is_unary() && !is_negative_power(i))
            then = links_[i++].function;
        if (link.is_unary()) {
            loop.apply(link.function, then);
        } else if (link.immediate) {
            loop.apply(link.function, *link.immediate, then);
        } else if (link.is_one) {
            const BufferRows one{ones_ + first * kOne, 0, c_.places.of(link.other).type};
            loop.apply(link.function, one, Broadcast::kColumn, then);
        } else {
            loop.apply(link.function,
                       c_.staging.load(matrix_of(c_.places.of(link.other)), row, rows),
                       Broadcast::kNone, then, link.flows_second);
        }
    }
    return loop;
}

void Chain::reduce_all() {
    const Matrix in = matrix_of(c_.places.of(head_));
    const Place to = c_.places.make_in_backing(reduction_->outputs[0],
                                               dense_strides(c_.shape(reduction_->outputs[0])));
    const auto load_ones = [&](std::uint64_t address) {
        ones_ = address;
        for (std::size_t i = 0; i < links_.size(); ++i) {
            if (!links_[i].is_one) continue;
            const Place& one = c_.places.of(links_[i].other);
            const Matrix element{one.space, one.address, one.type, 1, 1, 1};
            const BufferRows at{ones_ + i * kOne, kOne, one.type};
            if (one.space == tpu::Space::kUnifiedBuffer)
                vector_op(c_, Function::kIdentity, Function::kIdentity,
                          c_.staging.load(element, 0, 1), nullptr, Broadcast::kNone, 0, at, 1, 1);
            else
                c_.staging.load_at(at.address, element, 0, 1);
        }
    };
    reduce_pieces(
        c_, *reduction_,
        {.count = in.rows,
         .at_a_time = window_rows(c_, in.bytes(), in.rows, bytes_beside()),
         .columns = columns_,
         .beside = links_.size() * kOne,
         .begin = load_ones,
         .make = [&](std::int64_t first, std::int64_t rows) { return compute(first, rows); }},
        {to.space, to.address, to.type, 1, 1, 1});
    c_.fused.insert(reduction_);
    c_.places.set(reduction_->outputs[0], to);
}

void Chain::lower() {
    std::string name;
    for (const Node* node : nodes_) name += (name.empty() ? "" : "+") + node->name;
    if (reduction_ != nullptr) name += "+" + reduction_->name;
    c_.steps.begin(name);
    for (std::size_t i = 1; i < nodes_.size(); ++i) c_.fused.insert(nodes_[i]);
    if (reduction_ != nullptr) return reduce_all();
    Place to = c_.places.make_over(links_.back().result, head_, strides_);
    const Matrix out = matrix_of(to);
    const std::int64_t window = window_rows(c_, out.bytes(), out.rows, bytes_beside());
    for (std::int64_t row = 0; row < out.rows; row += window) {
        const std::int64_t rows = std::min(window, out.rows - row);
        Loop loop = compute(row, rows);
        const BufferRows result = c_.staging.room_for(out, row, rows);
        loop.store(result);
        c_.staging.store(result, out, row, rows);
    }
    c_.places.set(links_.back().result, std::move(to));
}

}  // namespace

bool lower_chain(Compilation& c, const Node& node) {
    if (!c.has_memory()) return false;
    Chain chain(c, node);
    if (!chain.is_worth_it()) return false;
    chain.lower();
    return true;
}

}  // namespace lockstep::network::lowering
