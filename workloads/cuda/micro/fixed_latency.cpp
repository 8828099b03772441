// SPDX-License-Identifier: Apache-2.0
// The pipes of fixed latency (micro_arithmetic.cu): FP32, integer, FP16; and FP64, whose results
// come after a fixed time where the chip has a pipe of it in each sub-core.
#include <bit>
#include <cmath>

#include "sim/numerics/fp16.h"
#include "workloads/cuda/micro/instruction.h"

namespace lockstep::cuda::micro {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
const char* const kFile = "micro_arithmetic";

// Both halves of a register hold the same.
float low_half(U32 pair) {
    return numerics::fp16_to_fp32(static_cast<std::uint16_t>(pair));
}
U32 pair_of(float value) {
    return numerics::fp32_to_fp16(value) * 0x10001u;
}

template <auto combine>
U32 half_step(U32 a, U32 b, U32 c, U32) {
    return pair_of(combine(low_half(a), low_half(b), low_half(c)));
}

constexpr U32 kHalfOne = 0x3c003c00, kHalfHalf = 0x38003800, kHalfMinusOne = 0xbc00bc00;

U32 lut(U32 a, U32 b, U32 c, unsigned table) {
    U32 value = 0;
    for (int bit = 0; bit < 32; ++bit) {
        const unsigned index = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1);
        value |= (table >> index & 1) << bit;
    }
    return value;
}

U32 permute(U32 a, U32 b, U32 selector, U32) {
    const U64 bytes = static_cast<U64>(b) << 32 | a;
    U32 value = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned which = selector >> (4 * i) & 0xf;
        const auto byte = static_cast<std::uint8_t>(bytes >> (8 * (which & 7)));
        value |= static_cast<U32>(which & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * i);
    }
    return value;
}

U32 dot_4(U32 a, U32 b, U32 c, U32) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}

std::vector<Instruction<float>> single_precision() {
    return {
        {.name = "fadd",
         .summary = "FADD",
         .a = 1,
         .b = 0.37f,
         .step = [](float a, float b, float, float) { return a + b; }},
        {.name = "fmul",
         .summary = "FMUL",
         .a = 1,
         .b = 1.0009765625f,
         .step = [](float a, float b, float, float) { return a * b; }},
        {.name = "ffma",
         .summary = "FFMA",
         .a = 1,
         .b = 0.7f,
         .c = 0.3f,
         .step = [](float a, float b, float c, float) { return std::fma(a, b, c); }},
        {.name = "fmnmx",
         .summary = "FMNMX",
         .chained = 2,
         .counted = 2,
         .a = 1,
         .b = 3,
         .c = 0.5f,
         .step = [](float a, float b, float c, float) { return std::max(std::min(a, b), c); }},
    };
}

std::vector<Instruction<U32>> integer() {
    const U32 a = 0x9e3779b9, b = 0x7f4a7c15, c = 0xbf58476d, d = 0x94d049bb;
    return {
        {.name = "iadd3",
         .summary = "IADD3",
         .a = a,
         .b = b,
         .c = c,
         .step = [](U32 x, U32 y, U32 z, U32) { return x + y + z; }},
        {.name = "imad",
         .summary = "IMAD",
         .a = a,
         .b = b,
         .c = c,
         .step = [](U32 x, U32 y, U32 z, U32) { return x * y + z; }},
        {.name = "imad_hi",
         .summary = "IMAD.HI",
         .a = a,
         .b = 0xffffff00,
         .step = [](U32 x, U32 y, U32, U32) { return static_cast<U32>(U64{x} * y >> 32); }},
        {.name = "lop3",
         .summary = "LOP3",
         .chained = 2,
         .counted = 2,
         .a = a,
         .b = b,
         .c = c,
         .d = d,
         .step = [](U32 x, U32 y, U32 z, U32 w) { return lut(lut(x, y, z, 0x6a), w, z, 0x9c); }},
        {.name = "shf",
         .summary = "SHF",
         .a = a,
         .b = b,
         .c = 5,
         .step = [](U32 x, U32 y, U32 z, U32) { return y << (z & 31) | x >> (32 - (z & 31)); }},
        {.name = "prmt", .summary = "PRMT", .a = a, .b = b, .c = 0x2147, .step = permute},
        {.name = "isetp_sel",
         .summary = "ISETP and the SEL that waits for it",
         .counted = 2,
         .a = a,
         .b = b,
         .c = c,
         .d = 0x1234,
         .step = [](U32 x, U32 y, U32 z, U32 w) { return x < y ? z : w; }},
        {.name = "imnmx",
         .summary = "IMNMX (VIMNMX from 9.0 on)",
         .chained = 2,
         .counted = 2,
         .a = a,
         .b = 77,
         .c = 33,
         .step =
             [](U32 x, U32 y, U32 z, U32) {
                 const auto least = std::min(static_cast<int>(x), static_cast<int>(y));
                 return static_cast<U32>(std::max(least, static_cast<int>(z)));
             },
         .arch = 75},
        {.name = "idp", .summary = "IDP.4A", .a = a, .b = b, .c = c, .step = dot_4},
        {.name = "hfma2",
         .summary = "HFMA2 (turn about on two pipes from 8.0 on)",
         .a = kHalfOne,
         .b = kHalfMinusOne,
         .starts_equal = true,
         .step = half_step<[](float x, float y, float) { return x * y + y; }>},
        {.name = "hadd2",
         .summary = "HADD2 (turn about with HFMA2.MMA from 8.0 on)",
         .a = kHalfOne,
         .b = kHalfHalf,
         .starts_equal = true,
         .step = half_step<[](float x, float y, float) { return x + y; }>},
        {.name = "hmul2",
         .summary = "HMUL2 (turn about with HFMA2.MMA from 8.0 on)",
         .a = kHalfOne,
         .b = kHalfMinusOne,
         .starts_equal = true,
         .step = half_step<[](float x, float y, float) { return x * y; }>},
    };
}

std::vector<Instruction<double>> double_precision() {
    return {
        {.name = "dadd",
         .summary = "DADD",
         .a = 1,
         .b = 0.37,
         .step = [](double a, double b, double, double) { return a + b; }},
        {.name = "dmul",
         .summary = "DMUL",
         .a = 1,
         .b = 1.0009765625,
         .step = [](double a, double b, double, double) { return a * b; }},
        {.name = "dfma",
         .summary = "DFMA",
         .a = 1,
         .b = 0.7,
         .c = 0.3,
         .step = [](double a, double b, double c, double) { return std::fma(a, b, c); }},
    };
}

}  // namespace

std::vector<Workload> fixed_latency_workloads() {
    std::vector<Workload> list;
    for (const auto& instruction : single_precision()) list.push_back(workload(kFile, instruction));
    for (const auto& instruction : integer()) list.push_back(workload(kFile, instruction));
    for (const auto& instruction : double_precision()) list.push_back(workload(kFile, instruction));
    const Instruction<U64> wide{.name = "imad_wide",
                                .summary = "IMAD.WIDE",
                                .a = 0x9e3779b97f4a7c15,
                                .step = [](U64 a, U64, U64, U64) { return (a >> 32) * U32(a); }};
    list.push_back(workload(kFile, wide));
    return list;
}

}  // namespace lockstep::cuda::micro
