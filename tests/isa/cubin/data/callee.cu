// SPDX-License-Identifier: Apache-2.0
// With caller.cu: a program in two files, compiled with -rdc=true and linked on the device.
__device__ int variable = 7;
__constant__ int constants[4] = {1, 2, 3, 4};
__device__ int zeros[100];
__device__ int helper(int x) {
    __shared__ int shared[4];
    shared[x & 3] = x;
    return zeros[x] + shared[(x + 1) & 3];
}
__device__ int (*function_pointer)(int) = helper;
