// SPDX-License-Identifier: Apache-2.0
// Image classifiers. Sources: Krizhevsky, "One weird trick" (2014) as in torchvision's alexnet; He
// et al., "Deep Residual Learning" (2016) with the stride in the 3x3 convolution, as in
// torchvision's resnet (v1=1: in the 1x1 before it, as there); Sandler et al., "MobileNetV2"
// (2018), Table 2; Krizhevsky et al., "ImageNet Classification" (2012) as Caffe's bvlc_alexnet has
// it.
#include "workloads/network/builtin/families.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network::builtin {

namespace {

ValueId image(Builder& b, const Parameters& parameters) {
    return b.input("image", ElementType::kFp32, {parameters.at("batch"), 3, 224, 224});
}

ValueId relu(Builder& b, const std::string& name, ValueId x) {
    return b.node(Operator::kRelu, name, {x});
}

ValueId flatten(Builder& b, ValueId x) {
    return b.node(Operator::kFlatten, "flatten", {x}, {{"axis", std::int64_t{1}}});
}

ValueId convolution_and_normalisation(Builder& b, const std::string& name, ValueId x,
                                      std::int64_t channels, std::int64_t kernel,
                                      Builder::ConvolutionOptions options) {
    x = b.convolution(name + ".conv", x, channels, kernel, options);
    return b.batch_normalisation(name + ".bn", x);
}

/// Two 3x3 convolutions, or 1x1, 3x3, 1x1 (a bottleneck) with the stride in the 3x3 (torchvision's)
/// or in the first 1x1 (the paper's and Caffe's).
enum class Block { kBasic, kBottleneck, kStrideFirst };

/// `width` of the 3x3.
ValueId residual_block(Builder& b, const std::string& name, ValueId x, std::int64_t width,
                       std::int64_t stride, Block kind) {
    const bool bottleneck = kind != Block::kBasic, early = kind == Block::kStrideFirst;
    const std::int64_t channels = bottleneck ? 4 * width : width;
    ValueId y;
    if (bottleneck) {
        y = convolution_and_normalisation(b, name + ".1", x, width, 1,
                                          {.stride = early ? stride : 1});
        y = relu(b, name + ".1.relu", y);
        y = convolution_and_normalisation(b, name + ".2", y, width, 3,
                                          {.stride = early ? 1 : stride, .pad = 1});
        y = relu(b, name + ".2.relu", y);
        y = convolution_and_normalisation(b, name + ".3", y, channels, 1, {});
    } else {
        y = convolution_and_normalisation(b, name + ".1", x, width, 3,
                                          {.stride = stride, .pad = 1});
        y = relu(b, name + ".1.relu", y);
        y = convolution_and_normalisation(b, name + ".2", y, width, 3, {.pad = 1});
    }
    if (stride != 1 || b.shape(x).at(1) != channels)
        x = convolution_and_normalisation(b, name + ".shortcut", x, channels, 1,
                                          {.stride = stride});
    return relu(b, name + ".relu", b.node(Operator::kAdd, name + ".add", {y, x}));
}

Graph resnet(Builder b, const Parameters& parameters, const std::vector<std::int64_t>& blocks,
             Block kind) {
    ValueId x = convolution_and_normalisation(b, "stem", image(b, parameters), 64, 7,
                                              {.stride = 2, .pad = 3});
    x = b.max_pool("stem.pool", relu(b, "stem.relu", x), 3, 2, 1);
    for (std::size_t stage = 0; stage < blocks.size(); ++stage)
        for (std::int64_t i = 0; i < blocks[stage]; ++i) {
            const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
            const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
            x = residual_block(b, name, x, std::int64_t{64} << stage, stride, kind);
        }
    x = flatten(b, b.node(Operator::kGlobalAveragePool, "pool", {x}));
    return b.finish({b.linear("fc", x, 1000)});
}

ValueId relu6(Builder& b, const std::string& name, ValueId x) {
    const float low = 0, high = 6;
    const ValueId minimum = b.constant(name + ".min", make_tensor({}, std::span(&low, 1)));
    const ValueId maximum = b.constant(name + ".max", make_tensor({}, std::span(&high, 1)));
    return b.node(Operator::kClip, name, {x, minimum, maximum});
}

ValueId inverted_residual(Builder& b, const std::string& name, ValueId x, std::int64_t expansion,
                          std::int64_t channels, std::int64_t stride) {
    const std::int64_t inputs = b.shape(x).at(1), hidden = inputs * expansion;
    ValueId y = x;
    if (expansion != 1) {
        y = convolution_and_normalisation(b, name + ".expand", y, hidden, 1, {});
        y = relu6(b, name + ".expand.relu6", y);
    }
    y = convolution_and_normalisation(b, name + ".depthwise", y, hidden, 3,
                                      {.stride = stride, .pad = 1, .group = hidden});
    y = relu6(b, name + ".depthwise.relu6", y);
    y = convolution_and_normalisation(b, name + ".project", y, channels, 1, {});
    return stride == 1 && inputs == channels ? b.node(Operator::kAdd, name + ".add", {x, y}) : y;
}

}  // namespace

Graph alexnet(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("alexnet", seed, with_values);
    struct Layer {
        std::int64_t channels, kernel, stride, pad;
        bool pool;
    };
    ValueId x = image(b, parameters);
    int number = 0;
    for (const Layer& layer : {Layer{64, 11, 4, 2, true},
                               {192, 5, 1, 2, true},
                               {384, 3, 1, 1, false},
                               {256, 3, 1, 1, false},
                               {256, 3, 1, 1, true}}) {
        const std::string name = "conv" + std::to_string(++number);
        x = b.convolution(name, x, layer.channels, layer.kernel,
                          {.stride = layer.stride, .pad = layer.pad, .bias = true});
        x = relu(b, name + ".relu", x);
        if (layer.pool) x = b.max_pool(name + ".pool", x, 3, 2, 0);
    }
    x = flatten(b, x);
    const std::int64_t dropout = parameters.at("dropout");
    x = b.dropout("fc6.dropout", x, dropout);
    x = relu(b, "fc6.relu", b.linear("fc6", x, 4096));
    x = b.dropout("fc7.dropout", x, dropout);
    x = relu(b, "fc7.relu", b.linear("fc7", x, 4096));
    return b.finish({b.linear("fc8", x, 1000)});
}

Graph alexnet_2012(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("alexnet_2012", seed, with_values);
    ValueId x = b.input("image", ElementType::kFp32, {parameters.at("batch"), 3, 227, 227});
    const auto convolution = [&](const std::string& name, std::int64_t channels,
                                 std::int64_t kernel, Builder::ConvolutionOptions options) {
        options.bias = true;
        x = relu(b, name + ".relu", b.convolution(name, x, channels, kernel, options));
    };
    const auto normalise = [&](const std::string& name) {
        if (parameters.at("lrn") == 0) return;
        x = b.node(Operator::kLRN, name, {x},
                   {{"size", std::int64_t{5}}, {"alpha", 1e-4f}, {"beta", 0.75f}, {"bias", 1.0f}});
    };
    convolution("conv1", 96, 11, {.stride = 4});
    normalise("norm1");
    x = b.max_pool("conv1.pool", x, 3, 2, 0);
    convolution("conv2", 256, 5, {.pad = 2, .group = 2});
    normalise("norm2");
    x = b.max_pool("conv2.pool", x, 3, 2, 0);
    convolution("conv3", 384, 3, {.pad = 1});
    convolution("conv4", 384, 3, {.pad = 1, .group = 2});
    convolution("conv5", 256, 3, {.pad = 1, .group = 2});
    x = flatten(b, b.max_pool("conv5.pool", x, 3, 2, 0));
    x = relu(b, "fc6.relu", b.linear("fc6", x, 4096));
    x = relu(b, "fc7.relu", b.linear("fc7", x, 4096));
    return b.finish({b.linear("fc8", x, 1000)});
}

Graph resnet18(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    return resnet(Builder("resnet18", seed, with_values), parameters, {2, 2, 2, 2}, Block::kBasic);
}

Graph resnet50(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    return resnet(Builder("resnet50", seed, with_values), parameters, {3, 4, 6, 3},
                  parameters.at("v1") != 0 ? Block::kStrideFirst : Block::kBottleneck);
}

Graph mobilenet_v2(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("mobilenet_v2", seed, with_values);
    struct Stage {
        std::int64_t expansion, channels, repeats, stride;
    };
    ValueId x = convolution_and_normalisation(b, "stem", image(b, parameters), 32, 3,
                                              {.stride = 2, .pad = 1});
    x = relu6(b, "stem.relu6", x);
    int number = 0;
    for (const Stage& stage : {Stage{1, 16, 1, 1},
                               {6, 24, 2, 2},
                               {6, 32, 3, 2},
                               {6, 64, 4, 2},
                               {6, 96, 3, 1},
                               {6, 160, 3, 2},
                               {6, 320, 1, 1}})
        for (std::int64_t i = 0; i < stage.repeats; ++i)
            x = inverted_residual(b, "block" + std::to_string(++number), x, stage.expansion,
                                  stage.channels, i == 0 ? stage.stride : 1);
    x = convolution_and_normalisation(b, "head", x, 1280, 1, {});
    x = relu6(b, "head.relu6", x);
    x = flatten(b, b.node(Operator::kGlobalAveragePool, "pool", {x}));
    return b.finish({b.linear("fc", x, 1000)});
}

Graph mlp(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("mlp", seed, with_values);
    ValueId x = b.input("x", ElementType::kFp32, {parameters.at("batch"), parameters.at("input")});
    for (std::int64_t i = 1; i <= parameters.at("layers"); ++i) {
        const std::string name = "fc" + std::to_string(i);
        x = relu(b, name + ".relu", b.linear(name, x, parameters.at("hidden")));
    }
    return b.finish({b.linear("classifier", x, parameters.at("classes"))});
}

}  // namespace lockstep::network::builtin
