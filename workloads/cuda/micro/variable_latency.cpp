// SPDX-License-Identifier: Apache-2.0
// Instructions whose results a dependence counter announces, memory apart (micro_special.cu).
#include <bit>
#include <cmath>
#include <numeric>

#include "workloads/cuda/micro/instruction.h"

namespace lockstep::cuda::micro {
namespace {

using U32 = std::uint32_t;
const char* const kFile = "micro_special";

U32 reverse(U32 value) {
    U32 reversed = 0;
    for (int i = 0; i < 32; ++i) reversed |= (value >> i & 1) << (31 - i);
    return reversed;
}

template <auto function>
float unary(float a, float, float, float) {
    return function(a);
}

std::vector<Instruction<float>> floating() {
    // Chains of approximations: errors add up, or die out where the function contracts.
    return {
        {.name = "mufu_rcp",
         .summary = "MUFU.RCP",
         .a = 1.1f,
         .step = unary<[](float x) { return 1 / x; }>,
         .roundings = 4096},
        {.name = "mufu_rsq",
         .summary = "MUFU.RSQ",
         .a = 1.1f,
         .step = unary<[](float x) { return 1 / std::sqrt(x); }>,
         .roundings = 64},
        {.name = "mufu_sqrt",
         .summary = "MUFU.SQRT",
         .a = 1.1f,
         .step = unary<[](float x) { return std::sqrt(x); }>,
         .roundings = 64},
        {.name = "mufu_ex2",
         .summary = "MUFU.EX2",
         .a = 1,
         .step = unary<[](float x) { return std::exp2(x); }>,
         .roundings = 64},
        {.name = "mufu_lg2",
         .summary = "MUFU.LG2",
         .a = 3,
         .step = unary<[](float x) { return std::log2(x); }>,
         .roundings = 64},
        {.name = "mufu_sin",
         .summary = "MUFU.SIN with the FMUL that scales its angle",
         .a = 0.5f,
         .step = unary<[](float x) { return std::sin(x); }>,
         .roundings = 1 << 17},
        {.name = "mufu_tanh",
         .summary = "MUFU.TANH",
         .a = 0.5f,
         .step = unary<[](float x) { return std::tanh(x); }>,
         .roundings = 1 << 23,
         .arch = 75},
        {.name = "f2i_i2f",
         .summary = "F2I and back by I2F (I2FP from 8.6 on)",
         .a = 5.5f,
         .step = unary<[](float x) { return std::nearbyint(x); }>},
        {.name = "f2f",
         .summary = "F2F to FP64 and back",
         .chained = 2,
         .counted = 2,
         .a = 5.5f,
         .step = unary<[](float x) { return x; }>},
        {.name = "frnd",
         .summary = "FRND",
         .a = 5.5f,
         .step = unary<[](float x) { return std::ceil(x); }>},
    };
}

std::vector<Instruction<U32>> bits() {
    return {
        {.name = "popc",
         .summary = "POPC",
         .a = 0x9e3779b9,
         .step = [](U32 a, U32, U32, U32) { return static_cast<U32>(std::popcount(a)); }},
        {.name = "flo",
         .summary = "FLO",
         .a = 0x9e3779b9,
         .step = [](U32 a, U32, U32, U32) { return 31u - static_cast<U32>(std::countl_zero(a)); }},
        {.name = "brev",
         .summary = "BREV with an IADD3",
         .a = 0x9e3779b9,
         .b = 0x7f4a7c15,
         .step = [](U32 a, U32 b, U32, U32) { return reverse(a) + b; }},
        // Lanes 2 i and 2 i + 1 change places, an even number of times.
        {.name = "shfl", .summary = "SHFL", .a = 1, .step = [](U32 a, U32, U32, U32) { return a; }},
        {.name = "vote",
         .summary = "VOTE with the ISETP before it",
         .a = 1,
         .b = 0xffffffff,
         .step = [](U32 a, U32 b, U32, U32) { return a < b ? 0xffffffffu : 0u; }},
        // All lanes differ from each other, so each matches itself: its bit is its next value.
        {.name = "match",
         .summary = "MATCH.ANY",
         .starts_as_lane_bit = true,
         .step = [](U32 a, U32, U32, U32) { return a; }},
        // A sum of 32 lanes that have the same sum from the step before: 32 to the power of the
        // steps, which is 0.
        {.name = "redux",
         .summary = "REDUX.SUM with the move out of a uniform register",
         .a = 1,
         .step = [](U32, U32, U32, U32) { return 0u; },
         .arch = 80},
    };
}

void throughput_s2r(Run& run) {
    const int warps = run["warps"];
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto sums = run.zeros<std::uint32_t>(32 * warps);
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({kFile, "throughput_s2r"}, {1}, {32u * static_cast<unsigned>(warps)}, 0,
                   Arguments(cycles, sums, iterations));
    });
    run.measure("throughput", 32.0 * warps * 64 / time, "results/cycle/SM");
    run.check_values<std::uint32_t>("sums", sums, [](int) { return 0u; });
}

}  // namespace

std::vector<Workload> variable_latency_workloads() {
    std::vector<Workload> list;
    for (const auto& instruction : floating()) list.push_back(workload(kFile, instruction));
    for (const auto& instruction : bits()) list.push_back(workload(kFile, instruction));
    list.push_back({"micro_s2r", "throughput of S2R", {warps_parameter(16)}, throughput_s2r});
    return list;
}

}  // namespace lockstep::cuda::micro
