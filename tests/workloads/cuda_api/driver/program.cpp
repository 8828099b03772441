// SPDX-License-Identifier: Apache-2.0
// A program of the driver API that is linked as the toolkit would link it, to libcuda.so.1, and
// calls the runtime as well: arguments are what it is to do and a cubin with vector_add.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "workloads/cuda_api/driver/abi.h"

using namespace lockstep::cuda;
using driver::Pointer;
using driver::Result;

extern "C" {
Result cuInit(unsigned);
Result cuDevicePrimaryCtxRetain(driver::ContextHandle**, int);
Result cuCtxSetCurrent(driver::ContextHandle*);
Result cuCtxGetCurrent(driver::ContextHandle**);
Result cuCtxSynchronize();
Result cuModuleLoad(Module**, const char*);
Result cuModuleGetFunction(Kernel**, Module*, const char*);
Result cuMemAlloc_v2(Pointer*, std::size_t);
Result cuMemcpyHtoD_v2(Pointer, const void*, std::size_t);
Result cuMemcpyDtoH_v2(void*, Pointer, std::size_t);
Result cuStreamCreate(Stream**, unsigned);
Result cuLaunchKernel(Kernel*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      Stream*, void**, void**);
void cuGraphicsMapResources();
Error cudaMalloc(void**, std::size_t);
Error cudaMemcpy(void*, const void*, std::size_t, abi::MemcpyKind);
Error cudaStreamSynchronize(Stream*);
Error cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
Error cudaGetLastError();
}

#define CHECK(condition)                                            \
    if (!(condition)) {                                             \
        std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
        return 1;                                                   \
    }
#define OK(call) CHECK(static_cast<int>(call) == 0)

int main(int, char** arguments) {
    const std::string task = arguments[1];
    driver::ContextHandle *context = nullptr, *current = nullptr;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    void* third = nullptr;
    constexpr std::size_t kCount = 1000, kBytes = kCount * sizeof(float);
    OK(cudaMalloc(&third, kBytes));
    OK(cuCtxGetCurrent(&current));
    CHECK(current == context);  // the runtime made it so
    if (task == "unimplemented") cuGraphicsMapResources();

    Module* module = nullptr;
    Kernel* add = nullptr;
    OK(cuModuleLoad(&module, arguments[2]));
    OK(cuModuleGetFunction(&add, module, "vector_add"));
    Pointer first = 0, second = 0;
    OK(cuMemAlloc_v2(&first, kBytes));
    OK(cuMemAlloc_v2(&second, kBytes));
    std::vector<float> a(kCount, 1.5f), b(kCount, 2.25f), c(kCount);
    OK(cuMemcpyHtoD_v2(first, a.data(), kBytes));
    OK(cuMemcpyHtoD_v2(second, b.data(), kBytes));
    Stream* stream = nullptr;
    OK(cuStreamCreate(&stream, 1));
    int count = kCount;
    if (task == "fault") second = 64;
    void* parameters[] = {&first, &second, &third, &count};
    OK(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr));
    if (task == "fault") {
        constexpr int kIllegalAddress = 700;
        CHECK(static_cast<int>(cuCtxSynchronize()) == kIllegalAddress);
        CHECK(static_cast<int>(cudaGetLastError()) == kIllegalAddress);  // of the same device
        return 0;
    }
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(c.data(), third, kBytes, abi::kDeviceToHost));
    for (const float value : c) CHECK(value == 3.75f);

    // What the runtime hands out is the same function.
    void* function = nullptr;
    int status = -1;
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, 0, &status));
    CHECK(status == 0 && function == reinterpret_cast<void*>(&cuMemAlloc_v2));
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 11080, 0, &status));
    constexpr int kVersionNotSufficient = 2;
    CHECK(status == kVersionNotSufficient && function == nullptr);
    return 0;
}
