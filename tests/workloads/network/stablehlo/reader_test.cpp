// SPDX-License-Identifier: Apache-2.0
// Modules as JAX and PyTorch/XLA print them, computed by the reference executor and held to what
// the operations mean.
#include "workloads/network/stablehlo/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/error/error.h"
#include "tests/paths.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Pointwise;

MATCHER_P(NearTo, tolerance, "") {
    const double a = std::get<0>(arg), b = std::get<1>(arg);
    return a == b || std::abs(a - b) <= tolerance;
}

/// The outputs of @main on these inputs, before and after the graph is simplified: the same.
std::vector<std::vector<double>> run(const std::string& text, const std::vector<Tensor>& inputs) {
    Graph graph = parse_stablehlo(text, "test.mlir");
    std::vector<std::vector<double>> outputs;
    infer_and_fold(graph);
    for (const Tensor& tensor : execute(graph, inputs, Precision::kFp64))
        outputs.push_back(to_doubles(tensor));
    simplify(graph);
    std::size_t i = 0;
    for (const Tensor& tensor : execute(graph, inputs, Precision::kFp64))
        EXPECT_THAT(to_doubles(tensor), Pointwise(NearTo(1e-12), outputs.at(i++)));
    return outputs;
}

Tensor floats(Shape shape, const std::vector<float>& values) {
    return make_tensor(std::move(shape), std::span<const float>(values));
}

Tensor counting(Shape shape, float step = 1) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = step * static_cast<float>(i);
    return floats(std::move(shape), values);
}

/// @main of `body`, whose lines say the rest.
std::string main_of(const std::string& arguments, const std::string& result,
                    const std::string& body) {
    return "func.func public @main(" + arguments + ") -> " + result + " {\n" + body + "\n}";
}

std::size_t count_of(const Graph& graph, Operator op) {
    std::size_t count = 0;
    for (const Node& node : graph.nodes) count += node.op == op ? 1 : 0;
    return count;
}

TEST(Stablehlo, ReadsAPerceptronAsJaxPrintsIt) {
    const char* const text = R"(
#loc = loc(unknown)
module @jit_mlp attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {mhlo.sharding = "{replicated}"} loc("x")) -> (tensor<2x2xf32> {jax.result_info = "[0]"}) {
    %cst = stablehlo.constant dense<[[1.0, 2.0], [-3.0, 4.000000e+00], [0.5, -1.0]]> : tensor<3x2xf32> loc(#loc)
    %cst_0 = stablehlo.constant dense<[1.000000e+00, -1.0]> : tensor<2xf32>
    %0 = stablehlo.dot_general %arg0, %cst, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc(#loc)
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<2x2xf32>
    %3 = stablehlo.add %0, %2 : tensor<2x2xf32>
    %4 = call @relu(%3) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %4 : tensor<2x2xf32>
  }
  func.func private @relu(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
}
)";
    const auto out = run(text, {floats({2, 3}, {1, 2, 3, 4, 5, 6})});
    EXPECT_THAT(out[0], ElementsAre(0, 6, 0, 21));
    Graph graph = parse_stablehlo(text, "mlp.mlir");
    EXPECT_EQ(graph.name, "jit_mlp");
    EXPECT_EQ(graph.value(graph.inputs[0]).name, "arg0");
    // The bias is broadcast by the addition itself, and max(x, 0) is a Relu.
    EXPECT_EQ(count_of(graph, Operator::kExpand), 0u);
    EXPECT_EQ(count_of(graph, Operator::kRelu), 1u);
    EXPECT_EQ(parameter_count(graph), 8);
}

TEST(Stablehlo, ReadsTheGenericForm) {
    const char* const text = R"("builtin.module"() ({}) : () -> ())";
    EXPECT_THROW(parse_stablehlo(text, "x.mlir"), InputError);  // functions are named by func.func
    const auto out = run(main_of("%a: tensor<2x3xf32>, %b: tensor<3x2xf32>", "tensor<2x2xf32>", R"(
      %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
      %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %2 = "stablehlo.slice"(%1) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<2x2xf32>) -> tensor<2x1xf32>
      %3 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x2xf32>
      "func.return"(%3) : (tensor<2x2xf32>) -> ())"),
                         {floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({3, 2}, {1, 0, 0, 1, 1, 1})});
    EXPECT_THAT(out[0], ElementsAre(10, 10, 11, 11));
}

TEST(Stablehlo, ReadsConstantsInEachNotation) {
    const auto out = run(R"(
    func.func @main() -> (tensor<2x2xf32>, tensor<3xi32>, tensor<2xbf16>, tensor<2xi1>, tensor<2xf32>) {
      %0 = stablehlo.constant {note = 1 : i32} dense<[[1.5, 0x7F800000], [-2, 1e-3]]> : tensor<2x2xf32>
      %1 = stablehlo.constant dense<"0x01000000FFFFFFFF00010000"> : tensor<3xi32>
      %2 = stablehlo.constant dense<0x3FC0> : tensor<2xbf16>
      %3 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
      %4 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
      return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<3xi32>, tensor<2xbf16>, tensor<2xi1>, tensor<2xf32>
    }
    {-# dialect_resources: { builtin: { weights: "0x040000000000803F00000040" } } #-})",
                         {});
    EXPECT_THAT(out[0], ElementsAre(1.5, INFINITY, -2, float(1e-3)));
    EXPECT_THAT(out[1], ElementsAre(1, -1, 256));
    EXPECT_THAT(out[2], ElementsAre(1.5, 1.5));
    EXPECT_THAT(out[3], ElementsAre(1, 0));
    EXPECT_THAT(out[4], ElementsAre(1, 2));
}

TEST(Stablehlo, ConvolvesAndPoolsChannelsLast) {
    // A 3x3 box over an image of two channels that are added, then pools.
    const std::string text =
        main_of("%x: tensor<1x4x4x2xf32>", "(tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>)", R"(
      %w = stablehlo.constant dense<1.0> : tensor<3x3x2x1xf32>
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x4x4x1xf32>
      %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %1 = "stablehlo.reduce_window"(%0, %ninf) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %m = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %m : tensor<f32>
      }) : (tensor<1x4x4x1xf32>, tensor<f32>) -> tensor<1x2x2x1xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %2 = "stablehlo.reduce_window"(%0, %zero) <{padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1x4x4x1xf32>, tensor<f32>) -> tensor<1x2x2x1xf32>
      %one = stablehlo.constant dense<1.0> : tensor<1x4x4x1xf32>
      %3 = "stablehlo.reduce_window"(%one, %zero) <{padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1x4x4x1xf32>, tensor<f32>) -> tensor<1x2x2x1xf32>
      %4 = stablehlo.divide %2, %3 : tensor<1x2x2x1xf32>
      return %1, %4 : tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>)");
    const Tensor x = counting({1, 4, 4, 2});
    const auto pixel = [&](int y, int c) {
        double sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (y + dy >= 0 && y + dy < 4 && c + dx >= 0 && c + dx < 4)
                    sum += 2 * (2 * (4 * (y + dy) + c + dx)) + 1;
        return sum;
    };
    std::vector<double> largest, average;
    for (const int y : {0, 2})
        for (const int c : {0, 2}) {
            double most = 0, sum = 0, count = 0;
            for (int dy = 0; dy < 2; ++dy)
                for (int dx = 0; dx < 2; ++dx) most = std::max(most, pixel(y + dy, c + dx));
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    if (y + dy >= 0 && y + dy < 4 && c + dx >= 0 && c + dx < 4) {
                        sum += pixel(y + dy, c + dx);
                        count += 1;
                    }
            largest.push_back(most);
            average.push_back(sum / count);
        }
    const auto out = run(text, {x});
    EXPECT_THAT(out[0], ElementsAreArray(largest));
    EXPECT_THAT(out[1], Pointwise(NearTo(1e-9), average));
    // Sums over counts are one pool of averages, the counts are nowhere computed.
    Graph graph = parse_stablehlo(text, "pool.mlir");
    simplify(graph);
    EXPECT_EQ(count_of(graph, Operator::kAveragePool), 1u);
    EXPECT_EQ(count_of(graph, Operator::kDiv), 0u);
}

TEST(Stablehlo, ConvolvesAnyWay) {
    // Channels first, strided; transposed with the kernel turned round; by groups; along a line.
    const auto out =
        run(main_of("%x: tensor<1x1x3x3xf32>, %l: tensor<1x4x1xf32>",
                    "(tensor<1x1x2x2xf32>, tensor<1x1x5x5xf32>, tensor<1x3x1xf32>)", R"(
      %k = stablehlo.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
      %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
      %1 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 0], [1, 0]], lhs_dilate = [2, 2], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x5x5xf32>
      %c = stablehlo.constant dense<[[[1.0]], [[-1.0]]]> : tensor<2x1x1xf32>
      %2 = stablehlo.convolution(%l, %c) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
      return %0, %1, %2 : tensor<1x1x2x2xf32>, tensor<1x1x5x5xf32>, tensor<1x3x1xf32>)"),
            {counting({1, 1, 3, 3}), floats({1, 4, 1}, {1, 4, 9, 16})});
    EXPECT_THAT(out[0], ElementsAre(0 + 2 + 9 + 16, 2 + 3 * 5, 6 + 14, 8));
    // Each element x at (2y, 2x) times the kernel, turned back round.
    std::vector<double> spread(25, 0);
    const double kernel[2][2] = {{4, 3}, {2, 1}};
    for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 5; ++x)
            for (int dy = 0; dy < 2; ++dy)
                for (int dx = 0; dx < 2; ++dx) {
                    const int sy = y + dy - 1, sx = x + dx - 1;
                    if (sy < 0 || sx < 0 || sy % 2 != 0 || sx % 2 != 0) continue;
                    spread[static_cast<std::size_t>(5 * y + x)] +=
                        kernel[dy][dx] * (3 * (sy / 2) + sx / 2);
                }
    EXPECT_THAT(out[1], ElementsAreArray(spread));
    EXPECT_THAT(out[2], ElementsAre(-3, -5, -7));
}

TEST(Stablehlo, ComputesAttention) {
    const std::string text =
        main_of("%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>", "tensor<1x2x3x4xf32>", R"(
      %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
      %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
      %2 = stablehlo.multiply %0, %1 : tensor<1x2x3x3xf32>
      %3 = stablehlo.iota dim = 2 : tensor<1x2x3x3xi32>
      %4 = stablehlo.iota dim = 3 : tensor<1x2x3x3xi32>
      %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<1x2x3x3xi32>, tensor<1x2x3x3xi32>) -> tensor<1x2x3x3xi1>
      %low = stablehlo.constant dense<-1.000000e+09> : tensor<1x2x3x3xf32>
      %6 = stablehlo.select %5, %2, %low : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
      %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %7 = stablehlo.reduce(%6 init: %ninf) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
      %10 = stablehlo.subtract %6, %9 : tensor<1x2x3x3xf32>
      %11 = stablehlo.exponential %10 : tensor<1x2x3x3xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %12 = stablehlo.reduce(%11 init: %zero) across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
       reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }
      %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x3xf32>
      %14 = stablehlo.divide %11, %13 : tensor<1x2x3x3xf32>
      %15 = stablehlo.dot_general %14, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
      return %15 : tensor<1x2x3x4xf32>)");
    const Tensor q = counting({1, 2, 3, 4}, 0.125f), k = counting({1, 2, 3, 4}, -0.25f);
    const auto value = [](const Tensor& t, int h, int s, int d) {
        return static_cast<double>(t.as<float>()[static_cast<std::size_t>((h * 3 + s) * 4 + d)]);
    };
    std::vector<double> expected;
    for (int h = 0; h < 2; ++h)
        for (int s = 0; s < 3; ++s) {
            double weight[3] = {}, total = 0;
            for (int t = 0; t <= s; ++t) {
                double score = 0;
                for (int d = 0; d < 4; ++d) score += value(q, h, s, d) * value(k, h, t, d);
                total += weight[t] = std::exp(score / 2);
            }
            for (int d = 0; d < 4; ++d) {
                double sum = 0;
                for (int t = 0; t <= s; ++t) sum += weight[t] / total * value(k, h, t, d);
                expected.push_back(sum);
            }
        }
    EXPECT_THAT(run(text, {q, k})[0], Pointwise(NearTo(1e-9), expected));
    Graph graph = parse_stablehlo(text, "attention.mlir");
    simplify(graph);
    EXPECT_EQ(count_of(graph, Operator::kExpand), 0u);
    EXPECT_EQ(count_of(graph, Operator::kSoftmax), 1u);
}

TEST(Stablehlo, AveragesOverDimensions) {
    const std::string text = main_of("%x: tensor<2x4xf32>", "tensor<2x4xf32>", R"(
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
      %four = stablehlo.constant dense<4.0> : tensor<2x1xf32>
      %2 = stablehlo.divide %1, %four : tensor<2x1xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
      %4 = stablehlo.subtract %x, %3 : tensor<2x4xf32>
      return %4 : tensor<2x4xf32>)");
    EXPECT_THAT(run(text, {counting({2, 4})})[0],
                ElementsAre(-1.5, -0.5, 0.5, 1.5, -1.5, -0.5, 0.5, 1.5));
    Graph graph = parse_stablehlo(text, "mean.mlir");
    simplify(graph);
    EXPECT_EQ(graph.nodes.size(), 2u);  // the mean and the difference
}

TEST(Stablehlo, MovesElements) {
    const std::string text = main_of("%x: tensor<2x3xf32>, %i: tensor<2x1xi32>, %at: tensor<i32>",
                                     "(tensor<1x2xf32>)", R"(
      %0 = stablehlo.slice %x [1:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
      %v = stablehlo.constant dense<9.0> : tensor<f32>
      %1 = stablehlo.pad %x, %v, low = [1, 0], high = [0, -1], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x2xf32>
      %2 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
      %3 = stablehlo.concatenate %x, %2, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
      %4 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>, indices_are_sorted = false}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %5 = stablehlo.dynamic_slice %x, %c0, %at, sizes = [2, 1] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
      %6 = stablehlo.dynamic_update_slice %x, %5, %c0, %c0 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
      %7 = stablehlo.dynamic_update_slice %x, %5, %c0, %at : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
      %8 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
      %9 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<1x2xf32>, tensor<4x2xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<3x2xf32>)");
    const Tensor index =
        from_integers(ElementType::kInt32, {2, 1}, std::vector<std::int64_t>{1, 0});
    const Tensor at = from_integers(ElementType::kInt32, {}, std::vector<std::int64_t>{1});
    const auto out = run(text, {counting({2, 3}), index, at});
    EXPECT_THAT(out[0], ElementsAre(3, 5));
    EXPECT_THAT(out[1], ElementsAre(9, 9, 0, 1, 9, 9, 3, 4));
    EXPECT_THAT(out[2], ElementsAre(5, 4, 3, 2, 1, 0));
    EXPECT_THAT(out[3], ElementsAre(0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0));
    EXPECT_THAT(out[4], ElementsAre(3, 4, 5, 0, 1, 2));
    EXPECT_THAT(out[5], ElementsAre(1, 4));
    EXPECT_THAT(out[6], ElementsAre(1, 1, 2, 4, 4, 5));
    EXPECT_THAT(out[7], ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(out[8], ElementsAre(1, 0, 4, 3));
    EXPECT_THAT(out[9], ElementsAre(0, 3, 1, 4, 2, 5));
    // A start beyond the last place is clamped to it.
    const Tensor far = from_integers(ElementType::kInt32, {}, std::vector<std::int64_t>{7});
    EXPECT_THAT(run(text, {counting({2, 3}), index, far})[5], ElementsAre(2, 5));
}

TEST(Stablehlo, UnrollsLoopsOfKnownLength) {
    const auto out = run(main_of("%x: tensor<3xf32>", "(tensor<i32>, tensor<3xf32>)", R"(
      %c = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %x) : tensor<i32>, tensor<3xf32>
       cond {
        %c_1 = stablehlo.constant dense<4> : tensor<i32>
        %1 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.add %iterArg_0, %x : tensor<3xf32>
        %c_1 = stablehlo.constant dense<1> : tensor<i32>
        %2 = stablehlo.add %iterArg, %c_1 : tensor<i32>
        stablehlo.return %2, %1 : tensor<i32>, tensor<3xf32>
      }
      return %0#0, %0#1 : tensor<i32>, tensor<3xf32>)"),
                         {floats({3}, {1, 2, 3})});
    EXPECT_THAT(out[0], ElementsAre(4));
    EXPECT_THAT(out[1], ElementsAre(5, 10, 15));
}

TEST(Stablehlo, FindsTheLargestAsJaxWritesIt) {
    const auto out = run(main_of("%x: tensor<2x3xf32>", "(tensor<2xf32>, tensor<2xi32>)", R"(
      %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %1:2 = stablehlo.reduce(%x init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
       reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>)  {
        %2 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %3 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %4 = stablehlo.or %2, %3 : tensor<i1>
        %7 = stablehlo.select %4, %a, %b : tensor<i1>, tensor<f32>
        %8 = stablehlo.select %4, %i, %j : tensor<i1>, tensor<i32>
        stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
      }
      return %1#0, %1#1 : tensor<2xf32>, tensor<2xi32>)"),
                         {floats({2, 3}, {3, 7, 5, 9, 8, 1})});
    EXPECT_THAT(out[0], ElementsAre(7, 9));
    EXPECT_THAT(out[1], ElementsAre(1, 0));
}

TEST(Stablehlo, ReadsTheExamples) {
    for (const char* name : {"mlp", "cnn", "attention"}) {
        const std::string path =
            source_path(std::string("workloads/network/stablehlo/examples/") + name + ".mlir");
        Graph graph = read_stablehlo(path, {.weights = name == std::string("mlp") ? 4 : 0});
        simplify(graph);
        const std::vector<Tensor> out = execute(graph, seeded_inputs(graph, 1));
        for (const float value : to_floats(out.at(0))) EXPECT_TRUE(std::isfinite(value)) << name;
    }
}

TEST(Stablehlo, ChannelsLastNeedNoTranspositions) {
    const std::string path = source_path("workloads/network/stablehlo/examples/cnn.mlir");
    Graph graph = read_stablehlo(path);
    const std::vector<Tensor> inputs = seeded_inputs(graph, 1);
    infer_and_fold(graph);
    const std::vector<double> before = to_doubles(execute(graph, inputs, Precision::kFp64).at(0));
    simplify(graph);
    EXPECT_EQ(parameter_count(graph), 36 + 4 + 1960);
    // Nor in front of the dense layer: its weight is moved.
    EXPECT_EQ(count_of(graph, Operator::kTranspose), 0u) << dump(graph);
    EXPECT_THAT(to_doubles(execute(graph, inputs, Precision::kFp64).at(0)),
                Pointwise(NearTo(1e-9), before));
}

TEST(Stablehlo, ArgumentsMayBeWeights) {
    const std::string text =
        main_of("%w: tensor<3x2xf32>, %x: tensor<1x3xf32>", "tensor<1x2xf32>", R"(
      %0 = stablehlo.dot %x, %w, precision = [DEFAULT, DEFAULT] : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
      return %0 : tensor<1x2xf32>)");
    EXPECT_EQ(parse_stablehlo(text, "x.mlir").inputs.size(), 2u);
    const Graph graph = parse_stablehlo(text, "x.mlir", {.weights = 1, .seed = 7});
    ASSERT_EQ(graph.inputs.size(), 1u);
    EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
    EXPECT_EQ(parameter_count(graph), 6);
    EXPECT_THROW(parse_stablehlo(text, "x.mlir", {.weights = 3}), InputError);
}

std::string message_of(const std::string& text) {
    try {
        parse_stablehlo(text, "bad.mlir");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Stablehlo, ListsAllThatIsNotSupported) {
    const std::string message = message_of(main_of("%x: tensor<4xf32>", "tensor<4xf32>", R"(
      %0 = "stablehlo.fft"(%x) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<4xf32>) -> tensor<4xf32>
      %1 = stablehlo.add %0, %x : tensor<4xf32>
      %2 = stablehlo.custom_call @foo(%1) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
      %3 = stablehlo.custom_call @foo(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %3 : tensor<4xf32>)"));
    EXPECT_THAT(message, HasSubstr("line 3: stablehlo.fft: is not supported"));
    EXPECT_THAT(message, HasSubstr("line 6: stablehlo.custom_call: a call of foo"));
    // These follow from the first.
    EXPECT_THAT(message, testing::Not(HasSubstr("line 4")));
    EXPECT_THAT(message, testing::Not(HasSubstr("line 5")));
}

TEST(Stablehlo, MalformedTextIsRefusedWithItsLine) {
    EXPECT_THAT(message_of(""), HasSubstr("bad.mlir:1: the module has no function"));
    EXPECT_THAT(message_of("func.func @main(%x: tensor<?xf32>) -> tensor<1xf32> {"),
                HasSubstr("static shapes"));
    EXPECT_THAT(message_of("func.func @main(%x: tensor<2xui32>) -> tensor<1xf32> {"),
                HasSubstr("element type ui32 is not supported"));
    EXPECT_THAT(message_of(main_of("", "tensor<2xf32>",
                                   "%0 = stablehlo.constant dense<[1.0]> : tensor<2xf32>\n"
                                   "return %0 : tensor<2xf32>")),
                HasSubstr("bad.mlir:2: dense<...> does not hold the 2 elements"));
    EXPECT_THAT(message_of(main_of("%x: tensor<2xf32>", "tensor<2xf32>",
                                   "%0 = stablehlo.add %x, %y : tensor<2xf32>\n"
                                   "return %0 : tensor<2xf32>")),
                HasSubstr("bad.mlir:2: %y is used before it is written"));
    EXPECT_THAT(message_of(main_of("%x: tensor<2xf32>", "tensor<2xf32>",
                                   "%0 = stablehlo.tanh %x : tensor<3xf32>\n"
                                   "return %0 : tensor<3xf32>")),
                HasSubstr("its result is fp32[2], not fp32[3]"));
    EXPECT_THAT(message_of(main_of("%x: tensor<2xf32>", "tensor<2xf32>",
                                   "%0 = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
                                   "return %0 : tensor<2xf32>")),
                HasSubstr("call themselves"));
    EXPECT_THROW(read_stablehlo("/nowhere/x.mlir"), InputError);
}

}  // namespace
}  // namespace lockstep::network
