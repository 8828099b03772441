// SPDX-License-Identifier: Apache-2.0
// Kernels that run beside each other. Compiled with nvcc -cubin -arch=sm_90 (and sm_75).
#define GLOBAL extern "C" __global__ void

/// Ends when somebody has written the value.
GLOBAL spin_until(volatile int* flag, int value, int* out) {
    if (threadIdx.x == 0)
        while (*flag != value) {
        }
    __syncthreads();
    if (out != nullptr) out[threadIdx.x] = value;
}

/// Takes its time: a chain of dependent operations.
GLOBAL chain(float* x, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int r = 0; r < rounds; ++r) value = value * 1.0001f + 1.0f;
    x[i] = value;
}

/// Where the CTAs of a launch are, and when by the clock of all SMs.
GLOBAL where(unsigned* sm, unsigned long long* begin, unsigned long long* end, int rounds) {
    __shared__ float sink[1024];
    unsigned id;
    unsigned long long now;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    float value = threadIdx.x;
    for (int r = 0; r < rounds; ++r) value = value * 1.0001f + 1.0f;
    sink[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x != 0) return;
    sm[blockIdx.x] = id;
    begin[blockIdx.x] = now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    end[blockIdx.x] = now + (sink[0] < 0);
}

GLOBAL store(int* at, int value) {
    *at = value;
}

/// dst = src + add, and a look at whether dst was as the kernel before left it.
GLOBAL add(int* x, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += value;
}
