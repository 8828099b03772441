// SPDX-License-Identifier: Apache-2.0
// 16-bit atomics, which ptxas performs on the word that holds them. Compiled to cubins beside this
// file with
//   nvcc -std=c++17 -cubin -arch=sm_XX -o halfword_sm_XX.cubin halfword.cu
extern "C" {

__global__ void swaps(unsigned short* last, unsigned short compare, unsigned short value) {
    atomicCAS(last, compare, value);
}

/// Threads count in 16 bits, through a generic pointer, until all have.
__global__ void counts(unsigned short* out) {
    extern __shared__ unsigned short counter[];
    unsigned short* const last = threadIdx.x % 2 ? &counter[2] : out;
    if (threadIdx.x == 0) counter[2] = 0;
    __syncthreads();
    unsigned short seen = *last, old;
    do {
        old = seen;
        seen = atomicCAS(last, old, static_cast<unsigned short>(old + 1));
    } while (seen != old);
    __syncthreads();
    if (threadIdx.x == 0) out[0] = static_cast<unsigned short>(out[0] + 256 * counter[2]);
}

}  // extern "C"
