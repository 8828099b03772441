// SPDX-License-Identifier: Apache-2.0
// Instructions of the fixed-latency pipes: FP32, integer, half precision; and FP64.
// Steps are written so that no two of them can be folded into one instruction.
#include "micro.cuh"

#define FADD(a) asm volatile("add.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
#define FMUL(a) asm volatile("mul.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
#define FFMA(a) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(a) : "f"(b), "f"(c));
#define FMNMX(a)                                                      \
    asm volatile("min.f32 %0, %0, %1; max.f32 %0, %0, %2;" : "+f"(a) : "f"(b), "f"(c));
#define IADD3(a) asm volatile("{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}" : "+r"(a) : "r"(b), "r"(c));
#define IMAD(a) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(a) : "r"(b), "r"(c));
#define IMAD_HI(a) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
#define IMAD_WIDE(a)                                                                    \
    asm volatile("{.reg .u32 l, h; mov.b64 {l, h}, %0; mul.wide.u32 %0, l, h;}" : "+l"(a));
#define LOP3(a)                                                                         \
    asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a; lop3.b32 %0, %0, %3, %2, 0x9c;"         \
                 : "+r"(a) : "r"(b), "r"(c), "r"(d));
#define SHF(a) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(a) : "r"(b), "r"(c));
#define PRMT(a) asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(a) : "r"(b), "r"(c));
#define ISETP_SEL(a)                                                                    \
    asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %2, %3, p;}"        \
                 : "+r"(a) : "r"(b), "r"(c), "r"(d));
#define IMNMX(a)                                                                        \
    asm volatile("min.s32 %0, %0, %1; max.s32 %0, %0, %2;" : "+r"(a) : "r"(b), "r"(c));
#define IDP(a) asm volatile("dp4a.u32.u32 %0, %0, %1, %2;" : "+r"(a) : "r"(b), "r"(c));

MEASURE(fadd, float, FADD)
MEASURE(fmul, float, FMUL)
MEASURE(ffma, float, FFMA)
MEASURE(fmnmx, float, FMNMX)
MEASURE(iadd3, unsigned, IADD3)
MEASURE(imad, unsigned, IMAD)
MEASURE(imad_hi, unsigned, IMAD_HI)
MEASURE(imad_wide, unsigned long long, IMAD_WIDE)
MEASURE(lop3, unsigned, LOP3)
MEASURE(shf, unsigned, SHF)
MEASURE(prmt, unsigned, PRMT)
MEASURE(isetp_sel, unsigned, ISETP_SEL)
MEASURE(imnmx, unsigned, IMNMX)
MEASURE(idp, unsigned, IDP)

// With three registers ptxas leaves part of what goes to HFMA2.MMA for the end of a loop.
#define HFMA2(a) asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(a) : "r"(b));
#define HADD2(a) asm volatile("add.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
#define HMUL2(a) asm volatile("mul.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));

MEASURE(hfma2, unsigned, HFMA2)
MEASURE(hadd2, unsigned, HADD2)
MEASURE(hmul2, unsigned, HMUL2)

#define DADD(a) asm volatile("add.f64 %0, %0, %1;" : "+d"(a) : "d"(b));
#define DMUL(a) asm volatile("mul.f64 %0, %0, %1;" : "+d"(a) : "d"(b));
#define DFMA(a) asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(a) : "d"(b), "d"(c));

MEASURE(dadd, double, DADD)
MEASURE(dmul, double, DMUL)
MEASURE(dfma, double, DFMA)
