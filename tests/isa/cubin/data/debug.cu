// SPDX-License-Identifier: Apache-2.0
// A dynamic shared array: with -G the debug sections name it too.
extern "C" __global__ void dynamic(int* p) {
    extern __shared__ int array[];
    array[threadIdx.x] = p[0];
    __syncthreads();
    p[threadIdx.x] = array[threadIdx.x ^ 1];
}
