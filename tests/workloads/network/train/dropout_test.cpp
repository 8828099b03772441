// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/train/dropout.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "sim/error/error.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/train/trainer.h"

namespace lockstep::network {
namespace {

using enum Operator;

const DropoutMask kThird = {.name = "drop", .value = 0, .ratio = 0.3, .number = 0};

/// Share of elements that two masks agree on.
double agreement(const Tensor& a, const Tensor& b) {
    const std::vector<float> x = to_floats(a), y = to_floats(b);
    double same = 0;
    for (std::size_t i = 0; i < x.size(); ++i) same += x[i] == y[i];
    return same / static_cast<double>(x.size());
}

TEST(Dropout, drops_its_share_and_scales_the_rest) {
    const std::vector<float> mask = to_floats(draw_mask(kThird, {100, 100}, 1, 1));
    double dropped = 0;
    for (const float v : mask) {
        EXPECT_TRUE(v == 0 || v == 1 / 0.7f) << v;
        dropped += v == 0;
    }
    // Six deviations of 10,000 draws.
    EXPECT_NEAR(dropped / 1e4, 0.3, 6 * std::sqrt(0.3 * 0.7 / 1e4));
}

TEST(Dropout, draws_another_mask_for_each_seed_step_and_node) {
    const Shape shape = {100, 100};
    const Tensor mask = draw_mask(kThird, shape, 1, 1);
    EXPECT_EQ(mask, draw_mask(kThird, shape, 1, 1));
    DropoutMask next = kThird;
    next.number = 1;
    // Independent ones agree where both keep or both drop.
    const double chance = 0.7 * 0.7 + 0.3 * 0.3, tolerance = 6 * std::sqrt(chance / 1e4);
    EXPECT_NEAR(agreement(mask, draw_mask(kThird, shape, 2, 1)), chance, tolerance);
    EXPECT_NEAR(agreement(mask, draw_mask(kThird, shape, 1, 2)), chance, tolerance);
    EXPECT_NEAR(agreement(mask, draw_mask(next, shape, 1, 1)), chance, tolerance);
}

/// y = dropout(x) W.
Graph masked_product(std::vector<Tensor> ratio, bool reads_mask = false) {
    Builder b("masked", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 4});
    std::vector<ValueId> inputs = {x};
    for (Tensor& t : ratio) inputs.push_back(b.constant("ratio", std::move(t)));
    const ValueId y = b.node(kDropout, "drop", inputs, {}, 2);
    if (reads_mask) {
        const ValueId mask = b.node(kCast, "mask", {y + 1}, {{"to", std::int64_t{1}}});
        return b.finish({b.linear("fc", b.node(kAdd, "add", {y, mask}), 3)});
    }
    return b.finish({b.linear("fc", y, 3)});
}

Tensor number(float value) {
    return make_tensor({}, std::span<const float>(&value, 1));
}

TEST(Dropout, masks_values_and_gradients_alike) {
    const Trainable network = make_trainable(masked_product({}), Phase::kTraining);
    ASSERT_EQ(network.masks.size(), 1u);
    EXPECT_EQ(network.masks[0].ratio, 0.5);  // ONNX's default
    StepOptions options;
    options.loss = Loss::kMeanSquare;
    options.optimiser.momentum = 0;
    const TrainingStep step = training_step(network, options);
    ASSERT_EQ(step.masks.size(), 1u);
    std::vector<Tensor> inputs(step.graph.inputs.size());
    const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, mask = {0, 2, 0, 2, 0, 0, 2, 2};
    inputs[0] = make_tensor({2, 4}, std::span<const float>(x));
    inputs[step.target] = Tensor(ElementType::kFp32, {2, 3});
    const float rate = 1;
    for (const auto& [scalar, input] : step.scalars)
        inputs[input] = make_tensor({1}, std::span<const float>(&rate, 1));
    inputs[step.masks[0].second] = make_tensor({2, 4}, std::span<const float>(mask));
    for (const StepVariable& variable : step.variables) {
        inputs[variable.input] = Tensor(ElementType::kFp32, variable.initial.shape);
        for (float& v : inputs[variable.input].as<float>()) v = 1;
    }
    const std::vector<Tensor> outputs = execute(step.graph, inputs);
    // Rows sum to 2 (2 + 4) + 1 and 2 (7 + 8) + 1; the loss is the mean of their squares.
    EXPECT_FLOAT_EQ(to_floats(outputs[0])[0], (13 * 13 + 31 * 31) / 2.0f);
    for (const StepVariable& variable : step.variables) {
        if (variable.initial.shape != Shape{4, 3}) continue;
        const std::vector<float> now = to_floats(outputs[variable.output]);
        // w - d loss / d w, where that is 2 / 6 of the sum over rows of (y - 0) x mask.
        const float slopes[] = {0, 13 * 4, 31 * 14, 13 * 8 + 31 * 16};
        for (std::size_t i = 0; i < 12; ++i) EXPECT_FLOAT_EQ(now[i], 1 - slopes[i / 3] / 3) << i;
    }
}

TEST(Dropout, is_left_out_of_inference_and_where_its_ratio_is_zero) {
    EXPECT_TRUE(make_trainable(masked_product({number(0)}), Phase::kTraining).masks.empty());
    const Trainable inference = make_trainable(masked_product({}), Phase::kInference);
    EXPECT_TRUE(inference.masks.empty());
    for (const Node& node : inference.graph.nodes) EXPECT_NE(node.op, kMul);
}

TEST(Dropout, refuses_other_ratios_and_masks_that_are_read) {
    const auto message = [](const Graph& graph) -> std::string {
        try {
            make_trainable(graph, Phase::kTraining);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message(masked_product({number(1)})),
              "node drop (Dropout): ratio 1 is not in 0 to below 1");
    EXPECT_EQ(message(masked_product({number(NAN)})),
              "node drop (Dropout): ratio nan is not in 0 to below 1");
    EXPECT_EQ(message(masked_product({}, true)), "node drop (Dropout): its mask is read");
}

std::unique_ptr<Runner> on_reference(const RunnerRequest& request) {
    return make_reference_runner(request.graph);
}

TEST(Dropout, goes_on_from_a_checkpoint_with_the_same_masks) {
    for (const char* text : {"digits_mlp:batch=20,hidden=16,dropout=25",
                             "char_transformer:batch=4,seq=8,hidden=16,layers=1,dropout=10"}) {
        BuiltinRequest request = parse_builtin(text);
        const Graph network = build_network(request.name, request.options);
        TrainingOptions options;
        options.data.train_examples = 200;
        options.data.test_examples = 40;
        options.epochs = 1;
        options.seed = 3;
        options.steps = 8;
        const TrainingResult whole = train(network, options, on_reference);
        options.checkpoint = (std::filesystem::path(testing::TempDir()) / "dropout.train").string();
        options.steps = 3;
        train(network, options, on_reference);
        options.resume = options.checkpoint;
        options.steps = 8;
        EXPECT_EQ(train(network, options, on_reference).variables, whole.variables) << text;
    }
}

}  // namespace
}  // namespace lockstep::network
