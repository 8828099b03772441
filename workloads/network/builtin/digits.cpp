// SPDX-License-Identifier: Apache-2.0
// The CNN that `lockstep demo` trains (workloads/cuda/train), with the weights that its reference
// comes to; its inputs are drawn digits that it was not trained on.
#include "workloads/network/builtin/digits.h"

#include <algorithm>
#include <bit>

#include "sim/error/error.h"
#include "workloads/cuda/digits/digits.h"
#include "workloads/cuda/train/weights.h"
#include "workloads/network/builtin/families.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network {

namespace {

constexpr std::uint32_t kTrained[] = {
#include "workloads/network/builtin/data/digits_cnn.inc"
};

// As the trainer seeds them (workloads/cuda/train/program.cpp).
constexpr std::uint64_t kTrainingSeed = 2, kTestSeed = 3;

Tensor images_of(const cuda::Digits& digits) {
    std::vector<float> values;
    for (const std::uint8_t pixel : digits.pixels)
        values.push_back(static_cast<float>(pixel) / 255.0f);
    return make_tensor({digits.count(), 1, digits.rows, digits.cols},
                       std::span<const float>(values));
}

LabelledImages labelled(int count, std::uint64_t seed) {
    const cuda::Digits digits = cuda::draw_digits(count, seed);
    return {images_of(digits), {digits.labels.begin(), digits.labels.end()}};
}

}  // namespace

bool is_digits_network(const Graph& graph) {
    return graph.name == "digits_cnn";
}

LabelledImages digits_to_calibrate(int count) {
    return labelled(count, kTrainingSeed);
}

std::vector<LabelledImages> digits_to_calibrate(int count, int batch) {
    const cuda::Digits digits = cuda::draw_digits(std::max(count, batch), kTrainingSeed);
    std::vector<LabelledImages> batches;
    for (int first = 0; first + batch <= digits.count(); first += batch) {
        cuda::Digits part;
        for (int i = first; i < first + batch; ++i) {
            part.pixels.insert(part.pixels.end(), digits.image(i).begin(), digits.image(i).end());
            part.labels.push_back(digits.labels[static_cast<std::size_t>(i)]);
        }
        batches.push_back({images_of(part), {part.labels.begin(), part.labels.end()}});
    }
    return batches;
}

LabelledImages digits_to_test(int count, std::uint64_t seed) {
    return labelled(count, kTestSeed + 2 * seed);
}

namespace builtin {

Graph digits_cnn(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("digits_cnn", seed, with_values);
    std::size_t at = 0;
    const auto trained = [&](const char* name, Shape shape) {
        std::vector<float> values;
        for (std::int64_t i = 0; i < element_count(shape); ++i)
            values.push_back(std::bit_cast<float>(kTrained[at++]));
        return b.parameter(name, make_tensor(std::move(shape), std::span<const float>(values)));
    };
    const auto convolve = [&](const char* name, ValueId x, ValueId w, ValueId bias,
                              std::int64_t stride, std::int64_t pad) {
        return b.node(
            Operator::kConv, name, {x, w, bias},
            {{"strides", std::vector{stride, stride}}, {"pads", std::vector{pad, pad, pad, pad}}});
    };
    ValueId x = b.input("image", ElementType::kFp32,
                        {parameters.at("batch"), 1, cuda::kImageSide, cuda::kImageSide});
    ValueId w =
        trained("conv1.weight", {cuda::kConv1Filters, 1, cuda::kConv1Window, cuda::kConv1Window});
    ValueId bias = trained("conv1.bias", {cuda::kConv1Filters});
    x = convolve("conv1", x, w, bias, cuda::kConv1Stride, cuda::kConv1Pad);
    x = b.max_pool("pool", b.node(Operator::kRelu, "conv1.relu", {x}), 2, 2, 0);
    w = trained("conv2.weight",
                {cuda::kConv2Filters, cuda::kConv1Filters, cuda::kConv2Window, cuda::kConv2Window});
    bias = trained("conv2.bias", {cuda::kConv2Filters});
    x = convolve("conv2", x, w, bias, cuda::kConv2Stride, cuda::kConv2Pad);
    x = b.node(Operator::kRelu, "conv2.relu", {x});
    x = b.node(Operator::kFlatten, "flatten", {x}, {{"axis", std::int64_t{1}}});
    w = trained("linear.weight", {cuda::kFeatures, cuda::kClasses});
    bias = trained("linear.bias", {cuda::kClasses});
    LOCKSTEP_CHECK(at == std::size(kTrained), "{} of {} weights", at, std::size(kTrained));
    return b.finish({b.node(Operator::kGemm, "linear", {x, w, bias})});
}

Graph digits_mlp(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("digits_mlp", seed, with_values);
    ValueId x = b.input("image", ElementType::kFp32,
                        {parameters.at("batch"), 1, cuda::kImageSide, cuda::kImageSide});
    x = b.node(Operator::kFlatten, "flatten", {x}, {{"axis", std::int64_t{1}}});
    x = b.node(Operator::kRelu, "relu", {b.linear("linear1", x, parameters.at("hidden"))});
    x = b.dropout("dropout", x, parameters.at("dropout"));
    return b.finish({b.linear("linear2", x, cuda::kClasses)});
}

}  // namespace builtin
}  // namespace lockstep::network
