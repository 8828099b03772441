// SPDX-License-Identifier: Apache-2.0
// Softmax and cross-entropy are differentiated together: the gradient of the logits is the
// probabilities less the target, without a division that could overflow.
#include "workloads/network/train/training_step.h"

#include "sim/error/error.h"
#include "workloads/network/train/gradient.h"
#include "workloads/network/train/mixed.h"
#include "workloads/network/train/recompute.h"

namespace lockstep::network {

namespace {

using enum Operator;

class StepBuilder {
  public:
    StepBuilder(const Trainable& network, const StepOptions& options)
        : options_(options), network_(network) {
        Graph& graph = step_.graph;
        graph = network.graph;
        graph.name += ".training";
        output_ = graph.outputs[0];
        if (options.compute != ElementType::kFp32)
            output_ = use_mixed_precision(graph, options.compute, output_);
        forward_nodes_ = graph.nodes.size();
        graph.inputs.resize(network.network_inputs);
        graph.outputs.clear();
        step_.network_inputs = network.network_inputs;
        target_ = add_input("target", graph.shape(output_));
        step_.target = graph.inputs.size() - 1;
        for (const Scalar scalar : scalars_of(options.optimiser))
            scalars_.push_back(add_scalar(scalar));
        if (options.scales_loss) {
            scale_ = add_scalar(Scalar::kLossScale);
            inverse_scale_ = add_scalar(Scalar::kInverseLossScale);
        }
        for (const DropoutMask& mask : network.masks) {
            graph.inputs.push_back(mask.value);
            step_.masks.emplace_back(mask, graph.inputs.size() - 1);
        }
    }

    TrainingStep run() {
        write_loss();
        write_gradients();
        if (options_.segments > 0)
            recompute(step_.graph, forward_nodes_, options_.segments, kept_values());
        write_updates();
        validate(step_.graph);
        return std::move(step_);
    }

  private:
    ValueId add_input(std::string name, Shape shape) {
        Graph& graph = step_.graph;
        const ValueId id =
            graph.add({std::move(name), ValueKind::kInput, ElementType::kFp32, std::move(shape)});
        graph.inputs.push_back(id);
        return id;
    }
    ValueId add_scalar(Scalar scalar) {
        const ValueId id = add_input(std::string(name_of(scalar)), {1});
        step_.scalars.emplace_back(scalar, step_.graph.inputs.size() - 1);
        return id;
    }
    void take(NodeWriter& w) {
        for (Node& node : w.take()) step_.graph.nodes.push_back(std::move(node));
    }
    /// What the step gives besides gradients: recomputed forward values may not replace it.
    std::vector<ValueId> kept_values() const {
        std::vector<ValueId> kept = {output_};
        for (const Variable& statistic : network_.statistics) kept.push_back(statistic.updated);
        return kept;
    }

    void write_loss() {
        NodeWriter w(step_.graph);
        const Shape shape = w.shape(output_);
        const std::int64_t count = element_count(shape);
        if (shape.empty() || count == 0)
            throw InputError(fmt::format("{}: there is nothing to compare in an output {}",
                                         network_.graph.name, to_string(shape)));
        ValueId sum = kNoValue, difference = kNoValue;
        double share = 0;
        if (options_.loss == Loss::kCrossEntropy) {
            const NodeAttributes last = {{"axis", std::int64_t{-1}}};
            const ValueId logs = w.add(kLogSoftmax, "loss.logs", {output_}, last);
            sum = w.add(kMul, "loss.parts", {logs, target_});
            difference = w.add(kSub, "loss.difference",
                               {w.add(kSoftmax, "loss.probabilities", {output_}, last), target_});
            share = static_cast<double>(shape.back()) / static_cast<double>(count);
        } else {
            difference = w.add(kSub, "loss.difference", {output_, target_});
            sum = w.add(kMul, "loss.parts", {difference, difference});
            share = 1 / static_cast<double>(count);
        }
        const bool is_log = options_.loss == Loss::kCrossEntropy;
        sum = w.add(kReduceSum, "loss.sum", {w.reshape("loss.row", sum, {1, count})},
                    {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}});
        const ElementType type = w.type(output_);
        loss_ = w.add(kMul, "loss", {sum, w.scalar("loss.share", type, is_log ? -share : share)});
        gradient_ = w.add(kMul, "loss.gradient",
                          {difference, w.scalar("loss.slope", type, is_log ? share : 2 * share)});
        if (options_.scales_loss) gradient_ = w.add(kMul, "loss.scaled", {gradient_, scale_});
        take(w);
    }

    void write_gradients() {
        std::vector<ValueId> weights;
        for (const Variable& weight : network_.weights) weights.push_back(weight.value);
        const Seed seed{output_, gradient_};
        gradients_ = add_gradients(step_.graph, std::span(&seed, 1), weights);
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (gradients_[i] == kNoValue)
                throw InputError(fmt::format("{}: the output does not depend on {}",
                                             network_.graph.name, network_.weights[i].name));
    }

    /// 0 where all elements are finite, else NaN.
    ValueId write_test(NodeWriter& w) {
        ValueId total = kNoValue;
        for (const ValueId g : gradients_) {
            const std::string name = "finite." + std::to_string(g);
            const ValueId zeros = w.add(kMul, name, {g, w.scalar(name + ".zero", w.type(g), 0)});
            const ValueId sum =
                w.add(kReduceSum, name + ".sum", {zeros}, {{"keepdims", std::int64_t{0}}});
            total = total == kNoValue ? sum : w.add(kAdd, name + ".total", {total, sum});
        }
        return w.reshape("finite.total", total, {1});
    }

    void write_updates() {
        NodeWriter w(step_.graph);
        if (options_.scales_loss)
            for (ValueId& g : gradients_)
                g = w.add(kMul, "unscaled." + std::to_string(g), {g, inverse_scale_});
        ValueId finite = kNoValue;
        if (options_.scales_loss)
            finite = w.add(kEqual, "finite",
                           {write_test(w), w.scalar("finite.zero", ElementType::kFp32, 0)});
        if (const double most = options_.optimiser.clip_norm; most != 0) {
            const ValueId factor = write_clip_factor(w, gradients_, most);
            for (ValueId& g : gradients_)
                g = w.add(kMul, "clipped." + std::to_string(g), {g, factor});
        }
        const std::vector<std::string_view> states = states_of(options_.optimiser);
        struct Made {
            std::string name;
            ValueId in, out;
            Tensor initial;
        };
        std::vector<Made> weights, rest;
        for (std::size_t i = 0; i < gradients_.size(); ++i) {
            const Variable& weight = network_.weights[i];
            std::vector<ValueId> state;
            for (const std::string_view what : states) {
                const std::string name = fmt::format("{}.{}", weight.name, what);
                state.push_back(step_.graph.add(
                    {name, ValueKind::kInput, ElementType::kFp32, w.shape(weight.value)}));
                rest.push_back({name, state.back(), kNoValue,
                                weight.initial.bytes.empty()
                                    ? Tensor()
                                    : Tensor(ElementType::kFp32, weight.initial.shape)});
            }
            const ValueId now = write_update(w, options_.optimiser, weight.name, weight.value,
                                             gradients_[i], state, scalars_);
            weights.push_back({weight.name, weight.value, now, weight.initial});
            for (std::size_t s = 0; s < state.size(); ++s)
                rest[rest.size() - state.size() + s].out = state[s];
        }
        for (const Variable& statistic : network_.statistics)
            weights.push_back(
                {statistic.name, statistic.value, statistic.updated, statistic.initial});
        weights.insert(weights.end(), rest.begin(), rest.end());
        Graph& graph = step_.graph;
        graph.outputs = {loss_};
        if (finite != kNoValue) {
            step_.finite = graph.outputs.size();
            graph.outputs.push_back(
                w.add(kCast, "finite.number", {finite}, {{"to", std::int64_t{1}}}));
        }
        for (Made& made : weights) {
            if (finite != kNoValue)
                made.out = w.add(kWhere, made.name + ".kept", {finite, made.out, made.in});
            graph.inputs.push_back(made.in);
            graph.outputs.push_back(made.out);
            step_.variables.push_back({made.name, graph.inputs.size() - 1, graph.outputs.size() - 1,
                                       std::move(made.initial)});
        }
        take(w);
    }

    const StepOptions& options_;
    const Trainable& network_;
    TrainingStep step_;
    std::size_t forward_nodes_ = 0;
    ValueId output_ = kNoValue, target_ = kNoValue, loss_ = kNoValue, gradient_ = kNoValue;
    ValueId scale_ = kNoValue, inverse_scale_ = kNoValue;
    std::vector<ValueId> scalars_, gradients_;
};

}  // namespace

TrainingStep training_step(const Trainable& network, const StepOptions& options) {
    return StepBuilder(network, options).run();
}

}  // namespace lockstep::network
