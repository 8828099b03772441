// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/prepare.h"

#include "sim/error/error.h"
#include "workloads/network/builtin/digits.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/compile/legalise.h"
#include "workloads/network/decompose/expand.h"
#include "workloads/network/graph/fusion.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/npu/spread.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {

namespace {

constexpr int kCalibrationImages = 64;

/// Convolutions with computed weights stay in floats: they are the host's.
std::set<std::string> convolutions_of_values(const Graph& graph) {
    std::set<std::string> names;
    for (const Node& node : graph.nodes)
        if (node.op == Operator::kConv && !is_given(graph.value(node.inputs.at(1))))
            names.insert(node.name);
    return names;
}

/// Packed matrices must begin at bytes: where they would not, operands have 8 bits.
void widen_products_of_values(const Graph& graph, QuantiseOptions& options) {
    for (const Node& node : graph.nodes) {
        if (info_of(node.op).role != LayerRole::kProduct || node.op == Operator::kConv ||
            is_given(graph.value(node.inputs.at(1))) || graph.shape(node.inputs[0]).size() < 2)
            continue;
        LayerBits bits = options.bits_of(node.name);
        constexpr std::int64_t kValues = 4;  // of 2 bits, in a byte
        const bool fits = graph.shape(node.outputs[0]).back() % kValues == 0 &&
                          graph.shape(node.inputs[0]).back() % kValues == 0;
        if (fits || bits.activations == 8) continue;
        bits.activations = 8;
        options.bits_of_layer[node.name] = bits;
    }
}

}  // namespace

Graph legalise_for_npu(Graph graph) {
    using namespace compile;
    static constexpr Rule kRules[] = {
        write_in_two_dimensions,      write_flat_pool, write_copy,     write_chain,
        write_vector_product,         write_gemm,      write_quotient, write_image_mean,
        write_normalising_convolution};
    if (is_stored_graph(graph)) return graph;
    simplify(graph);
    refuse_empty_values(graph);
    if (is_quantised_model(graph)) return graph;
    expand_lstm(graph);
    join_spread_convolutions(graph);
    compile::legalise(graph, kRules);
    infer_and_fold(graph);
    remove_unused(graph);
    fold_bias(graph);
    return graph;
}

QuantiseOptions npu_options(const NpuPrecision& precision) {
    QuantiseOptions options;
    options.integer_interface = true;
    options.rows = options.constants = true;
    options.bits = precision.bits;
    options.bits_of_layer = precision.bits_of_layer;
    options.per_channel = precision.per_channel;
    return options;
}

compile::Prepared prepare_for_npu(const Graph& legal, const NpuPrecision& precision,
                                  std::uint64_t seed, bool with_values) {
    if (is_stored_graph(legal)) {
        if (precision.bits != LayerBits{} || !precision.bits_of_layer.empty())
            throw InputError("--precision: the network is quantised already");
        return compile::prepare_floats(legal, seed, with_values);
    }
    QuantiseOptions options = npu_options(precision);
    options.keep_floating = convolutions_of_values(legal);
    widen_products_of_values(legal, options);
    if (!with_values || !is_digits_network(legal))
        return compile::prepare_integers(legal, options, seed, with_values);
    // Not on the images that it is tested with.
    const auto batch = static_cast<int>(legal.shape(legal.inputs.at(0)).at(0));
    std::vector<std::vector<Tensor>> samples;
    for (const LabelledImages& part : digits_to_calibrate(kCalibrationImages, batch))
        samples.push_back({part.images});
    return compile::prepare_integers(legal, options, samples, seeded_inputs(legal, seed));
}

}  // namespace lockstep::network
