// SPDX-License-Identifier: Apache-2.0
// What the graphs of trainings hold and those of inference do not.
#include <gmock/gmock.h>

#include "tests/workloads/network/tpu/run_on.h"

namespace lockstep::network {
namespace {

using enum Operator;
using Integers = std::vector<std::int64_t>;

void expect_right(Graph graph) {
    for (const TpuCheck& check : run_on(std::move(graph), "tpu_v3").checks)
        EXPECT_TRUE(check.passed) << check.output << ": " << check.message;
}

TEST(TpuTraining, ConvolvesWithFiltersThatAreInputs) {
    struct Form {
        Shape x, w;
        Attributes attributes;
    };
    const std::vector<Form> forms = {
        {{2, 3, 8, 8}, {5, 3, 3, 3}, {{"pads", Integers{1, 1, 1, 1}}}},
        {{1, 2, 9, 7}, {140, 2, 2, 3}, {{"strides", Integers{2, 1}}}},
        {{2, 6, 6, 6}, {4, 3, 3, 3}, {{"group", std::int64_t{2}}}},
        {{1, 4, 6, 6}, {4, 1, 3, 3}, {{"group", std::int64_t{4}}, {"pads", Integers{1, 0, 1, 0}}}},
        {{3, 150, 7, 7}, {4, 150, 2, 2}, {{"dilations", Integers{3, 2}}}}};
    for (const Form& form : forms) {
        SCOPED_TRACE(to_string(form.x) + to_string(form.w));
        Builder b("filters", 1);
        const ValueId x = b.input("x", ElementType::kFp32, form.x),
                      w = b.input("w", ElementType::kFp32, form.w),
                      bias = b.input("bias", ElementType::kFp32, {form.w[0]});
        const ValueId y = b.node(kConv, "conv", {x, w, bias}, form.attributes);
        expect_right(b.finish({b.node(kRelu, "relu", {y})}));
    }
}

/// The gradient of 3x3 filters: batch and channels change places, and dy are the filters.
Graph gradient_of_filters(std::int64_t batch, std::int64_t stride) {
    Builder b("gradient", 1);
    const std::int64_t side = 13, out = (side - 1) / stride + 1;
    const ValueId x = b.input("x", ElementType::kFp32, {batch, 20, side, side}),
                  dy = b.input("dy", ElementType::kFp32, {batch, 24, out, out});
    const auto turned = [&](const std::string& name, ValueId v) {
        return b.transpose(name, v, {1, 0, 2, 3});
    };
    return b.finish(
        {b.node(kConv, "conv", {turned("images", x), turned("filters", dy)},
                {{"pads", Integers{1, 1, 1, 1}}, {"dilations", Integers{stride, stride}}})});
}

TEST(TpuTraining, PacksTheTapsOfFiltersGradientsOfSmallBatches) {
    for (const std::int64_t stride : {1, 2}) {
        expect_right(gradient_of_filters(3, stride));
        expect_right(gradient_of_filters(70, stride));
        const std::size_t pixels = stride == 1 ? 13 * 13 : 7 * 7;
        const auto passes = [&](std::int64_t batch) {
            return count(run_on(gradient_of_filters(batch, stride), "tpu_v3").compiled.program,
                         tpu::Opcode::kReadWeights);
        };
        // Of 128 lanes each; from more than half of these on, one for each pixel.
        EXPECT_EQ(passes(70) % pixels, 0u);
        EXPECT_EQ(passes(3) * pixels, passes(70) * ((3 * pixels + 127) / 128));
    }
}

TEST(TpuTraining, KeepsPixelsWholeWhereZerosComeBetweenThem) {
    Builder b("spread", 1);
    const ValueId y = b.input("y", ElementType::kFp32, {4, 64, 8, 8}),
                  w = b.input("w", ElementType::kFp32, {64, 32, 3, 3});
    const Ran ran =
        run_on(b.finish({b.node(kConvTranspose, "spread", {y, w}, {{"strides", Integers{2, 2}}})}),
               "tpu_v3");
    for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    // Element by element each would take an access of 64 bytes.
    const auto spread =
        std::ranges::find(ran.result.steps, "spread.spread", &tpu::StepResult::name);
    ASSERT_NE(spread, ran.result.steps.end());
    EXPECT_LE(spread->dram_bytes_written, std::uint64_t{4} * 64 * 8 * 8 * 4 * 2);
}

TEST(TpuTraining, ComparesOneValueWithAnImageAsThatLies) {
    Builder b("mask", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 6, 9, 9});
    const ValueId y = b.convolution("conv", x, 70, 3, {.pad = 1});
    const ValueId zero = b.constant("zero", make_tensor({}, std::vector<float>{0.25f}));
    const ValueId mask = b.node(kGreater, "mask", {y, zero});
    const Ran ran =
        run_on(b.finish({b.node(kMul, "kept",
                                {b.node(kCast, "number", {mask}, {{"to", std::int64_t{1}}}), y})}),
               "tpu_v3");
    for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    const auto step = std::ranges::find(ran.result.steps, "mask", &tpu::StepResult::name);
    ASSERT_NE(step, ran.result.steps.end());
    EXPECT_LE(step->dram_bytes_read, std::uint64_t{2} * 70 * 9 * 9 * 4 + 4096);
}

TEST(TpuTraining, ReadsStatisticsOfChannelsAndRepeatedValuesOnce) {
    Builder b("statistics", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {4, 6, 16, 16});
    const ValueId y = b.convolution("conv", x, 70, 3, {.pad = 1});
    const ValueId mean = b.node(kReduceMean, "mean", {y},
                                {{"axes", Integers{0, -1, 2}}, {"keepdims", std::int64_t{1}}});
    const Integers extents = b.shape(y);
    const ValueId shape =
        b.constant("shape", make_tensor({4}, std::span<const std::int64_t>(extents)));
    const ValueId centred = b.node(kSub, "centred", {y, b.node(kExpand, "spread", {mean, shape})});
    const Ran ran = run_on(b.finish({centred, mean}), "tpu_v3");
    for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    const std::uint64_t bytes = 4ull * 70 * 16 * 16 * 4;
    for (const tpu::StepResult& step : ran.result.steps) {
        EXPECT_NE(step.name, "spread");
        if (step.name == "mean" || step.name == "centred") {
            EXPECT_LE(step.dram_bytes_read, bytes + 4096) << step.name;
        }
        if (step.name == "mean") {
            EXPECT_LE(step.dram_bytes_written, 4096u);
        }
    }
}

TEST(TpuTraining, FindsTheWayBackFromAMaximum) {
    const std::vector<Attributes> forms = {
        {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}},
        {{"kernel_shape", Integers{3, 3}},
         {"strides", Integers{2, 2}},
         {"pads", Integers{1, 1, 1, 1}}},
        {{"kernel_shape", Integers{3, 2}},
         {"strides", Integers{3, 2}},
         {"ceil_mode", std::int64_t{1}}},
        {{"kernel_shape", Integers{2, 3}}, {"pads", Integers{1, 0, 0, 2}}}};
    for (const Attributes& form : forms) {
        Builder b("maximum", 1);
        const ValueId x = b.input("x", ElementType::kFp32, {2, 3, 7, 8});
        // Of a rectifier, which makes many equal.
        const ValueId z = b.node(kRelu, "z", {x}), y = b.node(kMaxPool, "y", {z}, form);
        const ValueId dy = b.input("dy", ElementType::kFp32, b.shape(y));
        expect_right(b.finish({b.node(kMaxPoolGrad, "dx", {z, dy}, form)}));
    }
}

TEST(TpuTraining, TurnsFiltersOfOneTapAround) {
    Builder b("pointwise", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 4, 5, 5}),
                  w = b.input("w", ElementType::kFp32, {4, 6, 1, 1});
    expect_right(b.finish({b.node(kConvTranspose, "spread", {x, w})}));
}

TEST(TpuTraining, AddsRowsByTheirIndices) {
    Builder b("rows", 1);
    const ValueId data = b.input("data", ElementType::kFp32, {2, 6}),
                  rows = b.input("rows", ElementType::kFp32, {40, 6}),
                  which = b.input("which", ElementType::kInt64, {40, 1});
    expect_right(b.finish(
        {b.node(kScatterND, "sum", {data, which, rows}, {{"reduction", std::string("add")}})}));
}

}  // namespace
}  // namespace lockstep::network
