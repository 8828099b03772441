// SPDX-License-Identifier: Apache-2.0
#include "tests/workloads/cuda_api/runtime/api.h"

namespace lockstep::cuda {
namespace {

using MemoryTest = RuntimeTest;

TEST_F(MemoryTest, AllocatesAndFrees) {
    void* pointer = &pointer;
    EXPECT_EQ(cudaMalloc(&pointer, 0), Error::kSuccess);
    EXPECT_EQ(pointer, nullptr);
    EXPECT_EQ(cudaMalloc(nullptr, 4), Error::kInvalidValue);
    EXPECT_EQ(cudaMalloc(&pointer, std::size_t{1} << 40), Error::kMemoryAllocation);
    EXPECT_EQ(cudaMalloc(&pointer, 100), Error::kSuccess);
    EXPECT_EQ(cudaFreeHost(pointer), Error::kInvalidValue);
    EXPECT_EQ(cudaFree(static_cast<char*>(pointer) + 4), Error::kInvalidValue);
    EXPECT_EQ(cudaFree(pointer), Error::kSuccess);
    EXPECT_EQ(cudaFree(pointer), Error::kInvalidValue);
    EXPECT_EQ(cudaFree(nullptr), Error::kSuccess);
    EXPECT_EQ(cudaMallocManaged(&pointer, 0, 1), Error::kInvalidValue);
    EXPECT_EQ(cudaMallocAsync(&pointer, 64, nullptr), Error::kSuccess);
    EXPECT_EQ(cudaFreeAsync(pointer, nullptr), Error::kSuccess);
}

TEST_F(MemoryTest, KnowsWhatAnAddressIs) {
    void *on_device = nullptr, *managed = nullptr, *pinned = nullptr;
    cudaMalloc(&on_device, 64);
    cudaMallocManaged(&managed, 64, 1);
    cudaMallocHost(&pinned, 64);
    int own = 0;
    const auto type = [](const void* pointer) {
        abi::PointerAttributes attributes;
        EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), Error::kSuccess);
        return attributes.type;
    };
    EXPECT_EQ(type(on_device), abi::kDevice);
    EXPECT_EQ(type(static_cast<char*>(managed) + 63), abi::kManaged);
    EXPECT_EQ(type(pinned), abi::kHost);
    EXPECT_EQ(type(&own), abi::kUnregistered);
    EXPECT_EQ(cudaHostRegister(&own, sizeof(own), 0), Error::kSuccess);
    EXPECT_EQ(cudaHostRegister(&own, sizeof(own), 0), Error::kHostMemoryAlreadyRegistered);
    EXPECT_EQ(type(&own), abi::kHost);
    EXPECT_EQ(cudaHostUnregister(&own), Error::kSuccess);
    EXPECT_EQ(cudaHostUnregister(&own), Error::kHostMemoryNotRegistered);
}

TEST_F(MemoryTest, CopiesCheckBothEnds) {
    void* pointer = nullptr;
    cudaMalloc(&pointer, 64);
    char host[80] = "text", back[80] = {};
    EXPECT_EQ(cudaMemcpy(pointer, host, 64, abi::kHostToDevice), Error::kSuccess);
    EXPECT_EQ(cudaMemcpy(back, pointer, 64, abi::kDefault), Error::kSuccess);
    EXPECT_STREQ(back, "text");
    EXPECT_EQ(cudaMemcpy(pointer, host, 65, abi::kHostToDevice), Error::kInvalidValue);
    EXPECT_EQ(cudaMemcpy(host, back, 4, abi::kHostToDevice), Error::kInvalidValue);
    EXPECT_EQ(cudaMemcpy(host, back, 4, abi::kDeviceToHost), Error::kInvalidValue);
    EXPECT_EQ(cudaMemcpy(host, back, 4, abi::kHostToHost), Error::kSuccess);
    EXPECT_EQ(cudaMemcpy(host, back, 0, abi::kDeviceToHost), Error::kSuccess);
    EXPECT_EQ(cudaMemcpy(host, nullptr, 4, abi::kHostToHost), Error::kInvalidValue);
    EXPECT_EQ(cudaMemcpy(host, back, 4, static_cast<abi::MemcpyKind>(9)),
              Error::kInvalidMemcpyDirection);
    EXPECT_EQ(cudaMemset(pointer, 7, 65), Error::kInvalidValue);
    EXPECT_EQ(cudaMemset(host, 7, 4), Error::kInvalidValue);
}

TEST_F(MemoryTest, PitchedRowsAndBoxes) {
    void* pointer = nullptr;
    std::size_t pitch = 0;
    EXPECT_EQ(cudaMallocPitch(&pointer, &pitch, 100, 4), Error::kSuccess);
    EXPECT_EQ(pitch, 512u);
    char host[4][100], back[4][100] = {};
    std::memset(host, 'x', sizeof(host));
    EXPECT_EQ(cudaMemcpy2D(pointer, pitch, host, 100, 100, 4, abi::kHostToDevice), Error::kSuccess);
    EXPECT_EQ(cudaMemset2D(static_cast<char*>(pointer) + pitch, pitch, 'y', 50, 2),
              Error::kSuccess);
    EXPECT_EQ(cudaMemcpy2D(back, 100, pointer, pitch, 100, 4, abi::kDeviceToHost), Error::kSuccess);
    EXPECT_EQ(back[0][0], 'x');
    EXPECT_EQ(back[1][49], 'y');
    EXPECT_EQ(back[2][50], 'x');
    EXPECT_EQ(back[3][0], 'x');
    EXPECT_EQ(cudaMemcpy2D(pointer, 50, host, 100, 100, 4, abi::kHostToDevice),
              Error::kInvalidPitchValue);
    EXPECT_EQ(cudaMemcpy2D(pointer, pitch, host, 100, 100, 5, abi::kHostToDevice),
              Error::kInvalidValue);

    abi::Memcpy3D box{};
    box.srcPtr = {pointer, pitch, 100, 2};  // two layers of two rows
    box.srcPos = {10, 0, 1};
    box.dstPtr = {back, 100, 100, 4};
    box.extent = {5, 2, 1};
    box.kind = abi::kDeviceToHost;
    std::memset(back, 0, sizeof(back));
    EXPECT_EQ(cudaMemcpy3D(&box), Error::kSuccess);
    EXPECT_EQ(back[0][0], 'y');  // row 2 of the allocation
    EXPECT_EQ(back[1][4], 'x');
    EXPECT_EQ(back[0][5], 0);
}

}  // namespace
}  // namespace lockstep::cuda
