// SPDX-License-Identifier: Apache-2.0
// Modules, launches and memory through the driver, and one state with the runtime API.
#include "tests/workloads/cuda_api/driver/driver_test.h"

namespace lockstep::cuda::driver {
namespace {

class WorkTest : public DriverTest {
  protected:
    WorkTest() { make_current(); }

    /// The kernel vector_add(a, b, c, n) of a module.
    Kernel* load() {
        const std::string path = source_path("workloads/cuda/cubin/sm_90/vector_add.cubin");
        EXPECT_EQ(cuModuleLoad(&library, path.c_str()), Result::kSuccess);
        Kernel* function = nullptr;
        EXPECT_EQ(cuModuleGetFunction(&function, library, "vector_add"), Result::kSuccess);
        return function;
    }
};

TEST_F(WorkTest, ALaunchTakesParametersOneByOneOrPacked) {
    Kernel* const add = load();
    std::uint64_t a = 1, b = 2, c = 3;
    int n = 4;
    void* parameters[] = {&a, &b, &c, &n};
    EXPECT_EQ(cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
              Result::kSuccess);
    struct {
        std::uint64_t a, b, c;
        int n;
    } packed = {1, 2, 3, 4};
    std::size_t bytes = 28;
    void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes,
                     nullptr};
    EXPECT_EQ(cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), Result::kSuccess);
    ASSERT_EQ(device->launches.size(), 2u);
    EXPECT_EQ(device->launches[0].parameters, device->launches[1].parameters);
    EXPECT_EQ(cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters, extra),
              Result::kInvalidValue);
    EXPECT_EQ(cuLaunchKernel(add, 0, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
              Result::kInvalidValue);
    EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
              Result::kInvalidHandle);
}

TEST_F(WorkTest, WhatDoesNotLoadIsRefusedWithTheDriversCode) {
    Module* module = nullptr;
    Kernel* function = nullptr;
    EXPECT_EQ(cuModuleLoad(&module, "/nothing/here.cubin"), Result::kFileNotFound);
    EXPECT_EQ(cuModuleLoadData(&module, "neither code nor text"), Result::kInvalidImage);
    EXPECT_EQ(cuModuleLoadData(nullptr, "x"), Result::kInvalidValue);
    load();
    EXPECT_EQ(cuModuleGetFunction(&function, library, "no_such_kernel"), Result::kNotFound);
}

TEST_F(WorkTest, AFunctionHasAttributesAndABestBlock) {
    Kernel* const add = load();
    int value = 0;
    constexpr auto kBinaryVersion = static_cast<abi::FuncAttribute>(6);
    EXPECT_EQ(cuFuncGetAttribute(&value, kBinaryVersion, add), Result::kSuccess);
    EXPECT_EQ(value, 90);
    EXPECT_EQ(cuFuncGetAttribute(&value, static_cast<abi::FuncAttribute>(99), add),
              Result::kInvalidValue);
    int grid = 0, block = 0;
    EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 0),
              Result::kSuccess);
    EXPECT_EQ(block, 1024);
    EXPECT_EQ(grid, 132 * 2);
    EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 100),
              Result::kSuccess);
    EXPECT_LE(block, 100);
}

TEST_F(WorkTest, TheRuntimeSeesTheDriversMemoryAndBothSeeStreams) {
    Pointer pointer = 0;
    ASSERT_EQ(cuMemAlloc_v2(&pointer, 16), Result::kSuccess);
    EXPECT_EQ(cuMemAlloc_v2(&pointer, 0), Result::kInvalidValue);
    const int values[4] = {1, 2, 3, 4};
    int back[4] = {};
    EXPECT_EQ(cuMemcpyHtoD_v2(pointer, values, sizeof(values)), Result::kSuccess);
    EXPECT_EQ(cudaMemcpy(back, host_pointer(pointer), sizeof(back), abi::kDeviceToHost),
              Error::kSuccess);
    EXPECT_EQ(back[3], 4);
    EXPECT_EQ(cuMemsetD16_v2(pointer, 0x0102, 8), Result::kSuccess);
    EXPECT_EQ(cuMemcpyDtoH_v2(back, pointer, sizeof(back)), Result::kSuccess);
    EXPECT_EQ(back[0], 0x01020102);
    EXPECT_EQ(cuMemcpyDtoH_v2(back, pointer + 8, 16), Result::kInvalidValue);
    Stream* stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, 1), Result::kSuccess);
    EXPECT_EQ(cudaMemsetAsync(host_pointer(pointer), 0, 16, stream), Error::kSuccess);
    EXPECT_EQ(cuStreamDestroy_v2(stream), Result::kSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), Error::kInvalidResourceHandle);
    EXPECT_EQ(cudaFree(host_pointer(pointer)), Error::kSuccess);
    EXPECT_EQ(cuMemFree_v2(pointer), Result::kInvalidValue);
}

TEST_F(WorkTest, APlaneIsCopiedFromAPlaceInside) {
    Pointer pointer = 0;
    ASSERT_EQ(cuMemAlloc_v2(&pointer, 64), Result::kSuccess);
    unsigned char values[64], back[4] = {};
    for (int i = 0; i < 64; ++i) values[i] = static_cast<unsigned char>(i);
    cuMemcpyHtoD_v2(pointer, values, sizeof(values));
    Memcpy2D plane{};
    plane.srcMemoryType = kDeviceMemory;
    plane.srcDevice = pointer;
    plane.srcPitch = 16;
    plane.srcXInBytes = 3;
    plane.srcY = 2;
    plane.dstMemoryType = kHostMemory;
    plane.dstHost = back;
    plane.dstPitch = 2;
    plane.WidthInBytes = 2;
    plane.Height = 2;
    EXPECT_EQ(cuMemcpy2D_v2(&plane), Result::kSuccess);
    EXPECT_EQ(back[0], 35);
    EXPECT_EQ(back[3], 52);
    plane.srcPitch = 4;
    EXPECT_EQ(cuMemcpy2D_v2(&plane), Result::kInvalidValue);
    cuMemFree_v2(pointer);
}

TEST_F(WorkTest, PointersSayWhereTheyPoint) {
    Pointer pointer = 0, begin = 0;
    std::size_t bytes = 0;
    ASSERT_EQ(cuMemAlloc_v2(&pointer, 1000), Result::kSuccess);
    EXPECT_EQ(cuMemGetAddressRange_v2(&begin, &bytes, pointer + 500), Result::kSuccess);
    EXPECT_EQ(begin, pointer);
    EXPECT_EQ(bytes, 1000u);
    unsigned type = 0;
    constexpr int kType = 2, kOrdinal = 9;
    EXPECT_EQ(cuPointerGetAttribute(&type, kType, pointer), Result::kSuccess);
    EXPECT_EQ(type, kDeviceMemory);
    const auto mine = reinterpret_cast<Pointer>(&type);
    EXPECT_EQ(cuPointerGetAttribute(&type, kType, mine), Result::kInvalidValue);
    int which[] = {kType, kOrdinal}, ordinal = 0;
    void* places[] = {&type, &ordinal};
    EXPECT_EQ(cuPointerGetAttributes(2, which, places, mine), Result::kSuccess);
    EXPECT_EQ(type, 0u);
    EXPECT_EQ(ordinal, -2);
    cuMemFree_v2(pointer);
}

TEST_F(WorkTest, ArraysAreTheRuntimes) {
    constexpr unsigned kFloat = 0x20, kByte = 0x01;
    Array* array = nullptr;
    const ArrayDescriptor plane{5, 4, kFloat, 1}, three{5, 4, kFloat, 3};
    EXPECT_EQ(cuArrayCreate_v2(&array, &three), Result::kInvalidValue);
    ASSERT_EQ(cuArrayCreate_v2(&array, &plane), Result::kSuccess);
    Array3DDescriptor found{};
    EXPECT_EQ(cuArray3DGetDescriptor_v2(&found, array), Result::kSuccess);
    EXPECT_EQ(found.Width, 5u);
    EXPECT_EQ(found.Depth, 0u);
    EXPECT_EQ(found.Format, kFloat);

    float values[20], back[20] = {};
    for (int i = 0; i < 20; ++i) values[i] = static_cast<float>(i);
    Memcpy2D in{};
    in.srcMemoryType = kHostMemory;
    in.srcHost = values;
    in.dstMemoryType = kArrayMemory;
    in.dstArray = array;
    in.WidthInBytes = 20;
    in.Height = 4;
    EXPECT_EQ(cuMemcpy2D_v2(&in), Result::kSuccess);
    EXPECT_EQ(cuMemcpyHtoA_v2(array, 4, values, 8), Result::kSuccess);
    EXPECT_EQ(cuMemcpyHtoA_v2(array, 16, values, 8), Result::kInvalidValue);
    in.Height = 5;
    EXPECT_EQ(cuMemcpy2D_v2(&in), Result::kInvalidValue);
    Memcpy2D out{};
    out.srcMemoryType = kArrayMemory;
    out.srcArray = array;
    out.dstMemoryType = kHostMemory;
    out.dstHost = back;
    out.WidthInBytes = 20;
    out.Height = 4;
    EXPECT_EQ(cuMemcpy2D_v2(&out), Result::kSuccess);
    EXPECT_EQ(back[1], 0);
    EXPECT_EQ(back[2], 1);
    EXPECT_EQ(back[19], 19);

    const Array3DDescriptor bytes{4, 4, 0, kByte, 4, 0};
    Array* colors = nullptr;
    ASSERT_EQ(cuArray3DCreate_v2(&colors, &bytes), Result::kSuccess);
    ResourceDescriptor resource{.resType = abi::kResourceArray};
    resource.res.array.hArray = colors;
    constexpr unsigned kAsInteger = 1;
    TextureDescriptor linear{.filterMode = 1, .flags = kAsInteger};
    abi::TextureObject object = 0;
    EXPECT_EQ(cuTexObjectCreate(&object, &resource, &linear, nullptr), Result::kInvalidValue);
    linear.flags = 0;  // this device has no textures, but the object would do
    EXPECT_EQ(cuTexObjectCreate(&object, &resource, &linear, nullptr), Result::kNotSupported);
    EXPECT_EQ(cuArrayDestroy(colors), Result::kSuccess);
    EXPECT_EQ(cuArrayDestroy(colors), Result::kInvalidHandle);
}

}  // namespace
}  // namespace lockstep::cuda::driver
