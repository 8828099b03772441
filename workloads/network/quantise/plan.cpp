// SPDX-License-Identifier: Apache-2.0
// Products of values by weights run in integers, and what follows them where it can; a value that
// is only moved on its way to them is quantised before it is moved. Then each value gets its scale:
// of its range, of the Relu or Clip that alone reads it, or of what it was moved from. Source:
// Jacob et al. (2018), section 3.
#include "workloads/network/quantise/plan.h"

#include <algorithm>

#include "workloads/network/graph/quantisation.h"
#include "workloads/network/reference/local_response.h"

namespace lockstep::network {

IntegerPlan::IntegerPlan(const Graph& graph, const Ranges& ranges, const Scales& given,
                         const QuantiseOptions& options)
    : graph_(graph),
      ranges_(ranges),
      options_(options),
      trained_(!given.empty()),
      order_(topological_order(graph)),
      in_integers_(graph.nodes.size(), false),
      computed_in_integers_(graph.values.size(), false),
      scales_(given),
      uses_(graph) {
    scales_.resize(graph.values.size());
    for (const std::size_t n : order_) choose(n);
    for (std::size_t i = order_.size(); i-- > 0 && !trained_;) move_before_products(order_[i]);
    count_bits();
    for (const std::size_t n : order_)
        if (in_integers_[n]) set_scale(graph_.nodes[n]);
}

bool IntegerPlan::read_in_integers(ValueId id) const {
    const std::span<const std::size_t> readers = uses_.readers(id);
    return !readers.empty() &&
           std::ranges::all_of(readers, [&](std::size_t n) { return in_integers_[n]; });
}

void IntegerPlan::take(std::size_t n) {
    in_integers_[n] = true;
    for (const ValueId id : graph_.nodes[n].outputs)
        if (id != kNoValue) computed_in_integers_[id] = true;
}

void IntegerPlan::choose(std::size_t n) {
    const Node& node = graph_.nodes[n];
    if (options_.keep_floating.contains(node.name)) return;
    const auto integer = [&](std::size_t i) {
        return node.input(i) != kNoValue &&
               (computed_in_integers_[node.inputs[i]] || (trained_ && scales_[node.inputs[i]]));
    };
    bool chosen = false;
    switch (info_of(node.op).integers) {
        case IntegerForm::kNone:
            break;
        case IntegerForm::kProduct:
            chosen = is_integer_product(node);
            break;
        case IntegerForm::kCombination:
            // An input can come in as integers, where that saves the way through fp32.
            for (std::size_t i = 0; i < node.inputs.size(); ++i) chosen = chosen || integer(i);
            for (std::size_t i = 0; i < node.inputs.size(); ++i)
                chosen = chosen && (integer(i) || comes_in(node.inputs[i]) ||
                                    is_integer_constant(node.inputs[i]));
            break;
        case IntegerForm::kTable:
            chosen = integer(0);
            for (std::size_t i = 1; i < node.inputs.size(); ++i)
                chosen = chosen &&
                         (node.inputs[i] == kNoValue || graph_.value(node.inputs[i]).is_known());
            break;
        case IntegerForm::kSameScale:
        case IntegerForm::kSameValues:
            chosen = integer(0) && (node.op != Operator::kPad || pads_with_zero(node));
            break;
        case IntegerForm::kRows:
            chosen = options_.rows && (integer(0) || comes_in(node.inputs[0])) &&
                     (node.op != Operator::kLRN || has_local_response_table(graph_, node));
            break;
    }
    if (!chosen || (trained_ && !has_scales(node))) return;
    take(n);
}

/// A constant operand that is quantised as it stands.
bool IntegerPlan::is_integer_constant(ValueId id) const {
    return options_.constants && !trained_ && id != kNoValue && is_given(graph_.value(id)) &&
           graph_.value(id).type == ElementType::kFp32;
}

/// An input of the network that may be integers itself.
bool IntegerPlan::comes_in(ValueId id) const {
    return options_.integer_interface && !trained_ && id != kNoValue &&
           graph_.value(id).kind == ValueKind::kInput &&
           graph_.value(id).type == ElementType::kFp32;
}

/// A real value that is only moved on its way to integer nodes is quantised before it is moved.
void IntegerPlan::move_before_products(std::size_t n) {
    const Node& node = graph_.nodes[n];
    if (in_integers_[n] || !keeps_scale(node.op)) return;
    if (options_.keep_floating.contains(node.name)) return;
    const Value& from = graph_.value(node.inputs[0]);
    if (from.type != ElementType::kFp32 || is_given(from)) return;
    if (node.op == Operator::kPad && !pads_with_zero(node)) return;
    for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        if (is_result(id) || !read_in_integers(id)) return;
    }
    take(n);
}

/// All scales that the node needs are given.
bool IntegerPlan::has_scales(const Node& node) {
    const ValueId out = node.outputs[0];
    if (keeps_scale(node.op)) {
        const Quantisation& same = *scales_[node.inputs[0]];
        for (const ValueId id : node.outputs) {
            if (id == kNoValue) continue;
            if (!scales_[id]) scales_[id] = same;
            if (scales_[id]->scale != same.scale || scales_[id]->zero_point != same.zero_point)
                return false;
        }
        return true;
    }
    if (!scales_[out]) scales_[out] = scale_of_clip(out);
    if (!scales_[out]) return false;
    for (std::size_t i = 0; i < 2 && info_of(node.op).integers == IntegerForm::kProduct; ++i)
        if (!scales_[node.inputs[i]]) return false;
    return true;
}

/// The value is only read by a Relu or Clip, whose scale it then takes.
std::optional<ValueId> IntegerPlan::clipped(ValueId id) const {
    const std::size_t reader = uses_.only_reader(id);
    if (reader == Uses::kNobody) return std::nullopt;
    const Node& next = graph_.nodes[reader];
    if (next.op != Operator::kRelu && next.op != Operator::kClip) return std::nullopt;
    return next.outputs[0];
}
std::optional<Quantisation> IntegerPlan::scale_of_clip(ValueId id) const {
    const std::optional<ValueId> clip = clipped(id);
    return clip ? scales_[*clip] : std::nullopt;
}

bool IntegerPlan::is_integer_product(const Node& node) const {
    for (const std::size_t i : {0, 1})
        if (graph_.value(node.inputs.at(i)).type != ElementType::kFp32) return false;
    if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1) return false;
    // A weight must be an operand of its own to have a scale of its own.
    if (is_given(graph_.value(node.inputs[0])) && is_given(graph_.value(node.inputs[1])))
        return false;
    if (node.input(2) == kNoValue) return true;
    const Shape& out = graph_.shape(node.outputs[0]);
    const std::int64_t channels = node.op == Operator::kConv ? out.at(1) : out.back();
    return is_given(graph_.value(node.inputs[2])) &&
           graph_.shape(node.inputs[2]) == Shape{channels};
}

bool IntegerPlan::pads_with_zero(const Node& node) const {
    if (node.input(2) == kNoValue) return true;
    const Value& value = graph_.value(node.inputs[2]);
    return value.is_known() && to_doubles(*value.data) == std::vector<double>{0};
}

Quantisation IntegerPlan::scale_of_range(ValueId id) const {
    if (const Value& value = graph_.value(id); is_given(value) && value.is_known()) {
        const std::vector<float> elements = to_floats(*value.data);
        const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
        return quantisation_of(*low, *high, options_.symmetric_activations, options_.activations,
                               bits_.at(id));
    }
    if (ranges_.empty())
        return quantisation_of(-1, 1, options_.symmetric_activations, options_.activations,
                               bits_.at(id));
    const Range& range = ranges_.at(id);
    return quantisation_of(range.low, range.high, options_.symmetric_activations,
                           options_.activations, bits_.at(id));
}

/// The scale of a value in its integer form.
const Quantisation& IntegerPlan::scale(ValueId id) {
    if (!scales_[id]) scales_[id] = scale_of_range(id);
    return *scales_[id];
}

/// Rows of packed values can be seen in another order where each fills bytes.
bool IntegerPlan::begins_at_bytes(const Node& node) const {
    constexpr std::int64_t kValues = 4;  // of 2 bits, in a byte
    return node.op != Operator::kTranspose || (graph_.shape(node.inputs[0]).back() % kValues == 0 &&
                                               graph_.shape(node.outputs[0]).back() % kValues == 0);
}

/// From the last node to the first: a value needs what its readers make of it.
void IntegerPlan::count_bits() {
    const int all = options_.activations == ElementType::kInt8 ? 8 : 0;
    bits_.assign(graph_.values.size(), all);
    if (all == 0) return;
    const auto wanted = [&](std::size_t n) {
        const Node& node = graph_.nodes[n];
        const OperatorInfo& info = info_of(node.op);
        if (!in_integers_[n]) return all;
        if (info.integers == IntegerForm::kProduct) return options_.bits_of(node.name).activations;
        if (!begins_at_bytes(node)) return all;
        const bool passes_on = info.integers == IntegerForm::kTable || keeps_scale(node.op) ||
                               info.role == LayerRole::kPooling;
        return passes_on && node.outputs.size() == 1 ? bits_[node.outputs[0]] : all;
    };
    for (std::size_t i = order_.size(); i-- > 0;)
        for (const ValueId id : graph_.nodes[order_[i]].outputs) {
            if (id == kNoValue || is_result(id) || !uses_.is_read(id)) continue;
            int most = 0;
            for (const std::size_t reader : uses_.readers(id))
                most = std::max(most, wanted(reader));
            bits_[id] = most;
        }
}

void IntegerPlan::set_scale(const Node& node) {
    if (keeps_scale(node.op)) {
        const Quantisation same = scale(node.inputs[0]);
        for (const ValueId id : node.outputs)
            if (id != kNoValue) scales_[id] = same;
        return;
    }
    if (trained_) return;
    const ValueId out = node.outputs[0];
    if (node.op == Operator::kSoftmax) {
        scales_[out] = Quantisation{{1.0f / 256}, {-128}, std::nullopt};
        return;
    }
    const std::optional<ValueId> clip = clipped(out);
    const bool shared = clip && in_integers_[uses_.only_reader(out)];
    scales_[out] = scale_of_range(shared ? *clip : out);
}

}  // namespace lockstep::network
