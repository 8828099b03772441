// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/network_values.h"

#include "workloads/network/graph/quantisation.h"

namespace lockstep::run {

using network::Tensor;

namespace {

Tensor converted(const network::Value& value, const network::Shape& shape, const Tensor& given) {
    if (given.shape != shape)
        throw InputError(fmt::format("input {}: its shape is {}, not {}", value.name,
                                     network::to_string(shape), network::to_string(given.shape)));
    if (given.type == value.type) return given;
    if (network::is_floating(given.type)) {
        const std::vector<float> real = network::to_floats(given);
        if (value.quantisation)
            return network::quantise(network::make_tensor(shape, real), *value.quantisation,
                                     value.type);
        if (network::is_floating(value.type)) return network::from_floats(value.type, shape, real);
    }
    throw InputError(fmt::format("input {}: it is of {}, not of {}", value.name,
                                 network::name_of(value.type), network::name_of(given.type)));
}

}  // namespace

void put_inputs(const Job& job, network::compile::Prepared& prepared) {
    if (job.values == nullptr || job.values->inputs.empty()) return;
    const network::Graph& graph = prepared.graph;
    const std::vector<Tensor>& given = job.values->inputs;
    if (given.size() != graph.inputs.size())
        throw InputError(fmt::format("{}: the network has {} inputs, {} are given", job.what,
                                     graph.inputs.size(), given.size()));
    if (job.verify && !prepared.real_outputs.empty())
        throw InputError(fmt::format(
            "{}: --verify of a network in integers compares what seeded inputs give", job.what));
    for (std::size_t i = 0; i < given.size(); ++i)
        prepared.inputs.at(i) =
            converted(graph.value(graph.inputs[i]), graph.shape(graph.inputs[i]), given[i]);
}

void take_outputs(const Job& job, const network::Graph& graph, const std::vector<Tensor>& results) {
    if (job.values == nullptr) return;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const network::Value& value = graph.value(graph.outputs[i]);
        const bool is_real = !value.quantisation || network::is_floating(results[i].type);
        job.values->outputs.push_back(
            is_real ? results[i] : network::dequantise(results[i], *value.quantisation));
        job.values->names.push_back(value.name);
    }
}

}  // namespace lockstep::run
