// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void tiny(int* p) { p[threadIdx.x] = 42; }
