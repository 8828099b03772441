// SPDX-License-Identifier: Apache-2.0
// Workloads that move or combine elements across threads: reduction, scan, transpose, histogram.
#include <fmt/format.h>

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

const ParameterInfo kN = size_parameter("n", 1 << 20, "number of elements");

enum class Reduction { kShared, kShuffle, kAtomic };

template <Reduction how>
void reduce(Run& run) {
    const int n = run["n"];
    const unsigned blocks = std::min(blocks_for(n, 256 * 4), 1024u);
    const auto x = run.uniform(n), sum = run.zeros<float>(1);
    if (how == Reduction::kAtomic) {
        run.launch({"reduce", "reduce_atomic"}, {blocks}, {256}, 0, Arguments(x, sum, n));
    } else {
        const char* kernel = how == Reduction::kShared ? "reduce_shared" : "reduce_shuffle";
        const auto partial = run.zeros<float>(blocks);
        run.launch({"reduce", kernel}, {blocks}, {256}, 0, Arguments(x, partial, n));
        run.launch({"reduce", kernel}, {1}, {256}, 0,
                   Arguments(partial, sum, static_cast<int>(blocks)));
    }
    // No element passes through more additions than a thread's share, the trees and the blocks.
    const double additions = n / (blocks * 256.0) + 1 + 32 + blocks * 8;
    run.check("sum", sum, additions, [&](int) {
        ReferenceSum total;
        for (const float value : x.view()) total.add(value);
        return total;
    });
}

/// Throws InputError where it is none that kernels are compiled for.
unsigned cluster_size(Run& run) {
    const int size = run["cluster"];
    if (size != 1 && size != 2 && size != 4 && size != 8)
        throw InputError(fmt::format("cluster={}: clusters of 1, 2, 4 or 8 blocks", size));
    return static_cast<unsigned>(size);
}

constexpr const char* kReduceCluster[] = {
    nullptr, "reduce_cluster_1", "reduce_cluster_2", nullptr, "reduce_cluster_4", nullptr, nullptr,
    nullptr, "reduce_cluster_8"};
constexpr const char* kHistogramCluster[] = {nullptr,
                                             "histogram_cluster_1",
                                             "histogram_cluster_2",
                                             nullptr,
                                             "histogram_cluster_4",
                                             nullptr,
                                             nullptr,
                                             nullptr,
                                             "histogram_cluster_8"};

void reduce_cluster(Run& run) {
    const int n = run["n"];
    const unsigned size = cluster_size(run);
    const unsigned clusters =
        std::min(blocks_for(n, static_cast<int>(256 * 4 * size)), 1024 / size);
    const KernelName kernel{"reduce_cluster", kReduceCluster[size]};
    const auto x = run.uniform(n), sum = run.zeros<float>(1);
    const auto partial = run.zeros<float>(clusters);
    run.launch(kernel, {clusters * size}, {256}, 0, Arguments(x, partial, n));
    run.launch(kernel, {size}, {256}, 0, Arguments(partial, sum, static_cast<int>(clusters)));
    const double additions = n / (clusters * size * 256.0) + 1 + 32 + (clusters + 8) * 8.0;
    run.check("sum", sum, additions, [&](int) {
        ReferenceSum total;
        for (const float value : x.view()) total.add(value);
        return total;
    });
}

// Scans the block totals by the same kernel until one block is left.
void scan_levels(Run& run, Array<int> x, Array<int> y) {
    const int n = static_cast<int>(x.size);
    const unsigned blocks = blocks_for(n, 256);
    const auto totals = run.zeros<int>(blocks);
    run.launch({"scan", "scan_blocks"}, {blocks}, {256}, 0, Arguments(x, y, totals, n));
    if (blocks == 1) return;
    const auto scanned = run.zeros<int>(blocks);
    scan_levels(run, totals, scanned);
    run.launch({"scan", "scan_add"}, {blocks}, {256}, 0, Arguments(scanned, y, n));
}

void scan(Run& run) {
    const int n = run["n"];
    const auto x = run.integers<int>(n, -1000, 1000), y = run.zeros<int>(n);
    scan_levels(run, x, y);
    std::int64_t sum = 0;
    run.check_exact("y", y, [&](int i) {
        sum += x.view()[i];
        return static_cast<int>(static_cast<std::uint32_t>(sum));  // wraps, as the kernel does
    });
}

void transpose(Run& run, const char* kernel) {
    const int rows = run["rows"], cols = run["cols"], n = run.count({rows, cols});
    const auto x = run.uniform(n), y = run.zeros<float>(n);
    run.launch({"transpose", kernel}, {blocks_for(cols, 32), blocks_for(rows, 32)}, {32, 8}, 0,
               Arguments(x, y, rows, cols));
    run.check_bits("y", y,
                   [&](int i) { return x.view()[std::size_t(i % rows) * cols + i / rows]; });
}

void histogram(Run& run) {
    const int n = run["n"], bins = run["bins"];
    const auto x = run.integers<int>(n, 0, bins - 1), counts = run.zeros<int>(bins);
    const unsigned blocks = std::min(blocks_for(n, 256 * 16), 256u);
    run.launch({"histogram", "histogram"}, {blocks}, {256}, bins * 4,
               Arguments(x, counts, n, bins));
    if (!run.verify()) return;
    std::vector<int> expected(bins);
    for (const int value : x.view()) ++expected[value];
    run.check_exact("counts", counts, [&](int i) { return expected[i]; });
}

void histogram_cluster(Run& run) {
    const int n = run["n"], bins = run["bins"];
    const unsigned size = cluster_size(run);
    const auto x = run.integers<int>(n, 0, bins - 1), counts = run.zeros<int>(bins);
    const unsigned clusters =
        std::min(blocks_for(n, static_cast<int>(256 * 16 * size)), 256 / size);
    const auto own = static_cast<std::uint32_t>(bins + static_cast<int>(size) - 1) / size;
    run.launch({"histogram_cluster", kHistogramCluster[size]}, {clusters * size}, {256}, own * 4,
               Arguments(x, counts, n, bins));
    if (!run.verify()) return;
    std::vector<int> expected(static_cast<std::size_t>(bins));
    for (const int value : x.view()) ++expected[static_cast<std::size_t>(value)];
    run.check_exact("counts", counts, [&](int i) { return expected[static_cast<std::size_t>(i)]; });
}

}  // namespace

std::vector<Workload> reduction_workloads() {
    // Rows go along the grid's y dimension, which has 65,535 blocks at most.
    const std::vector<ParameterInfo> matrix = {
        size_parameter("rows", 512, "rows of the input", 65535 * 32),
        size_parameter("cols", 512, "columns of the input"),
    };
    const ParameterInfo cluster{"cluster", 4, 1, 8, "blocks of a cluster: 1, 2, 4 or 8"};
    return {
        {"reduce", "sum of n floats by warp shuffles", {kN}, reduce<Reduction::kShuffle>},
        {"reduce_shared", "sum by a tree in shared memory", {kN}, reduce<Reduction::kShared>},
        {"reduce_atomic", "sum by one atomic a warp", {kN}, reduce<Reduction::kAtomic>},
        {"scan", "inclusive prefix sum of n integers", {kN}, scan},
        {"transpose", "transpose through padded shared memory", matrix,
         [](Run& run) { transpose(run, "transpose_padded"); }},
        {"transpose_shared", "transpose through shared memory, with bank conflicts", matrix,
         [](Run& run) { transpose(run, "transpose_shared"); }},
        {"transpose_naive", "transpose with strided writes", matrix,
         [](Run& run) { transpose(run, "transpose_naive"); }},
        {"histogram",
         "counts of n integers in shared memory",
         {kN, size_parameter("bins", 256, "number of bins", 12288)},
         histogram},
        {"reduce_cluster",
         "sum through the shared memory of a cluster's first block",
         {kN, cluster},
         reduce_cluster,
         90},
        {"histogram_cluster",
         "counts of n integers in shared memory that is shared out over a cluster",
         {kN, size_parameter("bins", 256, "number of bins", 8 * 12288), cluster},
         histogram_cluster,
         90},
    };
}

}  // namespace lockstep::cuda
