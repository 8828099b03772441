// SPDX-License-Identifier: Apache-2.0
// Quantised operators against the examples of the ONNX operator reference, against plain integer
// loops and against hand-computed integers.
#include "workloads/network/reference/quantised.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/integer.h"

namespace lockstep::network {
namespace {

using Integers = std::vector<std::int64_t>;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

Tensor bytes(ElementType type, Shape shape, const Integers& values) {
    return from_integers(type, std::move(shape), values);
}
Tensor u8(Shape shape, const Integers& values) {
    return bytes(ElementType::kUint8, std::move(shape), values);
}
Tensor real(float value) {
    return make_tensor({}, std::span<const float>(&value, 1));
}

/// One operator over inputs; the first output.
Tensor run(Operator op, const std::vector<Tensor>& inputs, Attributes attributes = {},
           std::size_t output = 0) {
    Builder b("test", 1);
    std::vector<ValueId> ids;
    for (const Tensor& t : inputs) ids.push_back(b.input("x", t.type, t.shape));
    const std::size_t outputs = info_of(op).minimum_outputs;
    const ValueId y = b.node(op, "node", ids, std::move(attributes), outputs);
    const Graph graph = b.finish({y + static_cast<ValueId>(output)});
    return execute(graph, inputs).at(0);
}

/// Sums beyond what fp32 holds: extreme bytes, more of them than are added in one piece.
TEST(IntegerConvolution, IsExactForManyExtremeBytes) {
    const std::int64_t channels = 83, size = 5, filters = 3;
    Integers x, w;
    for (std::int64_t i = 0; i < 2 * channels * size * size; ++i)
        x.push_back(i % 7 == 0 ? i % 256 : 255);
    for (std::int64_t i = 0; i < filters * channels * 9; ++i)
        w.push_back(i % 5 == 0 ? -127 + i % 9 : -128);
    const Integers zero_w = {0, 127, -3}, bias = {1000000, -7, 0};
    const Node node{"node",
                    Operator::kConv,
                    {},
                    {},
                    {{"pads", Integers{1, 1, 1, 1}}, {"strides", Integers{2, 2}}}};
    const Shape shape_x{2, channels, size, size}, shape_w{filters, channels, 3, 3};
    const std::vector<std::int32_t> sums =
        reference::convolve_integers(node, {shape_x, x, {3}}, {shape_w, w, zero_w}, bias);
    std::size_t at = 0;
    for (std::int64_t n = 0; n < 2; ++n)
        for (std::int64_t f = 0; f < filters; ++f)
            for (std::int64_t oy = 0; oy < 3; ++oy)
                for (std::int64_t ox = 0; ox < 3; ++ox) {
                    std::int64_t sum = bias[static_cast<std::size_t>(f)];
                    for (std::int64_t c = 0; c < channels; ++c)
                        for (std::int64_t r = 0; r < 3; ++r)
                            for (std::int64_t s = 0; s < 3; ++s) {
                                const std::int64_t y = 2 * oy + r - 1, column = 2 * ox + s - 1;
                                if (y < 0 || y >= size || column < 0 || column >= size) continue;
                                const auto i = static_cast<std::size_t>(
                                    ((n * channels + c) * size + y) * size + column);
                                const auto k =
                                    static_cast<std::size_t>(((f * channels + c) * 3 + r) * 3 + s);
                                sum += (x[i] - 3) * (w[k] - zero_w[static_cast<std::size_t>(f)]);
                            }
                    ASSERT_EQ(sums[at++], sum);
                }
    EXPECT_EQ(at, sums.size());
}

TEST(IntegerProduct, IsExactForManyExtremeBytes) {
    const std::int64_t m = 3, k = 1000, n = 5;
    Integers x, w, transposed(static_cast<std::size_t>(k * n));
    for (std::int64_t i = 0; i < m * k; ++i) x.push_back(i % 11 == 0 ? i % 128 : -128);
    for (std::int64_t i = 0; i < k * n; ++i) {
        w.push_back(i % 3 == 0 ? -127 + i % 100 : -128);
        transposed[static_cast<std::size_t>(i % n * k + i / n)] = w.back();
    }
    const Integers zero_w = {0, 127, -3, 5, 0}, bias = {1000000, -7, 0, 1, 2};
    const Node node{"node", Operator::kMatMul, {}, {}, {}};
    const Shape shape_x{1, m, k}, shape_w{k, n}, shape_t{n, k};
    const auto sums =
        reference::multiply_integers(node, {shape_x, x, {127}}, {shape_w, w, zero_w}, false, bias);
    EXPECT_EQ(sums, reference::multiply_integers(node, {shape_x, x, {127}},
                                                 {shape_t, transposed, zero_w}, true, bias));
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t c = 0; c < 5; ++c) {
            std::int64_t sum = bias[c];
            for (std::size_t i = 0; i < 1000; ++i)
                sum += (x[row * 1000 + i] - 127) * (w[i * 5 + c] - zero_w[c]);
            EXPECT_EQ(sums[row * 5 + c], sum);
        }
}

// The examples of onnx.ai/onnx/operators.
TEST(OnnxQuantised, QLinearConv) {
    const Tensor x =
        u8({1, 1, 7, 7},
           {255, 174, 162, 25,  203, 168, 58,  15,  59,  237, 95,  129, 0,  64,  56, 242, 153,
            221, 168, 12,  166, 232, 178, 186, 195, 237, 162, 237, 188, 39, 124, 77, 80,  102,
            43,  127, 230, 21,  83,  41,  40,  134, 255, 154, 92,  141, 42, 148, 247});
    const Tensor y =
        run(Operator::kQLinearConv, {x, real(0.00369204697f), u8({}, {132}), u8({1, 1, 1, 1}, {0}),
                                     make_tensor({1}, std::vector<float>{0.00172794575f}),
                                     u8({1}, {255}), real(0.00162681262f), u8({}, {123})});
    EXPECT_THAT(to_integers(y),
                ElementsAreArray({0,   81,  93,  230, 52,  87,  197, 240, 196, 18,  160, 126, 255,
                                  191, 199, 13,  102, 34,  87,  243, 89,  23,  77,  69,  60,  18,
                                  93,  18,  67,  216, 131, 178, 175, 153, 212, 128, 25,  234, 172,
                                  214, 215, 121, 0,   101, 163, 114, 213, 107, 8}));
}

TEST(OnnxQuantised, QLinearMatMul) {
    const Tensor a = u8({2, 4}, {208, 236, 0, 238, 3, 214, 255, 29});
    const Tensor b = u8({4, 3}, {152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247});
    const Tensor y =
        run(Operator::kQLinearMatMul, {a, real(0.0066f), u8({}, {113}), b, real(0.00705f),
                                       u8({}, {114}), real(0.0107f), u8({}, {118})});
    EXPECT_THAT(to_integers(y), ElementsAre(168, 115, 255, 1, 66, 151));
}

TEST(OnnxQuantised, IntegerProducts) {
    const Tensor a = u8({4, 3}, {11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0});
    const Tensor b = u8({3, 2}, {1, 4, 2, 5, 3, 6});
    EXPECT_THAT(to_integers(run(Operator::kMatMulInteger, {a, b, u8({}, {12}), u8({}, {0})})),
                ElementsAre(-38, -83, -44, -98, -50, -113, -56, -128));
    const Tensor x = u8({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10}),
                 w = u8({1, 1, 2, 2}, {1, 1, 1, 1});
    EXPECT_THAT(to_integers(run(Operator::kConvInteger, {x, w, u8({}, {1})})),
                ElementsAre(12, 16, 24, 28));
    // Padding is the zero point.
    EXPECT_THAT(to_integers(run(Operator::kConvInteger, {x, w, u8({}, {1})},
                                {{"pads", Integers{1, 1, 1, 1}}})),
                ElementsAre(1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9));
}

TEST(OnnxQuantised, Linear) {
    const std::vector<float> values = {0, 2, 3, 1000, -254, -1000};
    const Tensor x = make_tensor({6}, std::span<const float>(values));
    EXPECT_THAT(to_integers(run(Operator::kQuantizeLinear, {x, real(2), u8({}, {128})})),
                ElementsAre(128, 129, 130, 255, 1, 0));
    EXPECT_THAT(to_doubles(run(Operator::kDequantizeLinear,
                               {u8({4}, {0, 3, 128, 255}), real(2), u8({}, {128})})),
                ElementsAre(-256, -250, 0, 254));
    // Along an axis.
    const std::vector<float> pair = {1, 4, 1, 4}, scales = {1, 2};
    const Tensor two = make_tensor({2, 2}, std::span<const float>(pair)),
                 scale = make_tensor({2}, std::span<const float>(scales));
    EXPECT_THAT(to_integers(run(Operator::kQuantizeLinear, {two, scale, u8({2}, {0, 10})})),
                ElementsAre(1, 12, 1, 12));
    EXPECT_THAT(to_integers(run(Operator::kQuantizeLinear, {two, scale, u8({2}, {0, 10})},
                                {{"axis", std::int64_t{0}}})),
                ElementsAre(1, 4, 10, 12));
}

TEST(OnnxQuantised, DynamicQuantizeLinear) {
    const std::vector<float> values = {0, 2, -3, -2.5f, 1.34f, 0.5f};
    const Tensor x = make_tensor({6}, std::span<const float>(values));
    EXPECT_THAT(to_integers(run(Operator::kDynamicQuantizeLinear, {x})),
                ElementsAre(153, 255, 0, 26, 221, 179));
    EXPECT_FLOAT_EQ(to_floats(run(Operator::kDynamicQuantizeLinear, {x}, {}, 1)).at(0),
                    0.0196078438f);
    EXPECT_THAT(to_integers(run(Operator::kDynamicQuantizeLinear, {x}, {}, 2)), ElementsAre(153));
}

TEST(OnnxQuantised, MaxPoolTakesBytes) {
    const Attributes window = {{"kernel_shape", Integers{2, 2}}, {"pads", Integers{1, 1, 0, 0}}};
    EXPECT_THAT(to_integers(run(Operator::kMaxPool, {u8({1, 1, 2, 2}, {3, 9, 0, 200})}, window)),
                ElementsAre(3, 9, 3, 200));
    EXPECT_THAT(
        to_integers(run(Operator::kMaxPool,
                        {bytes(ElementType::kInt8, {1, 1, 2, 2}, {-3, -9, -128, 2})}, window)),
        ElementsAre(-3, -3, -3, 2));
}

TEST(OnnxQuantised, RejectsWhatDoesNotFit) {
    const Tensor a = u8({2, 2}, {1, 2, 3, 4});
    const Tensor wide = from_integers(ElementType::kInt32, {2, 2}, Integers{1, 2, 3, 4});
    EXPECT_THROW(run(Operator::kMatMulInteger, {a, wide}), InputError);
    EXPECT_THROW(run(Operator::kMatMulInteger, {a, a, u8({2}, {1, 2})}), InputError);
    EXPECT_THROW(run(Operator::kQuantizeLinear, {a, real(1)}), InputError);
    const Tensor signed_zero = bytes(ElementType::kInt8, {}, {0});
    EXPECT_THROW(run(Operator::kMatMulInteger, {a, a, signed_zero}), InputError);
}

/// A graph of one quantised node; inputs are (stored tensor, scale).
struct Operand {
    Tensor tensor;
    Quantisation quantisation;
};

Tensor run_quantised(Node node, const std::vector<Operand>& operands, const Quantisation& to,
                     Shape shape, Requantisation how = Requantisation::kFixedPoint) {
    Graph graph;
    std::vector<Tensor> inputs;
    for (const Operand& operand : operands) {
        Value value{"x", ValueKind::kInput, operand.tensor.type, operand.tensor.shape};
        value.quantisation = operand.quantisation;
        node.inputs.push_back(graph.add(std::move(value)));
        graph.inputs.push_back(node.inputs.back());
        inputs.push_back(operand.tensor);
    }
    Value out{"y", ValueKind::kComputed, ElementType::kInt8, std::move(shape)};
    out.quantisation = to;
    node.outputs = {graph.add(std::move(out))};
    graph.outputs = node.outputs;
    graph.nodes = {node};
    validate(graph);
    return execute(graph, inputs, Precision::kFp32, {}, how).at(0);
}

Quantisation scaled(float scale, std::int32_t zero = 0) {
    return {{scale}, {zero}, std::nullopt};
}

Tensor pattern(Shape shape, std::int64_t seed) {
    Tensor tensor(ElementType::kInt8, std::move(shape));
    for (std::int8_t& value : tensor.as<std::int8_t>()) {
        seed = (seed * 1103515245 + 12345) % (std::int64_t{1} << 31);
        value = static_cast<std::int8_t>(seed >> 16);
    }
    return tensor;
}

Tensor all_bytes() {
    Integers values;
    for (std::int64_t q = -128; q < 128; ++q) values.push_back(q);
    return from_integers(ElementType::kInt8, {256}, values);
}

/// Tables as TensorFlow Lite makes them are within two steps of the function.
TEST(TfLite, TablesAreNearTheirFunctions) {
    const Quantisation from = scaled(0.05f, 11), to = scaled(1.0f / 256, -128),
                       other = scaled(0.04f, -20);
    const auto run_table = [&](Operator op, const Quantisation& result) {
        const Node node{"f", op, {}, {}, {}};
        return to_integers(
            run_quantised(node, {{all_bytes(), from}}, result, {256}, Requantisation::kTfLite));
    };
    const auto check = [&](Operator op, const Quantisation& result, double steps, auto&& f) {
        const Integers y = run_table(op, result);
        for (std::int64_t q = -128; q < 128; ++q) {
            const double x = 0.05 * static_cast<double>(q - 11);
            const double wanted =
                std::clamp(f(x) / double{result.scale[0]} + result.zero_point[0], -128.0, 127.0);
            EXPECT_NEAR(static_cast<double>(y[static_cast<std::size_t>(q + 128)]), wanted, steps)
                << name_of(op) << " " << x;
        }
    };
    check(Operator::kSigmoid, to, 1, [](double x) { return 1 / (1 + std::exp(-x)); });
    check(Operator::kHardSwish, other, 1.1,
          [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; });
    check(Operator::kTanh, scaled(1.0f / 128), 0.51, [](double x) { return std::tanh(x); });
    check(Operator::kRelu, other, 0.51, [](double x) { return std::max(0.0, x); });
    check(Operator::kLeakyRelu, other, 0.51, [](double x) { return x < 0 ? 0.01 * x : x; });
}

TEST(TfLite, AverageOfTheSameScaleDividesStoredValues) {
    // (-3 - 4) / 2 = -3.5: away from zero.
    const Node node{"p", Operator::kAveragePool, {}, {}, {{"kernel_shape", Integers{1, 2}}}};
    const Tensor x = from_integers(ElementType::kInt8, {1, 1, 1, 4}, Integers{-3, -4, 3, 4});
    EXPECT_THAT(to_integers(run_quantised(node, {{x, scaled(0.5f, 9)}}, scaled(0.5f, 9),
                                          {1, 1, 1, 3}, Requantisation::kTfLite)),
                ElementsAre(-4, -1, 4));
}

TEST(TfLite, AddsByThreeMultipliers) {
    const Node node{"a", Operator::kAdd, {}, {}, {}};
    const Tensor a = from_integers(ElementType::kInt8, {3}, Integers{10, 1, -128}),
                 b = from_integers(ElementType::kInt8, {3}, Integers{20, 2, -128});
    EXPECT_THAT(to_integers(run_quantised(node, {{a, scaled(0.1f)}, {b, scaled(0.1f)}},
                                          scaled(0.2f, 3), {3}, Requantisation::kTfLite)),
                ElementsAre(18, 5, -125));
}

TEST(Quantised, ConvolvesAsPlainIntegerLoops) {
    const std::int64_t n = 2, c = 4, h = 6, w = 5, k = 6, r = 3, zx = -7;
    for (const std::int64_t group : {1, 2}) {
        const std::int64_t depth = c / group;
        const Tensor x = pattern({n, c, h, w}, 1), filter = pattern({k, depth, r, r}, 2);
        Quantisation per_channel{{}, std::vector<std::int32_t>(k, 0), 0};
        Quantisation sums{{}, std::vector<std::int32_t>(k, 0), 0};
        Integers bias;
        for (std::int64_t i = 0; i < k; ++i) {
            per_channel.scale.push_back(0.001f * static_cast<float>(i + 1));
            sums.scale.push_back(0.02f * per_channel.scale.back());
            bias.push_back(i * 1000 - 2500);
        }
        const Tensor b = from_integers(ElementType::kInt32, {k}, bias);
        const Node node{
            "conv",
            Operator::kConv,
            {},
            {},
            {{"group", group}, {"pads", Integers{1, 1, 1, 1}}, {"strides", Integers{2, 1}}}};
        const Tensor y =
            run_quantised(node, {{x, scaled(0.02f, zx)}, {filter, per_channel}, {b, sums}},
                          scaled(0.11f, 5), {n, k, 3, 5});
        std::size_t at = 0;
        for (std::int64_t in = 0; in < n; ++in)
            for (std::int64_t ik = 0; ik < k; ++ik)
                for (std::int64_t p = 0; p < 3; ++p)
                    for (std::int64_t q = 0; q < 5; ++q) {
                        std::int64_t sum = bias[static_cast<std::size_t>(ik)];
                        for (std::int64_t ic = 0; ic < depth; ++ic)
                            for (std::int64_t ir = 0; ir < r; ++ir)
                                for (std::int64_t is = 0; is < r; ++is) {
                                    const std::int64_t row = p * 2 + ir - 1, column = q + is - 1;
                                    if (row < 0 || row >= h || column < 0 || column >= w) continue;
                                    const std::int64_t channel = ik / (k / group) * depth + ic;
                                    const auto i = ((in * c + channel) * h + row) * w + column;
                                    const auto j = ((ik * depth + ic) * r + ir) * r + is;
                                    sum += (x.as<std::int8_t>()[static_cast<std::size_t>(i)] - zx) *
                                           filter.as<std::int8_t>()[static_cast<std::size_t>(j)];
                                }
                        // sum * scale as an exact fraction: the multiplier has 31 bits.
                        const double scale = double{0.02f} *
                                             per_channel.scale[static_cast<std::size_t>(ik)] /
                                             double{0.11f};
                        const int exponent = static_cast<int>(std::floor(std::log2(scale))) + 1;
                        const auto m = std::llround(std::ldexp(scale, 31 - exponent));
                        const long double exact =
                            std::ldexp(static_cast<long double>(sum) * m, exponent - 31);
                        const auto steps = static_cast<std::int64_t>(std::floor(exact + 0.5L)) + 5;
                        ASSERT_EQ(y.as<std::int8_t>()[at++],
                                  std::clamp<std::int64_t>(steps, -128, 127));
                    }
    }
}

TEST(Quantised, Products) {
    const Tensor a = bytes(ElementType::kInt8, {1, 2}, {10, -20}),
                 b = bytes(ElementType::kInt8, {2, 2}, {1, 2, 3, 4});
    // (10 - 2) 1 + (-20 - 2) 3 = -58; 8 * 2 - 22 * 4 = -72; times 1/4 is -14.5, -18.
    const Node node{"m", Operator::kMatMul, {}, {}, {}};
    EXPECT_THAT(to_integers(run_quantised(node, {{a, scaled(0.5f, 2)}, {b, scaled(0.5f)}},
                                          scaled(1), {1, 2})),
                ElementsAre(-14, -18));
    EXPECT_THAT(to_integers(run_quantised(node, {{a, scaled(0.5f, 2)}, {b, scaled(0.5f)}},
                                          scaled(1, 100), {1, 2}, Requantisation::kOnnx)),
                ElementsAre(86, 82));
    const Tensor bias = from_integers(ElementType::kInt32, {2}, Integers{58, -1000});
    const Node gemm{"g", Operator::kGemm, {}, {}, {{"transB", std::int64_t{1}}}};
    // 8 * 1 - 22 * 2 + 58 = 22, 8 * 3 - 22 * 4 - 1000 = -1064; scales 1/4 and 1/8.
    EXPECT_THAT(
        to_integers(run_quantised(
            gemm, {{a, scaled(0.5f, 2)}, {b, {{0.5f, 0.25f}, {0, 0}, 0}}, {bias, scaled(0.25f)}},
            scaled(1), {1, 2})),
        ElementsAre(6, -128));
}

TEST(Quantised, SumsRoundOnce) {
    const Tensor a = bytes(ElementType::kInt8, {4}, {1, 3, 127, -128}),
                 b = bytes(ElementType::kInt8, {4}, {1, 1, 127, -128});
    const std::vector<Operand> operands = {{a, scaled(1)}, {b, scaled(0.5f, 1)}};
    // a / 2 + (b - 1) / 4: 0.5, 1.5, 95, -96.25
    const Node node{"add", Operator::kAdd, {}, {}, {}};
    EXPECT_THAT(to_integers(run_quantised(node, operands, scaled(2), {4})),
                ElementsAre(1, 2, 95, -96));
    EXPECT_THAT(to_integers(run_quantised(node, operands, scaled(2), {4}, Requantisation::kOnnx)),
                ElementsAre(0, 2, 95, -96));
    const Node difference{"sub", Operator::kSub, {}, {}, {}};
    EXPECT_THAT(to_integers(run_quantised(difference, operands, scaled(2), {4})),
                ElementsAre(1, 2, 32, -32));
    const Node product{"mul", Operator::kMul, {}, {}, {}};
    // a (b - 1) / 32: 0, 0, 500.06, 516
    EXPECT_THAT(to_integers(run_quantised(product, operands, scaled(16), {4})),
                ElementsAre(0, 0, 127, 127));
}

TEST(Quantised, Averages) {
    const Tensor x = bytes(ElementType::kInt8, {1, 1, 2, 2}, {1, 2, 3, 5});
    const Node global{"g", Operator::kGlobalAveragePool, {}, {}, {}};
    EXPECT_THAT(
        to_integers(run_quantised(global, {{x, scaled(1, -1)}}, scaled(1, -1), {1, 1, 1, 1})),
        ElementsAre(3));  // 2.75
    EXPECT_THAT(to_integers(run_quantised(global, {{x, scaled(1)}}, scaled(0.25f), {1, 1, 1, 1})),
                ElementsAre(11));
    const Node window{"w",
                      Operator::kAveragePool,
                      {},
                      {},
                      {{"kernel_shape", Integers{2, 2}}, {"pads", Integers{1, 1, 0, 0}}}};
    // 1; 1.5 up; 2; 2.75
    EXPECT_THAT(to_integers(run_quantised(window, {{x, scaled(1)}}, scaled(1), {1, 1, 2, 2})),
                ElementsAre(1, 2, 2, 3));
}

TEST(Quantised, MovesStoredValues) {
    const Tensor x = bytes(ElementType::kInt8, {2, 2}, {-128, 2, 3, 127});
    const Quantisation q = scaled(0.5f, -128);
    EXPECT_THAT(
        to_integers(run_quantised({"t", Operator::kTranspose, {}, {}, {}}, {{x, q}}, q, {2, 2})),
        ElementsAre(-128, 3, 2, 127));
    EXPECT_THROW(
        run_quantised({"t", Operator::kTranspose, {}, {}, {}}, {{x, q}}, scaled(1), {2, 2}),
        InputError);
    // The second operand's steps are twice as large; 2 * (127 - 10) saturates.
    const Node concat{"c", Operator::kConcat, {}, {}, {{"axis", std::int64_t{0}}}};
    EXPECT_THAT(to_integers(run_quantised(concat, {{x, q}, {x, scaled(1, 10)}}, q, {4, 2})),
                ElementsAre(-128, 2, 3, 127, -128, -128, -128, 106));
    const Tensor image = bytes(ElementType::kInt8, {1, 1, 2, 2}, {-5, -6, -7, -8});
    const Node pool{"p",
                    Operator::kMaxPool,
                    {},
                    {},
                    {{"kernel_shape", Integers{2, 2}}, {"pads", Integers{1, 1, 0, 0}}}};
    EXPECT_THAT(to_integers(run_quantised(pool, {{image, q}}, q, {1, 1, 2, 2})),
                ElementsAre(-5, -5, -5, -5));
}

TEST(Quantised, LooksActivationsUp) {
    const Tensor x = bytes(ElementType::kInt8, {4}, {-128, -1, 0, 127});
    const Node relu{"r", Operator::kRelu, {}, {}, {}};
    EXPECT_THAT(to_integers(run_quantised(relu, {{x, scaled(0.1f)}}, scaled(0.1f), {4})),
                ElementsAre(0, 0, 0, 127));
    // With the scale of the clipped range the zero point is the clip.
    EXPECT_THAT(
        to_integers(run_quantised(relu, {{x, scaled(0.1f, -128)}}, scaled(0.1f, -128), {4})),
        ElementsAre(-128, -1, 0, 127));
    const Node sigmoid{"s", Operator::kSigmoid, {}, {}, {}};
    const Quantisation unit = scaled(1.0f / 256, -128);
    const Tensor y = run_quantised(sigmoid, {{x, scaled(0.05f)}}, unit, {4});
    for (std::size_t i = 0; i < 4; ++i) {
        const double exact = 256 / (1 + std::exp(-double{0.05f} * x.as<std::int8_t>()[i])) - 128;
        EXPECT_EQ(y.as<std::int8_t>()[i], std::min(127.0, std::nearbyint(exact))) << i;
    }
}

TEST(Quantised, SumsMustFit) {
    Tensor a(ElementType::kInt8, {1, 140000}), b(ElementType::kInt8, {140000, 1});
    for (std::int8_t& x : a.as<std::int8_t>()) x = -128;
    for (std::int8_t& x : b.as<std::int8_t>()) x = -128;
    const Node node{"m", Operator::kMatMul, {}, {}, {}};
    EXPECT_THROW(run_quantised(node, {{a, scaled(1)}, {b, scaled(1)}}, scaled(1), {1, 1}),
                 InputError);
}

TEST(Quantisation, CoversTheRange) {
    const Quantisation q = quantisation_of(-1, 3, false);
    EXPECT_FLOAT_EQ(q.scale.at(0), 4.0f / 255);
    EXPECT_EQ(q.zero_point.at(0), -64);
    EXPECT_EQ(quantisation_of(1, 3, false).zero_point.at(0), -128);
    EXPECT_EQ(quantisation_of(-3, -1, false).zero_point.at(0), 127);
    EXPECT_FLOAT_EQ(quantisation_of(-1, 3, true).scale.at(0), 3.0f / 127);
    EXPECT_FLOAT_EQ(quantisation_of(0, 0, false).scale.at(0), 1);
    const Quantisation wide = quantisation_of(-1, 3, false, ElementType::kInt16);
    EXPECT_FLOAT_EQ(wide.scale.at(0), 3.0f / 32767);
    EXPECT_EQ(wide.zero_point.at(0), 0);
    EXPECT_THAT(to_integers(quantise(make_tensor({2}, std::span<const float>({-4.0f, 3.0f})), wide,
                                     ElementType::kInt16)),
                ElementsAre(-32768, 32767));
    const std::vector<float> values = {-2, -1, 0, 3, 100};
    const Tensor stored =
        quantise(make_tensor({5}, std::span<const float>(values)), q, ElementType::kInt8);
    EXPECT_THAT(to_integers(stored), ElementsAre(-128, -128, -64, 127, 127));
    EXPECT_NEAR(to_floats(dequantise(stored, q)).at(1), -1, 0.01);
}

}  // namespace
}  // namespace lockstep::network
