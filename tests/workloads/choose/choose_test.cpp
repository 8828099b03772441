// SPDX-License-Identifier: Apache-2.0
#include "workloads/choose/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/network/builtin/builtin.h"

namespace lockstep::choose {
namespace {

using testing::HasSubstr;

std::vector<Reached> runs() {
    std::vector<Reached> list;
    for (const auto& [machine, share] : {std::pair{"a100", 0.4}, {"v100", 0.5}, {"t4", 0.9}})
        list.push_back({machine, "resnet50", Phase::kTraining, "fp16", 128, share});
    for (const auto& [machine, share] : {std::pair{"a100", 0.1}, {"v100", 0.2}, {"t4", 0.3}})
        list.push_back({machine, "bert_base", Phase::kTraining, "bf16", 8, share});
    return list;
}

TEST(Share, IsTheMedianOfRunsLikeIt) {
    const auto share = share_of(runs(), "resnet50", Phase::kTraining, "bf16", 64);
    ASSERT_TRUE(share);
    EXPECT_EQ(share->median, 0.5);
    EXPECT_EQ(share->least, 0.4);
    EXPECT_EQ(share->most, 0.9);
    EXPECT_TRUE(share->is_same_network);
    // Without one of three there are too few of the network: all that are there count.
    const auto left = share_of(runs(), "resnet50", Phase::kTraining, "fp16", 64, "t4");
    ASSERT_TRUE(left);
    EXPECT_FALSE(left->is_same_network);
    EXPECT_EQ(left->count, 4u);
    EXPECT_DOUBLE_EQ(left->median, 0.3);
}

TEST(Share, BatchesThatAreNearCountFirst) {
    std::vector<Reached> list = runs();
    for (const char* machine : {"h100", "h200", "l4"})
        list.push_back({machine, "resnet50", Phase::kTraining, "fp16", 1, 0.01});
    EXPECT_EQ(share_of(list, "resnet50", Phase::kTraining, "fp16", 2)->median, 0.01);
    EXPECT_EQ(share_of(list, "resnet50", Phase::kTraining, "fp16", 256)->median, 0.5);
}

TEST(Share, IsNotKnownForWhatNobodyRan) {
    EXPECT_FALSE(share_of(runs(), "resnet50", Phase::kInference, "fp16", 64));
    EXPECT_FALSE(share_of(runs(), "resnet50", Phase::kTraining, "fp32", 64));
}

std::vector<Answer> ask(const Question& question, const std::vector<const char*>& names) {
    std::vector<std::shared_ptr<const config::Machine>> machines;
    for (const char* name : names) machines.push_back(config::Machine::load(name));
    const network::Graph graph = network::build_network(
        question.network, {.parameters = {{"batch", question.batch}}, .with_values = false});
    const Prices prices("t",
                        "machine,kind,usd,date,offer\nh100,hour,4,2026,a\na100,hour,1,2026,b\n");
    return choose(question, graph, machines, runs(), prices);
}

TEST(Choose, TheCheapestThatFitsIsFirst) {
    const Question question{
        .network = "resnet50", .batch = 64, .phase = Phase::kTraining, .samples = 1.2e6};
    const auto answers = ask(question, {"gtx580", "h100", "npu_mobile", "gtx1080ti", "a100"});
    ASSERT_EQ(answers.size(), 5u);
    EXPECT_EQ(answers[0].machine, "a100");
    EXPECT_EQ(answers[1].machine, "h100");
    EXPECT_EQ(answers[2].machine, "gtx1080ti");  // has no price
    EXPECT_EQ(answers[3].machine, "gtx580");
    EXPECT_FALSE(answers[3].fits);
    EXPECT_THAT(answers[4].reason, HasSubstr("integers only"));
    EXPECT_DOUBLE_EQ(answers[0].usd, answers[0].hours);
    EXPECT_DOUBLE_EQ(answers[0].hours * 3600 * answers[0].rate, 1.2e6);
    EXPECT_DOUBLE_EQ(answers[0].rate, 64 / answers[0].estimate.seconds * 0.5);
    EXPECT_EQ(answers[0].limit, "bandwidth");
    const std::string table = table_of(question, answers);
    EXPECT_THAT(table, HasSubstr("NO"));
    EXPECT_THAT(table, HasSubstr("not looked at: npu_mobile"));
}

TEST(Choose, APrecisionThatACardLacksIsItsReason) {
    const auto answers = ask({.network = "resnet50", .precision = "fp8"}, {"a100", "h100"});
    EXPECT_EQ(answers[0].machine, "h100");
    EXPECT_THAT(answers[1].reason, HasSubstr("no units for fp8"));
}

}  // namespace
}  // namespace lockstep::choose
