// SPDX-License-Identifier: Apache-2.0
// Requests per second of one controller: streaming, random, mixed, and one that is mostly idle.
#include <benchmark/benchmark.h>

#include <random>

#include "models/memory/dram/address_map.h"

namespace lockstep::memory::dram {
namespace {

enum class Pattern { kStream, kRandom, kMixed, kSparse };

/// Requests are offered whenever their queue has room, as a saturated cache would.
void run(benchmark::State& state, const char* preset, Pattern pattern) {
    const Geometry geometry = make_geometry(find_preset(preset));
    const AddressMap map(geometry, {});
    const std::uint64_t burst = geometry.organisation.burst_bytes();
    Controller controller(geometry, {});
    std::mt19937_64 random(1);
    std::uint64_t requests = 0;
    Cycle now = 0;
    const std::uint64_t bursts = map.bytes() / geometry.channels / burst;
    for (auto _ : state) {
        for (int i = 0; i < 1000; ++i, ++requests) {
            const std::uint64_t at =
                pattern == Pattern::kRandom ? random() % bursts : requests % bursts;
            const Direction direction = pattern == Pattern::kMixed && requests % 3 == 0
                                            ? Direction::kWrite
                                            : Direction::kRead;
            const Location location = map.decode_in_channel(at * burst);
            if (pattern == Pattern::kSparse) now += 2000;
            while (!controller.enqueue(direction, location, requests, now))
                now = controller.next_event() + 1;
        }
        benchmark::DoNotOptimize(controller.completions().data());
        controller.clear_completions();
    }
    state.counters["requests"] =
        benchmark::Counter(static_cast<double>(requests), benchmark::Counter::kIsRate);
    state.counters["bus_utilisation"] =
        static_cast<double>(controller.statistics().bus_busy_cycles) / static_cast<double>(now + 1);
}

void decode(benchmark::State& state) {
    const AddressMap map(make_geometry(find_preset("h200")), {});
    std::uint64_t address = 0;
    for (auto _ : state) benchmark::DoNotOptimize(map.decode(address += 32));
}
BENCHMARK(decode);

BENCHMARK_CAPTURE(run, h200_stream, "h200", Pattern::kStream);
BENCHMARK_CAPTURE(run, h200_random, "h200", Pattern::kRandom);
BENCHMARK_CAPTURE(run, h200_mixed, "h200", Pattern::kMixed);
BENCHMARK_CAPTURE(run, h200_sparse, "h200", Pattern::kSparse);
BENCHMARK_CAPTURE(run, a100_stream, "a100", Pattern::kStream);
BENCHMARK_CAPTURE(run, rtx4090_stream, "rtx4090", Pattern::kStream);
BENCHMARK_CAPTURE(run, tpu_v1_stream, "tpu_v1", Pattern::kStream);

}  // namespace
}  // namespace lockstep::memory::dram
