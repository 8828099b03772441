// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/state/graph.h"

#include <gmock/gmock.h>

#include "tests/workloads/cuda_api/runtime/api.h"

namespace lockstep::cuda {
namespace {

class GraphTest : public RuntimeTest {
  protected:
    GraphTest() {
        cudaMalloc(reinterpret_cast<void**>(&words_), 32 * sizeof(int));
        cudaStreamCreate(&stream_);
    }
    abi::MemsetParams fill(unsigned value) const { return {words_, 0, value, 4, 32, 1}; }
    int* words_ = nullptr;
    Stream* stream_ = nullptr;
};

TEST_F(GraphTest, RunsNodesInOrderOfTheirDependencies) {
    Graph* graph = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), Error::kSuccess);
    GraphNode *first = nullptr, *second = nullptr;
    const abi::MemsetParams one = fill(1), two = fill(2);
    ASSERT_EQ(cudaGraphAddMemsetNode(&second, graph, nullptr, 0, &two), Error::kSuccess);
    ASSERT_EQ(cudaGraphAddMemsetNode(&first, graph, &second, 1, &one), Error::kSuccess);
    GraphExec* exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), Error::kSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream_), Error::kSuccess);
    EXPECT_EQ(words_[31], 1);
}

TEST_F(GraphTest, CaptureDefersWorkAndRepeatsIt) {
    static int calls = 0;
    calls = 0;
    int host[32] = {};
    cudaStreamBeginCapture(stream_, abi::kCaptureGlobal);
    EXPECT_EQ(cudaMemsetAsync(words_, 5, 128, stream_), Error::kSuccess);
    EXPECT_EQ(cudaMemcpyAsync(host, words_, 128, abi::kDeviceToHost, stream_), Error::kSuccess);
    EXPECT_EQ(cudaLaunchHostFunc(
                  stream_, [](void*) { ++calls; }, nullptr),
              Error::kSuccess);
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocAsync(&memory, 64, stream_), Error::kSuccess);
    EXPECT_EQ(cudaFreeAsync(memory, stream_), Error::kSuccess);
    Graph* graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), Error::kSuccess);
    EXPECT_EQ(host[0], 0);
    EXPECT_EQ(calls, 0);
    std::size_t count = 0;
    cudaGraphGetNodes(graph, nullptr, &count);
    EXPECT_EQ(count, 5u);
    GraphExec* exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), Error::kSuccess);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(exec, stream_), Error::kSuccess);
    EXPECT_EQ(host[7], 0x05050505);
    EXPECT_EQ(calls, 3);
}

TEST_F(GraphTest, CanBePrintedForGraphviz) {
    Graph* graph = nullptr;
    cudaGraphCreate(&graph, 0);
    GraphNode *first = nullptr, *second = nullptr;
    const abi::MemsetParams one = fill(1);
    const abi::HostNodeParams host{[](void*) {}, nullptr};
    ASSERT_EQ(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &one), Error::kSuccess);
    ASSERT_EQ(cudaGraphAddHostNode(&second, graph, &first, 1, &host), Error::kSuccess);
    const std::string path = testing::TempDir() + "lockstep_graph_test.dot";
    ASSERT_EQ(cudaGraphDebugDotPrint(graph, path.c_str(), 0), Error::kSuccess);
    std::ifstream file(path);
    const std::string dot{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(dot, testing::StartsWith("digraph dot {"));
    EXPECT_THAT(dot, testing::HasSubstr("MEMSET"));
    EXPECT_THAT(dot, testing::HasSubstr(R"("graph_0_node_0" -> "graph_0_node_1";)"));
    EXPECT_EQ(cudaGraphDebugDotPrint(graph, "/nowhere/graph.dot", 0), Error::kOperatingSystem);
}

TEST_F(GraphTest, MemoryOfAGraphLivesAsLongAsWhatWasMadeOfIt) {
    const auto attribute = [](int which) {
        std::uint64_t value = 0;
        EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, which, &value), Error::kSuccess);
        return value;
    };
    constexpr int kUsed = 0, kReserved = 2;
    cudaStreamBeginCapture(stream_, abi::kCaptureGlobal);
    void *freed = nullptr, *kept = nullptr;
    cudaMallocAsync(&freed, 256, stream_);
    cudaMallocAsync(&kept, 256, stream_);
    cudaMemsetAsync(kept, 7, 256, stream_);
    cudaFreeAsync(freed, stream_);
    Graph* graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), Error::kSuccess);
    EXPECT_EQ(attribute(kReserved), 512u);
    GraphExec* exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), Error::kSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), Error::kSuccess);
    EXPECT_EQ(cudaFree(kept), Error::kInvalidValue);  // not allocated yet
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(cudaGraphLaunch(exec, stream_), Error::kSuccess);
        EXPECT_EQ(attribute(kUsed), 256u);
        EXPECT_EQ(cudaFree(kept), Error::kSuccess);
        EXPECT_EQ(attribute(kUsed), 0u);
    }
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), Error::kSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(exec), Error::kSuccess);
    EXPECT_EQ(attribute(kReserved), 0u);
    char byte = 0;
    EXPECT_EQ(cudaMemcpy(&byte, kept, 1, abi::kDeviceToHost), Error::kSuccess);
    EXPECT_EQ(byte, 7);
    EXPECT_EQ(cudaFree(kept), Error::kSuccess);
}

TEST_F(GraphTest, KernelNodesKeepTheirArgumentsUntilTheyAreSet) {
    Kernel* const add = kernel();
    std::uint64_t pointer = 0xabc;
    int n = 3;
    void* arguments[] = {&pointer, &pointer, &pointer, &n};
    abi::KernelNodeParams params{add, {1, 1, 1}, {32, 1, 1}, 0, arguments, nullptr};
    Graph* graph = nullptr;
    cudaGraphCreate(&graph, 0);
    GraphNode* node = nullptr;
    ASSERT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params), Error::kSuccess);
    GraphExec* exec = nullptr;
    cudaGraphInstantiate(&exec, graph, 0);
    n = 4;
    cudaGraphLaunch(exec, stream_);
    ASSERT_EQ(cudaGraphExecKernelNodeSetParams(exec, node, &params), Error::kSuccess);
    cudaGraphLaunch(exec, stream_);
    ASSERT_EQ(device->launches.size(), 2u);
    EXPECT_EQ(static_cast<int>(device->launches[0].parameters[24]), 3);
    EXPECT_EQ(static_cast<int>(device->launches[1].parameters[24]), 4);
}

TEST_F(GraphTest, KernelNodesAreLaunchedWithTheirAttributes) {
    Kernel* const add = kernel();
    std::uint64_t pointer = 0xabc;
    int n = 3;
    void* arguments[] = {&pointer, &pointer, &pointer, &n};
    abi::KernelNodeParams params{add, {4, 1, 1}, {32, 1, 1}, 0, arguments, nullptr};
    Graph* graph = nullptr;
    cudaGraphCreate(&graph, 0);
    GraphNode *node = nullptr, *copy = nullptr;
    ASSERT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params), Error::kSuccess);
    ASSERT_EQ(cudaGraphAddKernelNode(&copy, graph, &node, 1, &params), Error::kSuccess);
    abi::LaunchAttributeValue value{}, got{};
    value.clusterDim = {0, 1, 1};
    EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, abi::kLaunchAttributeClusterDimension, &value),
              Error::kInvalidClusterSize);
    value.clusterDim = {2, 1, 1};
    ASSERT_EQ(cudaGraphKernelNodeSetAttribute(node, abi::kLaunchAttributeClusterDimension, &value),
              Error::kSuccess);
    ASSERT_EQ(cudaGraphKernelNodeGetAttribute(node, abi::kLaunchAttributeClusterDimension, &got),
              Error::kSuccess);
    EXPECT_EQ(got.clusterDim.x, 2u);
    ASSERT_EQ(cudaGraphKernelNodeCopyAttributes(copy, node), Error::kSuccess);
    ASSERT_EQ(cudaGraphKernelNodeSetParams(node, &params), Error::kSuccess);
    GraphExec* exec = nullptr;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream_);
    ASSERT_EQ(cudaGraphExecKernelNodeSetParams(exec, node, &params), Error::kSuccess);
    cudaGraphLaunch(exec, stream_);
    ASSERT_EQ(device->launches.size(), 4u);
    for (const auto& launch : device->launches) EXPECT_EQ(launch.cluster, (sass::Dim3{2, 1, 1}));
}

TEST_F(GraphTest, AnUpdateMustHaveTheSameNodes) {
    const abi::MemsetParams one = fill(1), two = fill(2);
    Graph *graph = nullptr, *same = nullptr, *other = nullptr;
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&same, 0);
    cudaGraphCreate(&other, 0);
    GraphNode* node = nullptr;
    cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &one);
    cudaGraphAddMemsetNode(&node, same, nullptr, 0, &two);
    const abi::HostNodeParams host{[](void*) {}, nullptr};
    cudaGraphAddHostNode(&node, other, nullptr, 0, &host);
    GraphExec* exec = nullptr;
    cudaGraphInstantiate(&exec, graph, 0);
    abi::GraphExecUpdateResultInfo info{};
    EXPECT_EQ(cudaGraphExecUpdate(exec, same, &info), Error::kSuccess);
    cudaGraphLaunch(exec, stream_);
    EXPECT_EQ(words_[0], 2);
    EXPECT_EQ(cudaGraphExecUpdate(exec, other, &info), Error::kGraphExecUpdateFailure);
    EXPECT_EQ(info.result, abi::kUpdateNodeTypeChanged);
}

TEST_F(GraphTest, ACycleCannotBeInstantiated) {
    auto graph = std::make_shared<Graph>(Context::current());
    GraphNode* const a = graph->add(Nothing{}, {});
    GraphNode* const b = graph->add(Nothing{}, {a});
    a->dependencies.push_back(b);
    EXPECT_TRUE(graph->order().empty());
}

}  // namespace
}  // namespace lockstep::cuda
