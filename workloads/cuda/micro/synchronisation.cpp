// SPDX-License-Identifier: Apache-2.0
// Barriers, fences and atomics (micro_synchronisation.cu).
#include <algorithm>

#include "sim/error/error.h"
#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {
namespace {

const char* const kFile = "micro_synchronisation";

// Nothing is computed: that the kernel ends is the result.
void chain(Run& run, const char* kernel, int warps) {
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    run.launch({kFile, kernel}, {1}, {32u * static_cast<unsigned>(warps)}, 0, Arguments(cycles));
    run.measure("latency", chain_latency(cycles), "cycles");
}

template <class... Args>
void atomic_chain(Run& run, const char* kernel, const Args&... between) {
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    run.launch({kFile, kernel}, {1}, {static_cast<unsigned>(run["lanes"])}, 0,
               Arguments(cycles, between..., 0));
    run.measure("latency", chain_latency(cycles), "cycles");
    run.check_values<std::uint64_t>("fault", cycles.part(2, 1),
                                    [](int) { return std::uint64_t{0}; });
}

void atomic_shared(Run& run) {
    atomic_chain(run, "atomic_shared_chain", run["stride"] * 4);
}

void atomic_global(Run& run) {
    const auto words = run.zeros<std::uint64_t>(32 * 33);
    atomic_chain(run, "atomic_global_chain", words, run["stride"] * 8);
}

void atomic_shared_rate(Run& run) {
    const int warps = run["warps"], stride = 4 * run["stride"];
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto words = run.zeros<std::uint32_t>(8192);
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({kFile, "atomic_shared_rate"}, {1}, {32u * static_cast<unsigned>(warps)}, 0,
                   Arguments(cycles, words, stride, 1, iterations));
    });
    run.measure("interval", time / (8.0 * warps), "cycles/instruction");
    run.measure("rate", 32 * 8.0 * warps / time, "operations/cycle/SM");
    const auto each = static_cast<std::uint32_t>(2 * 8 * kManyIterations * warps);
    run.check_values<std::uint32_t>("words", words, [&](int i) {
        if (stride == 0) return i == 0 ? 32 * each : 0u;
        return i % (stride / 4) == 0 && i / (stride / 4) < 32 ? each : 0u;
    });
}

// Whole chip; the rate is that of the longer launch's additional operations.
void global_rate(Run& run, bool returns) {
    const auto grid = static_cast<unsigned>(run["ctas"]);
    const unsigned block = 256;
    const int thread_stride = run["thread_stride"], block_stride = run["block_stride"];
    const std::size_t count = std::size_t{block - 1} * static_cast<std::size_t>(thread_stride) +
                              std::size_t{grid - 1} * static_cast<std::size_t>(block_stride) + 1;
    const auto words = run.zeros<std::uint32_t>(count);
    const auto sums = run.zeros<std::uint32_t>(std::size_t{grid} * block);
    const int few = 4, many = 4 + 4 * run["iterations"];
    std::array<LaunchResult, 2> result;
    for (const int iterations : {few, many}) {
        if (returns)
            run.launch({kFile, "atomic_rate"}, {grid}, {block}, 0,
                       Arguments(words, sums, thread_stride, block_stride, iterations));
        else
            run.launch({kFile, "reduction_rate"}, {grid}, {block}, 0,
                       Arguments(words, thread_stride, block_stride, iterations));
        result[iterations == many] = run.last_launch();
    }
    const double operations = double(grid) * block * (many - few);
    const auto cycles = std::max(result[1].cycles, result[0].cycles + 1) - result[0].cycles;
    run.measure("rate", operations / static_cast<double>(cycles), "operations/cycle");
    std::uint64_t sum = 0;
    for (const std::uint32_t word : words.view()) sum += word;
    const Array<std::uint64_t> total = run.zeros<std::uint64_t>(1);
    total.view()[0] = sum;
    run.check_values<std::uint64_t>("sum", total, [&](int) {
        return std::uint64_t{grid} * block * static_cast<std::uint64_t>(few + many);
    });
}

ParameterInfo stride(std::int64_t value) {
    return {"stride", value, 0, 32, "words from lane to lane; 0: all at one"};
}

}  // namespace

std::vector<Workload> synchronisation_workloads() {
    const ParameterInfo lanes{"lanes", 1, 1, 32, "threads of the one warp that take part"};
    const std::vector<ParameterInfo> global = {
        {"ctas", 264, 1, 65536, "CTAs of 256 threads"},
        {"thread_stride", 1, 0, 1024, "words from thread to thread; 0: all at one"},
        {"block_stride", 256, 0, 1 << 20, "words from CTA to CTA"},
        {"iterations", 8, 1, 10000, "times four operations a thread"}};
    return {
        {"micro_barrier",
         "__syncthreads of a block",
         {warps_parameter(8)},
         [](Run& run) { chain(run, "barrier", run["warps"]); }},
        {"micro_named_barrier",
         "bar.sync of four warps while four others use another barrier",
         {},
         [](Run& run) { chain(run, "named_barrier", 8); }},
        {"micro_token",
         "two warps hand a token over and back by bar.arrive and bar.sync",
         {},
         [](Run& run) { chain(run, "token", 2); }},
        {"micro_fence_cta",
         "fence.sc.cta with nothing under way",
         {warps_parameter(1)},
         [](Run& run) { chain(run, "fence_cta", run["warps"]); }},
        {"micro_fence_gpu",
         "fence.sc.gpu with nothing under way",
         {warps_parameter(1)},
         [](Run& run) { chain(run, "fence_gpu", run["warps"]); }},
        {"micro_fence_sys",
         "fence.sc.sys with nothing under way",
         {warps_parameter(1)},
         [](Run& run) { chain(run, "fence_sys", run["warps"]); }},
        {"micro_atomic_shared", "latency of ATOMS.ADD", {lanes, stride(1)}, atomic_shared},
        {"micro_atomic_global", "latency of a 64-bit ATOMG.ADD", {lanes, stride(1)}, atomic_global},
        {"micro_atomic_shared_rate",
         "rate of ATOMS.ADD",
         {warps_parameter(16), stride(1)},
         atomic_shared_rate},
        {"micro_atomic_rate", "rate of ATOMG.ADD, whole chip", global,
         [](Run& run) { global_rate(run, true); }},
        {"micro_reduction_rate", "rate of RED.ADD, whole chip", global,
         [](Run& run) { global_rate(run, false); }},
    };
}

}  // namespace lockstep::cuda::micro
