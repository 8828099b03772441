// SPDX-License-Identifier: Apache-2.0
// Kernels that the program compiles itself, by NVRTC: a template by its lowered name, a constant
// and a variable by theirs. Linked statically, run by the command line.
#include <cuda.h>
#include <nvrtc.h>

#include <vector>

#include "check.h"

#define WORKS(call) EXPECT((call) == 0)

static const char* const kSource = R"(
template <class T> __global__ void add(T a, const T* x, T* y) { y[threadIdx.x] += a * x[threadIdx.x]; }
__constant__ float factor[2];
__device__ int count;
extern "C" __global__ void note(float* out) {
    atomicAdd(&count, 1);
    out[threadIdx.x] = factor[threadIdx.x % 2];
}
)";

int main() {
    nvrtcProgram program;
    WORKS(nvrtcCreateProgram(&program, kSource, "kernels.cu", 0, nullptr, nullptr));
    WORKS(nvrtcAddNameExpression(program, "add<float>"));
    const char* const options[] = {"--gpu-architecture=sm_90"};
    WORKS(nvrtcCompileProgram(program, 1, options));
    const char* name = nullptr;
    WORKS(nvrtcGetLoweredName(program, "add<float>", &name));
    size_t bytes = 0;
    WORKS(nvrtcGetCUBINSize(program, &bytes));
    std::vector<char> image(bytes);
    WORKS(nvrtcGetCUBIN(program, image.data()));

    CUdevice device;
    CUcontext context;
    WORKS(cuInit(0));
    WORKS(cuDeviceGet(&device, 0));
    WORKS(cuDevicePrimaryCtxRetain(&context, device));
    WORKS(cuCtxSetCurrent(context));
    CUmodule module;
    CUfunction add, note;
    WORKS(cuModuleLoadData(&module, image.data()));
    WORKS(cuModuleGetFunction(&add, module, name));
    WORKS(cuModuleGetFunction(&note, module, "note"));
    float host[32];
    for (int i = 0; i < 32; ++i) host[i] = static_cast<float>(i);
    CUdeviceptr x, y, variable;
    WORKS(cuMemAlloc(&x, sizeof host));
    WORKS(cuMemAlloc(&y, sizeof host));
    WORKS(cuMemcpyHtoD(x, host, sizeof host));
    WORKS(cuMemsetD32(y, 0x3f800000, 32));
    float a = 2;
    void* of_add[] = {&a, &x, &y};
    WORKS(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, of_add, nullptr));
    WORKS(cuMemcpyDtoH(host, y, sizeof host));
    for (int i = 0; i < 32; ++i) EXPECT(host[i] == 2 * i + 1);

    const float factor[2] = {3, 4};
    WORKS(cuModuleGetGlobal(&variable, &bytes, module, "factor"));
    EXPECT(bytes == sizeof factor);
    WORKS(cuMemcpyHtoD(variable, factor, sizeof factor));
    void* of_note[] = {&y};
    WORKS(cuLaunchKernel(note, 1, 1, 1, 32, 1, 1, 0, nullptr, of_note, nullptr));
    WORKS(cuMemcpyDtoH(host, y, sizeof host));
    EXPECT(host[0] == 3 && host[31] == 4);
    int count = 0;
    WORKS(cuModuleGetGlobal(&variable, &bytes, module, "count"));
    WORKS(cuMemcpyDtoH(&count, variable, sizeof count));
    EXPECT(count == 32);
    return 0;
}
