// SPDX-License-Identifier: Apache-2.0
// Networks in int8: equal to the reference, to the bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "tests/workloads/network/gpu/run_on.h"

namespace lockstep::network::gpu {
namespace {

using enum Operator;
using Integers = std::vector<std::int64_t>;

void expect_equal(const Graph& graph) {
    for (const char* machine : {"t4", "h200"}) {
        const Ran ran = run_on(graph, machine, Precision::kInt8);
        expect_right(ran);
        for (const compile::Check& check : ran.checks)
            EXPECT_THAT(check.message, testing::HasSubstr("equal")) << machine;
    }
}

/// A convolution of `group` groups with an activation behind it.
ValueId convolution(Builder& b, const std::string& name, ValueId x, std::int64_t filters,
                    std::int64_t group, Operator activation, std::int64_t stride = 1) {
    const ValueId y = b.convolution(name, x, filters, 3,
                                    {.stride = stride, .pad = 1, .group = group, .bias = true});
    return b.node(activation, name + ".activation", {y});
}

TEST(Quantised, convolutions_of_any_group_are_equal_to_the_reference) {
    for (const std::int64_t channels : {3, 16}) {
        Builder b("convolutions", 1);
        const ValueId x = b.input("x", ElementType::kFp32, {2, channels, 9, 7});
        const ValueId first = convolution(b, "first", x, 32, 1, kRelu);
        const ValueId groups = convolution(b, "groups", first, 32, 2, kSigmoid);
        const ValueId depthwise = convolution(b, "depthwise", groups, 32, 32, kTanh);
        expect_equal(b.finish({convolution(b, "last", depthwise, 10, 1, kRelu, 2)}));
    }
}

TEST(Quantised, residuals_products_and_joined_values_are_equal_to_the_reference) {
    Builder b("residuals", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 16, 8, 8});
    const ValueId y = convolution(b, "y", x, 16, 1, kRelu);
    const ValueId z = b.convolution("z", y, 16, 1, {.bias = true});
    const ValueId sum = b.node(kRelu, "relu", {b.node(kAdd, "sum", {z, y})});
    const ValueId difference = b.node(kSub, "difference", {sum, z});
    const ValueId product = b.node(kMul, "product", {difference, y});
    expect_equal(
        b.finish({b.node(kConcat, "joined", {product, sum, y}, {{"axis", std::int64_t{1}}})}));
}

TEST(Quantised, pooling_is_equal_to_the_reference) {
    Builder b("pooling", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 8, 10, 10});
    const ValueId y = convolution(b, "y", x, 8, 1, kRelu);
    const ValueId largest = b.max_pool("largest", y, 3, 2, 1);
    const ValueId mean = b.node(kAveragePool, "mean", {largest},
                                {{"kernel_shape", Integers{3, 3}}, {"pads", Integers{1, 1, 1, 1}}});
    const ValueId all = b.node(kGlobalAveragePool, "all", {mean});
    expect_equal(b.finish({b.linear("linear", b.reshape("flat", all, {1, 8}), 5)}));
}

TEST(Quantised, products_of_long_rows_are_cut_and_equal) {
    Builder b("long", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {5, 16384});
    const Graph graph = b.finish({b.linear("linear", x, 70)});
    EXPECT_THAT(kernels_of(run_on(graph, "h200", Precision::kInt8).code),
                testing::HasSubstr("product_int8_sum"));
    expect_equal(graph);
}

TEST(Quantised, networks_with_parts_in_floats_are_as_near_as_the_reference) {
    const Ran ran = run_on(builtin("bert_block:hidden=32,heads=2,seq=8"), "h200", Precision::kInt8);
    expect_right(ran);
    EXPECT_THAT(kernels_of(ran.code), testing::HasSubstr("product_int8"));
    EXPECT_THAT(kernels_of(ran.code), testing::HasSubstr("softmax_rows"));
}

TEST(Quantised, operators_without_a_kernel_are_refused) {
    Builder b("resized", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 8, 4, 4});
    const ValueId y = convolution(b, "y", x, 8, 1, kRelu);
    const Graph graph =
        b.finish({b.node(kResizeBilinear, "resize", {y}, {{"size", Integers{8, 8}}})});
    try {
        run_on(graph, "h200", Precision::kInt8);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(),
                    testing::HasSubstr("node resize (ResizeBilinear): no kernel computes it"));
    }
}

}  // namespace
}  // namespace lockstep::network::gpu
