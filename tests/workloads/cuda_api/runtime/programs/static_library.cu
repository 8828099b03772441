// SPDX-License-Identifier: Apache-2.0
// A shared library with a CUDA runtime of its own.
__global__ void add_hundred(int* values) {
    values[threadIdx.x] += 100;
}

extern "C" int add_hundred_to(int* values) {
    add_hundred<<<1, 32>>>(values);
    return cudaDeviceSynchronize();
}
