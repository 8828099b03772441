// SPDX-License-Identifier: Apache-2.0
// Kernels that each have one fault, for the rules of the report to find.
//   nvcc -arch=sm_90 -lineinfo -cubin -o rules_sm_90.cubin rules.cu

// Neighbours in a warp read 128 bytes apart: a sector each.
extern "C" __global__ void strided(float* out, const float* in) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (unsigned k = 0; k < 16; ++k) sum += in[(i * 32 + k * 4099) % (1u << 20)];
    out[i] = sum;
}

// All lanes of a warp in one bank.
extern "C" __global__ void conflicts(float* out) {
    __shared__ float tile[32 * 32];
    const unsigned lane = threadIdx.x % 32;
    for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) tile[k] = k;
    __syncthreads();
    float sum = 0;
    for (unsigned k = 0; k < 32; ++k) sum += tile[lane * 32 + (k + threadIdx.x / 32) % 32];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Each lane stops at another iteration.
extern "C" __global__ void divergent(float* out) {
    float x = threadIdx.x;
    const unsigned turns = (threadIdx.x % 32) * 16;
    for (unsigned k = 0; k < turns; ++k) x = x * 1.25f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Products and sums that the compiler must not fuse.
extern "C" __global__ void unfused(float* out) {
    float x = threadIdx.x, y = 2, z = 3, w = 4;
    for (unsigned k = 0; k < 64; ++k) {
        x = __fadd_rn(__fmul_rn(x, 1.5f), 0.25f);
        y = __fadd_rn(__fmul_rn(y, 1.5f), 0.25f);
        z = __fadd_rn(__fmul_rn(z, 1.5f), 0.25f);
        w = __fadd_rn(__fmul_rn(w, 1.5f), 0.25f);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}

// One load after the other, each where the last one said.
extern "C" __global__ void chase(unsigned* out, const unsigned* next) {
    unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
    for (unsigned k = 0; k < 64; ++k) at = next[at % (1u << 18)] + at + 977;
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// A CTA takes most of the shared memory.
extern "C" __global__ void hoarder(float* out) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float x = tile[(threadIdx.x + 1) % blockDim.x];
    for (unsigned k = 0; k < 256; ++k) x = x * 1.25f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// One warp works, the others wait for it.
extern "C" __global__ void waiting(float* out) {
    __shared__ float shared;
    float x = threadIdx.x;
    for (unsigned round = 0; round < 16; ++round) {
        if (threadIdx.x < 32) {
            for (unsigned k = 0; k < 64; ++k) x = x * 1.25f + 0.5f;
            if (threadIdx.x == 0) shared = x;
        }
        __syncthreads();
        x += shared;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Nothing is wrong with it but its memory traffic, which it needs.
extern "C" __global__ void copy(float4* out, const float4* in) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

// The last CTA works for twenty.
extern "C" __global__ void lopsided(float* out) {
    float x = threadIdx.x;
    const unsigned turns = blockIdx.x + 1 == gridDim.x ? 5120 : 256;
    for (unsigned k = 0; k < turns; ++k) x = x * 1.25f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
