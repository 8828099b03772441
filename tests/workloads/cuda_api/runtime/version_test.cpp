// SPDX-License-Identifier: Apache-2.0
// The functions that are compiled for each version of CUDA, here for 13.
#include "tests/workloads/cuda_api/runtime/api.h"

namespace lockstep::cuda {
namespace {

using VersionTest = RuntimeTest;

TEST_F(VersionTest, TellsItsVersion) {
    int version = 0;
    EXPECT_EQ(cudaRuntimeGetVersion(&version), Error::kSuccess);
    EXPECT_EQ(version, 13000);
    EXPECT_EQ(cudaRuntimeGetVersion(nullptr), Error::kInvalidValue);
}

TEST_F(VersionTest, PropertiesHaveTheLayoutOfTheVersion) {
    abi::DeviceProp13 properties;
    EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), Error::kInvalidDevice);
    ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), Error::kSuccess);
    EXPECT_STREQ(properties.name, "NVIDIA H200");
    int value = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, 39, 0), Error::kSuccess);
    EXPECT_EQ(value, properties.maxThreadsPerMultiProcessor);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, 39, 1), Error::kInvalidDevice);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, 0, 0), Error::kInvalidValue);
}

}  // namespace
}  // namespace lockstep::cuda
