// SPDX-License-Identifier: Apache-2.0
// Three passes: which nodes run in integers, the scale of each value, and the new graph, which gets
// a QuantizeLinear or DequantizeLinear wherever a value is needed in the other form. Source: Jacob
// et al. (2018), section 3; Krishnamoorthi, "Quantizing deep convolutional networks for efficient
// inference" (2018): symmetric weights per channel, asymmetric activations.
#include "workloads/network/quantise/quantise.h"

#include "sim/error/error.h"
#include "workloads/network/fusion.h"
#include "workloads/network/quantisation.h"
#include "workloads/network/quantise/family.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lockstep::network {

namespace {

bool is_given(const Value& value) {
    return value.kind == ValueKind::kParameter || value.kind == ValueKind::kConstant;
}

class Quantiser {
  public:
    Quantiser(const Graph& graph, const Ranges& ranges, const Scales& given,
              const QuantiseOptions& options)
        : graph_(graph),
          ranges_(ranges),
          options_(options),
          trained_(!given.empty()),
          order_(topological_order(graph)),
          in_integers_(graph.nodes.size(), false),
          computed_in_integers_(graph.values.size(), false),
          scales_(trained_ ? given : Scales(graph.values.size())),
          readers_(graph.values.size()),
          real_(graph.values.size(), kNoValue),
          stored_(graph.values.size(), kNoValue),
          rounded_(graph.values.size(), kNoValue) {
        scales_.resize(graph.values.size());
        for (size_t n = 0; n < graph.nodes.size(); ++n)
            for (const ValueId id : graph.nodes[n].inputs)
                if (id != kNoValue) readers_[id].push_back(n);
        result_.name = graph.name;
    }

    Graph run() {
        for (const size_t n : order_) choose(n);
        for (size_t i = order_.size(); i-- > 0 && !trained_;) move_before_products(order_[i]);
        for (const size_t n : order_)
            if (in_integers_[n]) set_scale(graph_.nodes[n]);
        for (const ValueId id : graph_.inputs) result_.inputs.push_back(add_input(id));
        for (const size_t n : order_) add_node(n);
        for (const ValueId id : graph_.outputs) {
            const bool integer = options_.integer_interface && computed_in_integers_[id];
            result_.outputs.push_back(integer ? stored(id) : read_real(id));
        }
        validate(result_);
        return std::move(result_);
    }

  private:
    void choose(size_t n) {
        const Node& node = graph_.nodes[n];
        if (options_.keep_floating.contains(node.name)) return;
        const auto integer = [&](size_t i) {
            return node.input(i) != kNoValue &&
                   (computed_in_integers_[node.inputs[i]] || (trained_ && scales_[node.inputs[i]]));
        };
        bool chosen = false;
        switch (family_of(node.op)) {
            case Family::kNone:
                break;
            case Family::kProduct:
                chosen = is_integer_product(node);
                break;
            case Family::kCombine:
                // An input can come in as integers, where that saves the way through fp32.
                for (size_t i = 0; i < node.inputs.size(); ++i) chosen = chosen || integer(i);
                for (size_t i = 0; i < node.inputs.size(); ++i)
                    chosen = chosen && (integer(i) || comes_in(node.inputs[i]));
                break;
            case Family::kActivate:
                chosen = integer(0);
                for (size_t i = 1; i < node.inputs.size(); ++i)
                    chosen = chosen && (node.inputs[i] == kNoValue ||
                                        graph_.value(node.inputs[i]).is_known());
                break;
            case Family::kMove:
                chosen = integer(0) && (node.op != Operator::kPad || pads_with_zero(node));
                break;
        }
        if (!chosen || (trained_ && !has_scales(node))) return;
        in_integers_[n] = true;
        for (const ValueId id : node.outputs)
            if (id != kNoValue) computed_in_integers_[id] = true;
    }

    /// An input of the network that may be integers itself.
    bool comes_in(ValueId id) const {
        return options_.integer_interface && !trained_ && id != kNoValue &&
               graph_.value(id).kind == ValueKind::kInput &&
               graph_.value(id).type == ElementType::kFp32;
    }

    /// A real value that is only moved on its way to integer nodes is quantised before it is moved.
    void move_before_products(size_t n) {
        const Node& node = graph_.nodes[n];
        if (in_integers_[n] || family_of(node.op) != Family::kMove) return;
        if (options_.keep_floating.contains(node.name)) return;
        const Value& from = graph_.value(node.inputs[0]);
        if (from.type != ElementType::kFp32 || is_given(from)) return;
        if (node.op == Operator::kPad && !pads_with_zero(node)) return;
        for (const ValueId id : node.outputs) {
            if (id == kNoValue) continue;
            const std::vector<size_t>& readers = readers_[id];
            if (readers.empty() || is_result(id) ||
                !std::all_of(readers.begin(), readers.end(),
                             [&](size_t reader) { return in_integers_[reader]; }))
                return;
        }
        in_integers_[n] = true;
        for (const ValueId id : node.outputs)
            if (id != kNoValue) computed_in_integers_[id] = true;
    }

    /// All scales that the node needs are given.
    bool has_scales(const Node& node) {
        const ValueId out = node.outputs[0];
        const Family family = family_of(node.op);
        if (family == Family::kMove) {
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
        for (size_t i = 0; i < 2 && family == Family::kProduct; ++i)
            if (!scales_[node.inputs[i]]) return false;
        return true;
    }

    /// The value is only read by a Relu or Clip, whose scale it then takes.
    std::optional<ValueId> clipped(ValueId id) const {
        const std::vector<size_t>& readers = readers_[id];
        if (readers.size() != 1 || is_result(id)) return std::nullopt;
        const Node& next = graph_.nodes[readers[0]];
        if (next.op != Operator::kRelu && next.op != Operator::kClip) return std::nullopt;
        return next.outputs[0];
    }
    std::optional<Quantisation> scale_of_clip(ValueId id) const {
        const std::optional<ValueId> clip = clipped(id);
        return clip ? scales_[*clip] : std::nullopt;
    }

    bool is_integer_product(const Node& node) const {
        for (const size_t i : {0, 1})
            if (graph_.value(node.inputs.at(i)).type != ElementType::kFp32) return false;
        if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1) return false;
        // A weight must be an operand of its own to have a scale of its own.
        if (is_given(graph_.value(node.inputs[0])) && is_given(graph_.value(node.inputs[1])))
            return false;
        if (node.input(2) == kNoValue) return true;
        const Shape& out = graph_.shape(node.outputs[0]);
        const int64_t channels = node.op == Operator::kConv ? out.at(1) : out.back();
        return is_given(graph_.value(node.inputs[2])) &&
               graph_.shape(node.inputs[2]) == Shape{channels};
    }

    bool pads_with_zero(const Node& node) const {
        if (node.input(2) == kNoValue) return true;
        const Value& value = graph_.value(node.inputs[2]);
        return value.is_known() && to_doubles(*value.data) == std::vector<double>{0};
    }

    Quantisation scale_of_range(ValueId id) const {
        if (ranges_.empty())
            return quantisation_of(-1, 1, options_.symmetric_activations, options_.activations);
        const Range& range = ranges_.at(id);
        return quantisation_of(range.low, range.high, options_.symmetric_activations,
                               options_.activations);
    }

    /// The scale of a value in its integer form.
    const Quantisation& scale(ValueId id) {
        if (!scales_[id]) scales_[id] = scale_of_range(id);
        return *scales_[id];
    }

    void set_scale(const Node& node) {
        if (family_of(node.op) == Family::kMove) {
            const Quantisation same = scale(node.inputs[0]);
            for (const ValueId id : node.outputs)
                if (id != kNoValue) scales_[id] = same;
            return;
        }
        if (trained_) return;
        const ValueId out = node.outputs[0];
        const std::optional<ValueId> clip = clipped(out);
        const bool shared = clip && in_integers_[readers_[out][0]];
        scales_[out] = scale_of_range(shared ? *clip : out);
    }

    bool is_result(ValueId id) const {
        return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
    }

    ValueId add_input(ValueId id) {
        const std::vector<size_t>& readers = readers_[id];
        const bool integers =
            options_.integer_interface && !readers.empty() && !is_result(id) &&
            std::all_of(readers.begin(), readers.end(), [&](size_t n) { return in_integers_[n]; });
        Value value = graph_.value(id);
        if (!integers) return real_[id] = result_.add(std::move(value));
        value.type = options_.activations;
        value.quantisation = scale(id);
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
        const std::vector<int64_t> zeros(q.zero_point.begin(), q.zero_point.end());
        const ValueId zero =
            constant(name + ".zero_point", from_integers(options_.activations, {}, zeros));
        const ValueId id = result_.add(std::move(to));
        result_.nodes.push_back({name, op, {from, scale, zero}, {id}, {}});
        return id;
    }

    /// The real form as a floating node reads it: where a scale is given, of stored values.
    ValueId read_real(ValueId id) {
        const bool rounds = trained_ && scales_[id] && !computed_in_integers_[id];
        if (!rounds || is_given(graph_.value(id))) return real(id);
        if (rounded_[id] == kNoValue)
            rounded_[id] =
                convert(Operator::kDequantizeLinear, graph_.value(id).name + ".dequantise",
                        stored(id), scale(id), graph_.value(id));
        return rounded_[id];
    }

    ValueId real(ValueId id) {
        if (real_[id] != kNoValue) return real_[id];
        Value value = graph_.value(id);
        if (!computed_in_integers_[id] && stored_[id] == kNoValue)
            return real_[id] = result_.add(std::move(value));
        return real_[id] = convert(Operator::kDequantizeLinear, value.name + ".dequantise",
                                   stored_[id], scale(id), value);
    }

    Value stored_value(ValueId id) {
        Value value = graph_.value(id);
        value.name += fmt::format(".{}", name_of(options_.activations));
        value.kind = ValueKind::kComputed;
        value.type = options_.activations;
        value.data = nullptr;
        value.quantisation = scale(id);
        return value;
    }

    ValueId stored(ValueId id) {
        const Value& value = graph_.value(id);
        if (stored_[id] == kNoValue && is_given(value) && value.is_known())
            stored_[id] = add_weight(id, scale(id));
        if (stored_[id] == kNoValue)
            stored_[id] = convert(Operator::kQuantizeLinear, value.name + ".quantise", real(id),
                                  scale(id), stored_value(id));
        return stored_[id];
    }

    void add_node(size_t n) {
        Node node = graph_.nodes[n];
        const bool integers = in_integers_[n];
        if (integers && family_of(node.op) == Family::kProduct) {
            make_product(node);
        } else if (integers) {
            const bool many = family_of(node.op) == Family::kCombine;
            // The zero point is what pads.
            if (node.op == Operator::kPad) node.inputs.resize(2);
            for (size_t i = 0; i < node.inputs.size(); ++i)
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
        for (const size_t i : {0, 1}) {
            const ValueId id = node.inputs[i];
            if (!is_given(graph_.value(id))) {
                node.inputs[i] = stored(id);
            } else {
                const std::optional<int64_t> axis = channel_axis(node, i);
                // Several products may read one, as the steps of a recurrent layer do.
                ValueId& made = weights_.try_emplace({id, axis}, kNoValue).first->second;
                if (made == kNoValue || bias != kNoValue) {
                    Quantisation q =
                        trained_ ? *scales_[id] : weight_quantisation(graph_.value(id), axis);
                    if (i == 1 && !trained_ && bias != kNoValue)
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
    std::optional<int64_t> channel_axis(const Node& node, size_t operand) const {
        if (!options_.per_channel || operand != 1) return std::nullopt;
        const bool rows = node.op == Operator::kConv ||
                          (node.op == Operator::kGemm && node.integer("transB", 0) != 0);
        return rows ? 0 : static_cast<int64_t>(graph_.shape(node.inputs[1]).size()) - 1;
    }

    /// Where a bias would not fit 30 bits in steps of the sums, the weights get larger steps.
    void widen_for_bias(Quantisation& q, float input_scale, ValueId bias) const {
        if (!graph_.value(bias).is_known()) return;
        const std::vector<float> values = to_floats(*graph_.value(bias).data);
        for (size_t c = 0; c < values.size(); ++c) {
            float& scale = q.scale[q.axis ? c : 0];
            scale = std::max(scale, std::abs(values[c]) / (input_scale * 0x1p30f));
        }
    }

    ValueId add_weight(ValueId id, Quantisation q) {
        const Value& old = graph_.value(id);
        Value value{old.name + ".int8", old.kind, ElementType::kInt8, old.shape};
        if (old.is_known())
            value.data =
                std::make_shared<const Tensor>(network::quantise(*old.data, q, ElementType::kInt8));
        value.quantisation = std::move(q);
        return result_.add(std::move(value));
    }

    ValueId add_bias(ValueId id, const std::vector<float>& scales) {
        const Value& old = graph_.value(id);
        Value value{old.name + ".int32", old.kind, ElementType::kInt32, old.shape};
        Quantisation q{scales, std::vector<int32_t>(scales.size(), 0), std::nullopt};
        if (scales.size() > 1) q.axis = 0;
        if (old.is_known())
            value.data = std::make_shared<const Tensor>(
                network::quantise(*old.data, q, ElementType::kInt32));
        value.quantisation = std::move(q);
        return result_.add(std::move(value));
    }

    const Graph& graph_;
    const Ranges& ranges_;
    const QuantiseOptions& options_;
    bool trained_;  ///< the scales are given, not found
    std::vector<size_t> order_;
    std::vector<bool> in_integers_, computed_in_integers_;
    Scales scales_;
    std::vector<std::vector<size_t>> readers_;
    std::vector<ValueId> real_, stored_;  ///< the new values, in either form
    std::vector<ValueId> rounded_;        ///< real, but with the stored values' steps
    /// The latest integer form of a weight, by its value and axis.
    std::map<std::pair<ValueId, std::optional<int64_t>>, ValueId> weights_;
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
