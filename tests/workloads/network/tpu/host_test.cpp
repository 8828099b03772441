// SPDX-License-Identifier: Apache-2.0
// Networks whose operators generation 1 lacks in part: what goes to the host, and that the whole
// still computes the reference.
#include "workloads/network/tpu/host.h"

#include "sim/error/error.h"
#include "tests/workloads/network/tpu/run_on.h"
#include "workloads/network/builder.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/tpu/explain.h"
#include "workloads/network/tpu/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::network {
namespace {

using testing::ElementsAre;
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

TEST(Partition, LeavesWhatTheChipHasInOneGroup) {
    const TpuNetwork network = prepare_for_tpu(builtin("mlp"), 1, {}, 1, false);
    const std::vector<NodeGroup> groups = partition(network.graph, {});
    ASSERT_THAT(groups, SizeIs(1));
    EXPECT_FALSE(groups[0].on_host);
    EXPECT_EQ(groups[0].nodes, topological_order(network.graph));
}

TEST(Partition, TakesARefusedNodeToTheHost) {
    const TpuNetwork network = prepare_for_tpu(builtin("mlp"), 1, {}, 1, false);
    const std::vector<NodeGroup> groups = partition(network.graph, {{2, "it does not fit"}});
    ASSERT_THAT(groups, SizeIs(3));
    EXPECT_THAT(groups[1].nodes, ElementsAre(2));
    EXPECT_TRUE(groups[1].on_host);
}

TEST(Partition, VisitsTheHostThreeTimesInAnEncoderLayer) {
    const TpuNetwork network =
        prepare_for_tpu(builtin("bert_block:hidden=64,heads=2,seq=16"), 1, {}, 1, false);
    size_t visits = 0;
    for (const NodeGroup& group : partition(network.graph, {})) visits += group.on_host ? 1 : 0;
    // Attention and two normalisations.
    EXPECT_EQ(visits, 3u);
}

TEST(HostTasks, HoldNoValueOfAttentionButWhatGoesInAndOut) {
    const Ran ran = run_on(builtin("bert_block:hidden=64,heads=2,seq=24"), "tpu_v1");
    expect_verified(ran);
    ASSERT_THAT(ran.compiled.host_tasks, SizeIs(3));
    const TpuHostTask& attention = ran.compiled.host_tasks[0];
    EXPECT_THAT(attention.reads, SizeIs(3));
    EXPECT_THAT(attention.writes, SizeIs(1));
    for (const TpuPort& port : attention.reads) EXPECT_EQ(port.type, tpu::DataType::kInt8);
    uint64_t busy = 0;
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
    const std::vector<int64_t> parts = {32, 32, 32};
    const ValueId q =
        b.node(Operator::kSplit, "split",
               {y, b.constant("parts", make_tensor({3}, std::span<const int64_t>(parts)))},
               {{"axis", int64_t{2}}}, 3);
    const ValueId scores =
        b.node(Operator::kMatMul, "scores", {q, b.transpose("t", q + 1, {0, 2, 1})});
    const ValueId p = b.node(Operator::kSoftmax, "softmax", {scores}, {{"axis", int64_t{-1}}});
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
    x = b.node(Operator::kFlatten, "flatten", {x}, {{"axis", int64_t{1}}});
    const Ran ran = run_on(b.finish({b.linear("fc", x, 10)}), "tpu_v1");
    expect_verified(ran);
    EXPECT_GE(ran.compiled.host_tasks.size(), 3u);
}

TEST(HostTasks, DoWhatOnlyShapesSay) {
    const char* workload = "bert_block:hidden=128,heads=4,seq=32";
    EXPECT_EQ(run_without_values(workload).cycles,
              run_on(builtin(workload), "tpu_v1").result.cycles);
}

TEST(HostCost, CountsProductsAndTraffic) {
    Builder b("cost", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 3, 8, 16});
    const ValueId y = b.input("y", ElementType::kFp32, {2, 3, 16, 4});
    const ValueId z = b.node(Operator::kMatMul, "product", {x, y});
    const ValueId r = b.reshape("view", z, {6, 32});
    const Graph graph = b.finish({b.node(Operator::kRelu, "relu", {r})});
    const NodeCost product = cost_of(graph, graph.nodes[0]);
    EXPECT_EQ(product.operations, 2u * 2 * 3 * 8 * 4 * 16);
    EXPECT_EQ(product.bytes, 4u * (2 * 3 * 8 * 16 + 2 * 3 * 16 * 4 + 6 * 32));
    EXPECT_EQ(cost_of(graph, graph.nodes[1]).bytes, 0u);
    EXPECT_EQ(cost_of(graph, graph.nodes[2]).operations, 6u * 32);
}

}  // namespace
}  // namespace lockstep::network
