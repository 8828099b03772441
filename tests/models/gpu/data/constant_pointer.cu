// SPDX-License-Identifier: Apache-2.0
// A kernel for memory_test.cpp that reads constants by a pointer that may lead to global memory.
// Compiled with
//   nvcc -arch=sm_XX -cubin -o constant_pointer_sm_XX.cubin constant_pointer.cu     (CUDA 13.0)
__constant__ int unused[5] = {1, 2, 3, 4, 5};
__constant__ int powers[8] = {1, 3, 9, 27, 81, 243, 729, 2187};

/// out[t] = powers[t % 8] where t is odd, else in[t]; bit 16: whether `in` is global memory.
extern "C" __global__ void choose(const int* in, int* out, int index) {
    const int t = static_cast<int>(threadIdx.x);
    const int* from = t % 2 ? powers + t % 8 : in + t;
    out[t] = *from + (static_cast<int>(__isGlobal(in)) << 16) + unused[index];
}
