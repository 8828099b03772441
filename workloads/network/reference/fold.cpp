// SPDX-License-Identifier: Apache-2.0
// Constant folding runs nodes on the reference executor, one at a time, as shapes become known:
// PyTorch's exports compute many shapes (Shape, Gather, Concat, Reshape). Batch normalisation
// y = g (x - m) / sqrt(v + e) + b scales each output channel of the convolution before it.
#include "workloads/network/reference/fold.h"

#include <algorithm>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/decompose/decompose.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/recognise.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network {

namespace {

bool is_foldable(const Graph& graph, const Node& node, std::int64_t limit) {
    // The values of a Shape's input do not matter, so that it need not hold any.
    for (const ValueId id : node.inputs)
        if (id != kNoValue && node.op != Operator::kShape && !graph.value(id).is_known())
            return false;
    // A weight's bytes are what is wanted of it.
    if (node.op == Operator::kDequantizeLinear) return false;
    // Their cost is not bounded by the size of their operands and result, and no shape needs them.
    if (has_window(node.op)) return false;
    std::int64_t elements = 0;
    for (const ValueId id : node.outputs)
        if (id != kNoValue) elements += element_count(graph.shape(id));
    return elements <= limit;
}

void set_constant(Value& value, Tensor tensor) {
    value.kind = ValueKind::kConstant;
    value.type = tensor.type;
    value.shape = tensor.shape;
    value.data = std::make_shared<const Tensor>(std::move(tensor));
}

/// The node alone, over constants.
void compute(Graph& graph, const Node& node) {
    if (node.op == Operator::kShape) {
        const Shape& in = graph.shape(node.inputs.at(0));
        const auto rank = static_cast<std::int64_t>(in.size());
        std::int64_t start = node.integer("start", 0);
        start = std::clamp(start < 0 ? start + rank : start, std::int64_t{0}, rank);
        const std::int64_t count = graph.shape(node.outputs.at(0)).at(0);
        Shape part(in.begin() + start, in.begin() + start + count);
        return set_constant(graph.values.at(node.outputs[0]),
                            make_tensor({count}, std::span<const std::int64_t>(part)));
    }
    Graph alone;
    Node copy = node;
    for (ValueId& id : copy.inputs)
        if (id != kNoValue) id = alone.add(graph.value(id));
    for (ValueId& id : copy.outputs)
        if (id != kNoValue) {
            id = alone.add(graph.value(id));
            alone.outputs.push_back(id);
        }
    alone.nodes.push_back(copy);
    std::vector<Tensor> results = execute(alone, {}, Precision::kFp64);
    std::size_t next = 0;
    for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        Tensor& result = results.at(next++);
        const ElementType type = graph.value(id).type;
        if (result.type != type) result = from_doubles(type, result.shape, to_doubles(result));
        set_constant(graph.values[id], std::move(result));
    }
}

void erase_nodes(Graph& graph, const std::vector<bool>& gone) {
    std::size_t n = 0;
    std::erase_if(graph.nodes, [&](const Node&) { return gone[n++]; });
}

/// Weight and bias of the producer with the normalisation in them.
void scale_weights(const Graph& graph, const Node& producer, const Node& norm, Value& weight,
                   Value& bias) {
    const bool by_column = producer.op == Operator::kGemm && producer.integer("transB", 0) == 0;
    const auto values = [&](ValueId id) { return to_doubles(*graph.value(id).data); };
    const std::vector<double> gamma = values(norm.inputs[1]), beta = values(norm.inputs[2]),
                              mean = values(norm.inputs[3]), variance = values(norm.inputs[4]);
    const std::size_t channels = gamma.size();
    std::vector<double> w = values(producer.inputs[1]), shift(channels, 0);
    if (producer.input(2) != kNoValue) shift = values(producer.inputs[2]);
    if (shift.size() == 1) shift.assign(channels, shift[0]);
    const double epsilon = norm.real("epsilon", 1e-5f);
    std::vector<double> scale(channels);
    for (std::size_t c = 0; c < channels; ++c) {
        scale[c] = gamma[c] / std::sqrt(variance[c] + epsilon);
        shift[c] = (shift[c] - mean[c]) * scale[c] + beta[c];
    }
    const std::size_t block = channels == 0 ? 1 : w.size() / channels;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] *= scale[by_column ? i % channels : i / block];
    weight.data = std::make_shared<const Tensor>(from_doubles(weight.type, *weight.shape, w));
    bias.data = std::make_shared<const Tensor>(from_doubles(bias.type, *bias.shape, shift));
}

/// Scales the slices of the producer's weight along its output channels and shifts its bias. Where
/// the network was built for its shapes alone, so are the new weight and bias.
bool fold_into(Graph& graph, Node& producer, const Node& norm) {
    if (producer.real("alpha", 1) != 1 || producer.real("beta", 1) != 1) return false;
    std::vector<ValueId> given(norm.inputs.begin() + 1, norm.inputs.end());
    given.push_back(producer.inputs.at(1));
    if (producer.input(2) != kNoValue) given.push_back(producer.inputs[2]);
    bool known = true;
    for (const ValueId id : given) {
        const ValueKind kind = graph.value(id).kind;
        if (kind != ValueKind::kParameter && kind != ValueKind::kConstant) return false;
        known = known && graph.value(id).is_known();
    }
    const Shape channels = graph.shape(norm.inputs[1]);
    if (producer.input(2) != kNoValue) {
        // A Gemm's third operand may also be a column or a whole matrix.
        const Shape& shape = graph.shape(producer.inputs[2]);
        const std::int64_t count = element_count(shape);
        const bool row = count == 1 || (!shape.empty() && shape.back() == count);
        if (!row || (count != 1 && count != channels[0])) return false;
    }
    const Value& weight = graph.value(producer.inputs[1]);
    Value new_weight{weight.name + ".folded", weight.kind, weight.type, weight.shape};
    Value new_bias{producer.name + ".bias.folded", ValueKind::kParameter, weight.type, channels};
    if (known) scale_weights(graph, producer, norm, new_weight, new_bias);
    producer.inputs.resize(3, kNoValue);
    producer.inputs[1] = graph.add(std::move(new_weight));
    producer.inputs[2] = graph.add(std::move(new_bias));
    producer.outputs = {norm.outputs[0]};
    return true;
}

}  // namespace

void infer_and_fold(Graph& graph, std::int64_t limit) {
    // What stays of each node, or of the nodes that stand for it.
    std::vector<std::vector<Node>> kept(graph.nodes.size());
    for (const std::size_t n : topological_order(graph)) {
        const Node node = graph.nodes[n];
        std::optional<std::vector<Node>> parts = decompose(graph, node);
        if (!parts) parts.emplace(1, node);
        for (const Node& part : *parts) {
            infer_node(graph, part);
            if (is_foldable(graph, part, limit))
                compute(graph, part);
            else
                kept[n].push_back(part);
        }
    }
    graph.nodes.clear();
    for (std::vector<Node>& parts : kept)
        for (Node& part : parts) graph.nodes.push_back(std::move(part));
}

int fold_batch_normalisation(Graph& graph) {
    const Uses uses(graph);
    std::map<ValueId, std::size_t> writer;  // of results of what was folded
    std::vector<bool> gone(graph.nodes.size(), false);
    int folded = 0;
    for (const std::size_t n : topological_order(graph)) {
        const Node norm = graph.nodes[n];
        if (norm.op != Operator::kBatchNormalization || uses.count(norm.inputs[0]) != 1) continue;
        const auto moved = writer.find(norm.inputs[0]);
        const std::size_t before =
            moved != writer.end() ? moved->second : uses.writer(norm.inputs[0]);
        if (before == Uses::kNobody) continue;
        Node& producer = graph.nodes[before];
        if (producer.op != Operator::kConv && producer.op != Operator::kGemm) continue;
        if (!fold_into(graph, producer, norm)) continue;
        writer[norm.outputs[0]] = before;
        gone[n] = true;
        ++folded;
    }
    erase_nodes(graph, gone);
    return folded;
}

void remove_unused(Graph& graph) {
    std::vector<bool> gone(graph.nodes.size(), false);
    std::vector<ValueId> stands_for(graph.values.size());
    for (std::size_t i = 0; i < stands_for.size(); ++i) stands_for[i] = static_cast<ValueId>(i);
    const auto replace = [&](ValueId& id) {
        if (id != kNoValue) id = stands_for[id];
    };
    const Uses uses(graph);
    for (const std::size_t n : topological_order(graph)) {
        Node& node = graph.nodes[n];
        for (ValueId& id : node.inputs) replace(id);
        const bool copies = node.op == Operator::kIdentity || node.op == Operator::kDropout;
        const bool masked =
            node.outputs.size() > 1 && node.outputs[1] != kNoValue && uses.is_read(node.outputs[1]);
        // A network's output keeps its name.
        if (!copies || masked || uses.is_result(node.outputs.at(0))) continue;
        stands_for[node.outputs[0]] = node.inputs[0];
        gone[n] = true;
    }
    erase_nodes(graph, gone);
    const std::vector<std::size_t> order = topological_order(graph);
    gone.assign(graph.nodes.size(), false);
    std::vector<std::size_t> reads = Uses(graph).counts();
    for (std::size_t i = order.size(); i-- > 0;) {
        const Node& node = graph.nodes[order[i]];
        if (std::any_of(node.outputs.begin(), node.outputs.end(),
                        [&](ValueId id) { return id != kNoValue && reads[id] > 0; }))
            continue;
        gone[order[i]] = true;
        for (const ValueId id : node.inputs)
            if (id != kNoValue) --reads[id];
    }
    erase_nodes(graph, gone);
}

void simplify(Graph& graph) {
    infer_and_fold(graph);
    fold_batch_normalisation(graph);
    remove_unused(graph);
    recognise_gelu(graph);
    recognise_layer_normalisation(graph);
    recognise_softmax(graph);
}

}  // namespace lockstep::network
