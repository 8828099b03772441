// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/choose.h"

#include <algorithm>
#include <cmath>

#include "isa/sass/launch_limits.h"
#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/cuda/kernel_registers.h"
#include "workloads/cuda/network/costs.h"

namespace lockstep::network::gpu {

namespace {

using numerics::divide_up;

/// A kernel with a tile.
struct Candidate {
    cuda::KernelName kernel;
    kernels::TileShape tile;
    int depth;  ///< elements of k by step
    int stages;
    double macs;  ///< the rate that it can have, by SM and cycle
    kernels::StepInstructions instructions;
    std::int64_t shared_bytes;
    std::uint32_t dynamic_bytes;
    /// Cycles between instructions of a warp that has its sub-core for itself, as simulated: sums
    /// of mma.sync and what comes from shared memory are waited for; wgmma runs beside the copies.
    double issue = 1;
    bool needs_vectors = false;  ///< 16 bytes along k are consecutive in both operands
    std::string_view label = "";
};

struct Cost {
    double cycles = 0, compute = 0, memory = 0;
    std::int64_t ctas = 0;
};

/// Of the kernel that adds pieces of k: a warp's instructions one after the other, four pieces
/// loaded at once, all of them through L2.
double sum_cycles(const Target& t, int splits, double bytes) {
    constexpr double kDependent = 4;  // from an instruction to what waits for it, since Volta
    return t.launch_cycles +
           (kernels::kSumInstructions + kernels::kPieceInstructions * splits) * kDependent +
           std::ceil(splits / 4.0) * t.memory_latency + t.clock * bytes / t.l2_bandwidth;
}

Cost cost_of(const Target& t, const kernels::Product& p, const ProductTraits& traits,
             const Candidate& c, int splits) {
    const auto element = static_cast<double>(size_of(traits.type));
    const std::int64_t tiles_m = divide_up(p.m, c.tile.m), tiles_n = divide_up(p.n, c.tile.n);
    Cost cost;
    cost.ctas = tiles_m * tiles_n * traits.batches * splits;
    const std::int64_t warps = c.tile.threads / 32;
    const std::int64_t registers = cuda::kernel_registers(c.kernel, t.arch);
    const std::int64_t resident = std::max<std::int64_t>(
        1, std::min({t.ctas, t.warps / warps, t.registers / (registers * c.tile.threads),
                     t.shared_bytes / (c.shared_bytes + t.shared_reserved)}));
    const std::int64_t steps = divide_up(divide_up(p.k, splits), c.depth);
    // A sub-core issues one instruction of a warp in a cycle.
    const double issue =
        static_cast<double>(warps) * c.instructions.of(t.arch) / static_cast<double>(t.sub_cores);
    const double work =
        std::max(static_cast<double>(c.tile.m) * c.tile.n * c.depth / c.macs, issue);
    // One CTA alone waits for memory, and its warps for themselves, where its work does not hide
    // it.
    const double alone =
        std::max({work, t.memory_latency / c.stages, c.issue * c.instructions.of(t.arch)});
    const std::int64_t on_an_sm = divide_up(cost.ctas, t.sms);
    const std::int64_t together = std::min(on_an_sm, resident);
    const double step = std::max(alone, work * static_cast<double>(together));
    cost.compute = static_cast<double>(divide_up(on_an_sm, together)) *
                   (static_cast<double>(steps) * step + t.memory_latency);
    const double batches = static_cast<double>(traits.batches);
    const double operands = (double(p.m) + p.n) * p.k * element * batches,
                 results =
                     double(p.m) * p.n * batches * static_cast<double>(size_of(traits.result));
    const double tiles =
        static_cast<double>(tiles_m * tiles_n) * batches * p.k * element * (c.tile.m + c.tile.n);
    const double partial = splits == 1 ? 0 : 8.0 * double(p.m) * p.n * batches * splits;
    cost.memory = t.clock * std::max((operands + results) / t.memory_bandwidth,
                                     (tiles + partial + results) / t.l2_bandwidth);
    cost.cycles = std::max(cost.compute, cost.memory) + t.launch_cycles;
    if (splits > 1) cost.cycles += sum_cycles(t, splits, partial / 2 + results);
    return cost;
}

Cost cost_of_rows(const Target& t, const kernels::Product& p, const ProductTraits& traits) {
    const auto element = static_cast<double>(size_of(traits.type));
    Cost cost;
    cost.ctas = divide_up(p.n, kernels::kRowsColumns) * traits.batches;
    const double batches = static_cast<double>(traits.batches);
    const double bytes = (double(p.n) + p.m) * p.k * element * batches;
    // A lane reads 16 bytes and waits, four times at once.
    const double loads = std::ceil(double(p.k) * element / (32 * 16 * 4));
    const std::int64_t resident = std::min(t.ctas, t.warps / kernels::kRowsColumns);
    const double waves = std::ceil(double(cost.ctas) / double(t.sms * resident));
    cost.compute = waves * loads * t.memory_latency +
                   double(p.n) * p.m * p.k * batches / (t.fp32_macs * double(t.sms));
    cost.memory = t.clock * bytes / t.memory_bandwidth;
    cost.cycles = std::max(cost.compute, cost.memory) + t.launch_cycles;
    return cost;
}

/// What runs on Tensor Cores: a kernel and its rate.
struct TensorKernel {
    std::string_view file, large, small;
    double macs;
};

std::optional<TensorKernel> tensor_kernel(const Target& t, Precision precision, ElementType type) {
    if (type == ElementType::kFp16)
        return {{"product_fp16", "product_fp16_large", "product_fp16_small", t.fp16_macs}};
    if (type == ElementType::kBf16)
        return {{"product_bf16", "product_bf16_large", "product_bf16_small", t.fp16_macs}};
    // Bytes are of e4m3. Hopper has it for warpgroups alone.
    if (type == ElementType::kUint8 && t.group_int8_macs == 0)
        return {{"product_fp8", "product_fp8_large", "product_fp8_small", t.int8_macs}};
    if (type == ElementType::kInt8)
        return {{"product_int8", "product_int8_large", "product_int8_small", t.int8_macs}};
    if (type == ElementType::kFp32 && precision == Precision::kTf32)
        return {{"product_tf32", "product_tf32_large", "product_tf32_small", t.tf32_macs}};
    return std::nullopt;
}

/// Products of warpgroups, for the types that a machine has them for.
void add_group_candidates(const Target& t, ElementType type, std::vector<Candidate>& candidates) {
    struct Row {
        ElementType type;
        std::string_view file, wide, large, small;
        double macs;
    };
    const Row rows[] = {{ElementType::kFp16, "product_wgmma_fp16", "product_wgmma_fp16_wide",
                         "product_wgmma_fp16_large", "product_wgmma_fp16_small", t.group_fp16_macs},
                        {ElementType::kBf16, "product_wgmma_bf16", "product_wgmma_bf16_wide",
                         "product_wgmma_bf16_large", "product_wgmma_bf16_small", t.group_fp16_macs},
                        {ElementType::kInt8, "product_wgmma_int8", "product_wgmma_int8_wide",
                         "product_wgmma_int8_large", "product_wgmma_int8_small", t.group_int8_macs},
                        {ElementType::kUint8, "product_wgmma_fp8", "product_wgmma_fp8_wide",
                         "product_wgmma_fp8_large", "product_wgmma_fp8_small", t.group_int8_macs}};
    const auto* const row = std::ranges::find(rows, type, &Row::type);
    if (row == std::end(rows) || row->macs == 0) return;
    const auto depth = static_cast<int>(kernels::kGroupDepthBytes / size_of(type));
    const auto add = [&](std::string_view kernel, kernels::TileShape tile,
                         kernels::StepInstructions instructions) {
        const int bytes = kernels::group_shared_bytes(tile);
        candidates.push_back({.kernel = {row->file, kernel},
                              .tile = tile,
                              .depth = depth,
                              .stages = kernels::kGroupStages - 2,
                              .macs = row->macs,
                              .instructions = instructions,
                              .shared_bytes = bytes,
                              .dynamic_bytes = static_cast<std::uint32_t>(bytes),
                              .needs_vectors = true,
                              .label = "wgmma "});
    };
    add(row->wide, kernels::kWideGroupTile, kernels::kWideGroupStep);
    add(row->large, kernels::kGroupTile, kernels::kGroupStep);
    add(row->small, kernels::kSmallGroupTile, kernels::kSmallGroupStep);
}

std::vector<Candidate> candidates_of(const Target& t, Precision precision, ElementType type) {
    if (const auto kernel = tensor_kernel(t, precision, type)) {
        const auto depth = static_cast<int>(kernels::kTensorDepthBytes / size_of(type));
        const auto candidate = [&](std::string_view name, kernels::TileShape tile,
                                   kernels::StepInstructions instructions) {
            const int bytes = kernels::tensor_shared_bytes(tile);
            return Candidate{{kernel->file, name},
                             tile,
                             depth,
                             kernels::kTensorStages - 1,
                             kernel->macs,
                             instructions,
                             bytes,
                             static_cast<std::uint32_t>(bytes),
                             kernels::kTensorIssueCycles};
        };
        const bool rounds = type == ElementType::kFp32;
        std::vector<Candidate> candidates = {
            candidate(kernel->large, kernels::kLargeTile,
                      rounds ? kernels::kLargeTf32Step : kernels::kLargeTensorStep),
            candidate(kernel->small, kernels::kSmallTile,
                      rounds ? kernels::kSmallTf32Step : kernels::kSmallTensorStep)};
        add_group_candidates(t, type, candidates);
        return candidates;
    }
    if (type == ElementType::kUint8) {
        std::vector<Candidate> candidates;
        add_group_candidates(t, type, candidates);
        return candidates;
    }
    const auto simt = [&](std::string_view kernel, kernels::TileShape tile, int depth,
                          kernels::StepInstructions instructions) {
        const std::int64_t tiles = 2 * depth * (tile.m + tile.n + 8) * 4;
        return Candidate{
            {"product_fp32", kernel}, tile, depth, 1, t.fp32_macs, instructions, tiles, 0};
    };
    return {simt("product_fp32_large", kernels::kLargeTile, kernels::kLargeDepth,
                 kernels::kLargeRealStep),
            simt("product_fp32_small", kernels::kSmallTile, kernels::kSmallDepth,
                 kernels::kSmallRealStep)};
}

std::string text_of(double cycles) {
    return cycles < 1e4 ? fmt::format("{:.0f}", cycles) : fmt::format("{:.1f}k", cycles / 1e3);
}

std::string describe(const Candidate& c, int splits, const Cost& cost) {
    return fmt::format("{}{}x{}{} {}", c.label, c.tile.m, c.tile.n,
                       splits == 1 ? "" : fmt::format(" k/{}", splits), text_of(cost.cycles));
}

}  // namespace

ProductChoice choose_product(const Target& t, Precision precision, const kernels::Product& p,
                             const ProductTraits& traits) {
    ProductChoice best;
    std::string others;
    Cost cost_of_best;
    const auto offer = [&](ProductChoice choice, const Cost& cost, const std::string& text) {
        choice.cycles = cost.cycles;
        if (best.kernel.kernel.empty() || cost.cycles < best.cycles) {
            if (!best.reason.empty()) others += (others.empty() ? "" : ", ") + best.reason;
            best = std::move(choice);
            best.reason = text;
            cost_of_best = cost;
        } else {
            others += (others.empty() ? "" : ", ") + text;
        }
    };
    for (const Candidate& c : candidates_of(t, precision, traits.type)) {
        if (divide_up(p.m, c.tile.m) > sass::kMaxGrid[1]) continue;
        if (c.needs_vectors && (p.a_vector == 0 || p.b_vector == 0)) continue;
        // The best number of pieces stands for the tile.
        int best_splits = 1;
        Cost least = cost_of(t, p, traits, c, 1);
        for (int splits = 2; splits <= 32 && p.k / splits >= 4 * c.depth; splits *= 2)
            if (const Cost cost = cost_of(t, p, traits, c, splits); cost.cycles < least.cycles) {
                least = cost;
                best_splits = splits;
            }
        const int split_k =
            static_cast<int>(numerics::round_up(divide_up(p.k, best_splits), c.depth));
        offer({.kernel = c.kernel,
               .tile = c.tile,
               .splits = static_cast<int>(divide_up(p.k, split_k)),
               .split_k = split_k,
               .shared_bytes = c.dynamic_bytes},
              least, describe(c, best_splits, least));
    }
    if (traits.is_matrix && is_floating(traits.type) && p.m <= kernels::kFewRows && p.a_vector &&
        p.b_vector) {
        const Cost cost = cost_of_rows(t, p, traits);
        offer(
            {.kernel = {"product_rows", traits.type == ElementType::kFp32   ? "product_rows_fp32"
                                        : traits.type == ElementType::kFp16 ? "product_rows_fp16"
                                                                            : "product_rows_bf16"},
             .tile = {kernels::kFewRows, kernels::kRowsColumns, 32 * kernels::kRowsColumns},
             .split_k = p.k,
             .is_rows = true},
            cost, fmt::format("rows {}", text_of(cost.cycles)));
    }
    if (best.kernel.kernel.empty()) return best;
    best.reason =
        fmt::format("{} cycles ({} CTAs on {} SMs; {}-bound){}", best.reason, cost_of_best.ctas,
                    t.sms, cost_of_best.compute > cost_of_best.memory ? "compute" : "memory",
                    others.empty() ? "" : "; not " + others);
    return best;
}

void launch_product(Lowering& l, kernels::Product p, const ProductTraits& traits) {
    const ProductChoice choice = choose_product(l.target(), l.options().precision, p, traits);
    if (choice.kernel.kernel.empty() || traits.batches * choice.splits > sass::kMaxGrid[1])
        throw InputError(
            fmt::format("{}: a product of {} rows, {} times, takes more tiles than a grid holds "
                        "({} in each dimension): a smaller batch fits",
                        l.layer(), p.m, traits.batches, sass::kMaxGrid[1]));
    p.splits = choice.splits;
    p.split_k = choice.split_k;
    const auto element = static_cast<std::uint64_t>(size_of(traits.type));
    const auto batches = static_cast<std::uint32_t>(traits.batches);
    Lowering::Shape3 shape;
    shape.block.x = static_cast<std::uint32_t>(choice.tile.threads);
    shape.shared_bytes = choice.shared_bytes;
    shape.grid.x = static_cast<std::uint32_t>(divide_up(p.n, choice.tile.n));
    shape.grid.y = choice.is_rows ? 1 : static_cast<std::uint32_t>(divide_up(p.m, choice.tile.m));
    shape.grid.z = batches * static_cast<std::uint32_t>(p.splits);
    if (p.splits > 1) {
        const Place partial = l.scratch(l.layer() + ".partial", ElementType::kFp32,
                                        {p.splits, static_cast<std::int64_t>(batches), p.m, p.n});
        p.partial = static_cast<float*>(l.pointer(partial));
    }
    Launch& launch = l.emit(choice.kernel, shape, p);
    launch.macs = traits.macs;
    launch.bytes = (static_cast<std::uint64_t>(p.m) + static_cast<std::uint64_t>(p.n)) *
                       static_cast<std::uint64_t>(p.k) * element * batches +
                   static_cast<std::uint64_t>(p.m) * static_cast<std::uint64_t>(p.n) * batches *
                       size_of(traits.result);
    launch.choice = choice.reason;
    launch.cycles = choice.cycles;
    if (p.splits == 1) return;
    const std::int64_t fours = divide_up(p.n, 4);
    Lowering::Shape3 sum = Lowering::threads_for(p.m * fours);
    sum.grid.y = batches;
    if (traits.type == ElementType::kInt8)
        l.emit({"product_int8", "product_int8_sum"}, sum, p, divider_of(fours));
    else
        l.emit({"product_sum", "product_sum"}, sum, p, divider_of(fours));
}

}  // namespace lockstep::network::gpu
