// SPDX-License-Identifier: Apache-2.0
// Our declarations of CUDA's binary interface against the headers of an installed toolkit.
#include "workloads/cuda_api/state/abi.h"

#include <gtest/gtest.h>

#include "workloads/cuda_api/state/abi_device_prop.h"
#include "workloads/cuda_api/state/abi_texture.h"

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#define LOCKSTEP_HAS_TOOLKIT 1
#endif

namespace lockstep::cuda {
namespace {

#ifndef LOCKSTEP_HAS_TOOLKIT

TEST(Abi, AgreesWithTheToolkit) {
    GTEST_SKIP() << "no CUDA toolkit is installed";
}

#else

#define EXPECT_SAME_SIZE(ours, theirs) EXPECT_EQ(sizeof(abi::ours), sizeof(theirs)) << #theirs
#define EXPECT_SAME_FIELD(ours, theirs, field)                                            \
    EXPECT_EQ(offsetof(abi::ours, field), offsetof(theirs, field)) << #theirs "." #field; \
    EXPECT_EQ(sizeof(abi::ours::field), sizeof(theirs::field)) << #theirs "." #field

TEST(Abi, StructuresAgreeWithTheToolkit) {
    EXPECT_SAME_SIZE(Memcpy3D, cudaMemcpy3DParms);
    EXPECT_SAME_FIELD(Memcpy3D, cudaMemcpy3DParms, dstPos);
    EXPECT_SAME_FIELD(Memcpy3D, cudaMemcpy3DParms, kind);
    EXPECT_SAME_SIZE(Memcpy3DPeer, cudaMemcpy3DPeerParms);
    EXPECT_SAME_FIELD(Memcpy3DPeer, cudaMemcpy3DPeerParms, extent);
    EXPECT_SAME_SIZE(MemsetParams, cudaMemsetParams);
    EXPECT_SAME_FIELD(MemsetParams, cudaMemsetParams, width);
    EXPECT_SAME_SIZE(HostNodeParams, cudaHostNodeParams);
    EXPECT_SAME_SIZE(KernelNodeParams, cudaKernelNodeParams);
    EXPECT_SAME_FIELD(KernelNodeParams, cudaKernelNodeParams, kernelParams);
    EXPECT_SAME_FIELD(PointerAttributes, cudaPointerAttributes, hostPointer);
    EXPECT_SAME_FIELD(FuncAttributes, cudaFuncAttributes, numRegs);
    EXPECT_SAME_FIELD(FuncAttributes, cudaFuncAttributes, preferredShmemCarveout);
    EXPECT_SAME_SIZE(MemPoolProps, cudaMemPoolProps);
    EXPECT_SAME_FIELD(MemPoolProps, cudaMemPoolProps, location);
    EXPECT_SAME_SIZE(MemAllocNodeParams, cudaMemAllocNodeParams);
    EXPECT_SAME_FIELD(MemAllocNodeParams, cudaMemAllocNodeParams, dptr);
    EXPECT_SAME_SIZE(LaunchAttribute, cudaLaunchAttribute);
    EXPECT_SAME_FIELD(LaunchAttribute, cudaLaunchAttribute, val);
    EXPECT_SAME_SIZE(LaunchConfig, cudaLaunchConfig_t);
    EXPECT_SAME_FIELD(LaunchConfig, cudaLaunchConfig_t, numAttrs);
    EXPECT_SAME_FIELD(ResourceDesc, cudaResourceDesc, res);
    EXPECT_SAME_SIZE(ResourceViewDesc, cudaResourceViewDesc);
    EXPECT_SAME_FIELD(ResourceViewDesc, cudaResourceViewDesc, firstLayer);
    EXPECT_SAME_FIELD(TextureDesc, cudaTextureDesc, borderColor);
    EXPECT_SAME_FIELD(TextureDesc, cudaTextureDesc, maxMipmapLevelClamp);
#if CUDART_VERSION >= 12000
    EXPECT_SAME_SIZE(ResourceDesc, cudaResourceDesc);
    EXPECT_SAME_SIZE(TextureDesc, cudaTextureDesc);
    EXPECT_SAME_FIELD(FuncAttributes, cudaFuncAttributes, nonPortableClusterSizeAllowed);
    EXPECT_SAME_SIZE(FuncAttributes, cudaFuncAttributes);
    EXPECT_SAME_SIZE(GraphNodeParams, cudaGraphNodeParams);
    EXPECT_SAME_FIELD(GraphNodeParams, cudaGraphNodeParams, kernel);
    EXPECT_SAME_FIELD(GraphNodeParams, cudaGraphNodeParams, memcpy);
    EXPECT_SAME_SIZE(GraphInstantiateParams, cudaGraphInstantiateParams);
    EXPECT_SAME_FIELD(GraphInstantiateParams, cudaGraphInstantiateParams, result_out);
    EXPECT_SAME_SIZE(GraphExecUpdateResultInfo, cudaGraphExecUpdateResultInfo);
    EXPECT_SAME_SIZE(GraphEdgeData, cudaGraphEdgeData);
#endif
}

TEST(Abi, DevicePropertiesAgreeWithTheToolkit) {
#if CUDART_VERSION >= 13000
    EXPECT_SAME_SIZE(PointerAttributes, cudaPointerAttributes);
    using Ours = abi::DeviceProp13;
    EXPECT_EQ(sizeof(Ours), sizeof(cudaDeviceProp));
    EXPECT_EQ(offsetof(Ours, hostNumaMultinodeIpcSupported),
              offsetof(cudaDeviceProp, hostNumaMultinodeIpcSupported));
#elif CUDART_VERSION >= 12000
    using Ours = abi::DeviceProp12;
    EXPECT_EQ(sizeof(Ours), sizeof(cudaDeviceProp));
#else
    using Ours = abi::DeviceProp12;
    EXPECT_EQ(abi::kDeviceProp11Bytes, sizeof(cudaDeviceProp));
#endif
#define EXPECT_SAME_PROPERTY(field) \
    EXPECT_EQ(offsetof(Ours, field), offsetof(cudaDeviceProp, field)) << #field
    EXPECT_SAME_PROPERTY(uuid);
    EXPECT_SAME_PROPERTY(totalGlobalMem);
    EXPECT_SAME_PROPERTY(maxThreadsDim);
    EXPECT_SAME_PROPERTY(totalConstMem);
    EXPECT_SAME_PROPERTY(multiProcessorCount);
    EXPECT_SAME_PROPERTY(maxTexture3DAlt);
    EXPECT_SAME_PROPERTY(surfaceAlignment);
    EXPECT_SAME_PROPERTY(l2CacheSize);
    EXPECT_SAME_PROPERTY(sharedMemPerMultiprocessor);
    EXPECT_SAME_PROPERTY(sharedMemPerBlockOptin);
    EXPECT_SAME_PROPERTY(reservedSharedMemPerBlock);
}

TEST(Abi, NumbersAgreeWithTheToolkit) {
    EXPECT_EQ(static_cast<int>(Error::kInvalidDeviceFunction), cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(static_cast<int>(Error::kInvalidResourceHandle), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(static_cast<int>(Error::kIllegalState), cudaErrorIllegalState);
    EXPECT_EQ(static_cast<int>(Error::kLaunchOutOfResources), cudaErrorLaunchOutOfResources);
    EXPECT_EQ(static_cast<int>(Error::kHostMemoryNotRegistered), cudaErrorHostMemoryNotRegistered);
    EXPECT_EQ(static_cast<int>(Error::kCooperativeLaunchTooLarge),
              cudaErrorCooperativeLaunchTooLarge);
    EXPECT_EQ(static_cast<int>(Error::kStreamCaptureUnjoined), cudaErrorStreamCaptureUnjoined);
    EXPECT_EQ(static_cast<int>(Error::kCapturedEvent), cudaErrorCapturedEvent);
    EXPECT_EQ(static_cast<int>(Error::kGraphExecUpdateFailure), cudaErrorGraphExecUpdateFailure);
    EXPECT_EQ(static_cast<int>(Error::kInvalidClusterSize), cudaErrorInvalidClusterSize);
    EXPECT_EQ(abi::kDefault, static_cast<int>(cudaMemcpyDefault));
    EXPECT_EQ(abi::kManaged, static_cast<int>(cudaMemoryTypeManaged));
    EXPECT_EQ(abi::kLimitPersistingL2CacheSize, static_cast<int>(cudaLimitPersistingL2CacheSize));
    EXPECT_EQ(abi::kUsedMemHigh, static_cast<int>(cudaMemPoolAttrUsedMemHigh));
    EXPECT_EQ(abi::kNodeMemFree, static_cast<int>(cudaGraphNodeTypeMemFree));
    EXPECT_EQ(abi::kMaxDynamicSharedMemorySize,
              static_cast<int>(cudaFuncAttributeMaxDynamicSharedMemorySize));
    EXPECT_EQ(abi::kLaunchAttributeClusterDimension,
              static_cast<int>(cudaLaunchAttributeClusterDimension));
}

#endif

}  // namespace
}  // namespace lockstep::cuda
