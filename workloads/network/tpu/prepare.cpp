// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/prepare.h"

#include "sim/error/error.h"
#include "workloads/network/expand.h"
#include "workloads/network/fusion.h"
#include "workloads/network/inputs.h"
#include "workloads/network/quantise/bf16.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/quantise/quantise.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"
#include "workloads/network/shape_inference.h"
#include "workloads/network/tpu/legalise.h"

#include <algorithm>
#include <cmath>

namespace lockstep::network {

namespace {

Tensor to_input(const Graph& graph, ValueId id, const Tensor& real) {
    const Value& value = graph.value(id);
    if (value.quantisation && real.type != value.type)
        return quantise(real, *value.quantisation, value.type);
    if (value.type != real.type && value.type == ElementType::kBf16)
        return from_floats(value.type, real.shape, to_floats(real));
    return real;
}

TpuCheck check_integers(const std::string& name, const Tensor& wanted, const Tensor& got) {
    const std::vector<int64_t> a = to_integers(wanted), b = to_integers(got);
    int64_t wrong = 0;
    std::string first;
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && wrong++ == 0)
            first = fmt::format("element {} is {}, the reference says {}", i, b[i], a[i]);
    if (wrong == 0) return {name, true, fmt::format("{} elements, equal", a.size())};
    return {name, false, fmt::format("{}; {} of {} differ", first, wrong, a.size())};
}

/// The same operations in the same order: floats of generation 1 come from its host.
TpuCheck check_host_floats(const std::string& name, const Tensor& wanted, const Tensor& got) {
    const std::vector<float> a = to_floats(wanted), b = to_floats(got);
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i])))
            return {name, false,
                    fmt::format("element {} is {}, the reference says {}", i, b[i], a[i])};
    return {name, true, fmt::format("{} elements, equal", a.size())};
}

/// Products of two values that are computed: generation 1 has no way for them to its weights, so
/// they run on its host, where FP32 is as good as int8.
std::set<std::string> products_of_values(const Graph& graph) {
    const auto is_given = [&](ValueId id) {
        return graph.value(id).kind == ValueKind::kParameter ||
               graph.value(id).kind == ValueKind::kConstant;
    };
    std::set<std::string> names;
    for (const Node& node : graph.nodes)
        if (info_of(node.op).role == LayerRole::kProduct && !is_given(node.inputs.at(1)))
            names.insert(node.name);
    return names;
}

struct ErrorSize {
    double rms = 0, most = 0, scale = 0;
    size_t where = 0;
};

ErrorSize error_of(const std::vector<double>& exact, const std::vector<double>& other) {
    ErrorSize e;
    double squares = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
        // Infinities and NaNs of both are no difference.
        const bool same = exact[i] == other[i] || (std::isnan(exact[i]) && std::isnan(other[i]));
        const double d = same ? 0 : std::abs(other[i] - exact[i]);
        squares += d * d;
        // A NaN is the largest error.
        if (std::isnan(d) ? !std::isnan(e.most) : d > e.most) {
            e.most = d;
            e.where = i;
        }
        if (std::isfinite(exact[i])) e.scale = std::max(e.scale, std::abs(exact[i]));
    }
    e.rms = exact.empty() ? 0 : std::sqrt(squares / static_cast<double>(exact.size()));
    return e;
}

/// What quantisation costs, in words; empty where the FP32 result is not known.
std::string quantisation_error(const TpuNetwork& network, size_t output, const Tensor& got) {
    const Value& value = network.graph.value(network.graph.outputs[output]);
    if (output >= network.real_outputs.size() ||
        network.real_outputs[output].size() != static_cast<size_t>(element_count(got.shape)))
        return "";
    const std::vector<float>& real = network.real_outputs[output];
    const Tensor floats = value.quantisation ? dequantise(got, *value.quantisation) : got;
    const ErrorSize e = error_of({real.begin(), real.end()}, to_doubles(floats));
    return fmt::format("; against FP32: rms error {:.3g}, largest {:.3g}, of values up to {:.3g}",
                       e.rms, e.most, e.scale);
}

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

}  // namespace

TpuNetwork prepare_for_tpu(Graph graph, int generation, std::optional<ElementType> dtype,
                           uint64_t seed, bool with_values) {
    const ElementType type =
        dtype.value_or(generation == 1 ? ElementType::kInt8 : ElementType::kFp32);
    const bool has_type = generation == 1
                              ? type == ElementType::kInt8 || type == ElementType::kInt16
                              : type == ElementType::kFp32 || type == ElementType::kBf16;
    if (!has_type)
        throw InputError(fmt::format("a TPU of generation {} computes networks in {}, not in {}",
                                     generation, generation == 1 ? "int8 or int16" : "fp32 or bf16",
                                     name_of(type)));
    simplify(graph);
    refuse_empty_values(graph);
    TpuNetwork network;
    network.generation = generation;
    std::vector<Tensor> real;
    if (is_quantised_model(graph)) {
        if (generation != 1)
            throw InputError(
                "a quantised model; TPUs from generation 2 on compute in fp32 or bf16");
        QuantiseOptions options;
        options.integer_interface = true;
        if (with_values) real = seeded_inputs(graph, seed);
        network.graph = integers_from_onnx(graph, options);
    } else {
        expand_lstm(graph);
        legalise_for_tpu(graph, generation);
        infer_and_fold(graph);
        remove_unused(graph);
        fold_bias(graph);
        if (with_values) real = seeded_inputs(graph, seed);
        if (generation == 1) {
            QuantiseOptions options;
            options.integer_interface = true;
            options.activations = type;
            options.keep_floating = products_of_values(graph);
            Ranges ranges;
            if (with_values) {
                network.real_outputs.resize(graph.outputs.size());
                ranges =
                    calibrate(graph, {real}, 1, [&](ValueId id, std::span<const float> values) {
                        for (size_t i = 0; i < graph.outputs.size(); ++i)
                            if (graph.outputs[i] == id)
                                network.real_outputs[i].assign(values.begin(), values.end());
                    });
                share_concat_ranges(graph, ranges);
            }
            network.graph = quantise(graph, ranges, options);
        } else {
            network.graph = type == ElementType::kBf16 ? cast_to_bf16(graph) : std::move(graph);
        }
    }
    for (size_t i = 0; i < real.size(); ++i)
        network.inputs.push_back(to_input(network.graph, network.graph.inputs[i], real[i]));
    return network;
}

std::vector<TpuCheck> verify_tpu(const TpuNetwork& network, const std::vector<Tensor>& results,
                                 bool fixed_point) {
    const Graph& graph = network.graph;
    std::vector<TpuCheck> checks;
    const bool equal = network.generation == 1;
    const std::vector<Tensor> rounded =
        execute(equal ? graph : round_product_operands(graph), network.inputs, Precision::kFp32, {},
                fixed_point ? Requantisation::kFixedPoint : Requantisation::kVectorUnit);
    std::vector<Tensor> exact;
    if (!equal) exact = execute(graph, network.inputs, Precision::kFp64);
    for (size_t i = 0; i < results.size(); ++i) {
        const ValueId id = graph.outputs[i];
        const std::string& name = graph.value(id).name;
        if (equal || !is_floating(graph.value(id).type)) {
            checks.push_back(is_floating(graph.value(id).type)
                                 ? check_host_floats(name, rounded[i], results[i])
                                 : check_integers(name, rounded[i], results[i]));
            checks.back().message += quantisation_error(network, i, results[i]);
            continue;
        }
        const std::vector<double> yardstick = to_doubles(exact[i]), got = to_doubles(results[i]);
        const ErrorSize ours = error_of(yardstick, got),
                        reference = error_of(yardstick, to_doubles(rounded[i]));
        const bool is_bf16 = graph.value(id).type == ElementType::kBf16;
        // Of fp32: of the sums of some hundred terms, which the two add in different orders.
        const double step = ours.scale * (is_bf16 ? 0x1p-8 : 0x1p-18);
        const bool passed =
            ours.rms <= 2 * reference.rms + step / 16 && ours.most <= 4 * reference.most + step;
        checks.push_back(
            {name, passed,
             fmt::format("{} elements against FP64: rms error {:.3g}, largest {:.3g} (rounding "
                         "{} to bf16: {:.3g}, {:.3g}); largest value {:.3g}{}",
                         got.size(), ours.rms, ours.most,
                         is_bf16 ? "each value" : "operands of products", reference.rms,
                         reference.most, ours.scale,
                         passed ? ""
                                : fmt::format("; element {} is {}, not {}", ours.where,
                                              got[ours.where], yardstick[ours.where]))});
    }
    return checks;
}

}  // namespace lockstep::network
