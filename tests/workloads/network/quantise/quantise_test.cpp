// SPDX-License-Identifier: Apache-2.0
// Quantised and bf16 networks against their own FP64 results: the signal-to-noise ratio that steps
// of that size leave.
#include "workloads/network/quantise/quantise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/error/error.h"
#include "tests/paths.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/decompose/expand.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/quantise/bf16.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::ThrowsMessage;

const auto kData = std::filesystem::path(source_path()) / "tests/workloads/network/data";

Graph network(std::string_view text) {
    const BuiltinRequest request = parse_builtin(text);
    Graph graph = build_network(request.name, request.options);
    simplify(graph);
    return graph;
}

Graph onnx(const char* name) {
    Graph graph = read_onnx(kData / name);
    simplify(graph);
    return graph;
}

/// Two convolutions with a residual, pooled.
Graph residual() {
    Builder b("residual", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 8, 12, 12});
    ValueId y = b.node(Operator::kRelu, "relu1", {b.convolution("conv1", x, 16, 3, {.pad = 1})});
    const ValueId z = b.convolution("conv2", y, 16, 3, {.pad = 1, .bias = true});
    y = b.node(Operator::kRelu, "relu2", {b.node(Operator::kAdd, "add", {z, y})});
    y = b.max_pool("pool", y, 2, 2, 0);
    y = b.node(Operator::kConcat, "concat", {y, b.convolution("conv3", y, 4, 1, {})},
               {{"axis", std::int64_t{1}}});
    y = b.node(Operator::kGlobalAveragePool, "average", {y});
    return b.finish({b.linear("fc", b.reshape("flat", y, {2, 20}), 10)});
}

double decibels(const std::vector<Tensor>& exact, const std::vector<Tensor>& other) {
    double signal = 0, noise = 0;
    for (std::size_t n = 0; n < exact.size(); ++n) {
        const std::vector<double> x = to_doubles(exact[n]), y = to_doubles(other.at(n));
        for (std::size_t i = 0; i < x.size(); ++i) {
            signal += x[i] * x[i];
            noise += (x[i] - y.at(i)) * (x[i] - y[i]);
        }
    }
    return 10 * std::log10(signal / noise);
}

Ranges ranges_of(const Graph& graph) {
    // The third, which the tests run, is among them: nothing is cut off.
    return calibrate(graph, {seeded_inputs(graph, 1), seeded_inputs(graph, 3)});
}

/// Quantised by two samples, run on one of them.
double quality(const Graph& graph, const QuantiseOptions& options = {},
               Requantisation how = Requantisation::kFixedPoint) {
    const std::vector<Tensor> x = seeded_inputs(graph, 3);
    const Graph quantised = quantise(graph, ranges_of(graph), options);
    return decibels(execute(graph, x, Precision::kFp64),
                    execute(quantised, x, Precision::kFp32, {}, how));
}

std::map<Operator, int> count(const Graph& graph) {
    std::map<Operator, int> counts;
    for (const Node& node : graph.nodes) ++counts[node.op];
    return counts;
}

TEST(Quantise, StaysNearTheNetwork) {
    EXPECT_GT(quality(network("mlp:hidden=64,batch=4")), 35);
    EXPECT_GT(quality(onnx("cnn_17.onnx")), 30);
    EXPECT_GT(quality(residual()), 30);
    EXPECT_GT(quality(network("bert_block:hidden=64,heads=4,seq=16")), 30);
    EXPECT_GT(quality(network("attention:heads=2,seq=16,d=16")), 30);
    EXPECT_GT(quality(network("gemm:m=16,n=16,k=64")), 35);
}

TEST(Quantise, AnUnrolledLstmRunsInIntegers) {
    Graph graph = network("lstm:seq=4,hidden=24,input=16,batch=2");
    expand_lstm(graph);
    EXPECT_GT(quality(graph), 20);
    const Graph quantised = quantise(graph, ranges_of(graph));
    // The steps share a weight.
    std::set<ValueId> weights;
    for (const Node& node : quantised.nodes)
        if (node.op == Operator::kGemm) weights.insert(node.inputs[1]);
    EXPECT_EQ(weights.size(), 4u);
    const Graph integer = quantise(graph, ranges_of(graph), {.integer_interface = true});
    EXPECT_EQ(integer.value(integer.inputs[0]).type, ElementType::kInt8);
    // Only the inputs and outputs are converted.
    EXPECT_EQ(count(quantised)[Operator::kQuantizeLinear], 1);
    EXPECT_EQ(count(quantised)[Operator::kDequantizeLinear], 1);
}

TEST(Quantise, PartsOfAConcatenationMayShareAScale) {
    Graph graph = network("lstm:seq=3,layers=1,hidden=8,input=8");
    expand_lstm(graph);
    Ranges ranges = ranges_of(graph);
    const auto different_scales = [&] {
        const Graph integers = quantise(graph, ranges, {});
        std::size_t parts = 0, different = 0;
        for (const Node& node : integers.nodes) {
            if (node.op != Operator::kConcat) continue;
            for (const ValueId id : node.inputs) {
                ++parts;
                different += integers.value(id).quantisation->scale !=
                             integers.value(node.outputs[0]).quantisation->scale;
            }
        }
        EXPECT_EQ(parts, 3u);
        return different;
    };
    EXPECT_GT(different_scales(), 0u);
    share_concat_ranges(graph, ranges);
    EXPECT_EQ(different_scales(), 0u);
}

TEST(Quantise, FewerBitsAreStoredInTheirRange) {
    const Graph graph = residual();
    double before = quality(graph);
    for (const int bits : {4, 2}) {
        const QuantiseOptions options{.bits = {bits, bits}};
        const Graph quantised = quantise(graph, ranges_of(graph), options);
        int narrow = 0;
        for (const Node& node : quantised.nodes) {
            if (info_of(node.op).role != LayerRole::kProduct) continue;
            const Value& weight = quantised.value(node.inputs[1]);
            EXPECT_EQ(bits_of(weight), bits);
            for (const std::int64_t w : to_integers(*weight.data))
                EXPECT_LE(std::abs(w), (1 << (bits - 1)) - 1);
            narrow += bits_of(quantised.value(node.inputs[0])) == bits;
        }
        EXPECT_GT(narrow, 0);
        std::vector<ValueId> stored;
        for (ValueId id = 0; id < quantised.values.size(); ++id)
            if (quantised.value(id).kind == ValueKind::kComputed &&
                quantised.value(id).quantisation)
                stored.push_back(id);
        const std::vector<Tensor> values =
            execute(quantised, seeded_inputs(graph, 3), Precision::kFp32, stored);
        for (std::size_t i = 0; i < stored.size(); ++i) {
            const int width = bits_of(quantised.value(stored[i]));
            for (const std::int64_t x : to_integers(values[i])) {
                EXPECT_GE(x, -(1 << (width - 1)));
                EXPECT_LT(x, 1 << (width - 1));
            }
        }
        const double now = quality(graph, options);
        EXPECT_LT(now, before);
        before = now;
    }
}

TEST(Quantise, BitsAreALayersOwn) {
    const Graph graph = residual();
    std::string first;
    for (const Node& node : graph.nodes)
        if (first.empty() && info_of(node.op).role == LayerRole::kProduct) first = node.name;
    QuantiseOptions options;
    options.bits_of_layer[first] = {2, 8};
    const Graph quantised = quantise(graph, ranges_of(graph), options);
    for (const Node& node : quantised.nodes)
        if (info_of(node.op).role == LayerRole::kProduct) {
            EXPECT_EQ(bits_of(quantised.value(node.inputs[1])), node.name == first ? 2 : 8);
        }
    EXPECT_GT(quality(graph, options), quality(graph, {.bits = {2, 8}}));
}

/// All weights of a slice but one are small: 2 bits serve these, not the one.
TEST(Quantise, FewBitsCutOffRareWeights) {
    std::vector<float> values(100, 1.0f);
    for (std::size_t i = 0; i < values.size(); i += 2) values[i] = -1;
    values[7] = 3;
    Value weight{"w", ValueKind::kParameter, ElementType::kFp32, Shape{1, 100}};
    weight.data =
        std::make_shared<const Tensor>(make_tensor({1, 100}, std::span<const float>(values)));
    EXPECT_NEAR(weight_quantisation(weight, 0, 2).scale.at(0), 1, 0.1);
    EXPECT_NEAR(weight_quantisation(weight, 0, 8).scale.at(0), 3 / 127.0, 1e-6);
}

TEST(Quantise, RoundingsStayNear) {
    const Graph graph = residual();
    for (const Requantisation how :
         {Requantisation::kTfLite, Requantisation::kTfLiteAway, Requantisation::kTfLiteEven})
        EXPECT_GT(quality(graph, {}, how), 38);
}

TEST(Quantise, SoftmaxInIntegersWhereAskedFor) {
    const Graph graph = network("softmax:rows=8,cols=12");
    const auto integers = [&](bool rows) {
        return count(quantise(graph, ranges_of(graph), {.integer_interface = true, .rows = rows}));
    };
    EXPECT_EQ(integers(true)[Operator::kQuantizeLinear], 0);
    EXPECT_EQ(integers(true)[Operator::kDequantizeLinear], 0);
    EXPECT_EQ(integers(false), count(graph));
    Builder b("classifier", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {4, 32});
    const Graph classifier = b.finish({b.node(Operator::kSoftmax, "p", {b.linear("fc", x, 8)})});
    const double error = quality(classifier, {.rows = true}, Requantisation::kTfLite);
    EXPECT_GT(error, 25);
    EXPECT_LT(error, 60);  // in steps of 1/256
}

TEST(Quantise, OptionsTradeQuality) {
    const Graph graph = residual();
    const double best = quality(graph);
    EXPECT_GT(quality(graph, {.per_channel = false}), 35);
    EXPECT_GT(quality(graph, {.symmetric_activations = true}), 35);
    // The two roundings differ by one step at ties.
    EXPECT_NEAR(quality(graph, {}, Requantisation::kOnnx), best, 1);
    EXPECT_GT(quality(graph, {.keep_floating = {"fc"}}), best - 1);
}

TEST(Quantise, RunsAllOfAConvolutionalNetworkInIntegers) {
    const Graph graph = residual();
    const Graph quantised = quantise(graph, ranges_of(graph));
    EXPECT_EQ(quantised.nodes.size(), graph.nodes.size() + 2);
    std::map<Operator, int> counts = count(quantised);
    EXPECT_EQ(counts[Operator::kQuantizeLinear], 1);
    EXPECT_EQ(counts[Operator::kDequantizeLinear], 1);
    for (const Node& node : quantised.nodes) {
        if (node.op == Operator::kQuantizeLinear || node.op == Operator::kDequantizeLinear)
            continue;
        EXPECT_TRUE(is_quantised(quantised, node)) << node.name;
        if (node.op != Operator::kConv) continue;
        const Value& weight = quantised.value(node.inputs[1]);
        EXPECT_EQ(weight.type, ElementType::kInt8);
        EXPECT_EQ(weight.quantisation->axis, 0);
        EXPECT_EQ(weight.quantisation->scale.size(), static_cast<std::size_t>(weight.shape->at(0)));
        for (const std::int8_t w : weight.data->as<std::int8_t>()) EXPECT_GE(w, -127);
        if (node.input(2) == kNoValue) continue;
        EXPECT_EQ(quantised.value(node.inputs[2]).type, ElementType::kInt32);
    }
    // A Relu takes the scale of its product, so that it changes no stored value.
    const Node& conv = quantised.nodes.at(1);
    const Node& relu = quantised.nodes.at(2);
    EXPECT_EQ(relu.name, "relu1");
    EXPECT_EQ(quantised.value(conv.outputs[0]).quantisation->scale,
              quantised.value(relu.outputs[0]).quantisation->scale);
    EXPECT_THAT(quantised.value(relu.outputs[0]).quantisation->zero_point, ElementsAre(-128));
    std::vector<std::int32_t> identity;
    for (std::int32_t q = -128; q < 128; ++q) identity.push_back(q);
    EXPECT_EQ(activation_table(quantised, relu), identity);
}

TEST(Quantise, TheInterfaceMayBeIntegers) {
    const Graph graph = residual();
    const Ranges ranges = ranges_of(graph);
    const Graph floating = quantise(graph, ranges);
    const Graph integer = quantise(graph, ranges, {.integer_interface = true});
    EXPECT_EQ(integer.nodes.size(), graph.nodes.size());
    const Value &in = integer.value(integer.inputs.at(0)),
                &out = integer.value(integer.outputs.at(0));
    EXPECT_EQ(in.type, ElementType::kInt8);
    EXPECT_EQ(out.type, ElementType::kInt8);
    const std::vector<Tensor> x = seeded_inputs(graph, 3);
    const Tensor y = execute(integer, {quantise(x[0], *in.quantisation, ElementType::kInt8)}).at(0);
    EXPECT_EQ(dequantise(y, *out.quantisation), execute(floating, x).at(0));
}

TEST(Quantise, KeepsTheRestInFp32) {
    const Graph graph = network("bert_block:hidden=64,heads=4,seq=16");
    const Graph quantised = quantise(graph, ranges_of(graph));
    for (const Node& node : quantised.nodes) {
        if (node.op == Operator::kMatMul) {
            EXPECT_TRUE(is_quantised(quantised, node)) << node.name;
        }
        if (node.op == Operator::kSoftmax || node.op == Operator::kLayerNormalization) {
            EXPECT_EQ(quantised.value(node.inputs[0]).type, ElementType::kFp32) << node.name;
        }
    }
    EXPECT_EQ(count(quantised)[Operator::kMatMul], 8);
    // No bias is left as a node: the additions are the two residuals.
    EXPECT_EQ(count(quantised)[Operator::kAdd], 2);
}

/// The lines of numbers of a file.
std::vector<std::vector<double>> lines(const char* name) {
    std::ifstream file(kData / name);
    std::vector<std::vector<double>> all;
    for (std::string line; std::getline(file, line);) {
        std::istringstream numbers(line);
        all.emplace_back(std::istream_iterator<double>(numbers), std::istream_iterator<double>());
    }
    return all;
}

TEST(FromOnnx, ComputesWhatPytorchDoes) {
    const Graph model = onnx("quantised_13.onnx");
    const std::vector<std::vector<double>> given = lines("quantised_13.txt");
    const std::vector<Tensor> x = {from_doubles(ElementType::kFp32, {2, 3, 8, 8}, given.at(0))};
    EXPECT_THAT(to_doubles(execute(model, x).at(0)), Pointwise(DoubleNear(1e-6), given.at(1)));

    ASSERT_TRUE(is_quantised_model(model));
    const Graph integers = integers_from_onnx(model);
    EXPECT_EQ(count(integers)[Operator::kQuantizeLinear], 1);
    EXPECT_EQ(count(integers)[Operator::kDequantizeLinear], 1);
    EXPECT_EQ(integers.nodes.size(), 11u) << dump(integers);
    EXPECT_THAT(to_doubles(execute(integers, x, Precision::kFp32, {}, Requantisation::kOnnx).at(0)),
                Pointwise(DoubleNear(1e-6), given.at(1)));
    // One step is 0.01.
    EXPECT_THAT(to_doubles(execute(integers, x).at(0)),
                Pointwise(DoubleNear(0.01 + 1e-6), given.at(1)));
    EXPECT_FALSE(is_quantised_model(onnx("cnn_17.onnx")));
}

/// x -> QuantizeLinear -> QLinearConv -> MaxPool -> QLinearMatMul -> DequantizeLinear, in uint8 and
/// int8.
Graph qlinear() {
    Builder b("qlinear", 1);
    int number = 0;
    const auto name = [&] { return "c" + std::to_string(++number); };
    const auto real = [&](std::vector<float> values) {
        Shape shape;
        if (values.size() > 1) shape = {static_cast<std::int64_t>(values.size())};
        return b.constant(name(), make_tensor(shape, std::span<const float>(values)));
    };
    const auto stored = [&](ElementType type, Shape shape) {
        std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(shape)));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] =
                static_cast<std::int64_t>(i * 101 % 251) - (type == ElementType::kInt8 ? 125 : 0);
        return b.constant(name(), from_integers(type, shape, values));
    };
    const auto zero = [&](ElementType type, std::vector<std::int64_t> values) {
        Shape shape;
        if (values.size() > 1) shape = {static_cast<std::int64_t>(values.size())};
        return b.constant(name(), from_integers(type, shape, values));
    };
    const auto u8 = ElementType::kUint8, i8 = ElementType::kInt8;
    ValueId x = b.input("x", ElementType::kFp32, {1, 2, 6, 6});
    x = b.node(Operator::kQuantizeLinear, "q", {x, real({0.02f}), zero(u8, {120})});
    const ValueId bias = b.constant(
        "bias",
        from_integers(ElementType::kInt32, {3}, std::vector<std::int64_t>{1000, -3000, 77777}));
    x = b.node(
        Operator::kQLinearConv, "conv",
        {x, real({0.02f}), zero(u8, {120}), stored(i8, {3, 2, 3, 3}), real({0.01f, 0.02f, 0.03f}),
         zero(i8, {0, 0, 0}), real({0.15f}), zero(u8, {100}), bias},
        {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
    x = b.max_pool("pool", x, 2, 2, 0);
    x = b.reshape("flat", x, {3, 9});
    x = b.node(Operator::kQLinearMatMul, "matmul",
               {x, real({0.15f}), zero(u8, {100}), stored(u8, {9, 4}), real({0.01f}),
                zero(u8, {130}), real({0.4f}), zero(i8, {-10})});
    return b.finish(
        {b.node(Operator::kDequantizeLinear, "dq", {x, real({0.4f}), zero(i8, {-10})})});
}

TEST(FromOnnx, TakesQLinearOperators) {
    const Graph model = qlinear();
    const std::vector<Tensor> x = seeded_inputs(model, 1);
    const std::vector<double> expected = to_doubles(execute(model, x).at(0));
    const Graph integers = integers_from_onnx(model);
    EXPECT_EQ(integers.nodes.size(), model.nodes.size());
    for (const Value& value : integers.values)
        EXPECT_NE(value.type, ElementType::kUint8) << value.name;
    EXPECT_EQ(to_doubles(execute(integers, x, Precision::kFp32, {}, Requantisation::kOnnx).at(0)),
              expected);
    EXPECT_THAT(to_doubles(execute(integers, x).at(0)), Pointwise(DoubleNear(0.4001), expected));
    std::set<double> distinct(expected.begin(), expected.end());
    EXPECT_GT(distinct.size(), 8u);  // not all saturated
}

TEST(FromOnnx, ListsWhatItCannotTake) {
    Builder b("dynamic", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 2});
    const ValueId q = b.node(Operator::kDynamicQuantizeLinear, "dynamic", {x}, {}, 3);
    const ValueId y = b.node(Operator::kMatMulInteger, "product", {q, q, q + 2, q + 2});
    const Graph graph = b.finish({y});
    EXPECT_THAT([&] { integers_from_onnx(graph); },
                ThrowsMessage<InputError>(
                    AllOf(HasSubstr("node dynamic (DynamicQuantizeLinear): quantises at run time"),
                          HasSubstr("node product (MatMulInteger)"))));
}

TEST(Quantise, NeedsNoValues) {
    for (const BuiltinNetwork& builtin : builtin_networks()) {
        SCOPED_TRACE(builtin.name);
        Graph graph = build_network(builtin.name, {.with_values = false});
        simplify(graph);
        for (const bool integer : {false, true}) {
            const Graph quantised = quantise(graph, {}, {.integer_interface = integer});
            for (std::size_t i = 0; i < graph.outputs.size(); ++i)
                EXPECT_EQ(quantised.shape(quantised.outputs[i]), graph.shape(graph.outputs[i]));
        }
        EXPECT_EQ(cast_to_bf16(graph).nodes.size(), graph.nodes.size());
    }
}

TEST(Quantise, WidensAWeightForALargeBias) {
    Builder b("bias", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 4});
    const ValueId w = b.weight("w", {4, 2}, 1e-6f);
    const std::vector<float> values = {1000, -2000};
    const ValueId bias = b.constant("b", make_tensor({2}, std::span<const float>(values)));
    const Graph graph = b.finish({b.node(Operator::kGemm, "fc", {x, w, bias})});
    EXPECT_GT(quality(graph), 35);
}

TEST(Calibrate, CutsRareExtremesOff) {
    Builder b("copy", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {1001});
    const Graph graph = b.finish({b.node(Operator::kNeg, "neg", {x})});
    Tensor values(ElementType::kFp32, {1001});
    for (std::size_t i = 0; i < 1001; ++i) values.as<float>()[i] = static_cast<float>(i) - 500;
    const Ranges all = calibrate(graph, {{values}});
    EXPECT_EQ(all.at(graph.outputs[0]).low, -500);
    EXPECT_EQ(all.at(graph.outputs[0]).high, 500);
    const Ranges most = calibrate(graph, {{values}}, 0.98);
    EXPECT_NEAR(most.at(graph.outputs[0]).low, -490, 1);
    EXPECT_NEAR(most.at(x).high, 490, 1);
    EXPECT_THROW(calibrate(graph, {{values}}, 0), InputError);
    EXPECT_EQ(calibrate(graph, {}).at(x).high, 0);
}

TEST(Bf16, RoundsWhatANodeGives) {
    Builder b("sum", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 3});
    const std::vector<float> ones = {1, 1, 1};
    const ValueId w = b.constant("w", make_tensor({3, 1}, std::span<const float>(ones)));
    const Graph graph = cast_to_bf16(b.finish({b.node(Operator::kGemm, "sum", {x, w})}));
    // 256 + 1.5 + 0.625: one by one in bf16 (8 bits) it would be 258 + 0.625 = 258; the fp32 sum
    // 258.125 rounds to 258. 1 + 2^-9 rounds to 1 before it is used.
    const std::vector<float> values = {256, 1.5f, 0.625f}, small = {1, 1 + 0x1p-9f, 1 + 0x1p-7f};
    EXPECT_THAT(to_floats(execute(graph, {make_tensor({1, 3}, std::span<const float>(values))})[0]),
                ElementsAre(258));
    EXPECT_THAT(to_floats(execute(graph, {make_tensor({1, 3}, std::span<const float>(small))})[0]),
                ElementsAre(3 + 0x1p-6f - 0x1p-6f));
    const std::vector<float> sum = {256, 1, 1};
    EXPECT_THAT(to_floats(execute(graph, {make_tensor({1, 3}, std::span<const float>(sum))})[0]),
                ElementsAre(258));  // each 1 alone would be lost
}

TEST(Bf16, StaysNearTheNetwork) {
    for (const char* name : {"mlp:hidden=64", "bert_block:hidden=64,heads=4,seq=16",
                             "lstm:seq=4,hidden=16,input=16", "layernorm:rows=4,cols=64"}) {
        const Graph graph = network(name);
        const std::vector<Tensor> x = seeded_inputs(graph, 3);
        const std::vector<Tensor> exact = execute(graph, x, Precision::kFp64);
        const std::vector<Tensor> rounded = execute(cast_to_bf16(graph), x);
        EXPECT_GT(decibels(exact, rounded), 40) << name;
        for (const Tensor& y : rounded)
            EXPECT_EQ(to_floats(y),
                      to_floats(from_floats(ElementType::kBf16, y.shape, to_floats(y))));
    }
}

TEST(Inputs, FitTheNetwork) {
    const Graph graph = build_network("bert_base", {.with_values = false});
    const std::vector<Tensor> inputs = seeded_inputs(graph, 1);
    ASSERT_EQ(inputs.size(), 2u);
    std::int64_t largest[2] = {0, 0};
    for (std::size_t i = 0; i < 2; ++i)
        for (const std::int64_t id : to_integers(inputs[i])) largest[i] = std::max(largest[i], id);
    EXPECT_GT(largest[0], 1000);
    EXPECT_LT(largest[0], 30522);
    EXPECT_EQ(largest[1], 1);
    EXPECT_EQ(seeded_inputs(graph, 1), inputs);
    EXPECT_NE(seeded_inputs(graph, 2), inputs);
    const Graph images = build_network("resnet18", {.with_values = false});
    double sum = 0, squares = 0;
    for (const float x : to_floats(seeded_inputs(images, 1).at(0))) {
        sum += x;
        squares += double{x} * x;
    }
    EXPECT_NEAR(sum / 150528, 0, 0.01);
    EXPECT_NEAR(squares / 150528, 1, 0.01);
}

}  // namespace
}  // namespace lockstep::network
