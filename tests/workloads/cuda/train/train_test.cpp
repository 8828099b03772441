// SPDX-License-Identifier: Apache-2.0
// The training program on an emulated machine, small; and its reference by itself.
#include "workloads/cuda/train/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "sim/config/machine.h"
#include "workloads/cuda/train/device_backend.h"
#include "workloads/cuda/train/program.h"
#include "workloads/cuda/train/reference.h"

namespace lockstep::cuda {
namespace {

using Arguments_ = std::vector<std::string>;

template <template <class> class Net>
void train_and_compare() {
    const auto device = make_emulator(config::Machine::load("h200"), {});
    DeviceBackend backend(*device);
    TrainOptions options;
    options.epochs = 2;
    options.batch = 33;  // no multiple of a tile or a warp
    const Digits train_set = draw_digits(132, 5), test_set = draw_digits(40, 6);
    const Training training = train<Net>(backend, train_set, test_set, options, {});
    constexpr NetworkKind kKind = Net<DeviceBackend>::kKind;
    const ReferenceTraining reference = reference_train(kKind, train_set, options);
    ASSERT_EQ(training.epochs.size(), 2u);
    EXPECT_LT(training.epochs[1].loss, training.epochs[0].loss);
    for (int i = 0; i < 2; ++i) {
        EXPECT_NEAR(training.epochs[i].loss, reference.losses[i], 1e-4);
    }
    for (const auto& c : compare_weights(kKind, options.seed, training.weights, reference)) {
        EXPECT_TRUE(c.passed) << c.name << " differs by " << c.error;
        EXPECT_GT(c.error, 0) << c.name << ": single and double precision cannot be equal";
    }
}

TEST(Train, MlpWeightsAgreeWithEigen) {
    train_and_compare<Mlp>();
}

TEST(Train, CnnWeightsAgreeWithEigen) {
    train_and_compare<Cnn>();
}

TEST(Train, AWrongGradientIsFound) {
    const Digits digits = draw_digits(100, 5);
    TrainOptions options;
    options.epochs = 1;
    const ReferenceTraining reference = reference_train(NetworkKind::kMlp, digits, options);
    TrainOptions other = options;
    other.momentum = 0.89f;
    const ReferenceTraining wrong = reference_train(NetworkKind::kMlp, digits, other);
    std::vector<Weights> weights = initial_weights(NetworkKind::kMlp, options.seed);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i].values.assign(wrong.weights[i].begin(), wrong.weights[i].end());
    }
    for (const auto& c : compare_weights(NetworkKind::kMlp, options.seed, weights, reference)) {
        EXPECT_FALSE(c.passed) << c.name << " differs by " << c.error;
    }
}

TEST(ProgramOptions, AreReadAndChecked) {
    const Arguments_ good = {"--network", "cnn", "--epochs", "2", "--train-images", "64"};
    const ProgramOptions options = parse_program_options(good);
    EXPECT_FALSE(options.mlp);
    EXPECT_TRUE(options.cnn);
    EXPECT_EQ(options.training.epochs, 2);
    EXPECT_EQ(options.train_images, 64);
    for (const Arguments_& bad : {Arguments_{"--epochs"}, Arguments_{"--epochs", "0"},
                                  Arguments_{"--epochs", "2x"}, Arguments_{"--network", "rnn"},
                                  Arguments_{"--train-images", "1"}, Arguments_{"--what", "1"}}) {
        EXPECT_THROW(parse_program_options(bad), InputError) << bad[0];
    }
}

TEST(ProgramOptions, MissingMnistFilesAreAnInputError) {
    const Arguments_ arguments = {"--mnist", "/nonexistent"};
    EXPECT_THROW(load_digits(parse_program_options(arguments)), InputError);
}

}  // namespace
}  // namespace lockstep::cuda
