// SPDX-License-Identifier: Apache-2.0
// Instructions of variable latency that use no memory: transcendental functions, bit counts,
// conversions, and what exchanges values within a warp.
#include "micro.cuh"

#define MUFU_RCP(a) asm volatile("{.reg .f32 t; abs.f32 t, %0; rcp.approx.ftz.f32 %0, t;}" : "+f"(a));
#define MUFU_RSQ(a) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(a));
#define MUFU_SQRT(a) asm volatile("sqrt.approx.ftz.f32 %0, %0;" : "+f"(a));
#define MUFU_EX2(a) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(a));
#define MUFU_LG2(a) asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(a));
#define MUFU_SIN(a) asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(a));
#define MUFU_TANH(a) asm volatile("tanh.approx.f32 %0, %0;" : "+f"(a));
#define POPC(a) asm volatile("popc.b32 %0, %0;" : "+r"(a));
#define FLO(a) asm volatile("bfind.u32 %0, %0;" : "+r"(a));
#define BREV(a) asm volatile("{.reg .u32 t; brev.b32 t, %0; add.u32 %0, t, %1;}" : "+r"(a) : "r"(b));
#define F2I_I2F(a)                                                                      \
    asm volatile("{.reg .s32 t; cvt.rni.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}" : "+f"(a));
#define F2F(a)                                                                          \
    asm volatile("{.reg .f64 t; cvt.f64.f32 t, %0; cvt.rn.f32.f64 %0, t;}" : "+f"(a));
#define FRND(a) asm volatile("cvt.rpi.f32.f32 %0, %0;" : "+f"(a));

MEASURE(mufu_rcp, float, MUFU_RCP)
MEASURE(mufu_rsq, float, MUFU_RSQ)
MEASURE(mufu_sqrt, float, MUFU_SQRT)
MEASURE(mufu_ex2, float, MUFU_EX2)
MEASURE(mufu_lg2, float, MUFU_LG2)
MEASURE(mufu_sin, float, MUFU_SIN)
#if __CUDA_ARCH__ >= 750
MEASURE(mufu_tanh, float, MUFU_TANH)
#endif
MEASURE(popc, unsigned, POPC)
MEASURE(flo, unsigned, FLO)
MEASURE(brev, unsigned, BREV)
MEASURE(f2i_i2f, float, F2I_I2F)
MEASURE(f2f, float, F2F)
MEASURE(frnd, float, FRND)

#define SHFL(a) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(a));
#define VOTE(a)                                                                         \
    asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}" \
                 : "+r"(a) : "r"(b));
#define MATCH(a) asm volatile("match.any.sync.b32 %0, %0, -1;" : "+r"(a));
#define REDUX(a) asm volatile("redux.sync.add.u32 %0, %0, -1;" : "+r"(a));

MEASURE(shfl, unsigned, SHFL)
MEASURE(vote, unsigned, VOTE)
MEASURE(match, unsigned, MATCH)
#if __CUDA_ARCH__ >= 800
MEASURE(redux, unsigned, REDUX)
#endif

// S2R has no source, so it has no chain: `iterations` times 64 reads of the SM's number, which
// might change and so is read each time.
extern "C" __global__ void throughput_s2r(unsigned long long* cycles, unsigned* values,
                                          int iterations) {
    unsigned sum = 0, s[8];
#define READ(k) asm volatile("mov.u32 %0, %%smid;" : "=r"(s[k]));
    TIME_LOOP(REPEAT_8(READ(0) READ(1) READ(2) READ(3) READ(4) READ(5) READ(6) READ(7)
                           sum += s[0] ^ s[1] ^ s[2] ^ s[3] ^ s[4] ^ s[5] ^ s[6] ^ s[7];))
    values[threadIdx.x] = sum;
}
