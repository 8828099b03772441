// SPDX-License-Identifier: Apache-2.0
// One kernel or several, by the model of choose.h. The one kernel: a CTA passes all keys in tiles;
// a tile takes its two products at the rate of the sub-cores that have a warp, all else at one
// warp-instruction by sub-core and cycle, or the next tile's way from memory where that is
// longer. The several: the two products as they would be chosen, a softmax that passes its rows
// three times, and a launch for each.
#include <algorithm>
#include <cmath>

#include "isa/sass/launch_limits.h"
#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/cuda/kernel_registers.h"
#include "workloads/cuda/network/costs.h"
#include "workloads/network/gpu/attention.h"
#include "workloads/network/gpu/choose.h"

namespace lockstep::network::gpu {

namespace {

using numerics::divide_up;

/// A kernel of one width.
struct Kind {
    std::string_view file, narrow, wide;
    int queries, keys;
    double macs, instructions;
    int (*shared_bytes)(int warps, int columns);
};

Kind kind_of(const Target& t, ElementType type) {
    if (type == ElementType::kFp32)
        return {"attention_fp32",
                "attention_fp32_64",
                "attention_fp32_128",
                kernels::kRealQueries,
                kernels::kRealKeys,
                t.fp32_macs,
                kernels::kRealAttentionInstructions,
                kernels::real_attention_bytes};
    const bool half = type == ElementType::kFp16;
    return {half ? "attention_fp16" : "attention_bf16",
            half ? "attention_fp16_64" : "attention_bf16_64",
            half ? "attention_fp16_128" : "attention_bf16_128",
            kernels::kTensorQueries,
            kernels::kTensorKeys,
            t.fp16_macs,
            kernels::kTensorAttentionInstructions,
            kernels::tensor_attention_bytes};
}

double fused_cycles(const Target& t, const AttentionShape& s, const Kind& kind, int warps,
                    bool is_wide, std::int64_t& ctas) {
    const int columns = is_wide ? 128 : 64, rows = warps * kind.queries;
    const std::int64_t shared = kind.shared_bytes(warps, columns);
    ctas = divide_up(s.queries, rows) * s.batches;
    const std::int64_t registers =
        cuda::kernel_registers({kind.file, is_wide ? kind.wide : kind.narrow}, t.arch);
    const std::int64_t resident =
        std::min({t.ctas, t.warps / warps, t.registers / (registers * 32 * warps),
                  t.shared_bytes / (shared + t.shared_reserved)});
    const double scores = double(rows) * kind.keys;
    const double products = scores * 2 * columns / kind.macs;
    const double softmax = scores * kind.instructions / (32 * static_cast<double>(t.sub_cores));
    // A CTA with fewer warps than an SM has sub-cores leaves some of them.
    const double share = std::min(1.0, warps / static_cast<double>(t.sub_cores));
    const double work = products + softmax, alone = std::max(work / share, t.memory_latency);
    const double steps = static_cast<double>(divide_up(s.keys, kind.keys));
    const double all_steps = s.causal ? (steps + 1) / 2 : steps;
    const std::int64_t on_an_sm = divide_up(ctas, t.sms), together = std::min(on_an_sm, resident);
    // The one with most keys ends last.
    const double compute =
        std::max(steps * alone, static_cast<double>(on_an_sm) * all_steps *
                                    std::max(work, alone / static_cast<double>(together)));
    const double element = static_cast<double>(size_of(s.type)), batches = double(s.batches);
    const double once =
        element * batches * double(s.queries + s.keys) * double(s.depth + s.columns);
    const double tiles =
        element * double(ctas) * all_steps * kind.keys * double(s.depth + s.columns);
    const double memory = t.clock * std::max(once / t.memory_bandwidth, tiles / t.l2_bandwidth);
    return std::max(compute + 2 * t.memory_latency, memory) + t.launch_cycles;
}

/// The products and the softmax by themselves.
double separate_cycles(const Target& t, Precision precision, const AttentionShape& s) {
    const auto product = [&](std::int64_t n, std::int64_t k) {
        kernels::Product p;
        p.m = static_cast<std::int32_t>(s.queries);
        p.n = static_cast<std::int32_t>(n);
        p.k = static_cast<std::int32_t>(k);
        p.a_vector = p.b_vector = 1;
        return choose_product(t, precision, p,
                              {.batches = s.batches, .type = s.type, .result = s.type})
            .cycles;
    };
    constexpr double kPasses = 3, kThreads = 256;
    const double rows = double(s.queries) * double(s.batches);
    const double threads = std::min(kThreads, static_cast<double>(divide_up(s.keys, 32) * 32));
    const double resident =
        static_cast<double>(std::min(t.ctas, t.warps / static_cast<std::int64_t>(threads / 32)));
    const double waves = std::ceil(rows / (resident * static_cast<double>(t.sms)));
    const double bytes = 2 * rows * double(s.keys) * static_cast<double>(size_of(s.type));
    const double softmax =
        std::max(waves * kPasses * t.memory_latency * std::ceil(double(s.keys) / threads),
                 t.clock * bytes / t.l2_bandwidth) +
        t.launch_cycles;
    return product(s.keys, s.depth) + softmax + product(s.columns, s.keys);
}

}  // namespace

AttentionChoice choose_attention(const Target& t, Precision precision, const AttentionShape& s) {
    AttentionChoice choice;
    if (s.batches > sass::kMaxGrid[1]) return choice;
    const Kind kind = kind_of(t, s.type);
    const bool is_wide = std::max(s.depth, s.columns) > 64;
    double fused = 0;
    std::int64_t ctas = 0;
    for (int warps = 1; warps <= kernels::kAttentionWarps; warps *= 2) {
        std::int64_t with_warps = 0;
        const int bytes = kind.shared_bytes(warps, is_wide ? 128 : 64);
        if (bytes + t.shared_reserved > t.shared_bytes) continue;
        const double cycles = fused_cycles(t, s, kind, warps, is_wide, with_warps);
        if (fused != 0 && cycles >= fused) continue;
        fused = cycles;
        ctas = with_warps;
        choice.warps = warps;
        choice.shared_bytes = static_cast<std::uint32_t>(bytes);
    }
    if (fused == 0) return choice;
    choice.cycles = fused;
    choice.kernel = {kind.file, is_wide ? kind.wide : kind.narrow};
    // Scores as a tensor: kernels count to 2^31 elements.
    if (double(s.batches) * double(s.queries) * double(s.keys) > INT32_MAX) {
        choice.is_fused = true;
        choice.reason = fmt::format(
            "attention: one kernel {:.0f} cycles ({} queries a CTA, {} CTAs on {} SMs{}); its "
            "scores by themselves are a tensor of 2^31 elements or more",
            fused, choice.warps * kind.queries, ctas, t.sms,
            s.causal ? ", keys to the diagonal" : "");
        return choice;
    }
    const double separate = separate_cycles(t, precision, s);
    choice.is_fused = fused < separate;
    const std::string both =
        choice.is_fused
            ? fmt::format("one kernel {:.0f} cycles", fused)
            : fmt::format("scores, softmax and context by themselves {:.0f} cycles", separate);
    const std::string other =
        choice.is_fused ? fmt::format("scores, softmax and context by themselves {:.0f}", separate)
                        : fmt::format("one kernel {:.0f}", fused);
    choice.reason = fmt::format("attention: {} ({} queries a CTA, {} CTAs on {} SMs{}); not {}",
                                both, choice.warps * kind.queries, ctas, t.sms,
                                s.causal ? ", keys to the diagonal" : "", other);
    return choice;
}

}  // namespace lockstep::network::gpu
