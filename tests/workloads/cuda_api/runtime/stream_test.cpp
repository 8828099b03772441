// SPDX-License-Identifier: Apache-2.0
#include "tests/workloads/cuda_api/runtime/api.h"

namespace lockstep::cuda {
namespace {

using StreamTest = RuntimeTest;

TEST_F(StreamTest, HandlesAreChecked) {
    Stream* stream = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), Error::kSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), Error::kSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), Error::kSuccess);
    EXPECT_EQ(cudaStreamSynchronize(reinterpret_cast<Stream*>(2)), Error::kSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), Error::kSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), Error::kInvalidResourceHandle);
    EXPECT_EQ(cudaStreamDestroy(nullptr), Error::kInvalidResourceHandle);
}

TEST_F(StreamTest, EventsMeasureTheTimeOfTheWork) {
    Event *start = nullptr, *end = nullptr;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    float milliseconds = -1;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), Error::kInvalidResourceHandle);
    Kernel* const add = kernel();
    std::uint64_t pointer = 0;
    int n = 0;
    void* arguments[] = {&pointer, &pointer, &pointer, &n};
    cudaEventRecord(start, nullptr);
    cudaLaunchKernel(add, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
    cudaEventRecord(end, nullptr);
    EXPECT_EQ(cudaEventQuery(end), Error::kSuccess);
    ASSERT_EQ(cudaEventElapsedTime(&milliseconds, start, end), Error::kSuccess);
    // 1,000 warp-instructions at 1.98 GHz on 132 SMs of four sub-cores.
    EXPECT_FLOAT_EQ(milliseconds, 1000.0f / (1.98e9f * 132 * 4) * 1e3f);
}

TEST_F(StreamTest, WaitingEndsACapture) {
    Stream* stream = nullptr;
    cudaStreamCreate(&stream);
    abi::CaptureStatus status;
    EXPECT_EQ(cudaStreamBeginCapture(nullptr, abi::kCaptureGlobal),
              Error::kStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamBeginCapture(stream, abi::kCaptureGlobal), Error::kSuccess);
    EXPECT_EQ(cudaStreamBeginCapture(stream, abi::kCaptureGlobal), Error::kIllegalState);
    cudaStreamIsCapturing(stream, &status);
    EXPECT_EQ(status, abi::kCaptureActive);
    EXPECT_EQ(cudaStreamSynchronize(stream), Error::kStreamCaptureUnsupported);
    cudaStreamIsCapturing(stream, &status);
    EXPECT_EQ(status, abi::kCaptureInvalidated);
    Graph* graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), Error::kStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(cudaStreamSynchronize(stream), Error::kSuccess);
}

TEST_F(StreamTest, TheDefaultStreamCannotRunBesideACapture) {
    Stream* stream = nullptr;
    cudaStreamCreate(&stream);
    void* pointer = nullptr;
    cudaMalloc(&pointer, 64);
    cudaStreamBeginCapture(stream, abi::kCaptureGlobal);
    EXPECT_EQ(cudaMemset(pointer, 0, 64), Error::kStreamCaptureImplicit);
    Graph* graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), Error::kStreamCaptureInvalidated);
}

TEST_F(StreamTest, AStreamThatJoinedMustBeJoinedBack) {
    Stream *origin = nullptr, *other = nullptr;
    cudaStreamCreate(&origin);
    cudaStreamCreate(&other);
    Event *fork = nullptr, *join = nullptr;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    void* pointer = nullptr;
    cudaMalloc(&pointer, 64);
    for (const bool joined : {false, true}) {
        cudaStreamBeginCapture(origin, abi::kCaptureGlobal);
        EXPECT_EQ(cudaEventRecord(fork, origin), Error::kSuccess);
        EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), Error::kSuccess);
        EXPECT_EQ(cudaMemsetAsync(pointer, 1, 64, other), Error::kSuccess);
        if (joined) {
            EXPECT_EQ(cudaEventRecord(join, other), Error::kSuccess);
            EXPECT_EQ(cudaStreamWaitEvent(origin, join, 0), Error::kSuccess);
        }
        Graph* graph = nullptr;
        EXPECT_EQ(cudaStreamEndCapture(origin, &graph),
                  joined ? Error::kSuccess : Error::kStreamCaptureUnjoined);
        abi::CaptureStatus status;
        cudaStreamIsCapturing(other, &status);
        EXPECT_EQ(status, abi::kCaptureNone);
        if (joined) cudaGraphDestroy(graph);
    }
}

TEST_F(StreamTest, AStreamMayBeDestroyedWhileItIsCaptured) {
    void* pointer = nullptr;
    cudaMalloc(&pointer, 64);
    Event *fork = nullptr, *join = nullptr;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    for (const bool joined : {false, true}) {
        Stream *origin = nullptr, *other = nullptr;
        cudaStreamCreate(&origin);
        cudaStreamCreate(&other);
        cudaStreamBeginCapture(origin, abi::kCaptureGlobal);
        cudaEventRecord(fork, origin);
        cudaStreamWaitEvent(other, fork, 0);
        EXPECT_EQ(cudaMemsetAsync(pointer, 1, 64, other), Error::kSuccess);
        if (joined) {
            cudaEventRecord(join, other);
            cudaStreamWaitEvent(origin, join, 0);
        }
        EXPECT_EQ(cudaStreamDestroy(other), Error::kSuccess);
        Graph* graph = nullptr;
        EXPECT_EQ(cudaStreamEndCapture(origin, &graph),
                  joined ? Error::kSuccess : Error::kStreamCaptureUnjoined);
        std::size_t count = 0;
        if (joined) cudaGraphGetNodes(graph, nullptr, &count);
        EXPECT_EQ(count, joined ? 1u : 0u);
    }
}

}  // namespace
}  // namespace lockstep::cuda
