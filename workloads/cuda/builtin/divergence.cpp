// SPDX-License-Identifier: Apache-2.0
// Workloads whose threads take different ways: what divergence costs, and what it does not.
#include <cmath>

#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

/// As the kernels: each step rounds once.
float chain(float value, float factor, int work) {
    for (int i = 0; i < work; ++i) value = std::fma(value, factor, 1.0f);
    return value;
}

using Element = float (*)(float x, int i, int block, int split, int work);

float sides(float x, int i, int, int split, int work) {
    return chain(x, i % 32 < split ? 0.5f : -0.25f, work) + 1.0f;
}

float warps(float x, int i, int block, int split, int work) {
    return chain(x, i % block < block / 32 * split ? 0.5f : -0.25f, work) + 1.0f;
}

float loop(float x, int i, int, int split, int work) {
    return chain(x, 0.5f, work * (i % 32 % split + 1)) + 1.0f;
}

float nested(float x, int i, int, int split, int work) {
    if (i % 32 >= split) return chain(x, -0.25f, work) + 1.0f;
    return chain(x, i % 2 == 0 ? 0.5f : 0.75f, work) - 1.0f + 1.0f;
}

template <Element element>
void diverge(Run& run, const char* kernel) {
    const int n = run["n"], block = run["block"], split = run["split"], work = run["work"];
    const auto x = run.uniform(n), y = run.zeros<float>(n);
    run.launch({"divergence", kernel}, {blocks_for(n, block)}, {static_cast<unsigned>(block)}, 0,
               Arguments(x, y, n, split, work));
    run.check_bits("y", y, [&](int i) { return element(x.view()[i], i, block, split, work); });
}

}  // namespace

std::vector<Workload> divergence_workloads() {
    const auto parameters = [](std::int64_t split, const char* meaning) {
        return std::vector<ParameterInfo>{
            size_parameter("n", 128, "number of threads"),
            size_parameter("block", 128, "threads of a block", 1024),
            {"split", split, 1, 32, meaning},
            {"work", 8, 1, 100'000, "multiply-adds of a side"},
        };
    };
    return {
        {"divergence_sides", "lanes below `split` take one side of a branch, the others the other",
         parameters(16, "lanes that take the first side"),
         [](Run& run) { diverge<sides>(run, "divergence_sides"); }},
        {"divergence_warps", "the same share of threads takes each side, by whole warps",
         parameters(16, "32nds of a block that take the first side"),
         [](Run& run) { diverge<warps>(run, "divergence_warps"); }},
        {"divergence_loop", "lane l goes through a loop l % split + 1 times `work`",
         parameters(4, "different lengths of the loop"),
         [](Run& run) { diverge<loop>(run, "divergence_loop"); }},
        {"divergence_nested", "a side within a side: three ways through",
         parameters(16, "lanes of the first side, whose odd ones go another way"),
         [](Run& run) { diverge<nested>(run, "divergence_nested"); }},
    };
}

}  // namespace lockstep::cuda
