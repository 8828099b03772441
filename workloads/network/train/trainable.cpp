// SPDX-License-Identifier: Apache-2.0
// Weights are taken out of the graph before it is folded, for otherwise what is computed of them
// alone would become constant and be trained no more. Batch normalisation as ONNX defines its
// training mode: population variance, running = momentum running + (1 - momentum) of the batch.
#include "workloads/network/train/trainable.h"

#include <algorithm>
#include <map>

#include "sim/error/error.h"
#include "workloads/network/decompose/expand.h"
#include "workloads/network/decompose/node_writer.h"
#include "workloads/network/reference/fold.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network {

namespace {

using enum Operator;
using Integers = std::vector<std::int64_t>;

/// A weight has dimensions; numbers without one are the operators' own (bounds, factors).
bool is_weight(const Value& value) {
    return value.kind == ValueKind::kParameter && is_floating(value.type) && value.shape &&
           !value.shape->empty();
}

std::vector<bool> read_values(const Graph& graph) {
    std::vector<bool> read(graph.values.size(), false);
    for (const Node& node : graph.nodes)
        for (const ValueId id : node.inputs)
            if (id != kNoValue) read[id] = true;
    return read;
}

/// Its statistics are inputs; in training new ones are given.
class Normalisation {
  public:
    Normalisation(NodeWriter& w, const Graph& graph, const Node& node)
        : w_(w), node_(node), x_(graph.shape(node.inputs[0])), type_(w.type(node.inputs[0])) {
        rows_.assign(x_.size(), 1);
        rows_[1] = x_[1];
        axes_ = {0};
        for (std::size_t d = 2; d < x_.size(); ++d) axes_.push_back(static_cast<std::int64_t>(d));
    }

    void by_batch(ValueId& running_mean, ValueId& running_variance) {
        const NodeAttributes along = {{"axes", axes_}, {"keepdims", std::int64_t{1}}};
        const ValueId mean = op(kReduceMean, "mean", {node_.inputs[0]}, along);
        const ValueId centred = op(kSub, "centred", {node_.inputs[0], mean});
        const ValueId variance =
            op(kReduceMean, "variance", {op(kMul, "squares", {centred, centred})}, along);
        finish(centred, variance);
        running_mean = moved("running_mean", node_.inputs[3], mean);
        running_variance = moved("running_variance", node_.inputs[4], variance);
    }
    void by_running() {
        const ValueId centred = op(kSub, "centred", {node_.inputs[0], row("mean", 3)});
        finish(centred, row("variance", 4));
    }

  private:
    ValueId op(Operator op, const char* part, std::vector<ValueId> inputs,
               NodeAttributes attributes = {}, ValueId into = kNoValue) {
        return w_.add(op, node_.name + "." + part, std::move(inputs), std::move(attributes), 1,
                      into);
    }
    ValueId row(const char* part, std::size_t i) {
        return w_.reshape(node_.name + "." + part, node_.inputs[i], rows_);
    }
    ValueId scalar(const char* part, double value) {
        return w_.scalar(node_.name + "." + part, type_, value);
    }
    void finish(ValueId centred, ValueId variance) {
        const double epsilon = double{node_.real("epsilon", 1e-5f)};
        const ValueId deviation =
            op(kSqrt, "deviation", {op(kAdd, "padded", {variance, scalar("epsilon", epsilon)})});
        const ValueId normal = op(kDiv, "normal", {centred, deviation});
        const ValueId scaled = op(kMul, "scaled", {normal, row("scale", 1)});
        op(kAdd, "shifted", {scaled, row("shift", 2)}, {}, node_.outputs[0]);
    }
    ValueId moved(const std::string& part, ValueId running, ValueId batch) {
        const double keeps = double{node_.real("momentum", 0.9f)};
        const std::string name = node_.name + "." + part;
        const ValueId old =
            w_.add(kMul, name + ".kept", {running, w_.scalar(name + ".keeps", type_, keeps)});
        const ValueId row = w_.reshape(name + ".batch", batch, {x_[1]});
        const ValueId now =
            w_.add(kMul, name + ".share", {row, w_.scalar(name + ".moves", type_, 1 - keeps)});
        return w_.add(kAdd, name + ".next", {old, now});
    }

    NodeWriter& w_;
    const Node& node_;
    const Shape x_;
    const ElementType type_;
    Shape rows_;
    Integers axes_;
};

}  // namespace

Trainable make_trainable(const Graph& network, Phase phase) {
    Trainable made;
    Graph& graph = made.graph;
    graph = network;
    std::map<ValueId, std::shared_ptr<const Tensor>> data;
    for (ValueId id = 0; id < graph.values.size(); ++id)
        if (is_weight(graph.values[id])) data[id] = std::exchange(graph.values[id].data, nullptr);
    infer_and_fold(graph);
    for (auto& [id, tensor] : data) graph.values[id].data = tensor;
    if (phase == Phase::kTraining) made.masks = write_dropout(graph);
    expand_lstm(graph);
    expand_local_response(graph);
    remove_unused(graph);
    if (graph.outputs.empty() || !is_floating(graph.value(graph.outputs[0]).type))
        throw InputError(graph.name + " has no floating output to train");
    // A loss takes what goes into a last softmax.
    graph.outputs.resize(1);
    for (const Node& node : graph.nodes) {
        if (node.outputs[0] != graph.outputs[0] || node.op != kSoftmax) continue;
        const auto rank = static_cast<std::int64_t>(graph.shape(graph.outputs[0]).size());
        const std::int64_t axis = node.integer("axis", -1);
        if (axis == -1 || axis + 1 == rank) {
            graph.outputs[0] = node.inputs[0];
            break;
        }
    }
    remove_unused(graph);
    made.network_inputs = graph.inputs.size();

    const auto make_input = [&](std::vector<Variable>& list, ValueId id) {
        for (const Variable& known : list)
            if (known.value == id) return;
        Value& value = graph.values[id];
        Variable variable{value.name, id, kNoValue, {}};
        if (value.is_known()) variable.initial = *value.data;
        value.kind = ValueKind::kInput;
        value.data = nullptr;
        list.push_back(std::move(variable));
    };
    const std::vector<bool> read = read_values(graph);
    const std::vector<Node> before = graph.nodes;
    for (const Node& node : before)
        if (node.op == kBatchNormalization)
            for (const std::size_t i : {3, 4}) make_input(made.statistics, node.inputs[i]);
    for (ValueId id = 0; id < read.size(); ++id)
        if (read[id] && is_weight(graph.values[id])) make_input(made.weights, id);
    if (made.weights.empty()) throw InputError(graph.name + " has no weights to train");
    for (std::vector<Variable>* list : {&made.weights, &made.statistics})
        for (const Variable& variable : *list) graph.inputs.push_back(variable.value);
    // What feeds no output has gone.
    std::erase_if(made.masks, [&](const DropoutMask& mask) { return !read[mask.value]; });
    for (const DropoutMask& mask : made.masks) graph.inputs.push_back(mask.value);

    std::vector<Node> nodes;
    for (const std::size_t n : topological_order(graph)) {
        const Node node = graph.nodes[n];
        if (node.op != kBatchNormalization) {
            nodes.push_back(node);
            continue;
        }
        NodeWriter writer(graph);
        Normalisation normalisation(writer, graph, node);
        if (phase == Phase::kTraining) {
            ValueId mean = kNoValue, variance = kNoValue;
            normalisation.by_batch(mean, variance);
            for (Variable& statistic : made.statistics) {
                if (statistic.value == node.inputs[3]) statistic.updated = mean;
                if (statistic.value == node.inputs[4]) statistic.updated = variance;
            }
        } else {
            normalisation.by_running();
        }
        for (Node& part : writer.take()) nodes.push_back(std::move(part));
    }
    graph.nodes = std::move(nodes);
    validate(graph);
    return made;
}

}  // namespace lockstep::network
