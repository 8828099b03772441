// SPDX-License-Identifier: Apache-2.0
// The CUDA driver API, loaded at run time: nothing of a toolkit is needed to build. Declarations
// are our own; names and values are those of NVIDIA's documented driver API (cuda.h of CUDA 12 and
// 13), and each symbol is the exported one, with the version that the name carries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace lockstep::validation {

using CuResult = int;  ///< 0: done
using CuDevice = int;
using CuPointer = std::uint64_t;
struct CuContext;
struct CuModule;
struct CuFunction;
struct CuEvent;
struct CuStream;

inline constexpr int kCuMultiprocessors = 16;         ///< CU_DEVICE_ATTRIBUTE_...
inline constexpr int kCuClockRate = 13;               ///< kHz
inline constexpr int kCuComputeMode = 20;             ///<
inline constexpr int kCuMemoryClockRate = 36;         ///< kHz
inline constexpr int kCuL2Bytes = 38;                 ///<
inline constexpr int kCuMajor = 75, kCuMinor = 76;    ///<
inline constexpr int kCuMaxDynamicSharedBytes = 8;    ///< CU_FUNC_ATTRIBUTE_...
inline constexpr int kCuExclusiveProcess = 3;         ///< CU_COMPUTEMODE_EXCLUSIVE_PROCESS
inline constexpr std::uintptr_t kCuParamEnd = 0;      ///< CU_LAUNCH_PARAM_END
inline constexpr std::uintptr_t kCuParamPointer = 1;  ///< CU_LAUNCH_PARAM_BUFFER_POINTER
inline constexpr std::uintptr_t kCuParamSize = 2;     ///< CU_LAUNCH_PARAM_BUFFER_SIZE

// Every function of the driver that we use: X(member, exported name, parameters).
#define LOCKSTEP_CUDA_DRIVER(X)                                                                    \
    X(init, cuInit, (unsigned flags))                                                              \
    X(driver_version, cuDriverGetVersion, (int* version))                                          \
    X(device_count, cuDeviceGetCount, (int* count))                                                \
    X(device, cuDeviceGet, (CuDevice * device, int ordinal))                                       \
    X(device_name, cuDeviceGetName, (char* name, int bytes, CuDevice device))                      \
    X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, CuDevice device))        \
    X(pci_address, cuDeviceGetPCIBusId, (char* address, int bytes, CuDevice device))               \
    X(total_memory, cuDeviceTotalMem_v2, (std::size_t * bytes, CuDevice device))                   \
    X(retain_context, cuDevicePrimaryCtxRetain, (CuContext * *context, CuDevice device))           \
    X(set_context, cuCtxSetCurrent, (CuContext * context))                                         \
    X(synchronise, cuCtxSynchronize, ())                                                           \
    X(memory_info, cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                     \
    X(allocate, cuMemAlloc_v2, (CuPointer * pointer, std::size_t bytes))                           \
    X(free, cuMemFree_v2, (CuPointer pointer))                                                     \
    X(copy_on_device, cuMemcpyDtoDAsync_v2,                                                        \
      (CuPointer to, CuPointer from, std::size_t bytes, CuStream * stream))                        \
    X(copy_to_device, cuMemcpyHtoD_v2, (CuPointer to, const void* from, std::size_t bytes))        \
    X(copy_to_host, cuMemcpyDtoH_v2, (void* to, CuPointer from, std::size_t bytes))                \
    X(fill, cuMemsetD32Async, (CuPointer to, unsigned value, std::size_t words, CuStream* stream)) \
    X(load_module, cuModuleLoadData, (CuModule * *module, const void* image))                      \
    X(unload_module, cuModuleUnload, (CuModule * module))                                          \
    X(find_function, cuModuleGetFunction,                                                          \
      (CuFunction * *function, CuModule * module, const char* name))                               \
    X(find_variable, cuModuleGetGlobal_v2,                                                         \
      (CuPointer * pointer, std::size_t * bytes, CuModule * module, const char* name))             \
    X(set_function_attribute, cuFuncSetAttribute,                                                  \
      (CuFunction * function, int attribute, int value))                                           \
    X(launch, cuLaunchKernel,                                                                      \
      (CuFunction * function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream* stream,                \
       void** parameters, void** extra))                                                           \
    X(create_event, cuEventCreate, (CuEvent * *event, unsigned flags))                             \
    X(destroy_event, cuEventDestroy_v2, (CuEvent * event))                                         \
    X(record_event, cuEventRecord, (CuEvent * event, CuStream * stream))                           \
    X(wait_for_event, cuEventSynchronize, (CuEvent * event))                                       \
    X(elapsed_time, cuEventElapsedTime, (float* milliseconds, CuEvent* from, CuEvent* to))         \
    X(start_profiler, cuProfilerStart, ())                                                         \
    X(stop_profiler, cuProfilerStop, ())                                                           \
    X(error_name, cuGetErrorName, (CuResult error, const char** name))                             \
    X(error_text, cuGetErrorString, (CuResult error, const char** text))

/// dlopen, by the name and in the folders in which containers have NVIDIA's libraries and say so
/// nowhere. Null where there is none; `error` says why.
void* open_library(const std::string& library, std::string& error);

struct Driver {
#define LOCKSTEP_CUDA_MEMBER(member, symbol, parameters) CuResult(*member) parameters = nullptr;
    LOCKSTEP_CUDA_DRIVER(LOCKSTEP_CUDA_MEMBER)
#undef LOCKSTEP_CUDA_MEMBER

    /// Opens the driver's library and initialises it. Throws InputError where there is no library,
    /// a function is missing from it, or it has no GPU.
    static std::shared_ptr<const Driver> load(const std::string& library = "libcuda.so.1");

    /// Throws ProgramFault that names the call and the driver's error.
    void check(CuResult result, const char* call) const;

    /// An attribute of a device; the second form gives 0 where the driver does not know it.
    int attribute(int which, CuDevice device) const;
    int attribute_or_0(int which, CuDevice device) const;
};

}  // namespace lockstep::validation
