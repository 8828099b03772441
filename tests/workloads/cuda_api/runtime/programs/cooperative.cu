// SPDX-License-Identifier: Apache-2.0
// A grid that meets at a barrier, device printf, dynamic shared memory beyond 48 KB.
#include <cooperative_groups.h>

#include "check.h"

__global__ void sum(int* terms, int* total) {
    const auto grid = cooperative_groups::this_grid();
    terms[grid.thread_rank()] = static_cast<int>(grid.thread_rank());
    grid.sync();
    if (grid.thread_rank() != 0) return;
    int result = 0;
    for (unsigned i = 0; i < grid.size(); ++i) result += terms[i];
    *total = result;
    printf("the sum is %d\n", result);
}

__global__ void reverse(int* values) {
    extern __shared__ int staged[];
    staged[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

int main() {
    int *terms = nullptr, *total = nullptr;
    OK(cudaMallocManaged(&terms, 1024 * sizeof(int)));
    OK(cudaMallocManaged(&total, sizeof(int)));
    void* arguments[] = {&terms, &total};
    OK(cudaLaunchCooperativeKernel(sum, dim3(8), dim3(128), arguments, 0, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(*total == 1023 * 512);
    EXPECT(cudaLaunchCooperativeKernel(sum, dim3(1 << 20), dim3(128), arguments, 0, 0) ==
           cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();

    constexpr int kBytes = 60000;
    reverse<<<1, 1024, kBytes>>>(terms);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    reverse<<<1, 1024, kBytes>>>(terms);
    OK(cudaDeviceSynchronize());
    EXPECT(terms[0] == 1023 && terms[1000] == 23);
    return 0;
}
