// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/prepare.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/compile/legalise.h"
#include "workloads/network/decompose/expand.h"
#include "workloads/network/gpu/siblings.h"
#include "workloads/network/graph/fusion.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/bf16.h"
#include "workloads/network/quantise/fp8.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

/// The triangle that stays, as a condition.
bool write_triangle(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != Operator::kTrilu) return false;
    const ValueId diagonal = node.input(1);
    if (diagonal != kNoValue && !graph.value(diagonal).is_known()) return false;
    const Shape& shape = w.shape(node.inputs[0]);
    const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
    // Beyond the matrix all diagonals are alike.
    const std::int64_t k =
        diagonal == kNoValue
            ? 0
            : std::clamp(to_integers(*graph.value(diagonal).data).at(0), -rows - 1, columns + 1);
    const bool upper = node.integer("upper", 1) != 0;
    std::vector<std::int64_t> stays;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column)
            stays.push_back(upper ? column >= row + k : column <= row + k);
    const ElementType type = w.type(node.inputs[0]);
    const ValueId mask =
        w.constant(node.name + ".mask", from_integers(ElementType::kBool, {rows, columns}, stays));
    const ValueId zero =
        w.constant(node.name + ".zero",
                   is_floating(type) ? from_doubles(type, {}, std::array<double, 1>{0})
                                     : from_integers(type, {}, std::array<std::int64_t, 1>{0}));
    w.add(Operator::kWhere, node.name, {mask, node.inputs[0], zero}, {}, 1, node.outputs[0]);
    return true;
}

/// C by itself where it has a factor.
bool write_scaled_gemm(NodeWriter& w, Graph& graph, const Node& node) {
    if (node.op != Operator::kGemm || node.input(2) == kNoValue) return false;
    const float beta = node.real("beta", 1);
    return beta != 0 && beta != 1 && compile::write_gemm(w, graph, node);
}

}  // namespace

Precision precision_named(const std::string& name) {
    std::string names;
    for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kFp16,
                                      Precision::kBf16, Precision::kInt8, Precision::kFp8}) {
        if (name == name_of(precision)) return precision;
        names += (names.empty() ? "" : ", ") + std::string(name_of(precision));
    }
    throw InputError(fmt::format("--precision {}: a GPU computes networks in {}", name, names));
}

void legalise(Graph& graph) {
    static constexpr compile::Rule kRules[] = {
        compile::write_in_two_dimensions,   compile::write_flat_pool, compile::write_vector_product,
        compile::write_normalising_product, write_scaled_gemm,        write_triangle,
        compile::write_max_pool_gradient};
    expand_lstm(graph);
    expand_local_response(graph);
    compile::legalise(graph, kRules);
    infer_and_fold(graph);
    remove_unused(graph);
    fold_bias(graph);
}

namespace {

/// Turing's Tensor Cores have neither bf16 nor tf32.
void check_precision(const Target& target, Precision precision) {
    constexpr int kAmpere = 80;
    constexpr int kAda = 89;
    if (precision == Precision::kFp8 && target.arch < kAda)
        throw InputError(fmt::format(
            "--precision fp8: {} (compute capability {}.{}) has no Tensor Cores for it; Ada (8.9) "
            "and Hopper (9.0) have",
            target.name, target.arch / 10, target.arch % 10));
    const bool needs_ampere = precision == Precision::kBf16 || precision == Precision::kTf32;
    if (needs_ampere && target.arch < kAmpere)
        throw InputError(
            fmt::format("--precision {}: {} (compute capability {}.{}) has no Tensor "
                        "Cores for it; it has fp16, and fp32 on CUDA cores",
                        name_of(precision), target.name, target.arch / 10, target.arch % 10));
}

}  // namespace

compile::Prepared prepare(Graph graph, const Target& target, Precision precision,
                          std::uint64_t seed) {
    check_precision(target, precision);
    if (is_stored_graph(graph))
        throw InputError(
            fmt::format("{}: a model of stored integers with zero points; a GPU "
                        "quantises models of floats itself (--precision int8)",
                        graph.name));
    simplify(graph);
    compile::refuse_empty_values(graph);
    legalise(graph);
    if (precision == Precision::kInt8) {
        QuantiseOptions options;
        options.symmetric_activations = true;  // padding is 0
        options.integer_interface = true;
        return compile::prepare_integers(graph, options, seed, true);
    }
    if (precision == Precision::kFp8) {
        const Ranges ranges = calibrate(graph, {seeded_inputs(graph, seed)});
        graph = round_product_operands_to_e4m3(cast_floats(graph, ElementType::kFp16), ranges);
        infer_shapes(graph);
    }
    if (precision == Precision::kFp16) graph = cast_floats(graph, ElementType::kFp16);
    if (precision == Precision::kBf16) graph = cast_floats(graph, ElementType::kBf16);
    if (precision != Precision::kFp8) join_siblings(graph, target, precision);
    // What does not fit is refused before anyone makes inputs for it.
    gpu::compile(graph, target, {.precision = precision});
    return compile::prepare_floats(std::move(graph), seed, true);
}

namespace {

/// Whether all is computed in integers: functions of floats end in other bits than the reference's.
bool is_exact(const Graph& graph) {
    return std::ranges::all_of(graph.nodes, [&](const Node& node) {
        return is_quantised(graph, node) || node.op == Operator::kQuantizeLinear ||
               node.op == Operator::kDequantizeLinear ||
               info_of(node.op).integers == IntegerForm::kSameValues;
    });
}

/// Root mean square of the difference.
double distance(const std::vector<double>& a, const std::vector<float>& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return a.empty() ? 0 : std::sqrt(squares / static_cast<double>(a.size()));
}

/// A network with parts in FP32, whose values may fall to the other side of a step: it must be as
/// near to the FP32 network as the reference in the same integers is, within a tenth and half a
/// step.
std::vector<compile::Check> verify_in_steps(const compile::Prepared& network,
                                            const std::vector<Tensor>& results) {
    const Graph& graph = network.graph;
    const std::vector<Tensor> wanted = execute(graph, network.inputs);
    std::vector<compile::Check> checks;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Value& value = graph.value(graph.outputs[i]);
        const auto real = [&](const Tensor& stored) {
            return to_doubles(value.quantisation ? dequantise(stored, *value.quantisation)
                                                 : stored);
        };
        const double step = value.quantisation ? double{value.quantisation->scale[0]} : 0;
        const double ours = distance(real(results[i]), network.real_outputs.at(i)),
                     reference = distance(real(wanted[i]), network.real_outputs.at(i));
        checks.push_back(
            {value.name, ours <= 1.1 * reference + step / 2,
             fmt::format("{} elements against FP32: rms error {:.3g} (the reference in "
                         "the same integers: {:.3g}; a step is {:.3g})",
                         results[i].size(), ours, reference, step)});
    }
    return checks;
}

}  // namespace

std::vector<compile::Check> verify(const compile::Prepared& network, Precision precision,
                                   const std::vector<Tensor>& results) {
    switch (precision) {
        case Precision::kTf32:
            // Of as many digits as fp16.
            return compile::verify_rounded(
                network, results, round_product_operands(network.graph, ElementType::kFp16),
                "operands of products to 10 bits");
        case Precision::kFp16:
            return compile::verify_rounded(network, results, network.graph, "each value to fp16");
        case Precision::kBf16:
            return compile::verify_rounded(network, results, network.graph, "each value to bf16");
        case Precision::kFp8:
            return compile::verify_rounded(network, results, network.graph,
                                           "operands of products to e4m3, each value to fp16");
        case Precision::kInt8:
            return is_exact(network.graph)
                       ? compile::verify_equal(network, results, Requantisation::kFixedPoint)
                       : verify_in_steps(network, results);
        default:
            return compile::verify_fp32(network, results);
    }
}

}  // namespace lockstep::network::gpu
