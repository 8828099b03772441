// SPDX-License-Identifier: Apache-2.0
// Arrays without a device that samples them: what is refused, and copies of boxes. What kernels
// read: programs/texture.cu.
#include "workloads/cuda_api/state/array.h"

#include <numeric>

#include "tests/workloads/cuda_api/runtime/api.h"

namespace lockstep::cuda {

extern "C" {
Error cudaMallocArray(Array**, const abi::ChannelFormatDesc*, std::size_t, std::size_t, unsigned);
Error cudaMalloc3DArray(Array**, const abi::ChannelFormatDesc*, abi::Extent, unsigned);
Error cudaFreeArray(Array*);
Error cudaMemcpy2DToArray(Array*, std::size_t, std::size_t, const void*, std::size_t, std::size_t,
                          std::size_t, abi::MemcpyKind);
Error cudaMemcpyToArray(Array*, std::size_t, std::size_t, const void*, std::size_t,
                        abi::MemcpyKind);
Error cudaMemcpyFromArray(void*, const Array*, std::size_t, std::size_t, std::size_t,
                          abi::MemcpyKind);
Error cudaCreateTextureObject(abi::TextureObject*, const abi::ResourceDesc*,
                              const abi::TextureDesc*, const abi::ResourceViewDesc*);
Error cudaCreateSurfaceObject(abi::TextureObject*, const abi::ResourceDesc*);
Error cudaDestroyTextureObject(abi::TextureObject);
}

namespace {

using ArrayTest = RuntimeTest;

constexpr abi::ChannelFormatDesc kInt{32, 0, 0, 0, abi::kChannelSigned};

TEST_F(ArrayTest, FormatsAndExtentsAreChecked) {
    Array* array = nullptr;
    const abi::ChannelFormatDesc three{32, 32, 32, 0, abi::kChannelFloat};
    const abi::ChannelFormatDesc mixed{32, 16, 0, 0, abi::kChannelFloat};
    EXPECT_EQ(cudaMallocArray(&array, &three, 4, 4, 0), Error::kInvalidChannelDescriptor);
    EXPECT_EQ(cudaMallocArray(&array, &mixed, 4, 4, 0), Error::kInvalidChannelDescriptor);
    EXPECT_EQ(cudaMallocArray(&array, &kInt, 0, 4, 0), Error::kInvalidValue);
    EXPECT_EQ(cudaMallocArray(nullptr, &kInt, 4, 4, 0), Error::kInvalidValue);
    EXPECT_EQ(cudaMalloc3DArray(&array, &kInt, {4, 4, 5}, abi::kArrayCubemap),
              Error::kInvalidValue);
    EXPECT_EQ(cudaMallocArray(&array, &kInt, 4, 4, 0), Error::kSuccess);
    EXPECT_EQ(cudaFreeArray(array), Error::kSuccess);
    EXPECT_EQ(cudaFreeArray(array), Error::kInvalidResourceHandle);
    EXPECT_EQ(cudaFreeArray(nullptr), Error::kSuccess);
}

TEST_F(ArrayTest, CopiesStayInTheArray) {
    Array* array = nullptr;
    ASSERT_EQ(cudaMallocArray(&array, &kInt, 5, 4, 0), Error::kSuccess);
    std::vector<int> values(20), back(20);
    std::iota(values.begin(), values.end(), 1);
    const auto copy = [&](std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
        return cudaMemcpy2DToArray(array, x, y, values.data(), 20, width, height,
                                   abi::kHostToDevice);
    };
    EXPECT_EQ(copy(0, 0, 20, 4), Error::kSuccess);
    EXPECT_EQ(copy(4, 0, 20, 4), Error::kInvalidValue);
    EXPECT_EQ(copy(0, 1, 20, 4), Error::kInvalidValue);
    // A run of bytes goes on in the next row.
    EXPECT_EQ(cudaMemcpyToArray(array, 12, 0, values.data(), 40, abi::kHostToDevice),
              Error::kSuccess);
    EXPECT_EQ(cudaMemcpyFromArray(back.data(), array, 0, 0, 80, abi::kDeviceToHost),
              Error::kSuccess);
    const std::vector<int> expected = {1, 2, 3,  1,  2,  3,  4,  5,  6,  7,
                                       8, 9, 10, 14, 15, 16, 17, 18, 19, 20};
    EXPECT_EQ(back, expected);
    EXPECT_EQ(cudaMemcpyToArray(array, 0, 3, values.data(), 24, abi::kHostToDevice),
              Error::kInvalidValue);
}

TEST_F(ArrayTest, ObjectsAreChecked) {
    Array* array = nullptr;
    ASSERT_EQ(cudaMallocArray(&array, &kInt, 4, 4, 0), Error::kSuccess);
    abi::ResourceDesc resource{.resType = abi::kResourceArray};
    resource.res.array.array = array;
    abi::TextureDesc texture{};
    abi::TextureObject object = 0;
    texture.filterMode = 1;
    EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &texture, nullptr),
              Error::kInvalidFilterSetting);
    texture.readMode = 1;
    EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &texture, nullptr),
              Error::kInvalidNormSetting);
    EXPECT_EQ(cudaCreateSurfaceObject(&object, &resource), Error::kInvalidValue);
    EXPECT_EQ(cudaDestroyTextureObject(7), Error::kInvalidResourceHandle);
    // This device has no textures.
    const abi::TextureDesc plain{};
    EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &plain, nullptr), Error::kNotSupported);
}

}  // namespace
}  // namespace lockstep::cuda
