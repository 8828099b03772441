// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/prepare.h"

#include "sim/error/error.h"
#include "workloads/network/decompose/expand.h"
#include "workloads/network/graph/fusion.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/quantise/bf16.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/reference/fold.h"
#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/legalise.h"

namespace lockstep::network {

namespace {

/// Products of two values that are computed: generation 1 has no way for them to its weights, so
/// they run on its host, where FP32 is as good as int8.
std::set<std::string> products_of_values(const Graph& graph) {
    std::set<std::string> names;
    for (const Node& node : graph.nodes)
        if (info_of(node.op).role == LayerRole::kProduct &&
            !is_given(graph.value(node.inputs.at(1))))
            names.insert(node.name);
    return names;
}

void refuse_type(int generation, ElementType type) {
    const bool has_type = generation == 1
                              ? type == ElementType::kInt8 || type == ElementType::kInt16
                              : type == ElementType::kFp32 || type == ElementType::kBf16;
    if (!has_type)
        throw InputError(fmt::format("a TPU of generation {} computes networks in {}, not in {}",
                                     generation, generation == 1 ? "int8 or int16" : "fp32 or bf16",
                                     name_of(type)));
}

}  // namespace

TpuNetwork prepare_for_tpu(Graph graph, int generation, std::optional<ElementType> dtype,
                           std::uint64_t seed, bool with_values) {
    const ElementType type =
        dtype.value_or(generation == 1 ? ElementType::kInt8 : ElementType::kFp32);
    refuse_type(generation, type);
    if (is_stored_graph(graph)) {
        if (generation != 1)
            throw InputError(
                "a quantised model; TPUs from generation 2 on compute in fp32 or bf16");
        return {compile::prepare_floats(std::move(graph), seed, with_values), generation};
    }
    simplify(graph);
    compile::refuse_empty_values(graph);
    QuantiseOptions options;
    options.integer_interface = true;
    if (is_quantised_model(graph)) {
        if (generation != 1)
            throw InputError(
                "a quantised model; TPUs from generation 2 on compute in fp32 or bf16");
        return {compile::prepare_integers(graph, options, seed, with_values), generation};
    }
    expand_lstm(graph);
    expand_local_response(graph);
    legalise_for_tpu(graph, generation);
    infer_and_fold(graph);
    remove_unused(graph);
    fold_bias(graph);
    if (generation == 1) {
        options.activations = type;
        options.keep_floating = products_of_values(graph);
        return {compile::prepare_integers(graph, options, seed, with_values), generation};
    }
    graph = type == ElementType::kBf16 ? cast_to_bf16(graph) : narrow_product_operands(graph);
    return {compile::prepare_floats(std::move(graph), seed, with_values), generation};
}

std::vector<TpuCheck> verify_tpu(const TpuNetwork& network, const std::vector<Tensor>& results,
                                 bool fixed_point) {
    return network.generation == 1
               ? compile::verify_equal(network, results, requantisation_of(fixed_point))
               : compile::verify_near(network, results);
}

}  // namespace lockstep::network
