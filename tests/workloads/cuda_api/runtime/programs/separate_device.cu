// SPDX-License-Identifier: Apache-2.0
__device__ int calls;

__device__ int twice(int n) {
    return 2 * n;
}

int calls_on_host() {
    int value = -1;
    cudaMemcpyFromSymbol(&value, calls, sizeof(value));
    return value;
}
