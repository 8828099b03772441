// SPDX-License-Identifier: Apache-2.0
// Copies by TMA, and mbarriers (hopper/micro_tma.cu).
#include <algorithm>

#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {
namespace {

const char* const kFile = "micro_tma";
constexpr int kArch = 90;
constexpr int kCopies = 8;     ///< an iteration of a chain
constexpr int kArrivals = 32;  ///< an iteration, of a warp
constexpr int kPiece = 8192;   ///< bytes of tma_read's copies
constexpr int kThreads = 32, kStages = 16;
constexpr std::uint32_t kWord = 3;

/// Cycles from a copy's start until the next one's, of so many bytes that are in L2.
double chain(Run& run, const char* kernel, unsigned blocks) {
    const int bytes = run["bytes"];
    if (bytes % 16 != 0) throw InputError("bytes of a copy must be a multiple of 16");
    const Clocks cycles = run.zeros<std::uint64_t>(2);
    const auto sums = run.zeros<std::uint32_t>(1);
    const auto from = run.zeros<std::uint32_t>(static_cast<std::size_t>(bytes) / 4);
    for (std::uint32_t& word : from.view()) word = kWord;
    const double time = cycles_an_iteration(run, cycles, 1, [&](int iterations) {
        run.launch({kFile, kernel}, {blocks}, {1}, static_cast<std::uint32_t>(bytes),
                   Arguments(cycles, sums, from, bytes, iterations));
    });
    run.check_values<std::uint32_t>("copied", sums, [](int) { return kWord; });
    return time / kCopies;
}

void latency(Run& run) {
    run.measure("latency", chain(run, "tma_chain", 1), "cycles");
}

void multicast(Run& run) {
    const double alone = chain(run, "tma_chain", 1);
    const double both = chain(run, "tma_multicast_chain", 2);
    run.measure("latency", both, "cycles");
    run.measure("extra", both - alone, "cycles");
}

/// Twice so many MiB against so many, so that begin and end are not counted.
void read(Run& run) {
    const auto grid = static_cast<unsigned>(run.machine().integer("sm.count"));
    const int few = run["mib"] * 128, many = 2 * few;  // pieces
    const auto from = run.zeros<std::uint32_t>(static_cast<std::size_t>(many) * kPiece / 4);
    for (std::uint32_t& word : from.view()) word = kWord;
    const auto sums = run.zeros<std::uint32_t>(std::size_t{grid} * kThreads);
    const auto launch = [&](int pieces) {
        run.launch({kFile, "tma_read"}, {grid}, {kThreads}, kStages * kPiece,
                   Arguments(from, sums, pieces));
        return run.last_launch();
    };
    const LaunchResult a = launch(few), b = launch(many);
    const double bytes = static_cast<double>(many - few) * kPiece;
    run.measure("bandwidth", bytes / ((b.seconds - a.seconds) * 1e9), "GB/s");
    run.measure(
        "bytes",
        bytes / static_cast<double>(std::max<std::uint64_t>(b.cycles, a.cycles + 1) - a.cycles),
        "bytes/cycle");
    run.check_values<std::uint32_t>(
        "sums", sums, [&](int i) { return i / kThreads < many ? kWord : std::uint32_t{0}; });
}

void arrivals(Run& run) {
    const int warps = run["warps"];
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({kFile, "mbarrier_arrive"}, {1}, {32u * static_cast<unsigned>(warps)}, 0,
                   Arguments(cycles, iterations));
    });
    run.measure("interval", time / (kArrivals * warps), "cycles/arrival/SM");
}

}  // namespace

std::vector<Workload> tma_workloads() {
    const ParameterInfo bytes{"bytes", 128, 16, 65536, "of a copy"};
    return {
        {"micro_tma_latency",
         "latency of a block copied by TMA from L2 to shared memory, from its start to the next",
         {bytes},
         latency,
         kArch},
        {"micro_tma_multicast",
         "likewise to two blocks of a cluster, and what that takes longer",
         {bytes},
         multicast,
         kArch},
        {"micro_tma_read",
         "bandwidth of blocks read from DRAM by TMA, whole chip",
         {{"mib", 64, 1, 4096, "of the shorter of two runs"}},
         read,
         kArch},
        {"micro_mbarrier_arrive",
         "rate of arrivals at mbarriers",
         {warps_parameter(16)},
         arrivals,
         kArch},
    };
}

}  // namespace lockstep::cuda::micro
