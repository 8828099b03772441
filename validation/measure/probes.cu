// SPDX-License-Identifier: Apache-2.0
// What the measuring program runs beside the kernels that it measures.

// Keeps one thread busy for `cycles` of the SM's clock; notes the cycles and the nanoseconds it took.
extern "C" __global__ void spin(unsigned long long* noted, int cycles) {
    unsigned long long begin, end, now, from, until;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from)::"memory");
    // The timer moves in steps: begin with one of them.
    for (int i = 0; i < 4096; ++i) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
        if (now != from) break;
    }
    from = now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(begin)::"memory");
    do {
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(end)::"memory");
    } while (end - begin < static_cast<unsigned long long>(cycles));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(until)::"memory");
    noted[0] = end - begin;
    noted[1] = until - from;
}

// Reads all of a buffer of `count` 16-byte words, so that L2 holds nothing else.
extern "C" __global__ void read_all(const uint4* buffer, unsigned* noted, int count) {
    unsigned any = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint4 x;
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                     : "l"(buffer + i));
        any |= x.x | x.y | x.z | x.w;
    }
    if (any != 0) noted[0] = any;  // never: the buffer is zeros
}

// What a launch costs that does nothing.
extern "C" __global__ void empty() {}

// A function of the transcendental unit over consecutive bit patterns.
#define TABLE(NAME, INSTRUCTION)                                                        \
    extern "C" __global__ void table_##NAME(float* out, int first_bits, int count) {    \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                            \
        if (i >= count) return;                                                         \
        const float x = __int_as_float(first_bits + i);                                 \
        float y;                                                                        \
        asm volatile(INSTRUCTION " %0, %1;" : "=f"(y) : "f"(x));                        \
        out[i] = y;                                                                     \
    }

TABLE(rcp, "rcp.approx.ftz.f32")
TABLE(rsq, "rsqrt.approx.ftz.f32")
TABLE(sqrt, "sqrt.approx.ftz.f32")
TABLE(ex2, "ex2.approx.ftz.f32")
TABLE(lg2, "lg2.approx.ftz.f32")
TABLE(sin, "sin.approx.ftz.f32")
TABLE(cos, "cos.approx.ftz.f32")
TABLE(tanh, "tanh.approx.f32")
