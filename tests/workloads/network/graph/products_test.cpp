// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/graph/products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/network/builtin/builtin.h"
#include "workloads/network/builtin/product_data.h"

namespace lockstep::network {
namespace {

std::vector<MatrixProduct> products_of(const std::string& text) {
    BuiltinRequest request = parse_builtin(text);
    request.options.with_values = false;
    return matrix_products(build_network(request.name, request.options));
}

void expect_shape(const MatrixProduct& p, std::int64_t m, std::int64_t n, std::int64_t k,
                  std::int64_t count = 1) {
    EXPECT_EQ(p.m, m) << p.name;
    EXPECT_EQ(p.n, n) << p.name;
    EXPECT_EQ(p.k, k) << p.name;
    EXPECT_EQ(p.count, count) << p.name;
}

TEST(Products, OfSingleOperators) {
    expect_shape(products_of("gemm:m=5,n=6,k=7").at(0), 5, 6, 7);
    expect_shape(products_of("conv2d:n=2,h=9,w=8,c=3,k=4,r=3,s=2,stride=2,pad=1").at(0), 2 * 5 * 5,
                 4, 3 * 3 * 2);
    EXPECT_TRUE(products_of("softmax").empty());
}

TEST(Products, OfNetworks) {
    std::int64_t macs = 0;
    for (const MatrixProduct& p : products_of("resnet50")) macs += p.macs();
    EXPECT_EQ(macs, 4'089'184'256);  // 4.09 G: 224 x 224, stride in the 3 x 3 convolutions
    // The twelve heads' scores are twelve products each.
    bool has_heads = false;
    for (const MatrixProduct& p : products_of("bert_base:seq=16"))
        has_heads |= p.m == 16 && p.n == 16 && p.k == 64 && p.count == 12;
    EXPECT_TRUE(has_heads);
    // Depthwise convolutions are a product a channel.
    bool has_groups = false;
    for (const MatrixProduct& p : products_of("mobilenet_v2"))
        has_groups |= p.n == 1 && p.k == 9 && p.count == 32;
    EXPECT_TRUE(has_groups);
    EXPECT_GE(products_of("lstm").size(), 2u);
}

template <typename T>
std::vector<T> multiply(const MatrixProduct& p, const std::vector<T>& a, const std::vector<T>& b) {
    std::vector<T> c(p.m * p.n);
    for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j)
            for (std::int64_t k = 0; k < p.k; ++k)
                c[i * p.n + j] += a[i * p.k + k] * b[k * p.n + j];
    return c;
}

TEST(ProductData, Im2colIsTheConvolution) {
    const MatrixProduct p = products_of("conv2d:n=2,h=9,w=8,c=3,k=4,r=3,s=2,stride=2,pad=1").at(0);
    const ProductData<std::int32_t> data(p, 1, 0);
    auto c = multiply(p, data.a(), data.b());
    EXPECT_EQ(data.check(c), "");
    c[7] += 1;
    EXPECT_THAT(data.check(c), testing::HasSubstr("[1, 3]"));
}

TEST(ProductData, Bf16ResultsMayDifferByTheOrderOfAdditionsOnly) {
    const MatrixProduct p = products_of("gemm:m=5,n=6,k=300").at(0);
    const ProductData<float> data(p, 1, 0);
    auto c = multiply(p, data.a(), data.b());
    EXPECT_EQ(data.check(c), "");
    c[0] += 0.01f;
    EXPECT_THAT(data.check(c), testing::HasSubstr("[0, 0]"));
    c[0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_NE(data.check(c), "");
}

TEST(ProductData, DependsOnTheSeedAndTheInstanceAlone) {
    const MatrixProduct p = products_of("gemm:m=5,n=6,k=7").at(0);
    EXPECT_EQ(ProductData<std::int32_t>(p, 1, 2).a(), ProductData<std::int32_t>(p, 1, 2).a());
    EXPECT_NE(ProductData<std::int32_t>(p, 1, 2).a(), ProductData<std::int32_t>(p, 1, 3).a());
    EXPECT_NE(ProductData<std::int32_t>(p, 1, 2).a(), ProductData<std::int32_t>(p, 2, 2).a());
}

}  // namespace
}  // namespace lockstep::network
