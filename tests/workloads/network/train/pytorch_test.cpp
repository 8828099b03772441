// SPDX-License-Identifier: Apache-2.0
// Three steps of training in FP64 against PyTorch's (data/make.py, which builds the same networks).
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/paths.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/train/training_step.h"

namespace lockstep::network {
namespace {

using enum Operator;
using Integers = std::vector<std::int64_t>;

/// A graph holds its constants (shares of means) in fp32, to 2^-25.
constexpr double kRate = 0.0625, kTolerance = 1e-7;

std::vector<float> values_of(std::int64_t tensor, std::int64_t count, float scale, float shift) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t k = (i * 37 + tensor * 101 + i * i % 29 * 11) % 256;
        values.push_back((static_cast<float>(k) / 256 - 0.5f) * scale + shift);
    }
    return values;
}

/// A network of make.py, with its input and labels.
struct Net {
    Builder b{"net", 1};
    std::int64_t weights = 0;
    Tensor input;
    std::vector<int> labels;
    std::map<std::string, std::string> names;  ///< of weights that have another one when trained

    Tensor made(std::int64_t tensor, Shape shape, float scale = 1, float shift = 0) {
        const std::vector<float> values = values_of(tensor, element_count(shape), scale, shift);
        return make_tensor(std::move(shape), std::span<const float>(values));
    }
    ValueId w(Shape shape, float scale = 1, float shift = 0) {
        ++weights;
        return b.parameter("w" + std::to_string(weights),
                           made(weights, std::move(shape), scale, shift));
    }
    ValueId reals(const std::string& name, Shape shape, std::vector<float> values) {
        return b.constant(name, make_tensor(std::move(shape), std::span<const float>(values)));
    }
    ValueId node(Operator op, const std::string& name, std::vector<ValueId> inputs,
                 Attributes attributes = {}, std::size_t outputs = 1) {
        return b.node(op, name, std::move(inputs), std::move(attributes), outputs);
    }
};

const float kEpsilon = 0x1p-10f;

Graph cnn(Net& n) {
    n.input = n.made(91, {4, 2, 7, 7}, 2);
    n.labels = {0, 3, 4, 1};
    ValueId x = n.b.input("x", ElementType::kFp32, {4, 2, 7, 7});
    const ValueId c1 = n.w({6, 2, 3, 3}), b1 = n.w({6}), g = n.w({6}, 0.5f, 1), h = n.w({6});
    x = n.node(kConv, "conv1", {x, c1, b1},
               {{"strides", Integers{2, 2}}, {"pads", Integers{1, 1, 1, 1}}});
    x = n.node(kBatchNormalization, "norm",
               {x, g, h, n.b.statistic("mean", {6}, 0, 0), n.b.statistic("variance", {6}, 0, 1)},
               {{"epsilon", kEpsilon}});
    x = n.node(kMaxPool, "pool", {n.node(kRelu, "relu", {x})}, {{"kernel_shape", Integers{2, 2}}});
    x = n.node(kConv, "conv2", {x, n.w({6, 3, 2, 2})},
               {{"group", std::int64_t{2}}, {"pads", Integers{1, 1, 1, 1}}});
    x = n.node(kAveragePool, "average", {n.node(kTanh, "tanh", {x})},
               {{"kernel_shape", Integers{3, 3}},
                {"strides", Integers{2, 2}},
                {"pads", Integers{1, 1, 1, 1}}});
    x = n.node(kReduceMean, "mean.image", {x},
               {{"axes", Integers{2, 3}}, {"keepdims", std::int64_t{0}}});
    x = n.node(kConcat, "twice", {x, x}, {{"axis", std::int64_t{1}}});
    const ValueId l = n.w({12, 5}), m = n.w({5});
    return n.b.finish({n.node(kGemm, "linear", {x, l, m})});
}

Graph transformer(Net& n) {
    const Integers ids = {1, 4, 2, 1, 0, 3, 3, 5};
    n.input = make_tensor({2, 4}, std::span<const std::int64_t>(ids));
    n.labels = {4, 2, 1, 0, 3, 3, 5, 2};
    const ValueId in = n.b.input("ids", ElementType::kInt64, {2, 4});
    const ValueId e = n.w({6, 8}), p = n.w({4, 8}), g = n.w({8}, 0.5f, 1), h = n.w({8});
    ValueId x = n.node(kAdd, "embed", {n.node(kGather, "rows", {e, in}), p});
    ValueId y = n.node(kLayerNormalization, "norm", {x, g, h}, {{"epsilon", kEpsilon}});
    const auto linear = [&](const std::string& name, ValueId from, Shape shape) {
        const ValueId w = n.w(shape), bias = n.w({shape[1]});
        return n.node(kAdd, name, {n.node(kMatMul, name + ".product", {from, w}), bias});
    };
    y = linear("qkv", y, {8, 24});
    const Integers thirds = {8, 8, 8};
    const ValueId q =
        n.node(kSplit, "split",
               {y, n.b.constant("thirds", make_tensor({3}, std::span<const std::int64_t>(thirds)))},
               {{"axis", std::int64_t{2}}}, 3);
    const auto heads = [&](const std::string& name, ValueId from) {
        return n.b.transpose(name, n.b.reshape(name + ".heads", from, {2, 4, 2, 4}), {0, 2, 1, 3});
    };
    const ValueId keys = n.b.transpose("keys.columns", heads("keys", q + 1), {0, 1, 3, 2});
    ValueId scores = n.node(kMatMul, "scores", {heads("queries", q), keys});
    scores = n.node(kMul, "scaled", {scores, n.reals("half", {}, {0.5f})});
    std::vector<float> later;
    for (int i = 0; i < 16; ++i) later.push_back(i % 4 > i / 4 ? -16.0f : 0.0f);
    scores = n.node(kAdd, "masked", {scores, n.reals("mask", {4, 4}, later)});
    y = n.node(kMatMul, "context", {n.node(kSoftmax, "softmax", {scores}), heads("values", q + 2)});
    y = n.b.reshape("joined", n.b.transpose("join", y, {0, 2, 1, 3}), {2, 4, 8});
    x = n.node(kAdd, "sum1", {x, linear("out", y, {8, 8})});
    y = n.node(kGelu, "gelu", {linear("up", x, {8, 16})});
    x = n.node(kAdd, "sum2", {x, linear("down", y, {16, 8})});
    x = n.b.reshape("tokens", x, {8, 8});
    return n.b.finish({n.node(kGemm, "head", {x, e}, {{"transB", std::int64_t{1}}})});
}

Graph recurrent(Net& n) {
    n.input = n.made(91, {5, 3, 4}, 2);
    n.labels = {2, 0, 1};
    ValueId x = n.b.input("x", ElementType::kFp32, {5, 3, 4});
    const auto layer = [&](Operator op, const std::string& name, std::int64_t gates,
                           Attributes attributes) {
        const std::int64_t rows = gates * 4;
        const ValueId w = n.w({1, rows, 4}), r = n.w({1, rows, 4});
        // An LSTM's two biases are added up before it is trained: here the second is zero.
        Tensor biases(ElementType::kFp32, {1, 2 * rows});
        const std::int64_t trained = op == kLSTM ? rows : 2 * rows;
        const std::vector<float> values = values_of(++n.weights, trained, 1, 0);
        std::copy(values.begin(), values.end(), biases.as<float>().begin());
        const ValueId both = n.b.parameter("w" + std::to_string(n.weights), biases);
        if (op == kLSTM) n.names = {{"w1", name + ".W"}, {"w2", name + ".R"}, {"w3", name + ".B"}};
        attributes["hidden_size"] = std::int64_t{4};
        const ValueId y = n.node(op, name, {x, w, r, both}, attributes, op == kLSTM ? 3 : 2);
        return op == kLSTM ? n.b.reshape(name + ".steps", y, {5, 3, 4})
                           : n.b.reshape(name + ".last", y + 1, {3, 4});
    };
    x = layer(kLSTM, "lstm", 4, {});
    x = layer(kGRU, "gru", 3, {{"linear_before_reset", std::int64_t{1}}});
    const ValueId f = n.w({4, 3}), fb = n.w({3});
    return n.b.finish({n.node(kGemm, "linear", {x, f, fb})});
}

Optimiser optimiser(const std::string& kind) {
    Optimiser o;
    o.clip_norm = 1;
    o.momentum = 0.875;
    if (kind == "sgd") o.weight_decay = 0x1p-8;
    if (kind == "nesterov") o.nesterov = true;
    if (kind == "adamw") {
        o.kind = Optimiser::Kind::kAdamW;
        o.beta1 = 0.875;
        o.beta2 = 0.9375;
        o.epsilon = 0x1p-20;
        o.weight_decay = 0.125;
    }
    return o;
}

/// The losses, then of each weight the sum and the weighted sum.
std::vector<double> trained(Graph (*make)(Net&), const std::string& kind) {
    Net n;
    const Graph graph = make(n);
    const Trainable trainable = make_trainable(graph, Phase::kTraining);
    StepOptions options;
    options.optimiser = optimiser(kind);
    const TrainingStep step = training_step(trainable, options);
    std::vector<Tensor> inputs(step.graph.inputs.size());
    inputs[0] = n.input;
    Tensor target(ElementType::kFp32, step.graph.shape(step.graph.inputs[step.target]));
    const auto classes = static_cast<std::size_t>(target.shape.back());
    for (std::size_t i = 0; i < n.labels.size(); ++i)
        target.as<float>()[i * classes + static_cast<std::size_t>(n.labels[i])] = 1;
    inputs[step.target] = target;
    for (const StepVariable& v : step.variables)
        inputs[v.input] = from_doubles(ElementType::kFp64, v.initial.shape, to_doubles(v.initial));
    std::vector<double> numbers;
    for (std::uint64_t s = 1; s <= 3; ++s) {
        for (const auto& [scalar, input] : step.scalars) {
            const double value = value_of(scalar, options.optimiser, kRate, s);
            inputs[input] = from_doubles(ElementType::kFp64, {1}, std::span(&value, 1));
        }
        const std::vector<Tensor> outputs = execute(step.graph, inputs, Precision::kFp64);
        numbers.push_back(to_doubles(outputs[0]).at(0));
        for (const StepVariable& v : step.variables) inputs[v.input] = outputs[v.output];
    }
    for (std::int64_t w = 1; w <= n.weights; ++w) {
        std::string name = "w" + std::to_string(w);
        if (n.names.contains(name)) name = n.names[name];
        for (const StepVariable& v : step.variables) {
            if (v.name != name) continue;
            double sum = 0, weighted = 0, place = 0;
            for (const double x : to_doubles(inputs[v.input])) {
                sum += x;
                weighted += x * ++place;
            }
            numbers.push_back(sum);
            numbers.push_back(weighted);
        }
    }
    return numbers;
}

TEST(PyTorch, TrainsToTheSameWeights) {
    std::ifstream file(source_path("tests/workloads/network/train/data/torch.txt"));
    int lines = 0;
    for (std::string line; std::getline(file, line); ++lines) {
        std::istringstream words(line);
        std::string name, kind;
        words >> name >> kind;
        SCOPED_TRACE(name + " " + kind);
        std::vector<double> wanted;
        for (double v = 0; words >> v;) wanted.push_back(v);
        const std::vector<double> got = trained(name == "Cnn"           ? cnn
                                                : name == "Transformer" ? transformer
                                                                        : recurrent,
                                                kind);
        ASSERT_EQ(got.size(), wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_NEAR(got[i], wanted[i], kTolerance * std::max(1.0, std::abs(wanted[i])))
                << "number " << i;
    }
    EXPECT_EQ(lines, 9);
}

}  // namespace
}  // namespace lockstep::network
