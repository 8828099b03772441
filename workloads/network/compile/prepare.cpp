// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/prepare.h"

#include "sim/error/error.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network::compile {

namespace {

Tensor to_input(const Graph& graph, ValueId id, const Tensor& real) {
    const Value& value = graph.value(id);
    if (value.quantisation && real.type != value.type)
        return quantise(real, *value.quantisation, value.type);
    const bool is_short = value.type == ElementType::kBf16 || value.type == ElementType::kFp16;
    if (value.type != real.type && is_short && is_floating(real.type))
        return from_floats(value.type, real.shape, to_floats(real));
    return real;
}

std::vector<Tensor> to_inputs(const Graph& graph, const std::vector<Tensor>& real) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < real.size(); ++i)
        inputs.push_back(to_input(graph, graph.inputs[i], real[i]));
    return inputs;
}

}  // namespace

/// There is nothing to compute with a value that has no elements.
void refuse_empty_values(const Graph& graph) {
    std::string wrong;
    const auto check = [&](const std::string& what, ValueId id) {
        if (id != kNoValue && element_count(graph.shape(id)) == 0)
            wrong += fmt::format("\n  {}: {} is {}", what, graph.value(id).name,
                                 to_string(graph.shape(id)));
    };
    for (const ValueId id : graph.inputs) check("input", id);
    for (const Node& node : graph.nodes)
        for (const ValueId id : node.outputs) check("node " + node.name, id);
    if (!wrong.empty()) throw InputError(graph.name + " has values without elements:" + wrong);
}

Prepared prepare_integers(const Graph& graph, const QuantiseOptions& options,
                          const std::vector<std::vector<Tensor>>& samples,
                          const std::vector<Tensor>& inputs) {
    Prepared prepared;
    if (is_quantised_model(graph)) {
        prepared.graph = integers_from_onnx(graph, options);
    } else {
        Ranges ranges;
        if (!inputs.empty()) {
            ranges = calibrate(graph, samples);
            share_concat_ranges(graph, ranges);
            for (const Tensor& output : execute(graph, inputs))
                prepared.real_outputs.push_back(to_floats(output));
        }
        prepared.graph = quantise(graph, ranges, options);
    }
    prepared.inputs = to_inputs(prepared.graph, inputs);
    return prepared;
}

Prepared prepare_integers(const Graph& graph, const QuantiseOptions& options, std::uint64_t seed,
                          bool with_values) {
    Prepared prepared;
    std::vector<Tensor> real;
    if (with_values) real = seeded_inputs(graph, seed);
    if (is_quantised_model(graph)) return prepare_integers(graph, options, {}, real);
    Ranges ranges;
    if (with_values) {
        prepared.real_outputs.resize(graph.outputs.size());
        ranges = calibrate(graph, {real}, 1, [&](ValueId id, std::span<const float> values) {
            for (std::size_t i = 0; i < graph.outputs.size(); ++i)
                if (graph.outputs[i] == id)
                    prepared.real_outputs[i].assign(values.begin(), values.end());
        });
        share_concat_ranges(graph, ranges);
    }
    prepared.graph = quantise(graph, ranges, options);
    prepared.inputs = to_inputs(prepared.graph, real);
    return prepared;
}

Prepared prepare_floats(Graph graph, std::uint64_t seed, bool with_values) {
    Prepared prepared;
    prepared.graph = std::move(graph);
    if (with_values)
        prepared.inputs = to_inputs(prepared.graph, seeded_inputs(prepared.graph, seed));
    return prepared;
}

}  // namespace lockstep::network::compile
