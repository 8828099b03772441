// SPDX-License-Identifier: Apache-2.0
// What a request costs the host, and what bandwidth the chip reaches: reads that hit in L2, reads
// from DRAM, a copy, random sectors; all SMs at once.
#include <benchmark/benchmark.h>

#include <random>

#include "tests/models/gpu/memory/synthetic_sm.h"

namespace lockstep::gpu {
namespace {

enum class Pattern { kL2Read, kDramRead, kDramWrite, kCopy, kRandomSectors };

void run(benchmark::State& state, const char* machine, Pattern pattern) {
    constexpr std::uint64_t kLines = 1 << 19;  // of the whole chip
    for (auto _ : state) {
        state.PauseTiming();
        const auto sms =
            static_cast<std::uint16_t>(config::Machine::load(machine)->integer("sm.count"));
        MemoryBench bench(machine, sms);
        std::mt19937_64 random(1);
        const auto all = [&](std::uint64_t first, std::uint64_t count, RequestKind kind) {
            for (std::uint64_t i = 0; i < count; ++i)
                bench.sms[(first + i) / 4 % sms]->requests.push_back(
                    {.line = first + i, .kind = kind, .sectors = 0xf});
        };
        if (pattern == Pattern::kL2Read) {
            const std::uint64_t set = 16384;  // 2 MiB, in both partitions
            for (auto& sm : bench.sms)
                if (sm->port.sm() % 4 == 0 || sm->port.sm() % 4 == 2) {
                    for (std::uint64_t i = sm->port.sm() / 4; i < set; i += (sms + 3) / 4)
                        sm->requests.push_back({.line = i, .sectors = 0xf});
                }
            bench.run();
            for (std::uint64_t i = 0; i < kLines; ++i)
                bench.sms[i / 4 % sms]->requests.push_back({.line = i % set, .sectors = 0xf});
        } else if (pattern == Pattern::kRandomSectors) {
            for (std::uint64_t i = 0; i < kLines; ++i)
                bench.sms[i % sms]->requests.push_back(
                    {.line = random() % (1u << 28), .sectors = 1});
        } else if (pattern == Pattern::kCopy) {
            for (std::uint64_t i = 0; i < 2 * kLines; i += 4) {
                all(i, 4, RequestKind::kRead);
                all(i + (1u << 26), 4, RequestKind::kWrite);
            }
        } else {
            all(0, kLines,
                pattern == Pattern::kDramWrite ? RequestKind::kWrite : RequestKind::kRead);
        }
        std::size_t requests = 0;
        for (auto& sm : bench.sms) requests += sm->requests.size() - sm->answers.size();
        const engine::Time begin = bench.simulation.now();
        const PartitionCounters before = bench.system->counters();
        state.ResumeTiming();
        const engine::Cycle last = bench.run();
        state.PauseTiming();
        const double ps =
            static_cast<double>(last * bench.system->parameters().clock.period() - begin);
        const PartitionCounters after = bench.system->counters();
        state.counters["TB/s"] = static_cast<double>(requests) * kLineBytes / ps;
        state.counters["dram_TB/s"] =
            static_cast<double>(after.dram_bytes_read + after.dram_bytes_written -
                                before.dram_bytes_read - before.dram_bytes_written) /
            ps;
        state.counters["s/request"] = benchmark::Counter(
            static_cast<double>(requests),
            benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
        state.ResumeTiming();
    }
}

#define MACHINE(name)                                                                   \
    BENCHMARK_CAPTURE(run, name##_l2_read, #name, Pattern::kL2Read)->Iterations(1);     \
    BENCHMARK_CAPTURE(run, name##_dram_read, #name, Pattern::kDramRead)->Iterations(1); \
    BENCHMARK_CAPTURE(run, name##_write, #name, Pattern::kDramWrite)->Iterations(1);    \
    BENCHMARK_CAPTURE(run, name##_copy, #name, Pattern::kCopy)->Iterations(1);          \
    BENCHMARK_CAPTURE(run, name##_random, #name, Pattern::kRandomSectors)->Iterations(1)

MACHINE(h200);
MACHINE(h100);
MACHINE(a100);
MACHINE(rtx3090);
MACHINE(rtx4090);
MACHINE(t4);
MACHINE(v100);

}  // namespace
}  // namespace lockstep::gpu
