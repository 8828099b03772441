// SPDX-License-Identifier: Apache-2.0
// What the launch of a kernel depends on: parameters of all sizes, block size.
struct Large {
    char bytes[20000];
};
extern "C" {
__global__ void large(Large values, int* p) { *p = values.bytes[*p]; }
__global__ void nothing() { __trap(); }
__global__ void __block_size__((64, 1, 1)) blocks(int* p) { p[0] = 1; }
}
