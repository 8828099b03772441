// SPDX-License-Identifier: Apache-2.0
// The binary interface of the CUDA driver, declared anew: what differs from the runtime's. Where an
// enumeration has the runtime's values (function attributes, limits, launch attributes, pools), the
// runtime's is used. A test compares layouts and signatures with the toolkit's cuda.h.
#pragma once

#include "workloads/cuda_api/state/abi.h"

// A function that the library exports. The test of signatures compiles the same definitions as
// functions of its own and compares them with cuda.h.
#ifndef LOCKSTEP_DRIVER
#define LOCKSTEP_DRIVER(name, parameters) LOCKSTEP_CUDA Result name parameters
#endif

namespace lockstep::cuda::driver {

/// CUresult. errors.txt has every code; these are the ones returned here.
enum class Result : int {
    kSuccess = 0,
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kNotInitialized = 3,
    kInvalidDevice = 101,
    kInvalidImage = 200,
    kInvalidContext = 201,
    kNoBinaryForGpu = 209,
    kPeerAccessUnsupported = 217,
    kInvalidPtx = 218,
    kFileNotFound = 301,
    kInvalidHandle = 400,
    kNotFound = 500,
    kIllegalAddress = 700,
    kPrimaryContextActive = 708,
    kContextIsDestroyed = 709,
    kNotSupported = 801,
};

using Device = int;
using Pointer = unsigned long long;
/// A CUcontext: contexts of one device share what lies on it.
struct ContextHandle;

/// CUctxCreateParams
struct ContextParameters {
    void* execAffinityParams;
    int numExecAffinityParams;
    void* cigParams;
};

enum MemoryType : unsigned { kHostMemory = 1, kDeviceMemory, kArrayMemory, kUnifiedMemory };

/// CUDA_MEMCPY2D
struct Memcpy2D {
    std::size_t srcXInBytes, srcY;
    MemoryType srcMemoryType;
    const void* srcHost;
    Pointer srcDevice;
    void* srcArray;
    std::size_t srcPitch;
    std::size_t dstXInBytes, dstY;
    MemoryType dstMemoryType;
    void* dstHost;
    Pointer dstDevice;
    void* dstArray;
    std::size_t dstPitch;
    std::size_t WidthInBytes, Height;
};

/// CUDA_MEMCPY3D
struct Memcpy3D {
    std::size_t srcXInBytes, srcY, srcZ, srcLOD;
    MemoryType srcMemoryType;
    const void* srcHost;
    Pointer srcDevice;
    void *srcArray, *reserved0;
    std::size_t srcPitch, srcHeight;
    std::size_t dstXInBytes, dstY, dstZ, dstLOD;
    MemoryType dstMemoryType;
    void* dstHost;
    Pointer dstDevice;
    void *dstArray, *reserved1;
    std::size_t dstPitch, dstHeight;
    std::size_t WidthInBytes, Height, Depth;
};

/// CUlaunchConfig
struct LaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    Stream* hStream;
    abi::LaunchAttribute* attrs;
    unsigned numAttrs;
};

/// CUDA_KERNEL_NODE_PARAMS; `kern` and `ctx` from CUDA 12 on only
struct KernelNode {
    Kernel* func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
    Kernel* kern;
    ContextHandle* ctx;
};

/// CUdevprop
struct DeviceProperties {
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], sharedMemPerBlock;
    int totalConstantMemory, SIMDWidth, memPitch, regsPerBlock, clockRate, textureAlign;
};

struct Uuid {
    char bytes[16];
};

/// CUtensorMap: opaque to programs.
struct alignas(64) TensorMap {
    std::uint64_t words[16];
};

using OccupancyBytes = std::size_t (*)(int block_size);  ///< CUoccupancyB2DSize

}  // namespace lockstep::cuda::driver
