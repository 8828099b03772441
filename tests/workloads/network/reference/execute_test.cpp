// SPDX-License-Identifier: Apache-2.0
// The reference executor against PyTorch (data/make.py, FP64) and against plain loops.
#include "workloads/network/reference/execute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include "sim/error/error.h"
#include "tests/paths.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/reference/fold.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network {
namespace {

namespace fs = std::filesystem;
using Integers = std::vector<std::int64_t>;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

const fs::path kData = fs::path(source_path()) / "tests/workloads/network/data";

std::vector<double> next_line(std::istream& file) {
    std::string line;
    std::getline(file, line);
    std::istringstream numbers(line);
    return {std::istream_iterator<double>(numbers), {}};
}

struct Model {
    const char* name;
    std::map<std::string, std::int64_t> dimensions;
};
void PrintTo(const Model& model, std::ostream* out) {
    *out << model.name;
}

class Pytorch : public ::testing::TestWithParam<Model> {};

TEST_P(Pytorch, ComputesTheSame) {
    const Graph read = read_onnx(kData / (std::string(GetParam().name) + ".onnx"),
                                 {.dimensions = GetParam().dimensions});
    Graph folded = read;
    simplify(folded);
    validate(folded);
    std::vector<Graph> graphs = {folded};
    Graph plain = read;
    infer_and_fold(plain);
    graphs.push_back(plain);
    EXPECT_LE(folded.nodes.size(), plain.nodes.size());
    for (const Graph& graph : graphs)
        for (const Precision precision : {Precision::kFp32, Precision::kFp64}) {
            std::ifstream file(kData / (std::string(GetParam().name) + ".txt"));
            const Value& input = graph.value(graph.inputs.at(0));
            const Tensor x = from_doubles(input.type, *input.shape, next_line(file));
            const std::vector<Tensor> outputs = execute(graph, {x}, precision);
            // The file holds constants (epsilon, the root of 8) rounded to FP32, PyTorch's FP64 run
            // does not: 1e-7 between the two.
            const double tolerance = precision == Precision::kFp32 ? 4e-6 : 1e-7;
            for (const Tensor& output : outputs)
                EXPECT_THAT(to_doubles(output), Pointwise(DoubleNear(tolerance), next_line(file)));
            EXPECT_EQ(file.peek(), EOF);
        }
}

INSTANTIATE_TEST_SUITE_P(Files, Pytorch,
                         ::testing::Values(Model{"cnn_11", {}}, Model{"cnn_17", {}},
                                           Model{"mlp", {{"batch", 2}}},
                                           Model{"attention_13", {{"batch", 2}, {"seq", 6}}},
                                           Model{"attention_17", {}}, Model{"lstm", {}},
                                           Model{"gru_14", {}}, Model{"rnn_11", {}},
                                           Model{"images_13", {}}, Model{"arithmetic_16", {}},
                                           Model{"squeeze_13", {{"n", 3}, {"c", 1}}}),
                         [](const auto& model) { return model.param.name; });

Tensor ramp(Shape shape, float scale = 1) {
    Tensor tensor(ElementType::kFp32, std::move(shape));
    int i = 0;
    for (float& value : tensor.as<float>())
        value = scale * static_cast<float>((i++ * 37) % 23 - 11);
    return tensor;
}

/// One operator over constants that the graph takes as inputs.
std::vector<double> run(Operator op, const std::vector<Tensor>& inputs, Attributes attributes = {},
                        const std::vector<Integers>& constants = {}) {
    Builder b("test", 1);
    std::vector<ValueId> ids;
    for (const Tensor& t : inputs) ids.push_back(b.input("x", t.type, t.shape));
    for (const Integers& values : constants)
        ids.push_back(b.constant("c", make_tensor({static_cast<std::int64_t>(values.size())},
                                                  std::span<const std::int64_t>(values))));
    const Graph graph = b.finish({b.node(op, "node", ids, std::move(attributes))});
    const std::vector<double> exact = to_doubles(execute(graph, inputs, Precision::kFp64).at(0));
    EXPECT_THAT(to_doubles(execute(graph, inputs).at(0)), Pointwise(DoubleNear(1e-3), exact));
    return exact;
}

TEST(Execute, ConvolvesAsPlainLoops) {
    for (const std::int64_t group : {1, 2, 4}) {
        const std::int64_t n = 2, c = 4, h = 7, w = 6, k = 8, r = 3, s = 2, depth = c / group;
        const Tensor x = ramp({n, c, h, w}), weight = ramp({k, depth, r, s}, 0.5f),
                     bias = ramp({k});
        const std::vector<double> y = run(Operator::kConv, {x, weight, bias},
                                          {{"group", group},
                                           {"strides", Integers{2, 1}},
                                           {"dilations", Integers{1, 2}},
                                           {"pads", Integers{1, 0, 2, 1}}});
        const std::int64_t p = (h + 3 - 3) / 2 + 1, q = w + 1 - 3 + 1;
        ASSERT_EQ(y.size(), static_cast<std::size_t>(n * k * p * q));
        std::size_t at = 0;
        for (std::int64_t in = 0; in < n; ++in)
            for (std::int64_t ik = 0; ik < k; ++ik)
                for (std::int64_t ip = 0; ip < p; ++ip)
                    for (std::int64_t iq = 0; iq < q; ++iq) {
                        double sum = bias.as<float>()[static_cast<std::size_t>(ik)];
                        for (std::int64_t ic = 0; ic < depth; ++ic)
                            for (std::int64_t ir = 0; ir < r; ++ir)
                                for (std::int64_t is = 0; is < s; ++is) {
                                    const std::int64_t row = ip * 2 + ir - 1, column = iq + is * 2;
                                    if (row < 0 || row >= h || column >= w) continue;
                                    const std::int64_t channel = ik / (k / group) * depth + ic;
                                    const auto i = ((in * c + channel) * h + row) * w + column;
                                    const auto j = ((ik * depth + ic) * r + ir) * s + is;
                                    sum += double{x.as<float>()[static_cast<std::size_t>(i)]} *
                                           weight.as<float>()[static_cast<std::size_t>(j)];
                                }
                        ASSERT_DOUBLE_EQ(y[at++], sum);
                    }
    }
}

TEST(Execute, MultipliesAsPlainLoops) {
    const Tensor a = ramp({2, 1, 3, 4}), b = ramp({5, 4, 2});
    const std::vector<double> y = run(Operator::kMatMul, {a, b});
    for (std::size_t n = 0; n < 2; ++n)
        for (std::size_t m = 0; m < 5; ++m)
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 2; ++j) {
                    double sum = 0;
                    for (std::size_t k = 0; k < 4; ++k)
                        sum += double{a.as<float>()[(n * 3 + i) * 4 + k]} *
                               b.as<float>()[(m * 4 + k) * 2 + j];
                    EXPECT_DOUBLE_EQ(y.at(((n * 5 + m) * 3 + i) * 2 + j), sum);
                }
    const Tensor at = ramp({4, 3}), bt = ramp({2, 4}), c = ramp({2});
    const std::vector<double> gemm = run(Operator::kGemm, {at, bt, c},
                                         {{"transA", std::int64_t{1}},
                                          {"transB", std::int64_t{1}},
                                          {"alpha", 0.5f},
                                          {"beta", 2.0f}});
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < 4; ++k)
                sum += double{at.as<float>()[k * 3 + i]} * bt.as<float>()[j * 4 + k];
            EXPECT_DOUBLE_EQ(gemm.at(i * 2 + j), 0.5 * sum + 2.0 * c.as<float>()[j]);
        }
}

Tensor counting(Shape shape) {
    Tensor tensor(ElementType::kFp32, std::move(shape));
    std::iota(tensor.as<float>().begin(), tensor.as<float>().end(), 0.0f);
    return tensor;
}

TEST(Execute, MovesElements) {
    EXPECT_THAT(run(Operator::kTranspose, {counting({2, 3})}), ElementsAre(0, 3, 1, 4, 2, 5));
    EXPECT_THAT(
        run(Operator::kConcat, {counting({2, 1}), counting({2, 2})}, {{"axis", std::int64_t{1}}}),
        ElementsAre(0, 0, 1, 1, 2, 3));
    EXPECT_THAT(run(Operator::kSlice, {counting({3, 4})}, {}, {{2, 3}, {-10, 0}, {0, 1}, {-2, -2}}),
                ElementsAre(11, 9, 3, 1));
    EXPECT_THAT(run(Operator::kGather, {counting({3, 2})}, {{"axis", std::int64_t{0}}}, {{2, -3}}),
                ElementsAre(4, 5, 0, 1));
    EXPECT_THROW(run(Operator::kGather, {counting({3, 2})}, {}, {{3}}), InputError);
    EXPECT_THAT(run(Operator::kPad, {counting({1, 2})}, {}, {{1, 0, 0, 1}}),
                ElementsAre(0, 0, 0, 0, 1, 0));
    EXPECT_THAT(run(Operator::kExpand, {counting({2, 1})}, {}, {{2, 2}}), ElementsAre(0, 0, 1, 1));
}

TEST(Execute, PoolsAndReduces) {
    const Attributes window = {{"kernel_shape", Integers{2, 2}}, {"pads", Integers{1, 0, 0, 0}}};
    const Tensor x = counting({1, 1, 2, 3});
    EXPECT_THAT(run(Operator::kMaxPool, {x}, window), ElementsAre(1, 2, 4, 5));
    EXPECT_THAT(run(Operator::kAveragePool, {x}, window), ElementsAre(0.5, 1.5, 2, 3));
    Attributes padded = window;
    padded["count_include_pad"] = std::int64_t{1};
    EXPECT_THAT(run(Operator::kAveragePool, {x}, padded), ElementsAre(0.25, 0.75, 2, 3));
    EXPECT_THAT(run(Operator::kReduceMean, {counting({2, 3})}, {{"axes", Integers{1}}}),
                ElementsAre(1, 4));
    EXPECT_THAT(run(Operator::kReduceMax, {counting({2, 3})}, {{"axes", Integers{0}}}),
                ElementsAre(3, 4, 5));
    EXPECT_THAT(run(Operator::kReduceSum, {counting({2, 3})}), ElementsAre(15));
}

TEST(Execute, ActivatesElements) {
    const std::vector<float> values = {-2, 0, 3};
    const Tensor x = make_tensor({3}, std::span<const float>(values));
    EXPECT_THAT(run(Operator::kRelu, {x}), ElementsAre(0, 0, 3));
    EXPECT_THAT(run(Operator::kNeg, {x}), ElementsAre(2, 0, -3));
    EXPECT_THAT(run(Operator::kAbs, {x}), ElementsAre(2, 0, 3));
    const std::vector<double> gelu = run(Operator::kGelu, {x});
    EXPECT_NEAR(gelu[0], -2 * 0.5 * std::erfc(std::sqrt(2.0)), 1e-15);
    const std::vector<double> softmax = run(Operator::kSoftmax, {x});
    EXPECT_NEAR(softmax[2], 1 / (std::exp(-5.0) + std::exp(-3.0) + 1), 1e-15);
    EXPECT_NEAR(softmax[0] + softmax[1] + softmax[2], 1, 1e-15);
}

TEST(Execute, TheSmallerOperators) {
    const std::vector<float> values = {-2.5f, -0.5f, 0, 1.5f};
    const Tensor x = make_tensor({2, 2}, std::span<const float>(values));
    EXPECT_THAT(run(Operator::kRound, {x}), ElementsAre(-2, 0, 0, 2));
    EXPECT_THAT(run(Operator::kFloor, {x}), ElementsAre(-3, -1, 0, 1));
    EXPECT_THAT(run(Operator::kCeil, {x}), ElementsAre(-2, 0, 0, 2));
    EXPECT_THAT(run(Operator::kSign, {x}), ElementsAre(-1, -1, 0, 1));
    EXPECT_NEAR(run(Operator::kSoftplus, {x})[3], std::log(1 + std::exp(1.5)), 1e-15);
    EXPECT_NEAR(run(Operator::kSoftsign, {x})[0], -2.5 / 3.5, 1e-15);
    EXPECT_NEAR(run(Operator::kSin, {x})[3], std::sin(1.5), 1e-15);
    EXPECT_NEAR(run(Operator::kCos, {x})[3], std::cos(1.5), 1e-15);
    const std::vector<float> slope = {2, 4};
    EXPECT_THAT(run(Operator::kPRelu, {x, make_tensor({2}, std::span<const float>(slope))}),
                ElementsAre(-5, -2, 0, 1.5));
    EXPECT_THAT(run(Operator::kGreaterOrEqual, {x, x}), ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(run(Operator::kLessOrEqual, {x, ramp({2, 1})}), ElementsAre(0, 0, 1, 1));
    const std::vector<double> log = run(Operator::kLogSoftmax, {x}),
                              soft = run(Operator::kSoftmax, {x});
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(log[i], std::log(soft[i]), 1e-14);
    EXPECT_THAT(run(Operator::kReduceMin, {x}, {{"axes", Integers{1}}}), ElementsAre(-2.5, 0));
    EXPECT_THAT(run(Operator::kReduceProd, {x}, {{"axes", Integers{1}}}), ElementsAre(1.25, 0));
    EXPECT_THAT(run(Operator::kReduceSumSquare, {x}), ElementsAre(6.25 + 0.25 + 2.25));
    EXPECT_NEAR(run(Operator::kReduceL2, {x})[0], std::sqrt(8.75), 1e-15);
    EXPECT_THAT(run(Operator::kArgMax, {x}, {{"axis", std::int64_t{1}}}), ElementsAre(1, 1));
    EXPECT_THAT(run(Operator::kArgMin, {x}, {{"keepdims", std::int64_t{0}}}), ElementsAre(0, 0));
    EXPECT_THAT(run(Operator::kArgMax, {counting({1, 2, 2})}, {{"axis", std::int64_t{1}}}),
                ElementsAre(1, 1));
    EXPECT_THAT(run(Operator::kGlobalMaxPool, {counting({1, 2, 2, 2})}), ElementsAre(3, 7));
    EXPECT_THAT(run(Operator::kTile, {counting({1, 2})}, {}, {{2, 2}}),
                ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
    EXPECT_THAT(run(Operator::kTrilu, {counting({2, 3})}, {}, {{1}}),
                ElementsAre(0, 1, 2, 0, 0, 5));
    EXPECT_THAT(run(Operator::kTrilu, {counting({2, 3})}, {{"upper", std::int64_t{0}}}),
                ElementsAre(0, 0, 0, 3, 4, 0));
    // Mean 1, variance 2/3 in each of two planes; scale 1 and 2, bias 0 and 5.
    const std::vector<float> scale = {1, 2}, bias = {0, 5};
    const std::vector<double> normal =
        run(Operator::kInstanceNormalization,
            {counting({1, 2, 3}), make_tensor({2}, std::span<const float>(scale)),
             make_tensor({2}, std::span<const float>(bias))},
            {{"epsilon", 0.0f}});
    EXPECT_NEAR(normal[2], std::sqrt(1.5), 1e-12);
    EXPECT_NEAR(normal[3], 5 - 2 * std::sqrt(1.5), 1e-12);
}

TEST(Fold, TakesAllBatchNormalisationOutOfResnet) {
    Graph graph = build_network("resnet18", {});
    EXPECT_EQ(fold_batch_normalisation(graph), 20);
    validate(graph);
    EXPECT_EQ(graph.nodes.size(), 49u);
    // Two weights of a normalisation become one bias.
    EXPECT_EQ(parameter_count(graph), 11'689'512 - 4800);
}

TEST(Execute, ShowsEachValueOnce) {
    Builder b("test", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2});
    const ValueId y = b.node(Operator::kNeg, "negated", {x});
    const ValueId z = b.node(Operator::kAdd, "sum", {y, y});
    const Graph graph = b.finish({z});
    std::map<ValueId, std::vector<float>> seen;
    execute_visiting(graph, {make_tensor({2}, std::vector<float>{1, -2})},
                     [&](ValueId id, std::span<const float> values) {
                         EXPECT_TRUE(seen.try_emplace(id, values.begin(), values.end()).second);
                     });
    EXPECT_THAT(seen, ElementsAre(std::pair(x, std::vector<float>{1, -2}),
                                  std::pair(y, std::vector<float>{-1, 2}),
                                  std::pair(z, std::vector<float>{-2, 4})));
}

}  // namespace
}  // namespace lockstep::network
