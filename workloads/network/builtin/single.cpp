// SPDX-License-Identifier: Apache-2.0
// Single operators as networks, for comparison of machines operator by operator: the activations
// are inputs, the other operand of gemm and conv2d is a weight.
#include <cmath>

#include "workloads/network/builtin/families.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network::builtin {

namespace {

ValueId matrix(Builder& b, std::int64_t rows, std::int64_t columns) {
    return b.input("x", ElementType::kFp32, {rows, columns});
}

/// Weights of variance 1/fan-in, as Builder's own layers have.
float spread_of(std::int64_t fan_in) {
    return std::sqrt(3.0f / static_cast<float>(fan_in));
}

/// The operand of step i of a chain of products: x and the mean of each row of the last product, so
/// that every step waits for all of the one before, whatever the shapes are.
ValueId next_operand(Builder& b, ValueId x, ValueId product, std::int64_t i) {
    const std::string n = std::to_string(i);
    const ValueId mean =
        b.node(Operator::kReduceMean, "mean" + n, {product},
               {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{1}}});
    return b.node(Operator::kAdd, "add" + n, {x, mean});
}

}  // namespace

Graph conv2d(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("conv2d", seed, with_values);
    const std::int64_t c = p.at("c"), r = p.at("r"), s = p.at("s"), pad = p.at("pad"),
                       stride = p.at("stride");
    const ValueId x = b.input("x", ElementType::kFp32, {p.at("n"), c, p.at("h"), p.at("w")});
    const ValueId w = b.weight("weight", {p.at("k"), c, r, s}, spread_of(c * r * s));
    return b.finish({b.node(Operator::kConv, "conv2d", {x, w},
                            {{"pads", std::vector<std::int64_t>(4, pad)},
                             {"strides", std::vector<std::int64_t>(2, stride)}})});
}

Graph gemm(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("gemm", seed, with_values);
    const std::int64_t k = p.at("k");
    ValueId x = matrix(b, p.at("m"), k);
    const ValueId w = b.weight("weight", {k, p.at("n")}, spread_of(k));
    ValueId y = b.node(Operator::kGemm, "gemm", {x, w});
    for (std::int64_t i = 1; i < p.at("steps"); ++i) {
        x = next_operand(b, x, y, i);
        y = b.node(Operator::kGemm, "gemm" + std::to_string(i), {x, w});
    }
    return b.finish({y});
}

Graph layernorm(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("layernorm", seed, with_values);
    return b.finish(
        {b.layer_normalisation("layernorm", matrix(b, p.at("rows"), p.at("cols")), 1e-5f)});
}

Graph softmax(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("softmax", seed, with_values);
    return b.finish({b.node(Operator::kSoftmax, "softmax", {matrix(b, p.at("rows"), p.at("cols"))},
                            {{"axis", std::int64_t{-1}}})});
}

}  // namespace lockstep::network::builtin
