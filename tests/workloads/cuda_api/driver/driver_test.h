// SPDX-License-Identifier: Apache-2.0
// Declarations of the driver functions that tests call, and the device they call them on.
#pragma once

#include "tests/paths.h"
#include "tests/workloads/cuda_api/runtime/api.h"
#include "workloads/cuda_api/driver/abi_array.h"
#include "workloads/cuda_api/driver/call.h"
#include "workloads/cuda_api/driver/entry_point.h"

namespace lockstep::cuda::driver {

extern "C" {
Result cuInit(unsigned);
Result cuDeviceGetName(char*, int, Device);
Result cuDeviceGetAttribute(int*, int, Device);
Result cuDevicePrimaryCtxRetain(ContextHandle**, Device);
Result cuDevicePrimaryCtxRelease_v2(Device);
Result cuCtxCreate_v2(ContextHandle**, unsigned, Device);
Result cuCtxCreate_v4(ContextHandle**, const ContextParameters*, unsigned, Device);
Result cuCtxDestroy_v2(ContextHandle*);
Result cuCtxSetCurrent(ContextHandle*);
Result cuCtxGetCurrent(ContextHandle**);
Result cuCtxPushCurrent_v2(ContextHandle*);
Result cuCtxPopCurrent_v2(ContextHandle**);
Result cuCtxSynchronize();
Result cuModuleLoadData(Module**, const void*);
Result cuModuleLoad(Module**, const char*);
Result cuModuleUnload(Module*);
Result cuModuleGetFunction(Kernel**, Module*, const char*);
Result cuLaunchKernel(Kernel*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      Stream*, void**, void**);
Result cuFuncGetAttribute(int*, abi::FuncAttribute, Kernel*);
Result cuOccupancyMaxPotentialBlockSize(int*, int*, Kernel*, OccupancyBytes, std::size_t, int);
Result cuMemAlloc_v2(Pointer*, std::size_t);
Result cuMemFree_v2(Pointer);
Result cuMemcpyHtoD_v2(Pointer, const void*, std::size_t);
Result cuMemcpyDtoH_v2(void*, Pointer, std::size_t);
Result cuMemcpy2D_v2(const Memcpy2D*);
Result cuArrayCreate_v2(Array**, const ArrayDescriptor*);
Result cuArray3DCreate_v2(Array**, const Array3DDescriptor*);
Result cuArray3DGetDescriptor_v2(Array3DDescriptor*, Array*);
Result cuArrayDestroy(Array*);
Result cuMemcpyHtoA_v2(Array*, std::size_t, const void*, std::size_t);
Result cuTexObjectCreate(abi::TextureObject*, const ResourceDescriptor*, const TextureDescriptor*,
                         const abi::ResourceViewDesc*);
Result cuMemsetD16_v2(Pointer, unsigned short, std::size_t);
Result cuMemGetAddressRange_v2(Pointer*, std::size_t*, Pointer);
Result cuPointerGetAttribute(void*, int, Pointer);
Result cuPointerGetAttributes(unsigned, int*, void**, Pointer);
Result cuStreamCreate(Stream**, unsigned);
Result cuStreamDestroy_v2(Stream*);
Result cuGetErrorName(Result, const char**);
Result cuGetErrorString(Result, const char**);
Result cuGetExportTable(const void**, const Uuid*);
Result cuGetProcAddress_v2(const char*, void**, int, unsigned long long, Query*);
}

/// A fresh fake H200 for each test, and no current context.
class DriverTest : public RuntimeTest {
  protected:
    DriverTest() {
        cuda::Context::bind_to_thread(false);
        EXPECT_EQ(cuInit(0), Result::kSuccess);
    }
    ~DriverTest() override {
        ContextHandle* context = nullptr;
        while (cuCtxGetCurrent(&context) == Result::kSuccess && context)
            cuCtxPopCurrent_v2(&context);
    }

    ContextHandle* make_current() {
        ContextHandle* primary = nullptr;
        EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), Result::kSuccess);
        EXPECT_EQ(cuCtxSetCurrent(primary), Result::kSuccess);
        return primary;
    }
};

}  // namespace lockstep::cuda::driver
