// SPDX-License-Identifier: Apache-2.0
// Graphs made and changed through the driver, on the machines themselves.
#include <gmock/gmock.h>

#include <vector>

#include "tests/workloads/cuda_api/driver/driver_modes.h"

namespace lockstep::cuda::driver {

extern "C" {
Result cuGraphCreate(Graph**, unsigned);
Result cuGraphDestroy(Graph*);
Result cuGraphClone(Graph**, Graph*);
Result cuGraphNodeFindInClone(GraphNode**, GraphNode*, Graph*);
Result cuGraphGetNodes(Graph*, GraphNode**, std::size_t*);
Result cuGraphGetRootNodes(Graph*, GraphNode**, std::size_t*);
Result cuGraphGetEdges(Graph*, GraphNode**, GraphNode**, std::size_t*);
Result cuGraphNodeGetType(GraphNode*, abi::GraphNodeType*);
Result cuGraphAddDependencies(Graph*, GraphNode* const*, GraphNode* const*, std::size_t);
Result cuGraphAddKernelNode_v2(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                               const KernelNode*);
Result cuGraphAddMemcpyNode(GraphNode**, Graph*, GraphNode* const*, std::size_t, const Memcpy3D*,
                            ContextHandle*);
Result cuGraphAddMemsetNode(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                            const abi::MemsetParams*, ContextHandle*);
Result cuGraphAddHostNode(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                          const abi::HostNodeParams*);
Result cuGraphAddChildGraphNode(GraphNode**, Graph*, GraphNode* const*, std::size_t, Graph*);
Result cuGraphKernelNodeGetParams_v2(GraphNode*, KernelNode*);
Result cuGraphMemcpyNodeGetParams(GraphNode*, Memcpy3D*);
Result cuGraphMemcpyNodeSetParams(GraphNode*, const Memcpy3D*);
Result cuGraphInstantiateWithFlags(GraphExec**, Graph*, unsigned long long);
Result cuGraphExecKernelNodeSetParams_v2(GraphExec*, GraphNode*, const KernelNode*);
Result cuGraphExecUpdate_v2(GraphExec*, Graph*, abi::GraphExecUpdateResultInfo*);
Result cuGraphNodeSetEnabled(GraphExec*, GraphNode*, unsigned);
Result cuGraphLaunch(GraphExec*, Stream*);
Result cuGraphExecDestroy(GraphExec*);
}

namespace {

constexpr int kCount = 300;

class DriverGraph : public DriverModes {
  protected:
    DriverGraph() {
        EXPECT_EQ(cuGraphCreate(&graph, 0), Result::kSuccess);
        const abi::MemsetParams to_three{host_pointer(x), 0, 3, 4, kCount, 1};
        EXPECT_EQ(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &to_three, context),
                  Result::kSuccess);
        kernel = {.func = function("add"),
                  .gridDimX = 2,
                  .gridDimY = 1,
                  .gridDimZ = 1,
                  .blockDimX = 256,
                  .blockDimY = 1,
                  .blockDimZ = 1,
                  .kernelParams = arguments};
        EXPECT_EQ(cuGraphAddKernelNode_v2(&add, graph, &fill, 1, &kernel), Result::kSuccess);
        copy_to_y.srcMemoryType = copy_to_y.dstMemoryType = kDeviceMemory;
        copy_to_y.srcDevice = x;
        copy_to_y.dstDevice = y;
        copy_to_y.WidthInBytes = kCount * sizeof(int);
        copy_to_y.Height = copy_to_y.Depth = 1;
        EXPECT_EQ(cuGraphAddMemcpyNode(&copy, graph, nullptr, 0, &copy_to_y, context),
                  Result::kSuccess);
        EXPECT_EQ(cuGraphAddDependencies(graph, &add, &copy, 1), Result::kSuccess);
        const abi::HostNodeParams count_up{[](void* n) { ++*static_cast<int*>(n); }, &calls};
        EXPECT_EQ(cuGraphAddHostNode(&host, graph, &copy, 1, &count_up), Result::kSuccess);
    }
    ~DriverGraph() override {
        EXPECT_EQ(cuGraphExecDestroy(exec), Result::kSuccess);
        EXPECT_EQ(cuGraphDestroy(graph), Result::kSuccess);
    }

    void instantiate() {
        ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), Result::kSuccess);
    }
    /// What lies at `at` after a launch.
    std::vector<int> run(Pointer at) {
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), Result::kSuccess);
        EXPECT_EQ(cuCtxSynchronize(), Result::kSuccess);
        std::vector<int> values(kCount);
        EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), at, kCount * sizeof(int)), Result::kSuccess);
        return values;
    }

    Pointer x = allocate(kCount * sizeof(int)), y = allocate(kCount * sizeof(int));
    int count = kCount, value = 7, calls = 0;
    void* arguments[3] = {&x, &count, &value};
    KernelNode kernel{};
    Memcpy3D copy_to_y{};
    Graph* graph = nullptr;
    GraphExec* exec = nullptr;
    GraphNode *fill = nullptr, *add = nullptr, *copy = nullptr, *host = nullptr;
};

TEST_P(DriverGraph, RunsItsNodesInOrder) {
    instantiate();
    EXPECT_THAT(run(y), testing::Each(10));
    EXPECT_THAT(run(y), testing::Each(10));
    EXPECT_EQ(calls, 2);
}

TEST_P(DriverGraph, TellsWhatItConsistsOf) {
    instantiate();
    std::size_t nodes = 0, roots = 0, edges = 0;
    EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &nodes), Result::kSuccess);
    EXPECT_EQ(cuGraphGetRootNodes(graph, nullptr, &roots), Result::kSuccess);
    EXPECT_EQ(cuGraphGetEdges(graph, nullptr, nullptr, &edges), Result::kSuccess);
    EXPECT_EQ(nodes, 4u);
    EXPECT_EQ(roots, 1u);
    EXPECT_EQ(edges, 3u);
    abi::GraphNodeType type{};
    EXPECT_EQ(cuGraphNodeGetType(copy, &type), Result::kSuccess);
    EXPECT_EQ(type, abi::kNodeMemcpy);
    KernelNode found{};
    EXPECT_EQ(cuGraphKernelNodeGetParams_v2(add, &found), Result::kSuccess);
    EXPECT_EQ(found.func, kernel.func);
    EXPECT_EQ(found.blockDimX, 256u);
    EXPECT_EQ(*static_cast<int*>(found.kernelParams[2]), 7);
    EXPECT_EQ(cuGraphKernelNodeGetParams_v2(copy, &found), Result::kInvalidValue);
    Memcpy3D box{};
    EXPECT_EQ(cuGraphMemcpyNodeGetParams(copy, &box), Result::kSuccess);
    EXPECT_EQ(box.dstDevice, y);
    EXPECT_EQ(box.WidthInBytes, kCount * sizeof(int));
    EXPECT_EQ(cuGraphMemcpyNodeSetParams(copy, &box), Result::kSuccess);
}

TEST_P(DriverGraph, ChangesWhereItIsExecutable) {
    instantiate();
    value = 20;
    EXPECT_EQ(cuGraphExecKernelNodeSetParams_v2(exec, add, &kernel), Result::kSuccess);
    EXPECT_THAT(run(y), testing::Each(23));
    EXPECT_EQ(cuGraphNodeSetEnabled(exec, fill, 0), Result::kSuccess);
    EXPECT_THAT(run(y), testing::Each(43));
    EXPECT_EQ(cuGraphNodeSetEnabled(exec, fill, 1), Result::kSuccess);
    abi::GraphExecUpdateResultInfo info{};
    EXPECT_EQ(cuGraphExecUpdate_v2(exec, graph, &info), Result::kSuccess);
    EXPECT_THAT(run(y), testing::Each(10));
}

TEST_P(DriverGraph, IsANodeOfAnother) {
    Graph *outer = nullptr, *clone = nullptr;
    ASSERT_EQ(cuGraphCreate(&outer, 0), Result::kSuccess);
    ASSERT_EQ(cuGraphClone(&clone, graph), Result::kSuccess);
    GraphNode *child = nullptr, *again = nullptr, *found = nullptr;
    EXPECT_EQ(cuGraphNodeFindInClone(&found, add, clone), Result::kSuccess);
    ASSERT_EQ(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, clone), Result::kSuccess);
    ASSERT_EQ(cuGraphAddKernelNode_v2(&again, outer, &child, 1, &kernel), Result::kSuccess);
    ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, outer, 0), Result::kSuccess);
    EXPECT_THAT(run(x), testing::Each(17));
    EXPECT_EQ(cuGraphDestroy(clone), Result::kSuccess);
    EXPECT_EQ(cuGraphDestroy(outer), Result::kSuccess);
}

TEST_P(DriverGraph, RefusesWhatDoesNotFit) {
    instantiate();
    GraphNode* node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, nullptr), Result::kInvalidValue);
    Memcpy3D overlapping = copy_to_y;
    overlapping.srcPitch = 16;
    EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &overlapping, context),
              Result::kInvalidValue);
    EXPECT_EQ(cuGraphMemcpyNodeSetParams(add, &copy_to_y), Result::kInvalidValue);
    EXPECT_EQ(cuGraphNodeSetEnabled(exec, nullptr, 1), Result::kInvalidValue);
}

INSTANTIATE_TEST_SUITE_P(Modes, DriverGraph, ::testing::Values(false, true), name_of_mode);

}  // namespace
}  // namespace lockstep::cuda::driver
