// SPDX-License-Identifier: Apache-2.0
// The new graph after the plan (plan.h): a QuantizeLinear or DequantizeLinear wherever a value is
// needed in the other form. Source: Jacob et al. (2018), section 3; Krishnamoorthi, "Quantizing
// deep convolutional networks for efficient inference" (2018): symmetric weights per channel,
// asymmetric activations.
#include "workloads/network/quantise/quantise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "sim/error/error.h"
#include "workloads/network/graph/fusion.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/plan.h"

namespace lockstep::network {

namespace {

class Quantiser {
  public:
    Quantiser(const Graph& graph, const Ranges& ranges, const Scales& given,
              const QuantiseOptions& options)
        : graph_(graph),
          options_(options),
          plan_(graph, ranges, given, options),
          real_(graph.values.size(), kNoValue),
          stored_(graph.values.size(), kNoValue),
          rounded_(graph.values.size(), kNoValue) {
        result_.name = graph.name;
    }

    Graph run() {
        for (const ValueId id : graph_.inputs) result_.inputs.push_back(add_input(id));
        for (const std::size_t n : plan_.order()) add_node(n);
        for (const ValueId id : graph_.outputs) {
            const bool integer = options_.integer_interface && plan_.computed_in_integers(id);
            result_.outputs.push_back(integer ? stored(id) : read_real(id));
        }
        validate(result_);
        return std::move(result_);
    }

  private:
    ValueId add_input(ValueId id) {
        const bool integers =
            options_.integer_interface && !plan_.is_result(id) && plan_.read_in_integers(id);
        Value value = graph_.value(id);
        if (!integers) return real_[id] = result_.add(std::move(value));
        value.type = options_.activations;
        value.quantisation = plan_.scale(id);
        return stored_[id] = result_.add(std::move(value));
    }

    ValueId constant(const std::string& name, Tensor tensor) {
        Value value{name, ValueKind::kConstant, tensor.type, tensor.shape};
        value.data = std::make_shared<const Tensor>(std::move(tensor));
        return result_.add(std::move(value));
    }

    /// A node between the two forms of a value.
    ValueId convert(Operator op, const std::string& name, ValueId from, const Quantisation& q,
                    Value to) {
        const ValueId scale = constant(name + ".scale", make_tensor({}, std::span(q.scale)));
        const std::vector<std::int64_t> zeros(q.zero_point.begin(), q.zero_point.end());
        const ValueId zero =
            constant(name + ".zero_point", from_integers(options_.activations, {}, zeros));
        to.kind = ValueKind::kComputed;  // also of an input of the network
        const ValueId id = result_.add(std::move(to));
        result_.nodes.push_back({name, op, {from, scale, zero}, {id}, {}});
        return id;
    }

    /// The real form as a floating node reads it: where a scale is given, of stored values.
    ValueId read_real(ValueId id) {
        const bool rounds =
            plan_.is_trained() && plan_.has_scale(id) && !plan_.computed_in_integers(id);
        if (!rounds || is_given(graph_.value(id))) return real(id);
        if (rounded_[id] == kNoValue)
            rounded_[id] =
                convert(Operator::kDequantizeLinear, graph_.value(id).name + ".dequantise",
                        stored(id), plan_.scale(id), graph_.value(id));
        return rounded_[id];
    }

    ValueId real(ValueId id) {
        if (real_[id] != kNoValue) return real_[id];
        Value value = graph_.value(id);
        if (!plan_.computed_in_integers(id) && stored_[id] == kNoValue)
            return real_[id] = result_.add(std::move(value));
        return real_[id] = convert(Operator::kDequantizeLinear, value.name + ".dequantise",
                                   stored_[id], plan_.scale(id), value);
    }

    Value stored_value(ValueId id) {
        Value value = graph_.value(id);
        const int bits = plan_.scale(id).bits;
        value.name += bits == 0 ? fmt::format(".{}", name_of(options_.activations))
                                : fmt::format(".int{}", bits);
        value.kind = ValueKind::kComputed;
        value.type = options_.activations;
        value.data = nullptr;
        value.quantisation = plan_.scale(id);
        return value;
    }

    ValueId stored(ValueId id) {
        const Value& value = graph_.value(id);
        if (stored_[id] == kNoValue && is_given(value) && options_.constants && !plan_.is_trained())
            stored_[id] = add_constant(id);
        if (stored_[id] == kNoValue && is_given(value) && value.is_known())
            stored_[id] = add_weight(id, plan_.scale(id));
        if (stored_[id] == kNoValue)
            stored_[id] = convert(Operator::kQuantizeLinear, value.name + ".quantise", real(id),
                                  plan_.scale(id), stored_value(id));
        return stored_[id];
    }

    void add_node(std::size_t n) {
        Node node = graph_.nodes[n];
        const bool integers = plan_.in_integers(n);
        if (integers && info_of(node.op).integers == IntegerForm::kProduct) {
            make_product(node);
        } else if (integers) {
            const bool many = info_of(node.op).integers == IntegerForm::kCombination;
            // The zero point is what pads.
            if (node.op == Operator::kPad) node.inputs.resize(2);
            for (std::size_t i = 0; i < node.inputs.size(); ++i)
                if (ValueId& id = node.inputs[i]; id != kNoValue)
                    id = i == 0 || many ? stored(id) : real(id);
        } else {
            for (ValueId& id : node.inputs)
                if (id != kNoValue) id = read_real(id);
        }
        for (ValueId& id : node.outputs) {
            if (id == kNoValue) continue;
            ValueId& place = integers ? stored_[id] : real_[id];
            id = place = result_.add(integers ? stored_value(id) : graph_.value(id));
        }
        result_.nodes.push_back(std::move(node));
    }

    void make_product(Node& node) {
        const ValueId bias = node.input(2);
        std::vector<float> scales[2];
        for (const std::size_t i : {0, 1}) {
            const ValueId id = node.inputs[i];
            if (!is_given(graph_.value(id))) {
                node.inputs[i] = stored(id);
            } else {
                const std::optional<std::int64_t> axis = channel_axis(node, i);
                // Several products may read one, as the steps of a recurrent layer do.
                const int bits = options_.bits_of(node.name).weights;
                ValueId& made = weights_.try_emplace({id, axis, bits}, kNoValue).first->second;
                if (made == kNoValue || bias != kNoValue) {
                    Quantisation q = plan_.is_trained()
                                         ? plan_.scale(id)
                                         : weight_quantisation(graph_.value(id), axis, bits);
                    if (i == 1 && !plan_.is_trained() && bias != kNoValue)
                        widen_for_bias(q, scales[0][0], bias);
                    made = add_weight(id, std::move(q));
                }
                node.inputs[i] = made;
            }
            scales[i] = result_.value(node.inputs[i]).quantisation->scale;
        }
        if (bias == kNoValue) return;
        for (float& scale : scales[1]) scale *= scales[0][0];
        node.inputs[2] = add_bias(bias, scales[1]);
    }

    /// The dimension of a weight that has a scale for each slice: where it is the second operand,
    /// the output channels.
    std::optional<std::int64_t> channel_axis(const Node& node, std::size_t operand) const {
        if (!options_.per_channel || operand != 1) return std::nullopt;
        const bool rows = node.op == Operator::kConv ||
                          (node.op == Operator::kGemm && node.integer("transB", 0) != 0);
        return rows ? 0 : static_cast<std::int64_t>(graph_.shape(node.inputs[1]).size()) - 1;
    }

    /// Where a bias would not fit 30 bits in steps of the sums, the weights get larger steps.
    void widen_for_bias(Quantisation& q, float input_scale, ValueId bias) const {
        if (!graph_.value(bias).is_known()) return;
        const std::vector<float> values = to_floats(*graph_.value(bias).data);
        for (std::size_t c = 0; c < values.size(); ++c) {
            float& scale = q.scale[q.axis ? c : 0];
            scale = std::max(scale, std::abs(values[c]) / (input_scale * 0x1p30f));
        }
    }

    ValueId add_weight(ValueId id, Quantisation q) {
        const Value& old = graph_.value(id);
        Value value{fmt::format("{}.int{}", old.name, q.bits == 0 ? 8 : q.bits), old.kind,
                    ElementType::kInt8, old.shape};
        if (old.is_known()) {
            Tensor stored = network::quantise(*old.data, q, ElementType::kInt8);
            // Symmetric also where values are cut off.
            const auto least =
                static_cast<std::int8_t>(range_of(ElementType::kInt8, q.bits).low + 1);
            for (std::int8_t& w : stored.as<std::int8_t>())
                if (q.bits != 0) w = std::max(w, least);
            value.data = std::make_shared<const Tensor>(std::move(stored));
        }
        value.quantisation = std::move(q);
        return result_.add(std::move(value));
    }

    /// Of elements: all stored values may be used.
    ValueId add_constant(ValueId id) {
        Value value = stored_value(id);
        value.kind = graph_.value(id).kind;
        if (graph_.value(id).is_known())
            value.data = std::make_shared<const Tensor>(
                network::quantise(*graph_.value(id).data, plan_.scale(id), options_.activations));
        return result_.add(std::move(value));
    }

    ValueId add_bias(ValueId id, const std::vector<float>& scales) {
        const Value& old = graph_.value(id);
        Value value{old.name + ".int32", old.kind, ElementType::kInt32, old.shape};
        Quantisation q{scales, std::vector<std::int32_t>(scales.size(), 0), std::nullopt};
        if (scales.size() > 1) q.axis = 0;
        if (old.is_known())
            value.data = std::make_shared<const Tensor>(
                network::quantise(*old.data, q, ElementType::kInt32));
        value.quantisation = std::move(q);
        return result_.add(std::move(value));
    }

    const Graph& graph_;
    const QuantiseOptions& options_;
    IntegerPlan plan_;
    std::vector<ValueId> real_, stored_;  ///< the new values, in either form
    std::vector<ValueId> rounded_;        ///< real, but with the stored values' steps
    /// The latest integer form of a weight, by its value, axis and bits.
    std::map<std::tuple<ValueId, std::optional<std::int64_t>, int>, ValueId> weights_;
    Graph result_;
};

}  // namespace

Graph quantise(const Graph& graph, const Ranges& ranges, const QuantiseOptions& options) {
    Graph folded = graph;
    fold_bias(folded);
    return Quantiser(folded, ranges, {}, options).run();
}

Graph quantise_with(const Graph& graph, const Scales& scales, const QuantiseOptions& options) {
    LOCKSTEP_CHECK(!scales.empty(), "no scales");
    return Quantiser(graph, {}, scales, options).run();
}

}  // namespace lockstep::network
