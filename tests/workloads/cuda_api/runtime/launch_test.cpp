// SPDX-License-Identifier: Apache-2.0
#include "tests/workloads/cuda_api/runtime/api.h"

namespace lockstep::cuda {
namespace {

class LaunchTest : public RuntimeTest {
  protected:
    Error launch(abi::Dim3 grid, abi::Dim3 block, std::size_t shared = 0) {
        return cudaLaunchKernel(add_, grid, block, arguments_, shared, nullptr);
    }
    Kernel* add_ = kernel();
    std::uint64_t a_ = 0x1111, b_ = 0x2222, c_ = 0x3333;
    int n_ = 77;
    void* arguments_[4] = {&a_, &b_, &c_, &n_};
};

TEST_F(LaunchTest, PacksArgumentsByTheKernelsTable) {
    ASSERT_EQ(launch({3, 2, 1}, {64, 2, 1}, 16), Error::kSuccess);
    ASSERT_EQ(device->launches.size(), 1u);
    const FakeDevice::Launch& made = device->launches[0];
    EXPECT_EQ(made.kernel, "vector_add");
    EXPECT_EQ(made.grid, (sass::Dim3{3, 2, 1}));
    EXPECT_EQ(made.block, (sass::Dim3{64, 2, 1}));
    EXPECT_EQ(made.shared, 16u);
    ASSERT_GE(made.parameters.size(), 28u);
    EXPECT_EQ(std::memcmp(made.parameters.data(), &a_, 8), 0);
    EXPECT_EQ(std::memcmp(made.parameters.data() + 16, &c_, 8), 0);
    EXPECT_EQ(std::memcmp(made.parameters.data() + 24, &n_, 4), 0);
}

TEST_F(LaunchTest, RefusesWhatTheHardwareRefuses) {
    EXPECT_EQ(launch({0, 1, 1}, {32, 1, 1}), Error::kInvalidConfiguration);
    EXPECT_EQ(launch({1, 1, 1}, {1025, 1, 1}), Error::kInvalidConfiguration);
    EXPECT_EQ(launch({1, 1, 1}, {32, 32, 2}), Error::kInvalidConfiguration);
    EXPECT_EQ(launch({1, 1, 1}, {1, 1, 65}), Error::kInvalidConfiguration);
    EXPECT_EQ(launch({1, 65536, 1}, {1, 1, 1}), Error::kInvalidConfiguration);
    EXPECT_EQ(launch({1, 1, 1}, {32, 1, 1}, 48 * 1024 + 1), Error::kInvalidValue);
    int other = 0;
    EXPECT_EQ(cudaLaunchKernel(&other, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
              Error::kInvalidDeviceFunction);
    EXPECT_EQ(cudaLaunchKernel(add_, {1, 1, 1}, {1, 1, 1}, arguments_, 0,
                               reinterpret_cast<Stream*>(&other)),
              Error::kInvalidResourceHandle);
    EXPECT_TRUE(device->launches.empty());
}

TEST_F(LaunchTest, MoreSharedMemoryMustBeAskedFor) {
    EXPECT_EQ(cudaFuncSetAttribute(add_, abi::kMaxDynamicSharedMemorySize, 228 * 1024),
              Error::kInvalidValue);
    EXPECT_EQ(cudaFuncSetAttribute(add_, abi::kMaxDynamicSharedMemorySize, 100 * 1024),
              Error::kSuccess);
    EXPECT_EQ(launch({1, 1, 1}, {32, 1, 1}, 100 * 1024), Error::kSuccess);
    EXPECT_EQ(launch({1, 1, 1}, {32, 1, 1}, 100 * 1024 + 1), Error::kInvalidValue);
}

TEST_F(LaunchTest, CooperativeLaunchesMustBeResident) {
    int blocks = 0;
    ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_, 1024, 0),
              Error::kSuccess);
    EXPECT_EQ(blocks, 2);  // 2,048 threads an SM
    const auto most = static_cast<unsigned>(blocks) * 132;
    EXPECT_EQ(cudaLaunchCooperativeKernel(add_, {most, 1, 1}, {1024, 1, 1}, arguments_, 0, nullptr),
              Error::kSuccess);
    EXPECT_TRUE(device->launches.back().cooperative);
    EXPECT_EQ(
        cudaLaunchCooperativeKernel(add_, {most + 1, 1, 1}, {1024, 1, 1}, arguments_, 0, nullptr),
        Error::kCooperativeLaunchTooLarge);
}

TEST_F(LaunchTest, OccupancyFollowsSharedMemory) {
    int blocks = 0;
    cudaFuncSetAttribute(add_, abi::kMaxDynamicSharedMemorySize, 100 * 1024);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_, 32, 100 * 1024);
    EXPECT_EQ(blocks, 2);  // 228 KB an SM, 1 KB of each block reserved
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_, 32, 0);
    EXPECT_EQ(blocks, 32);
}

TEST_F(LaunchTest, AttributesOfTheLaunch) {
    abi::LaunchAttribute attribute{};
    attribute.id = abi::kLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    const abi::LaunchConfig config{{2, 1, 1}, {32, 1, 1}, 0, nullptr, &attribute, 1};
    EXPECT_EQ(cudaLaunchKernelExC(&config, add_, arguments_), Error::kSuccess);
    EXPECT_TRUE(device->launches.back().cooperative);
}

TEST_F(LaunchTest, AttributesOfTheKernel) {
    abi::FuncAttributes attributes;
    ASSERT_EQ(cudaFuncGetAttributes(&attributes, add_), Error::kSuccess);
    EXPECT_EQ(attributes.binaryVersion, 90);
    EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
    EXPECT_EQ(attributes.sharedSizeBytes, 0u);
    EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 48 * 1024);
    EXPECT_GT(attributes.numRegs, 0);
}

TEST_F(LaunchTest, LimitsReachTheDevice) {
    EXPECT_EQ(cudaDeviceSetLimit(abi::kLimitStackSize, 4096), Error::kSuccess);
    EXPECT_EQ(cudaDeviceSetLimit(abi::kLimitStackSize, 512 * 1024 + 1), Error::kInvalidValue);
    EXPECT_EQ(cudaDeviceSetLimit(abi::kLimitMallocHeapSize, 1 << 20), Error::kSuccess);
    EXPECT_EQ(device->stack_bytes, 4096u);
    EXPECT_EQ(device->heap_bytes, 1u << 20);
    EXPECT_EQ(cudaDeviceSetLimit(static_cast<abi::Limit>(50), 1), Error::kUnsupportedLimit);
}

}  // namespace
}  // namespace lockstep::cuda
