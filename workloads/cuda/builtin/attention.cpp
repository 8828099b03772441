// SPDX-License-Identifier: Apache-2.0
// Attention: flash, naive (three kernels), and the gradients of both, which are the same.
#include <algorithm>
#include <cmath>

#include "isa/sass/tma/tensor_map.h"
#include "sim/numerics/fp16.h"
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

struct Shape {
    int heads, seq, d, causal, size, rows;
    float scale;
    explicit Shape(const Run& run)
        : heads(run["heads"]), seq(run["seq"]), d(run["d"]), causal(run["causal"]) {
        size = run.count({heads, seq, d});
        rows = run.count({heads, seq});
        scale = 1.0f / std::sqrt(static_cast<float>(d));
    }
    // A score is a sum of d products, an output one of seq; exp passes the score's error on.
    double roundings() const { return 32.0 + seq + d; }
};

double dot(const float* a, const float* b, int d) {
    double sum = 0;
    for (int i = 0; i < d; ++i) sum += double{a[i]} * b[i];
    return sum;
}

// The probabilities p[heads][seq][seq] in double.
std::vector<double> probabilities(const Shape& s, const Array<float>& q, const Array<float>& k) {
    std::vector<double> p(std::size_t(s.rows) * s.seq);
    for (int row = 0; row < s.rows; ++row) {
        const int head = row / s.seq, keys = s.causal ? row % s.seq + 1 : s.seq;
        double* out = &p[std::size_t(row) * s.seq];
        for (int j = 0; j < keys; ++j) {
            out[j] = dot(&q.view()[std::size_t(row) * s.d],
                         &k.view()[(std::size_t(head) * s.seq + j) * s.d], s.d) *
                     s.scale;
        }
        const double max = *std::max_element(out, out + keys);
        double sum = 0;
        for (int j = 0; j < keys; ++j) sum += out[j] = std::exp(out[j] - max);
        for (int j = 0; j < keys; ++j) out[j] /= sum;
    }
    return p;
}

// out = p * v with p as above.
std::vector<ReferenceSum> reference_values(const Shape& s, const std::vector<double>& p,
                                           const Array<float>& v) {
    std::vector<ReferenceSum> out(s.size);
    for (int row = 0; row < s.rows; ++row) {
        for (int j = 0; j < s.seq; ++j) {
            const float* value = &v.view()[(std::size_t(row / s.seq) * s.seq + j) * s.d];
            const double weight = p[std::size_t(row) * s.seq + j];
            for (int i = 0; i < s.d; ++i) out[std::size_t(row) * s.d + i].add(weight * value[i]);
        }
    }
    return out;
}

void check_values(Run& run, const Shape& s, const Array<float>& q, const Array<float>& k,
                  const Array<float>& v, const Array<float>& out) {
    if (!run.verify()) return;
    const auto expected = reference_values(s, probabilities(s, q, k), v);
    run.check("out", out, s.roundings(), [&](int i) { return expected[i]; });
}

void launch_flash(Run& run, const Shape& s, const Array<float>& q, const Array<float>& k,
                  const Array<float>& v, const Array<float>& out, const Array<float>& lse) {
    run.launch({"attention_flash", "attention_flash"},
               {blocks_for(s.seq, 16), static_cast<unsigned>(s.heads)}, {128}, 80 * (s.d + 1) * 4,
               Arguments(q, k, v, out, lse, s.heads, s.seq, s.d, s.causal, s.scale));
}

void flash(Run& run) {
    const Shape s(run);
    const auto q = run.uniform(s.size), k = run.uniform(s.size), v = run.uniform(s.size);
    const auto out = run.zeros<float>(s.size), lse = run.zeros<float>(s.rows);
    launch_flash(run, s, q, k, v, out, lse);
    check_values(run, s, q, k, v, out);
}

using Halves = Array<std::uint16_t>;

void check_halves(Run& run, const Shape& s, const Halves& q, const Halves& k, const Halves& v,
                  const Array<float>& out) {
    if (!run.verify()) return;
    const auto floats = [&](const Halves& halves) {
        const auto array = run.zeros<float>(halves.size);
        std::transform(halves.view().begin(), halves.view().end(), array.view().begin(),
                       [](std::uint16_t h) { return numerics::fp16_to_fp32(h); });
        return array;
    };
    const auto expected = reference_values(s, probabilities(s, floats(q), floats(k)), floats(v));
    // The probabilities are rounded to FP16, by 2^-11 of themselves: 2^13 roundings of FP32.
    run.check("out", out, 0x1p13 + s.roundings(), [&](int i) { return expected[i]; });
}

void flash_mma(Run& run) {
    const Shape s(run);
    const auto q = run.uniform_half(s.size), k = run.uniform_half(s.size);
    const auto v = run.uniform_half(s.size);
    const auto out = run.zeros<float>(s.size);
    run.launch(
        {"attention_flash_mma", s.d <= 64 ? "attention_flash_mma_64" : "attention_flash_mma_128"},
        {blocks_for(s.seq, 64), static_cast<unsigned>(s.heads)}, {128}, 0,
        Arguments(q, k, v, out, s.heads, s.seq, s.d, s.causal, s.scale));
    check_halves(run, s, q, k, v, out);
}

sass::TensorMap map_of(const Shape& s, const Array<std::uint16_t>& tensor) {
    constexpr std::uint32_t kColumns = 64, kRows = 128;
    sass::TensorMap map;
    map.address = tensor.address;
    map.rank = 3;
    map.type = sass::TensorType::kF16;
    map.swizzle = sass::TensorSwizzle::k128;
    const auto d = static_cast<std::uint64_t>(s.d), seq = static_cast<std::uint64_t>(s.seq);
    map.size = {d, seq, static_cast<std::uint64_t>(s.heads)};
    map.stride = {d * 2, seq * d * 2};
    map.box = {kColumns, kRows, 1};
    map.step = {1, 1, 1};
    return map;
}

void flash_wgmma(Run& run) {
    const Shape s(run);
    constexpr int kUnit = 8;  // rows begin at multiples of 16 bytes, as TMA wants them
    if (s.d % kUnit != 0)
        throw InputError(fmt::format("d={}: must be a multiple of {}", s.d, kUnit));
    const auto q = run.uniform_half(s.size), k = run.uniform_half(s.size);
    const auto v = run.uniform_half(s.size);
    const auto out = run.zeros<float>(s.size);
    constexpr std::uint32_t kTiles = 5, kRows = 128, kAlignment = 1024;
    const std::uint32_t d = s.d <= 64 ? 64 : 128;
    run.launch(
        {"attention_wgmma", d == 64 ? "attention_wgmma_64" : "attention_wgmma_128"},
        {blocks_for(s.seq, kRows), static_cast<unsigned>(s.heads)}, {384},
        kTiles * kRows * d * 2 + kAlignment,
        Arguments(map_of(s, q), map_of(s, k), map_of(s, v), out, s.seq, s.d, s.causal, s.scale));
    check_halves(run, s, q, k, v, out);
}

void naive(Run& run) {
    const Shape s(run);
    const auto q = run.uniform(s.size), k = run.uniform(s.size), v = run.uniform(s.size);
    const auto scores = run.zeros<float>(run.count({s.rows, s.seq}));
    const auto p = run.zeros<float>(scores.size), out = run.zeros<float>(s.size);
    const unsigned rows = blocks_for(s.seq, 16), heads = static_cast<unsigned>(s.heads);
    run.launch({"attention_naive", "attention_scores"}, {blocks_for(s.seq, 16), rows, heads},
               {16, 16}, 0, Arguments(q, k, scores, s.heads, s.seq, s.d, s.causal, s.scale));
    run.launch({"softmax", "softmax"}, {static_cast<unsigned>(s.rows)}, {128}, 0,
               Arguments(scores, p, s.rows, s.seq));
    run.launch({"attention_naive", "attention_values"}, {blocks_for(s.d, 16), rows, heads},
               {16, 16}, 0, Arguments(p, v, out, s.heads, s.seq, s.d));
    check_values(run, s, q, k, v, out);
}

void backward(Run& run) {
    const Shape s(run);
    const auto q = run.uniform(s.size), k = run.uniform(s.size), v = run.uniform(s.size);
    const auto dout = run.uniform(s.size), out = run.zeros<float>(s.size);
    const auto lse = run.zeros<float>(s.rows), delta = run.zeros<float>(s.rows);
    const auto dq = run.zeros<float>(s.size), dk = run.zeros<float>(s.size);
    const auto dv = run.zeros<float>(s.size);
    const sass::Dim3 grid{blocks_for(s.seq, 4), static_cast<unsigned>(s.heads)};
    launch_flash(run, s, q, k, v, out, lse);
    run.launch({"attention_backward", "attention_delta"}, grid, {128}, 0,
               Arguments(out, dout, delta, s.heads, s.seq, s.d));
    run.launch({"attention_backward", "attention_backward_queries"}, grid, {128}, 0,
               Arguments(q, k, v, dout, lse, delta, dq, s.heads, s.seq, s.d, s.causal, s.scale));
    run.launch(
        {"attention_backward", "attention_backward_keys_values"}, grid, {128}, 0,
        Arguments(q, k, v, dout, lse, delta, dk, dv, s.heads, s.seq, s.d, s.causal, s.scale));
    if (!run.verify()) return;

    const auto p = probabilities(s, q, k);
    const auto values = reference_values(s, p, v);
    std::vector<ReferenceSum> dq_sums(s.size), dk_sums(s.size), dv_sums(s.size);
    for (int row = 0; row < s.rows; ++row) {
        const std::size_t query = std::size_t(row) * s.d;
        ReferenceSum delta_row;
        for (int i = 0; i < s.d; ++i) {
            delta_row.add(values[query + i].value * dout.view()[query + i]);
        }
        for (int j = 0; j < s.seq; ++j) {
            const double weight = p[std::size_t(row) * s.seq + j];
            if (weight == 0) continue;
            const std::size_t key = (std::size_t(row / s.seq) * s.seq + j) * s.d;
            ReferenceSum dp;
            for (int i = 0; i < s.d; ++i) {
                dp.add(double{dout.view()[query + i]} * v.view()[key + i]);
            }
            const double ds = weight * (dp.value - delta_row.value) * s.scale;
            // What cancels in ds counts as magnitude, not its difference.
            const double ds_size = weight * (dp.magnitude + delta_row.magnitude) * s.scale;
            for (int i = 0; i < s.d; ++i) {
                dq_sums[query + i].value += ds * k.view()[key + i];
                dq_sums[query + i].magnitude += ds_size * std::abs(k.view()[key + i]);
                dk_sums[key + i].value += ds * q.view()[query + i];
                dk_sums[key + i].magnitude += ds_size * std::abs(q.view()[query + i]);
                dv_sums[key + i].add(weight * dout.view()[query + i]);
            }
        }
    }
    run.check("dq", dq, s.roundings(), [&](int i) { return dq_sums[i]; });
    run.check("dk", dk, s.roundings(), [&](int i) { return dk_sums[i]; });
    run.check("dv", dv, s.roundings(), [&](int i) { return dv_sums[i]; });
}

}  // namespace

std::vector<Workload> attention_workloads() {
    const std::vector<ParameterInfo> parameters = {
        size_parameter("heads", 4, "heads (times batch)", 65535),
        size_parameter("seq", 128, "length of the sequence"),
        size_parameter("d", 64, "size of a head", 128),
        {"causal", 0, 0, 1, "1: a query sees no later keys"},
    };
    return {
        {"attention", "attention without the score matrix (flash)", parameters, flash},
        {"attention_mma", "flash attention in FP16 on Tensor Cores", parameters, flash_mma},
        {"attention_wgmma",
         "attention in FP16 as FlashAttention-3: wgmma, TMA (compute capability 9.0)", parameters,
         flash_wgmma, 90},
        {"attention_naive", "attention as scores, softmax, values", parameters, naive},
        {"attention_backward", "attention and its gradients", parameters, backward},
    };
}

}  // namespace lockstep::cuda
