// SPDX-License-Identifier: Apache-2.0
// Networks whose operators generation 1 lacks in part: what goes to the host, and that the whole
// still computes the reference.
#include "workloads/network/tpu/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "tests/workloads/network/tpu/run_on.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/tpu/explain.h"

namespace lockstep::network {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Graph builtin(const std::string& workload) {
    const BuiltinRequest request = parse_builtin(workload);
    return build_network(request.name, request.options);
}

void expect_verified(const Ran& ran) {
    ASSERT_FALSE(ran.checks.empty());
    for (const TpuCheck& check : ran.checks)
        EXPECT_TRUE(check.passed) << check.output << ": " << check.message;
}

TEST(HostTasks, OfAnEncoderLayerAreThree) {
    const Ran ran = run_on(builtin("bert_block:hidden=64,heads=2,seq=16"), "tpu_v1");
    // Attention and two normalisations.
    EXPECT_THAT(ran.compiled.host_tasks, SizeIs(3));
}

TEST(HostTasks, HoldNoValueOfAttentionButWhatGoesInAndOut) {
    const Ran ran = run_on(builtin("bert_block:hidden=64,heads=2,seq=24"), "tpu_v1");
    expect_verified(ran);
    ASSERT_THAT(ran.compiled.host_tasks, SizeIs(3));
    const compile::HostTask& attention = ran.compiled.host_tasks[0];
    EXPECT_THAT(attention.reads, SizeIs(3));
    EXPECT_THAT(attention.writes, SizeIs(1));
    for (const TpuPort& port : attention.reads) EXPECT_EQ(port.type, ElementType::kInt8);
    std::uint64_t busy = 0;
    for (const tpu::StepResult& step : ran.result.steps) busy += step.host_busy;
    EXPECT_GT(busy, 0u);
    EXPECT_EQ(ran.result.total().host_busy, busy);
    EXPECT_THAT(schedule_text(ran.compiled), HasSubstr("nodes on the host"));
}

TEST(HostTasks, ServeATokenNetworkWithMaskSplitAndTwoOutputs) {
    Builder b("tokens", 5);
    const ValueId ids = b.input("ids", ElementType::kInt64, {2, 6});
    ValueId x = b.node(Operator::kGather, "embed", {b.weight("table", {40, 32}, 0.5f), ids});
    const ValueId norm = b.layer_normalisation("norm", x, 1e-5f);
    const ValueId y = b.linear("qkv", norm, 96);
    const std::vector<std::int64_t> parts = {32, 32, 32};
    const ValueId q =
        b.node(Operator::kSplit, "split",
               {y, b.constant("parts", make_tensor({3}, std::span<const std::int64_t>(parts)))},
               {{"axis", std::int64_t{2}}}, 3);
    const ValueId scores =
        b.node(Operator::kMatMul, "scores", {q, b.transpose("t", q + 1, {0, 2, 1})});
    const ValueId p = b.node(Operator::kSoftmax, "softmax", {scores}, {{"axis", std::int64_t{-1}}});
    x = b.node(Operator::kAdd, "residual", {x, b.node(Operator::kMatMul, "context", {p, q + 2})});
    const ValueId logits = b.linear("head", x, 40);
    expect_verified(run_on(b.finish({logits, p}), "tpu_v1"));
}

/// The chip lacks Elu and HardSigmoid of other slopes, and a Concat of other scales.
TEST(HostTasks, StandBetweenConvolutions) {
    Builder b("vision", 3);
    ValueId x = b.input("x", ElementType::kFp32, {2, 5, 9, 7});
    x = b.convolution("first", x, 12, 3, {.stride = 1, .pad = 1, .bias = true});
    x = b.node(Operator::kElu, "elu", {x});
    x = b.convolution("second", x, 9, 3, {.stride = 2, .pad = 1, .bias = true});
    const ValueId gate = b.node(Operator::kHardSigmoid, "gate", {x}, {{"alpha", 0.3f}});
    x = b.node(Operator::kMul, "gated", {x, gate});
    x = b.node(Operator::kSoftplus, "softplus", {x});
    x = b.convolution("third", x, 4, 1, {});
    x = b.node(Operator::kFlatten, "flatten", {x}, {{"axis", std::int64_t{1}}});
    const Ran ran = run_on(b.finish({b.linear("fc", x, 10)}), "tpu_v1");
    expect_verified(ran);
    EXPECT_GE(ran.compiled.host_tasks.size(), 3u);
}

TEST(HostTasks, DoWhatOnlyShapesSay) {
    const char* workload = "bert_block:hidden=128,heads=4,seq=32";
    EXPECT_EQ(run_without_values(workload).cycles,
              run_on(builtin(workload), "tpu_v1").result.cycles);
}

}  // namespace
}  // namespace lockstep::network
