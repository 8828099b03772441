// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/train/trainer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "sim/error/error.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/train/checkpoint.h"
#include "workloads/network/train/recompute.h"

namespace lockstep::network {
namespace {

using testing::HasSubstr;

Graph network(const std::string& text) {
    BuiltinRequest request = parse_builtin(text);
    return build_network(request.name, request.options);
}

std::unique_ptr<Runner> on_reference(const RunnerRequest& request) {
    return make_reference_runner(request.graph);
}

TrainingOptions options_of(std::int64_t train, std::int64_t test, std::uint64_t epochs) {
    TrainingOptions options;
    options.data.train_examples = train;
    options.data.test_examples = test;
    options.epochs = epochs;
    options.seed = 1;
    return options;
}

std::string file(const std::string& name) {
    return (std::filesystem::path(testing::TempDir()) / name).string();
}

/// The message of an error, or "".
template <class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Trainer, trains_the_perceptron_of_digits_to_its_accuracy) {
    TrainingOptions options = options_of(1600, 500, 5);
    options.accuracy = 0.95;
    const TrainingResult result = train(network("digits_mlp:batch=50"), options, on_reference);
    EXPECT_TRUE(result.reached);
    EXPECT_GE(result.epochs.back().accuracy, 0.95);
    EXPECT_LT(result.epochs.back().loss, 0.5);
}

TEST(Trainer, trains_the_convolutions_of_digits) {
    const TrainingResult result =
        train(network("digits_cnn:batch=50"), options_of(1600, 500, 3), on_reference);
    EXPECT_GE(result.epochs.back().accuracy, 0.95);
}

TEST(Trainer, resumes_to_the_same_bits_within_an_epoch) {
    for (const auto kind : {Optimiser::Kind::kSgd, Optimiser::Kind::kAdamW}) {
        TrainingOptions options = options_of(200, 50, 3);
        options.step.optimiser.kind = kind;
        options.schedule = {.kind = Schedule::Kind::kConstant, .rate = 0.01, .warm_up = 5};
        const Graph mlp = network("digits_mlp:batch=20,hidden=16");
        const TrainingResult whole = train(mlp, options, on_reference);
        options.checkpoint = file("resume.train");
        options.steps = 13;
        train(mlp, options, on_reference);
        EXPECT_EQ(read_checkpoint(options.checkpoint).position, 3);
        options.resume = options.checkpoint;
        options.steps = 0;
        const TrainingResult rest = train(mlp, options, on_reference);
        EXPECT_EQ(rest.variables, whole.variables);
        EXPECT_EQ(rest.epochs.back().loss, whole.epochs.back().loss);
    }
}

TEST(Trainer, refuses_a_checkpoint_of_another_training) {
    TrainingOptions options = options_of(40, 20, 1);
    options.checkpoint = file("other.train");
    train(network("digits_mlp:batch=20,hidden=16"), options, on_reference);
    options.resume = options.checkpoint;
    options.checkpoint.clear();
    const auto attempt = [&](const std::string& text) {
        return message_of([&] { train(network(text), options, on_reference); });
    };
    EXPECT_THAT(attempt("digits_cnn:batch=20"),
                HasSubstr("it is of digits_mlp, batch 20, not of digits_cnn"));
    EXPECT_THAT(attempt("digits_mlp:batch=20,hidden=8"),
                HasSubstr("variable 0 is linear1.weight fp32[784,16]"));
    EXPECT_THAT(attempt("digits_mlp:batch=20,hidden=16"),
                HasSubstr("it has trained 1 epochs already; --epochs 1 asks for no more"));
    options.epochs = 2;
    options.step.optimiser.momentum = 0;
    EXPECT_THAT(attempt("digits_mlp:batch=20,hidden=16"),
                HasSubstr("it holds 8 variables, the training has 4"));
    options.seed = 2;
    EXPECT_THAT(attempt("digits_mlp:batch=20,hidden=16"),
                HasSubstr("trained with --seed 1, not 2"));
}

TEST(Trainer, stops_at_a_loss_that_is_not_finite_and_names_the_node) {
    TrainingOptions options = options_of(400, 20, 3);
    options.schedule.rate = 1e25;
    EXPECT_THAT(
        message_of([&] { train(network("digits_mlp:batch=20,hidden=16"), options, on_reference); }),
        testing::AllOf(HasSubstr("step 2 (epoch 1): the loss is nan; "),
                       HasSubstr("linear2 (Gemm)")));
}

TEST(Trainer, clips_decays_and_scales) {
    TrainingOptions options = options_of(400, 100, 2);
    options.step.optimiser.clip_norm = 1;
    options.step.optimiser.nesterov = true;
    options.step.optimiser.weight_decay = 1e-4;
    options.step.scales_loss = true;
    options.step.compute = ElementType::kFp16;
    std::vector<StepReport> steps;
    const TrainingResult result =
        train(network("digits_mlp:batch=20,hidden=32"), options, on_reference,
              {.on_start = {},
               .on_step = [&](const StepReport& s) { steps.push_back(s); },
               .on_epoch = {}});
    EXPECT_GE(result.epochs.back().accuracy, 0.7);
    options.loss_scale = 0x1p24;  // gradients of 2^24 / 20 overflow fp16
    steps.clear();
    train(network("digits_mlp:batch=20,hidden=32"), options, on_reference,
          {.on_start = {},
           .on_step = [&](const StepReport& s) { steps.push_back(s); },
           .on_epoch = {}});
    EXPECT_TRUE(steps.front().skipped);
    EXPECT_EQ(steps[1].loss_scale, 0x1p23);
    EXPECT_FALSE(steps.back().skipped);
}

TEST(Trainer, trains_a_transformer_of_characters) {
    TrainingOptions options = options_of(0, 0, 2);
    options.step.optimiser.kind = Optimiser::Kind::kAdamW;
    options.schedule.rate = 3e-3;
    const TrainingResult result =
        train(network("char_transformer:batch=8,seq=32,hidden=32"), options, on_reference);
    EXPECT_LT(result.epochs.back().test_loss, 2.9);  // log(64) is 4.2; of single letters, 3.0
    EXPECT_LT(result.epochs[1].test_loss, result.epochs[0].test_loss);
}

TEST(TrainingStep, computes_the_same_bits_with_recomputed_activations) {
    const Trainable mlp =
        make_trainable(network("mlp:batch=64,input=8,hidden=8,layers=12"), Phase::kTraining);
    const TrainingStep kept = training_step(mlp, {});
    StepOptions options;
    options.segments = 3;
    const TrainingStep again = training_step(mlp, options);
    EXPECT_GT(again.graph.nodes.size(), kept.graph.nodes.size());
    EXPECT_LT(peak_bytes(again.graph), peak_bytes(kept.graph));
    std::vector<Tensor> inputs;
    for (const ValueId id : kept.graph.inputs) {
        Tensor t(ElementType::kFp32, kept.graph.shape(id));
        for (std::size_t i = 0; i < t.as<float>().size(); ++i)
            t.as<float>()[i] = std::sin(static_cast<float>(i + id));
        inputs.push_back(t);
    }
    EXPECT_EQ(execute(kept.graph, inputs), execute(again.graph, inputs));
}

TEST(TrainingStep, normalises_by_the_batch_and_moves_the_running_statistics) {
    Builder b("norm", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {4, 2, 1, 1});
    const ValueId y = b.batch_normalisation("bn", x);
    Graph graph = b.finish({b.reshape("flat", y, {4, 2})});
    initialise_weights(graph, 1);
    const Trainable trainable = make_trainable(graph, Phase::kTraining);
    ASSERT_EQ(trainable.statistics.size(), 2u);
    TrainingOptions options;
    options.initialise = true;
    options.data.name = "random";
    options.epochs = 1;
    const TrainingStep step = training_step(trainable, {});
    std::vector<Tensor> inputs(step.graph.inputs.size());
    const std::vector<float> values = {1, 10, 2, 20, 3, 30, 6, 60};
    inputs[0] = make_tensor({4, 2, 1, 1}, std::span<const float>(values));
    inputs[step.target] = Tensor(ElementType::kFp32, {4, 2});
    for (const auto& [scalar, input] : step.scalars)
        inputs[input] = Tensor(ElementType::kFp32, {1});
    for (const StepVariable& variable : step.variables) inputs[variable.input] = variable.initial;
    const std::vector<Tensor> outputs = execute(step.graph, inputs);
    for (const StepVariable& variable : step.variables) {
        const std::vector<float> got = to_floats(outputs[variable.output]);
        if (variable.name == "bn.running_mean") {  // 0.9 * 0 + 0.1 * (3, 30)
            EXPECT_THAT(got, testing::ElementsAre(testing::FloatEq(0.3f), testing::FloatEq(3.0f)));
        } else if (variable.name == "bn.running_var") {  // 0.9 * 1 + 0.1 * (3.5, 350)
            EXPECT_THAT(got,
                        testing::ElementsAre(testing::FloatEq(1.25f), testing::FloatEq(35.9f)));
        }
    }
}

TEST(Checkpoint, holds_what_was_written_and_refuses_damage) {
    Checkpoint c{.network = "n, batch 2",
                 .seed = 3,
                 .epoch = 2,
                 .position = 5,
                 .step = 9,
                 .loss_sum = 0.1,
                 .loss_scale = 1024,
                 .good_steps = 7,
                 .variables = {}};
    const std::vector<float> values = {1, -2, 3.5f};
    c.variables.emplace_back("w", make_tensor({3}, std::span<const float>(values)));
    const std::string bytes = to_bytes(c);
    EXPECT_EQ(parse_checkpoint(bytes, "f"), c);
    std::string damaged = bytes;
    damaged[damaged.size() - 70] ^= 1;
    EXPECT_THAT(message_of([&] { parse_checkpoint(damaged, "f"); }), HasSubstr("f: offset"));
    EXPECT_THAT(message_of([&] { parse_checkpoint(damaged, "f"); }), HasSubstr("damaged or cut"));
    EXPECT_THAT(message_of([&] { parse_checkpoint(bytes.substr(0, 40), "f"); }),
                HasSubstr("too early"));
    EXPECT_THAT(message_of([&] { parse_checkpoint("nothing", "f"); }),
                HasSubstr("not a checkpoint"));
}

TEST(Schedule, warms_up_then_falls) {
    const Schedule cosine{.kind = Schedule::Kind::kCosine, .rate = 1, .warm_up = 4, .length = 14};
    EXPECT_DOUBLE_EQ(cosine.at(1), 0.25);
    EXPECT_DOUBLE_EQ(cosine.at(4), 1);
    EXPECT_DOUBLE_EQ(cosine.at(5), 1);
    EXPECT_NEAR(cosine.at(10), 0.5, 1e-12);
    const Schedule steps{.kind = Schedule::Kind::kStep, .rate = 1, .every = 3, .factor = 0.5};
    EXPECT_DOUBLE_EQ(steps.at(3), 1);
    EXPECT_DOUBLE_EQ(steps.at(4), 0.5);
    EXPECT_DOUBLE_EQ(steps.at(7), 0.25);
    EXPECT_THAT(message_of([] { schedule_named("linear"); }),
                HasSubstr("constant, step and cosine"));
}

}  // namespace
}  // namespace lockstep::network
