// SPDX-License-Identifier: Apache-2.0
// A program with a CUDA runtime of its own opens a library that has another one: both work on one
// device, as on hardware.
#include <dlfcn.h>

#include "check.h"

__global__ void number(int* values) {
    values[threadIdx.x] = threadIdx.x;
}

int main(int, char** arguments) {
    int* values = nullptr;
    OK(cudaMalloc(&values, 128));
    number<<<1, 32>>>(values);
    void* const library = dlopen(arguments[1], RTLD_NOW);
    if (!library) return 1;
    const auto add_hundred = reinterpret_cast<int (*)(int*)>(dlsym(library, "add_hundred_to"));
    if (add_hundred(values) != 0) return 1;
    int result[32];
    OK(cudaMemcpy(result, values, sizeof(result), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i)
        if (result[i] != 100 + i) return 1;
    return 0;
}
