// SPDX-License-Identifier: Apache-2.0
// The six applications of the TPU paper. Source: Jouppi et al., "In-Datacenter Performance Analysis
// of a Tensor Processing Unit" (2017), Table 1: layers by kind, nonlinearity, weights, operations
// per byte of weights, batch. Their shapes are not published; these have Table 1's numbers, and
// where it leaves a choice layers are square and alike, but for what the paper says elsewhere.
// Shares of multiplications that are useful (Table 3, row 2 of row 1) are properties of shapes too.
//   MLP1   hidden layers of 1200: about a ninth of the multiplications is useless.
//   LSTM0  none is useless: widths are multiples of 256. Six layers of 1024 with residual sums from
//          the third on, as in Wu et al., "Google's Neural Machine Translation System" (2016).
//   LSTM1  a 600x600 matrix takes nine steps (text to Figure 11): nine layers of 600, and an output
//          layer for the rest of the weights. On tpu_v1 with 16-bit activations its values fill 4.6
//          MiB (Table 8: 4.5).
//   CNN0   2888 operations per byte are 8 boards of 361 = 19 x 19 positions: Go. 48 planes and a
//          first window of 5x5 as in Silver et al., "Mastering the game of Go" (2016); its 256
//          channels fill the array, its values 1.4 MiB (Table 8: 1.5).
//   CNN1   "shallow feature depths" (text to Table 3) let half of the array idle. The inception
//          network of Ioffe and Szegedy (2015), Figure 5, has 69 convolutions and 13 poolings:
//          these are its modules, with three convolutions more before them; the rest of the weights
//          is in the fully connected layers. Its 1750 operations per byte are taken as 875
//          multiplications and as many additions: rows 2 and 5 of Table 3 give 823 for each weight
//          that is shifted in while the array waits.
// An LSTM's gates are two products each, of the input and of the state before. What counts as a
// vector layer is not said: here LSTM0's single operations, LSTM1's state and output.
#include <cmath>

#include "workloads/network/builtin/families.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network::builtin {

namespace {

ValueId rows(Builder& b, const std::string& name, const Parameters& parameters,
             std::int64_t columns) {
    return b.input(name, ElementType::kFp32, {parameters.at("batch"), columns});
}

ValueId fully_connected(Builder& b, const std::string& name, ValueId x, std::int64_t features,
                        Operator nonlinearity) {
    return b.node(nonlinearity, name + ".act", {b.linear(name, x, features)});
}

Graph perceptron(Builder b, const Parameters& parameters, const std::vector<std::int64_t>& widths) {
    ValueId x = rows(b, "x", parameters, widths[0]);
    for (std::size_t i = 1; i < widths.size(); ++i)
        x = fully_connected(b, "fc" + std::to_string(i), x, widths[i], Operator::kRelu);
    return b.finish({x});
}

struct State {
    ValueId h, c;
};

/// One step of an LSTM layer: four fully connected layers, five operations on vectors.
State cell(Builder& b, const std::string& name, ValueId x, State before) {
    const std::int64_t width = b.shape(before.h).back();
    const auto gate = [&](const std::string& gate_name, Operator op) {
        const ValueId from_input = b.linear(gate_name, x, width);
        const ValueId recurrent = b.node(
            Operator::kMatMul, gate_name + ".recurrent",
            {before.h,
             b.weight(gate_name + ".u", {width, width}, 1 / std::sqrt(static_cast<float>(width)))});
        const ValueId sum = b.node(Operator::kAdd, gate_name + ".sum", {from_input, recurrent});
        return b.node(op, gate_name + ".act", {sum});
    };
    const ValueId in = gate(name + ".i", Operator::kSigmoid),
                  forget = gate(name + ".f", Operator::kSigmoid),
                  out = gate(name + ".o", Operator::kSigmoid),
                  next = gate(name + ".g", Operator::kTanh);
    const ValueId kept = b.node(Operator::kMul, name + ".kept", {forget, before.c}),
                  added = b.node(Operator::kMul, name + ".added", {in, next}),
                  state = b.node(Operator::kAdd, name + ".state", {kept, added}),
                  squashed = b.node(Operator::kTanh, name + ".tanh", {state});
    return {b.node(Operator::kMul, name + ".h", {out, squashed}), state};
}

/// Layers one above the other, a step of each; states come from the host and go back to it.
/// Residual sums from layer `first_sum` on, or a last one around all.
struct Recurrent {
    std::int64_t input, width;
    int layers, first_sum;
    std::int64_t output;  ///< of a last fully connected layer; 0: there is none
};

Graph recurrent(Builder b, const Parameters& parameters, const Recurrent& shape) {
    const ValueId input = rows(b, "x", parameters, shape.input);
    ValueId x = input;
    std::vector<ValueId> outputs;
    for (int i = 1; i <= shape.layers; ++i) {
        const std::string name = "cell" + std::to_string(i);
        const ValueId h = rows(b, name + ".before.h", parameters, shape.width);
        const ValueId c = rows(b, name + ".before.c", parameters, shape.width);
        const State state = cell(b, name, x, {h, c});
        outputs.insert(outputs.end(), {state.h, state.c});
        x = i >= shape.first_sum
                ? b.node(Operator::kAdd, "residual" + std::to_string(i), {state.h, x})
                : state.h;
    }
    if (shape.output != 0) {
        x = b.node(Operator::kAdd, "residual", {x, input});
        x = b.linear("fc", x, shape.output);
    }
    outputs.insert(outputs.begin(), x);
    return b.finish(outputs);
}

ValueId convolution(Builder& b, const std::string& name, ValueId x, std::int64_t channels,
                    std::int64_t kernel) {
    x = b.convolution(name, x, channels, kernel, {.pad = kernel / 2, .bias = true});
    return b.node(Operator::kRelu, name + ".relu", {x});
}

/// Branches of an inception module: 1x1; 1x1, 3x3; 1x1, 3x3, 3x3; pooling, 1x1. A module without
/// the first and the last halves the image.
struct Inception {
    const char* name;
    std::int64_t one, before_three, three, before_double, twice, pooled;
};

ValueId inception(Builder& b, ValueId x, const Inception& widths) {
    const std::string name = widths.name;
    const std::int64_t stride = widths.one == 0 ? 2 : 1;
    const auto convolve = [&](const char* suffix, ValueId from, std::int64_t channels,
                              std::int64_t kernel, std::int64_t step) {
        const ValueId y = b.convolution(name + suffix, from, channels, kernel,
                                        {.stride = step, .pad = kernel / 2, .bias = true});
        return b.node(Operator::kRelu, name + suffix + ".relu", {y});
    };
    std::vector<ValueId> branches;
    if (widths.one != 0) branches.push_back(convolve(".one", x, widths.one, 1, 1));
    const ValueId reduced = convolve(".three.reduce", x, widths.before_three, 1, 1);
    branches.push_back(convolve(".three", reduced, widths.three, 3, stride));
    const ValueId narrow = convolve(".double.reduce", x, widths.before_double, 1, 1);
    const ValueId first = convolve(".double1", narrow, widths.twice, 3, 1);
    branches.push_back(convolve(".double2", first, widths.twice, 3, stride));
    const ValueId pooled = b.max_pool(name + ".pool", x, 3, stride, 1);
    branches.push_back(widths.pooled == 0 ? pooled
                                          : convolve(".pooled", pooled, widths.pooled, 1, 1));
    return b.node(Operator::kConcat, name + ".join", branches, {{"axis", std::int64_t{1}}});
}

}  // namespace

Graph mlp0(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    return perceptron(Builder("mlp0", seed, with_values), parameters,
                      {2000, 2000, 2000, 2000, 2000, 2000});
}

Graph mlp1(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    return perceptron(Builder("mlp1", seed, with_values), parameters, {880, 1200, 1200, 1200, 880});
}

Graph lstm0(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    return recurrent(Builder("lstm0", seed, with_values), parameters,
                     {.input = 1536, .width = 1024, .layers = 6, .first_sum = 3, .output = 0});
}

Graph lstm1(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    return recurrent(Builder("lstm1", seed, with_values), parameters,
                     {.input = 600, .width = 600, .layers = 9, .first_sum = 10, .output = 13500});
}

Graph cnn0(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("cnn0", seed, with_values);
    ValueId x = b.input("board", ElementType::kFp32, {parameters.at("batch"), 48, 19, 19});
    for (int i = 1; i <= 16; ++i)
        x = convolution(b, "conv" + std::to_string(i), x, 256, i == 1 ? 5 : i <= 14 ? 3 : 1);
    return b.finish({x});
}

Graph cnn1(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("cnn1", seed, with_values);
    constexpr std::int64_t kWidth = 6000, kClasses = 1900;
    ValueId x = b.input("image", ElementType::kFp32, {parameters.at("batch"), 3, 56, 56});
    for (int i = 1; i <= 4; ++i) x = convolution(b, "stem" + std::to_string(i), x, 104, 3);
    x = b.max_pool("stem.pool1", x, 3, 2, 1);
    x = convolution(b, "stem5", x, 96, 1);
    x = convolution(b, "stem6", x, 192, 3);
    x = b.max_pool("stem.pool2", x, 3, 1, 1);
    for (const Inception& widths :
         std::initializer_list<Inception>{{"3a", 64, 64, 64, 64, 96, 32},
                                          {"3b", 64, 64, 96, 64, 96, 64},
                                          {"3c", 0, 128, 160, 64, 96, 0},
                                          {"4a", 224, 64, 96, 96, 128, 128},
                                          {"4b", 192, 96, 128, 96, 128, 128},
                                          {"4c", 160, 128, 160, 128, 160, 128},
                                          {"4d", 96, 128, 192, 160, 192, 128},
                                          {"4e", 0, 128, 192, 192, 256, 0},
                                          {"5a", 352, 192, 320, 160, 224, 128},
                                          {"5b", 352, 192, 320, 192, 224, 128}})
        x = inception(b, x, widths);
    x = b.node(Operator::kGlobalAveragePool, "pool", {x});
    x = b.node(Operator::kFlatten, "flatten", {x}, {{"axis", std::int64_t{1}}});
    for (int i = 1; i <= 3; ++i)
        x = fully_connected(b, "fc" + std::to_string(i), x, kWidth, Operator::kRelu);
    return b.finish({b.linear("fc4", x, kClasses)});
}

}  // namespace lockstep::network::builtin
