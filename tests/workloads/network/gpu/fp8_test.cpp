// SPDX-License-Identifier: Apache-2.0
// Products of weights in e4m3: on Hopper by warpgroups, on Ada by QMMA.
#include "workloads/network/quantise/fp8.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/error/error.h"
#include "tests/workloads/network/gpu/run_on.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network::gpu {
namespace {

using enum Operator;
using Integers = std::vector<std::int64_t>;

/// A convolution, one with a residual, a transposed and a plain product.
Graph network() {
    Builder b("network", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 3, 9, 7});
    const ValueId first = b.convolution("first", x, 32, 3, {.pad = 1, .bias = true});
    ValueId y = b.convolution("second", first, 32, 3, {.stride = 1, .pad = 1, .bias = true});
    y = b.node(kRelu, "relu", {b.node(kAdd, "residual", {y, first})});
    y = b.convolution("third", y, 24, 1, {.stride = 2, .group = 2});
    y = b.reshape("flat", y, {2, 24 * 5 * 4});
    y = b.linear("linear", y, 80);
    const ValueId w = b.weight("w", {36, 80}, 0.2f);
    return b.finish(
        {b.node(kGemm, "gemm", {y, w}, {{"transB", std::int64_t{1}}, {"alpha", 0.5f}})});
}

TEST(Fp8, agrees_with_the_reference_that_rounds_as_it_does) {
    for (const auto& [machine, kernel] :
         {std::pair{"h200", "product_wgmma_fp8"}, std::pair{"l40s", "product_fp8"}}) {
        const Ran ran = run_on(network(), machine, Precision::kFp8);
        expect_right(ran);
        const auto count = std::ranges::count_if(
            ran.code.launches,
            [file = kernel](const Launch& launch) { return launch.kernel.file == file; });
        EXPECT_EQ(count, 4) << kernels_of(ran.code);  // the first has too few channels
        // Activations alone are rounded by kernels; weights were before.
        EXPECT_EQ(std::ranges::count_if(
                      ran.code.launches,
                      [](const Launch& launch) { return launch.kernel.file == "round_fp8"; }),
                  4)
            << kernels_of(ran.code);
    }
}

TEST(Fp8, is_refused_where_there_are_no_tensor_cores_for_it) {
    for (const char* machine : {"t4", "a100"})
        EXPECT_THROW(run_on(network(), machine, Precision::kFp8), InputError) << machine;
}

TEST(Fp8, rounds_to_multiples_of_a_scale_that_holds_the_range) {
    Builder b("product", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 16});
    Tensor identity(ElementType::kFp32, {16, 16});
    for (std::size_t i = 0; i < 16; ++i) identity.as<float>()[17 * i] = 1;
    const Graph graph =
        b.finish({b.node(kMatMul, "product", {x, b.parameter("identity", identity)})});
    Ranges ranges(graph.values.size());
    ranges[graph.inputs[0]] = {-3, 1000};  // over 448: a scale of 4
    const Graph rounded = round_product_operands_to_e4m3(graph, ranges);
    EXPECT_EQ(e4m3_scale_of(rounded.nodes.at(0)), 4.0f);
    Tensor values(ElementType::kFp32, {1, 16});
    values.as<float>()[0] = 1000;    // 250 of 4: between 240 and 256
    values.as<float>()[1] = -3000;   // beyond
    values.as<float>()[2] = 0.001f;  // below half of the least
    const std::vector<float> results = to_floats(execute(rounded, {values}).at(0));
    EXPECT_EQ(results[0], 1024);
    EXPECT_EQ(results[1], -1792);
    EXPECT_EQ(results[2], 0);
}

}  // namespace
}  // namespace lockstep::network::gpu
