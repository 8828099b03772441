// SPDX-License-Identifier: Apache-2.0
// The six applications of the TPU paper. Source: Jouppi et al., "In-Datacenter Performance Analysis
// of a Tensor Processing Unit" (2017), Table 1: layers by kind, nonlinearity, weights, operations
// per byte of weights, batch. Their shapes are not published; these have Table 1's numbers, and
// where it leaves a choice layers are square and alike. CNN0's 2888 operations per byte are 8
// images of 361 = 19 x 19 positions, a Go board; its channels fill the array's 256 columns. CNN1's
// 1750 fix how its weights divide between convolutions, in three stages of equal work, and fully
// connected layers.
#include "workloads/network/builder.h"
#include "workloads/network/builtin/families.h"

namespace lockstep::network::builtin {

namespace {

ValueId rows(Builder& b, const std::string& name, const Parameters& parameters, int64_t columns) {
    return b.input(name, ElementType::kFp32, {parameters.at("batch"), columns});
}

ValueId fully_connected(Builder& b, const std::string& name, ValueId x, int64_t features,
                        Operator nonlinearity) {
    return b.node(nonlinearity, name + ".act", {b.linear(name, x, features)});
}

Graph perceptron(Builder b, const Parameters& parameters, int layers, int64_t width) {
    ValueId x = rows(b, "x", parameters, width);
    for (int i = 1; i <= layers; ++i)
        x = fully_connected(b, "fc" + std::to_string(i), x, width, Operator::kRelu);
    return b.finish({x});
}

/// One step of an LSTM cell: four fully connected layers, five vector layers.
ValueId cell(Builder& b, const std::string& name, ValueId x, ValueId c) {
    const int64_t width = b.shape(x).back();
    const auto gate = [&](const char* suffix, Operator op) {
        return fully_connected(b, name + suffix, x, width, op);
    };
    const ValueId in = gate(".i", Operator::kSigmoid), forget = gate(".f", Operator::kSigmoid),
                  out = gate(".o", Operator::kSigmoid), next = gate(".g", Operator::kTanh);
    const ValueId kept = b.node(Operator::kMul, name + ".kept", {forget, c}),
                  added = b.node(Operator::kMul, name + ".added", {in, next});
    const ValueId state = b.node(Operator::kAdd, name + ".state", {kept, added});
    return b.node(Operator::kMul, name + ".h",
                  {out, b.node(Operator::kTanh, name + ".tanh", {state})});
}

/// Cells one after the other, plain layers, and residual sums.
Graph recurrent(Builder b, const Parameters& parameters, int64_t width, int cells, int residuals,
                int plain) {
    ValueId x = rows(b, "x", parameters, width);
    for (int i = 1; i <= cells; ++i) {
        const std::string name = "cell" + std::to_string(i);
        x = cell(b, name, x, rows(b, name + ".c", parameters, width));
    }
    ValueId before = x;
    for (int i = 1; i <= plain; ++i)
        x = fully_connected(b, "fc" + std::to_string(i), x, width, Operator::kTanh);
    for (int i = 1; i <= residuals; ++i) {
        const ValueId sum = b.node(Operator::kAdd, "sum" + std::to_string(i), {x, before});
        before = x;
        x = sum;
    }
    return b.finish({x});
}

ValueId convolution(Builder& b, const std::string& name, ValueId x, int64_t channels,
                    int64_t kernel) {
    x = b.convolution(name, x, channels, kernel, {.pad = kernel / 2, .bias = true});
    return b.node(Operator::kRelu, name + ".relu", {x});
}

}  // namespace

Graph mlp0(const Parameters& parameters, uint64_t seed, bool with_values) {
    return perceptron(Builder("mlp0", seed, with_values), parameters, 5, 2000);
}

Graph mlp1(const Parameters& parameters, uint64_t seed, bool with_values) {
    return perceptron(Builder("mlp1", seed, with_values), parameters, 4, 1118);
}

Graph lstm0(const Parameters& parameters, uint64_t seed, bool with_values) {
    return recurrent(Builder("lstm0", seed, with_values), parameters, 1472, 6, 4, 0);
}

Graph lstm1(const Parameters& parameters, uint64_t seed, bool with_values) {
    return recurrent(Builder("lstm1", seed, with_values), parameters, 958, 3, 4, 25);
}

Graph cnn0(const Parameters& parameters, uint64_t seed, bool with_values) {
    Builder b("cnn0", seed, with_values);
    ValueId x = b.input("board", ElementType::kFp32, {parameters.at("batch"), 256, 19, 19});
    for (int i = 1; i <= 16; ++i)
        x = convolution(b, "conv" + std::to_string(i), x, 256, i <= 13 ? 3 : 1);
    return b.finish({x});
}

Graph cnn1(const Parameters& parameters, uint64_t seed, bool with_values) {
    Builder b("cnn1", seed, with_values);
    constexpr int64_t kChannels = 102, kWidth = 4800;
    ValueId x = b.input("image", ElementType::kFp32, {parameters.at("batch"), 3, 56, 56});
    for (int stage = 1; stage <= 3; ++stage)
        for (int i = 1; i <= 24; ++i) {
            const std::string name = std::to_string(stage) + "." + std::to_string(i);
            x = convolution(b, "conv" + name, x, kChannels << (stage - 1), 3);
            // The first halves the image for what follows it.
            if (i % 6 == 1) x = b.max_pool("pool" + name, x, 3, i == 1 ? 2 : 1, 1);
        }
    x = b.node(Operator::kGlobalAveragePool, "pool", {x});
    x = b.node(Operator::kFlatten, "flatten", {x}, {{"axis", int64_t{1}}});
    for (int i = 1; i <= 3; ++i)
        x = fully_connected(b, "fc" + std::to_string(i), x, kWidth, Operator::kRelu);
    return b.finish({b.linear("fc4", x, 1000)});
}

}  // namespace lockstep::network::builtin
