// SPDX-License-Identifier: Apache-2.0
// Operations of elements that follow each other are one kernel, as XLA fuses them: what is between
// stays in the unified buffer, window by window. A chain has the same shape throughout, and the
// operands that join it lie as its first one does.
#include <algorithm>

#include "workloads/network/graph/given.h"
#include "workloads/network/tpu/operators.h"
#include "workloads/network/tpu/vector.h"

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
    ValueId result = kNoValue;
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
    }
    bool is_worth_it() const { return links_.size() >= 2; }
    void lower();

  private:
    bool lies_plainly(ValueId id) const {
        const Value& value = c_.value(id);
        if (!is_floating(value.type) || value.quantisation) return false;
        if (!c_.places.has(id) && !is_given(value)) return false;
        const Place& place = c_.places.of(id);
        return compile::is_dense(place) && place.image.empty() && element_count(place.shape) > 1;
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
        const bool fits = other != flows && lies_plainly(other) && c_.shape(other) == shape_ &&
                          c_.places.of(other).strides == strides_;
        return fits ? std::optional(link) : std::nullopt;
    }
    Matrix matrix_of(const Place& place) const {
        const std::int64_t columns = compile::in_memory_order(place).shape.back();
        return {place.space, place.address, place.type,      element_count(shape_) / columns,
                columns,     columns,       place.half_tiles};
    }
    void compute(std::int64_t row, std::int64_t rows, const Matrix& out);

    Compilation& c_;
    ValueId head_ = kNoValue;
    Shape shape_;
    std::vector<std::int64_t> strides_;
    std::vector<Link> links_;
    std::vector<const Node*> nodes_;
};

void Chain::compute(std::int64_t row, std::int64_t rows, const Matrix& out) {
    BufferRows flows = c_.staging.load(matrix_of(c_.places.of(head_)), row, rows);
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const Link& link = links_[i];
        std::optional<BufferRows> other;
        if (link.other != kNoValue)
            other = c_.staging.load(matrix_of(c_.places.of(link.other)), row, rows);
        const BufferRows to = i + 1 == links_.size() ? c_.staging.room_for(out, row, rows)
                              : i == 0 ? c_.staging.temporary(rows, out.columns, DataType::kFp32)
                                       : flows;
        const BufferRows& a = other && link.flows_second ? *other : flows;
        const BufferRows* b = !other ? nullptr : link.flows_second ? &flows : &*other;
        vector_op(c_, link.function, Function::kIdentity, a, b,
                  link.immediate ? Broadcast::kImmediate : Broadcast::kNone,
                  link.immediate.value_or(0), to, rows, out.columns);
        flows = to;
    }
    c_.staging.store(flows, out, row, rows);
}

void Chain::lower() {
    std::string name;
    for (const Node* node : nodes_) name += (name.empty() ? "" : "+") + node->name;
    c_.steps.begin(name);
    Place to = c_.places.make(links_.back().result, strides_);
    const Matrix out = matrix_of(to);
    std::uint64_t row_bytes = 0;
    for (const Link& link : links_) row_bytes += link.other != kNoValue ? 4 : 0;
    const std::int64_t window = window_rows(
        c_, out.bytes(), out.rows, (row_bytes + 8) * static_cast<std::uint64_t>(out.columns));
    for (std::int64_t row = 0; row < out.rows; row += window)
        compute(row, std::min(window, out.rows - row), out);
    for (std::size_t i = 1; i < nodes_.size(); ++i) c_.fused.insert(nodes_[i]);
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
