// SPDX-License-Identifier: Apache-2.0
// Products of odd shapes, layouts, groups and edges, and what is fused into them.
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "tests/workloads/network/gpu/run_on.h"

namespace lockstep::network::gpu {
namespace {

using enum Operator;
using Integers = std::vector<std::int64_t>;

struct Convolve {
    std::int64_t channels = 8, height = 9, width = 7, filters = 8;
    std::int64_t kernel = 3, stride = 1, pad = 1, group = 1, dilation = 1, batch = 2;
};

Graph convolution(const Convolve& c, bool residual = false) {
    Builder b("convolution", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {c.batch, c.channels, c.height, c.width});
    const ValueId first = b.convolution("first", x, c.channels, 1, {.bias = true});
    const ValueId w = b.weight("w", {c.filters, c.channels / c.group, c.kernel, c.kernel}, 0.2f);
    ValueId y = b.node(kConv, "second", {first, w, b.weight("bias", {c.filters}, 0.5f)},
                       {{"pads", Integers{c.pad, c.pad, c.pad, c.pad}},
                        {"strides", Integers{c.stride, c.stride}},
                        {"dilations", Integers{c.dilation, c.dilation}},
                        {"group", c.group}});
    if (residual) y = b.node(kAdd, "residual", {first, y});
    return b.finish({b.node(kRelu, "relu", {y})});
}

TEST(Convolution, agrees_with_the_reference_for_any_window) {
    for (const Convolve& c :
         {Convolve{}, Convolve{.channels = 3, .filters = 5}, Convolve{.stride = 2},
          Convolve{.kernel = 1, .stride = 2, .pad = 0}, Convolve{.kernel = 5, .pad = 2},
          Convolve{.pad = 2, .dilation = 2}, Convolve{.filters = 130, .batch = 1},
          Convolve{.group = 2}, Convolve{.channels = 6, .filters = 9, .group = 3},
          Convolve{.group = 8}, Convolve{.channels = 5, .filters = 10, .group = 5}})
        expect_right(run_on(convolution(c)));
}

TEST(Convolution, takes_bias_residual_and_activation_with_it) {
    const Ran ran = run_on(convolution({}, true));
    expect_right(ran);
    EXPECT_EQ(kernels_of(ran.code),
              "product_fp32_small product_fp32_small map_real");  // to the output's order
}

TEST(Convolution, by_channel_reads_fours) {
    const Ran ran = run_on(convolution({.group = 8}), "t4");
    expect_right(ran);
    EXPECT_NE(kernels_of(ran.code).find("depthwise_fp32_4"), std::string::npos);
}

TEST(Convolution, runs_on_tensor_cores_in_each_type_that_the_machine_has) {
    const std::vector<std::pair<const char*, std::vector<Precision>>> kMachines = {
        {"t4", {Precision::kFp16}},
        {"a100", {Precision::kFp16, Precision::kBf16, Precision::kTf32}},
        {"h200", {Precision::kFp16, Precision::kBf16, Precision::kTf32}}};
    for (const auto& [machine, precisions] : kMachines)
        for (const Precision precision : precisions) {
            // Sixteen bytes at once, single elements, a residual, groups, channels by themselves.
            for (const Convolve& c :
                 {Convolve{.channels = 16, .filters = 24}, Convolve{.channels = 3, .filters = 5},
                  Convolve{.channels = 8, .filters = 8, .dilation = 2},
                  Convolve{.channels = 32, .filters = 32, .stride = 2, .group = 2},
                  Convolve{.group = 8}})
                expect_right(run_on(
                    convolution(c, c.channels == c.filters && c.stride == 1 && c.pad == c.dilation),
                    machine, precision));
        }
}

TEST(Convolution, refuses_a_type_that_the_machine_lacks) {
    EXPECT_THROW(run_on(convolution({}), "t4", Precision::kBf16), InputError);
    EXPECT_THROW(run_on(convolution({}), "t4", Precision::kTf32), InputError);
}

Graph matmul(const Shape& a, const Shape& b_shape, bool transpose = false) {
    Builder b("matmul", 1);
    const ValueId x = b.input("x", ElementType::kFp32, a);
    ValueId y = b.input("y", ElementType::kFp32, b_shape);
    if (transpose) {
        Integers perm;
        for (std::size_t d = 0; d < b_shape.size(); ++d) perm.push_back(std::int64_t(d));
        std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
        y = b.transpose("t", y, perm);
    }
    return b.finish({b.node(kMatMul, "product", {x, y})});
}

TEST(MatMul, broadcasts_batches_of_any_layout) {
    expect_right(run_on(matmul({2, 3, 5, 7}, {3, 7, 6})));
    expect_right(run_on(matmul({2, 1, 5, 8}, {1, 3, 8, 4})));
    expect_right(run_on(matmul({2, 3, 5, 8}, {2, 3, 6, 8}, true)));
    expect_right(run_on(matmul({130, 33}, {33, 66})));
    expect_right(run_on(matmul({3, 64}, {64, 70})));
    expect_right(run_on(matmul({4}, {4, 3})));
}

TEST(MatMul, on_tensor_cores_takes_any_layout) {
    for (const Precision precision : {Precision::kFp16, Precision::kBf16, Precision::kTf32}) {
        expect_right(run_on(matmul({2, 3, 5, 24}, {3, 24, 6}), "h200", precision));
        expect_right(run_on(matmul({2, 3, 5, 32}, {2, 3, 6, 32}, true), "h200", precision));
        expect_right(run_on(matmul({130, 328}, {328, 136}), "h200", precision));
        expect_right(run_on(matmul({3, 64}, {64, 70}), "h200", precision));
    }
}

/// Odd sizes, windows, strides, groups, residuals and pieces of k: each through a tile of wgmma.
TEST(Product, of_warpgroups_agrees_in_each_type) {
    for (const Precision precision : {Precision::kFp16, Precision::kBf16, Precision::kInt8}) {
        std::vector<Ran> all;
        all.push_back(run_on(convolution({.channels = 16, .filters = 136}), "h200", precision));
        all.push_back(
            run_on(convolution({.channels = 32, .stride = 2, .group = 2, .batch = 3}, false),
                   "h200", precision));
        all.push_back(
            run_on(convolution({.channels = 64, .filters = 64}, true), "h200", precision));
        if (precision != Precision::kInt8) {
            all.push_back(run_on(matmul({70, 72}, {68, 72}, true), "h200", precision));
            all.push_back(run_on(matmul({130, 2080}, {256, 2080}, true), "h200", precision));
            all.push_back(run_on(matmul({1990, 520}, {2044, 520}, true), "h200", precision));
        }
        std::string kernels;
        for (const Ran& ran : all) {
            expect_right(ran);
            kernels += kernels_of(ran.code) + " ";
            EXPECT_NE(kernels_of(ran.code).find("wgmma"), std::string::npos)
                << kernels_of(ran.code);
        }
        EXPECT_NE(kernels.find("_small"), std::string::npos) << kernels;
        EXPECT_EQ(kernels.find("_wide") == std::string::npos, precision == Precision::kInt8)
            << kernels;
    }
}

TEST(Product, of_warpgroups_is_for_hopper_and_rows_of_whole_pieces) {
    EXPECT_EQ(kernels_of(run_on(matmul({70, 72}, {68, 72}, true), "a100", Precision::kFp16).code)
                  .find("wgmma"),
              std::string::npos);
    EXPECT_EQ(kernels_of(run_on(matmul({70, 70}, {68, 70}, true), "h200", Precision::kFp16).code)
                  .find("wgmma"),
              std::string::npos);
}

TEST(Gemm, takes_factors_and_transposed_operands) {
    for (const bool ta : {false, true})
        for (const bool tb : {false, true})
            for (const float beta : {1.0f, 0.5f}) {
                Builder b("gemm", 1);
                const ValueId x =
                    b.input("x", ElementType::kFp32, ta ? Shape{12, 20} : Shape{20, 12});
                const ValueId w = b.weight("w", tb ? Shape{9, 12} : Shape{12, 9}, 0.3f);
                const ValueId c = b.input("c", ElementType::kFp32, {20, 1});
                expect_right(run_on(b.finish({b.node(kGemm, "gemm", {x, w, c},
                                                     {{"transA", std::int64_t{ta}},
                                                      {"transB", std::int64_t{tb}},
                                                      {"alpha", 0.7f},
                                                      {"beta", beta}})})));
            }
}

TEST(Product, of_long_rows_is_cut_and_added) {
    const Ran ran = run_on(matmul({16, 2000}, {2000, 24}));
    expect_right(ran);
    EXPECT_NE(kernels_of(ran.code).find("product_sum"), std::string::npos);
}

TEST(Product, of_few_rows_has_a_kernel_that_reads_the_weights_once) {
    const Ran ran = run_on(builtin("mlp:batch=3,hidden=64"));
    expect_right(ran);
    EXPECT_EQ(kernels_of(ran.code), "product_rows_fp32 product_rows_fp32 product_rows_fp32");
}

TEST(Product, of_many_tiles_takes_the_large_one) {
    const Graph graph = matmul({4096, 4096}, {4096, 4096});
    const Executable code = compile(graph, target_named("h200"));
    EXPECT_EQ(kernels_of(code), "product_fp32_large");
    EXPECT_NE(code.launches[0].choice.find("not 64x64"), std::string::npos)
        << code.launches[0].choice;
}

}  // namespace
}  // namespace lockstep::network::gpu
