// SPDX-License-Identifier: Apache-2.0
// Compiled where a CUDA toolkit is installed: every driver function's definition against NVIDIA's
// declaration in number and size of parameters, our structures' layouts and our numbers.
#define __CUDA_API_VERSION_INTERNAL  // all forms of all functions, and no macros for the newest
#include <cuda.h>
#include <cudaProfiler.h>
#include <gtest/gtest.h>

namespace {

/// Pointers to opaque types are alike, and so are an enumeration and an int.
template <class A, class B>
constexpr bool is_alike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> ==
                                  std::is_pointer_v<B>&& std::is_floating_point_v<A> ==
                                  std::is_floating_point_v<B>;

template <class Ours, class Theirs>
struct Alike : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct Alike<R (*)(A...), S (*)(B...)>
    : std::bool_constant<is_alike<R, S> && (is_alike<A, B> && ...)> {
};

}  // namespace

// The definitions once more, as functions of another name in another namespace.
#define LOCKSTEP_DRIVER(name, parameters)                                          \
    [[maybe_unused]] Result ours_##name parameters;                                \
    static_assert(Alike<decltype(&ours_##name), decltype(&::name)>::value, #name); \
    Result ours_##name parameters
#define driver driver_signatures

#include "workloads/cuda_api/driver/array.cpp"
#include "workloads/cuda_api/driver/call.cpp"
#include "workloads/cuda_api/driver/context.cpp"
#include "workloads/cuda_api/driver/copy.cpp"
#include "workloads/cuda_api/driver/device.cpp"
#include "workloads/cuda_api/driver/entry_point.cpp"
#include "workloads/cuda_api/driver/error.cpp"
#include "workloads/cuda_api/driver/graph.cpp"
#include "workloads/cuda_api/driver/launch.cpp"
#include "workloads/cuda_api/driver/memory.cpp"
#include "workloads/cuda_api/driver/module.cpp"
#include "workloads/cuda_api/driver/stream.cpp"
#include "workloads/cuda_api/driver/tensor_map.cpp"
#include "workloads/cuda_api/driver/virtual_memory.cpp"

namespace lockstep::cuda::driver {
namespace {

#define SAME_MEMBER(ours, theirs, member) \
    EXPECT_EQ(offsetof(ours, member), offsetof(theirs, member))

TEST(DriverHeader, HasOurLayouts) {
    EXPECT_EQ(sizeof(Memcpy2D), sizeof(CUDA_MEMCPY2D));
    SAME_MEMBER(Memcpy2D, CUDA_MEMCPY2D, dstMemoryType);
    SAME_MEMBER(Memcpy2D, CUDA_MEMCPY2D, Height);
    EXPECT_EQ(sizeof(ContextParameters), sizeof(CUctxCreateParams));
    SAME_MEMBER(ContextParameters, CUctxCreateParams, cigParams);
    EXPECT_EQ(sizeof(KernelNode), sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
    SAME_MEMBER(KernelNode, CUDA_KERNEL_NODE_PARAMS_v2, extra);
    SAME_MEMBER(KernelNode, CUDA_KERNEL_NODE_PARAMS_v1, extra);
    EXPECT_EQ(sizeof(abi::MemsetParams), sizeof(CUDA_MEMSET_NODE_PARAMS_v1));
    SAME_MEMBER(abi::MemsetParams, CUDA_MEMSET_NODE_PARAMS_v1, elementSize);
    EXPECT_EQ(sizeof(abi::MemAllocNodeParams), sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v1));
    EXPECT_EQ(sizeof(abi::MemAllocationProp), sizeof(CUmemAllocationProp));
    SAME_MEMBER(abi::MemAllocationProp, CUmemAllocationProp, location);
    EXPECT_EQ(sizeof(Memcpy3D), sizeof(CUDA_MEMCPY3D));
    SAME_MEMBER(Memcpy3D, CUDA_MEMCPY3D, srcHeight);
    SAME_MEMBER(Memcpy3D, CUDA_MEMCPY3D, dstZ);
    SAME_MEMBER(Memcpy3D, CUDA_MEMCPY3D, dstHeight);
    EXPECT_EQ(sizeof(ArrayDescriptor), sizeof(CUDA_ARRAY_DESCRIPTOR));
    EXPECT_EQ(sizeof(Array3DDescriptor), sizeof(CUDA_ARRAY3D_DESCRIPTOR));
    SAME_MEMBER(Array3DDescriptor, CUDA_ARRAY3D_DESCRIPTOR, Flags);
    EXPECT_EQ(sizeof(ResourceDescriptor), sizeof(CUDA_RESOURCE_DESC));
    SAME_MEMBER(ResourceDescriptor, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
    EXPECT_EQ(sizeof(TextureDescriptor), sizeof(CUDA_TEXTURE_DESC));
    SAME_MEMBER(TextureDescriptor, CUDA_TEXTURE_DESC, borderColor);
    EXPECT_EQ(sizeof(abi::ResourceViewDesc), sizeof(CUDA_RESOURCE_VIEW_DESC));
    EXPECT_EQ(sizeof(LaunchConfig), sizeof(CUlaunchConfig));
    SAME_MEMBER(LaunchConfig, CUlaunchConfig, hStream);
    SAME_MEMBER(LaunchConfig, CUlaunchConfig, numAttrs);
    EXPECT_EQ(sizeof(abi::LaunchAttribute), sizeof(CUlaunchAttribute));
    EXPECT_EQ(offsetof(abi::LaunchAttribute, val), offsetof(CUlaunchAttribute, value));
    EXPECT_EQ(sizeof(abi::MemPoolProps), sizeof(CUmemPoolProps));
    EXPECT_EQ(sizeof(DeviceProperties), sizeof(CUdevprop));
    EXPECT_EQ(sizeof(TensorMap), sizeof(CUtensorMap));
    EXPECT_LE(alignof(TensorMap), alignof(CUtensorMap));  // 128 from CUDA 13 on, which needs 64
    EXPECT_EQ(sizeof(Uuid), sizeof(CUuuid));
}

TEST(DriverHeader, HasOurNumbers) {
    EXPECT_EQ(kUnifiedMemory, CU_MEMORYTYPE_UNIFIED);
    EXPECT_EQ(kSyncMemops, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    EXPECT_EQ(kRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
    EXPECT_EQ(kPool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
    EXPECT_EQ(kTf32Ftz, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
    EXPECT_EQ(kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
    EXPECT_EQ(kPromotion256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    EXPECT_EQ(kFillNan, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    EXPECT_EQ(int(abi::kLaunchAttributeCooperative), CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    EXPECT_EQ(int(abi::kLaunchAttributeClusterDimension), CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    EXPECT_EQ(int(abi::kMaxDynamicSharedMemorySize),
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    EXPECT_EQ(int(abi::kLimitMallocHeapSize), CU_LIMIT_MALLOC_HEAP_SIZE);
    EXPECT_EQ(int(abi::kUsedMemHigh), CU_MEMPOOL_ATTR_USED_MEM_HIGH);
    EXPECT_EQ(int(Query::kVersionNotSufficient), CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    EXPECT_EQ(kPerThreadStream, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    EXPECT_EQ(int(Result::kInvalidPtx), CUDA_ERROR_INVALID_PTX);
    EXPECT_EQ(int(Result::kNoBinaryForGpu), CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(int(Result::kInvalidContext), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace
}  // namespace lockstep::cuda::driver
