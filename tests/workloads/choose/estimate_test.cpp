// SPDX-License-Identifier: Apache-2.0
#include "workloads/choose/estimate.h"

#include <gtest/gtest.h>

#include "workloads/network/builtin/builtin.h"

namespace lockstep::choose {
namespace {

network::Graph network_of(const std::string& name, std::int64_t batch) {
    return network::build_network(name, {.parameters = {{"batch", batch}}, .with_values = false});
}

DataSheet sheet_of(const char* machine) {
    return data_sheet(*config::Machine::load(machine));
}

// ResNet-50 has 25.56 million parameters (torchvision) and 8.2 GFLOP in products.
TEST(Estimate, CountsWhatResNet50Asks) {
    const DataSheet slow{.peaks = {{"fp32", 1e12}}, .memory = 1e12, .bandwidth = 1e15};
    const Estimate inference = estimate(network_of("resnet50", 1), slow, "fp32", Phase::kInference),
                   training = estimate(network_of("resnet50", 1), slow, "fp32", Phase::kTraining);
    EXPECT_NEAR(training.parameters, 25.6e6, 0.1e6);
    EXPECT_NEAR(inference.weights, 4 * 25.5e6, 1e6);
    EXPECT_NEAR(inference.seconds, 8.2e-3, 0.2e-3);
    EXPECT_NEAR(training.seconds, 3 * 8.2e-3, 1e-3);
    EXPECT_LT(inference.memory_share, 0.05);
    EXPECT_NEAR(training.weights + training.states, 16 * 25.6e6, 2e6);
}

TEST(Estimate, TrainingKeepsWhatInferenceForgets) {
    const DataSheet sheet = sheet_of("h100");
    const Estimate inference =
                       estimate(network_of("resnet50", 8), sheet, "bf16", Phase::kInference),
                   training = estimate(network_of("resnet50", 8), sheet, "bf16", Phase::kTraining),
                   twice = estimate(network_of("resnet50", 16), sheet, "bf16", Phase::kTraining);
    EXPECT_GT(training.activations, 5 * inference.activations);
    EXPECT_NEAR(twice.activations / training.activations, 2, 0.01);
    EXPECT_EQ(twice.states, training.states);
    EXPECT_EQ(inference.states, 0);
}

TEST(Estimate, BytesBindWhereBandwidthIsLow) {
    DataSheet sheet = sheet_of("a100");
    const network::Graph graph = network_of("resnet50", 1);
    const Estimate before = estimate(graph, sheet, "bf16", Phase::kInference);
    sheet.bandwidth /= 2;
    const Estimate after = estimate(graph, sheet, "bf16", Phase::kInference);
    EXPECT_GT(after.seconds, 1.5 * before.seconds);
    EXPECT_GT(after.memory_share, before.memory_share);
}

TEST(Estimate, SixteenBitsAreUsualWhereTheyAreFaster) {
    EXPECT_EQ(usual_precision(sheet_of("h100"), Phase::kTraining), "bf16");
    EXPECT_EQ(usual_precision(sheet_of("t4"), Phase::kTraining), "fp16");
    EXPECT_EQ(usual_precision(sheet_of("gtx1080"), Phase::kTraining), "fp32");
    EXPECT_EQ(usual_precision(sheet_of("npu_mobile"), Phase::kInference), "int8");
    EXPECT_EQ(usual_precision(sheet_of("npu_mobile"), Phase::kTraining), "");
    EXPECT_EQ(usual_precision(sheet_of("tpu_v1"), Phase::kTraining), "");
}

}  // namespace
}  // namespace lockstep::choose
