// SPDX-License-Identifier: Apache-2.0
// Host time of one instruction in an SM's memory pipeline, by kind of access.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>

#include "models/gpu/sm/memory_unit.h"
#include "models/gpu/sm/stage_share.h"

namespace lockstep::gpu {

namespace {

using engine::Cycle;
using engine::kNever;
using enum MemoryOperation;

/// Answers at once, so that the memory side costs next to nothing.
class Port final : public MemoryPort {
  public:
    bool send(Cycle now, const MemoryRequest& request) override {
        ring_[tail_++ % kRing] = {now + 300, {request.id, request.kind, request.sectors}};
        return true;
    }
    Cycle next_send(Cycle now, const MemoryRequest&) override { return now; }
    Cycle next_reply() const override { return head_ == tail_ ? kNever : ring_[head_ % kRing].at; }
    MemoryReply receive(Cycle) override { return ring_[head_++ % kRing].reply; }

  private:
    static constexpr unsigned kRing = 1 << 16;
    struct Reply {
        Cycle at;
        MemoryReply reply;
    };
    std::vector<Reply> ring_ = std::vector<Reply>(kRing);
    unsigned head_ = 0, tail_ = 0;
};

class Listener final : public MemoryListener {
  public:
    void sources_read(Cycle at, const MemoryInstructionHeader&) override { sum += at; }
    void written_back(Cycle at, const MemoryInstructionHeader&) override { sum += at; }
    Cycle sum = 0;
};

/// `step`: what the addresses grow by from one instruction to the next, within `span` bytes.
void run(benchmark::State& state, MemoryOperation operation, unsigned width, std::uint64_t step,
         std::uint64_t span, const std::function<std::uint64_t(unsigned)>& address) {
    const auto machine = config::Machine::load("h200");
    Port port;
    Listener listener;
    MemoryCounters counters;
    StageShare share;
    MemoryUnit unit(*machine, 0, 100 * 1024, port, listener, counters, share);
    MemoryInstructionInfo info;
    info.operation = operation;
    info.width = static_cast<std::uint8_t>(width);
    info.matrices = 4;
    MemoryInstruction in;
    in.info = &info;
    in.access.width = info.width;
    in.access.lanes = ~0u;
    in.access.space = operation == kLoadShared || operation == kStoreShared ||
                              operation == kLoadMatrix || operation == kAtomicShared
                          ? sass::Space::kShared
                      : operation == kLoadLocal ? sass::Space::kLocal
                                                : sass::Space::kGlobal;
    Cycle now = 0;
    std::uint64_t offset = 0;
    for (auto _ : state) {
        for (unsigned l = 0; l < sass::kWarpSize; ++l) in.access.address[l] = offset + address(l);
        offset = (offset + step) % span;
        for (;;) {
            const Cycle accept = unit.next_accept(now, operation);
            const Cycle event = unit.next_event();
            now = std::min(accept, event);
            if (accept <= event) break;
            unit.advance(now);
        }
        unit.accept(now, in);
    }
    benchmark::DoNotOptimize(listener.sum);
}

// The addresses are made in the timed loop: what that costs is shown by this.
void addresses(benchmark::State& state) {
    sass::Access access;
    const std::function<std::uint64_t(unsigned)> address = [](unsigned l) { return 4 * l; };
    for (auto _ : state) {
        for (unsigned l = 0; l < sass::kWarpSize; ++l) access.address[l] = address(l);
        benchmark::DoNotOptimize(access);
    }
}
BENCHMARK(addresses);

std::uint64_t words(unsigned l) {
    return 4 * l;
}
std::uint64_t quads(unsigned l) {
    return 16 * l;
}
std::uint64_t one(unsigned) {
    return 0;
}
std::uint64_t lines(unsigned l) {
    return 128 * l;
}

constexpr std::uint64_t kHits = 64 * 1024, kMisses = 1ull << 30;

BENCHMARK_CAPTURE(run, LDG_hit, kLoadGlobal, 4, 128, kHits, words);
BENCHMARK_CAPTURE(run, LDG_128_hit, kLoadGlobal, 16, 512, kHits, quads);
BENCHMARK_CAPTURE(run, LDG_uniform_hit, kLoadGlobal, 4, 128, kHits, one);
BENCHMARK_CAPTURE(run, LDG_32_lines_hit, kLoadGlobal, 4, 4, 128, lines);
BENCHMARK_CAPTURE(run, LDG_miss, kLoadGlobal, 4, 128, kMisses, words);
BENCHMARK_CAPTURE(run, LDG_128_miss, kLoadGlobal, 16, 512, kMisses, quads);
BENCHMARK_CAPTURE(run, LDG_32_lines_miss, kLoadGlobal, 4, 4096, kMisses, lines);
BENCHMARK_CAPTURE(run, STG, kStoreGlobal, 4, 128, kMisses, words);
BENCHMARK_CAPTURE(run, STG_128, kStoreGlobal, 16, 512, kMisses, quads);
BENCHMARK_CAPTURE(run, RED_uniform, kReductionGlobal, 4, 4, 4096, one);
BENCHMARK_CAPTURE(run, LDL_hit, kLoadLocal, 4, 4, 256, one);
BENCHMARK_CAPTURE(run, LDS, kLoadShared, 4, 128, 4096, words);
BENCHMARK_CAPTURE(run, LDS_128, kLoadShared, 16, 512, 4096, quads);
BENCHMARK_CAPTURE(run, LDS_uniform, kLoadShared, 4, 128, 4096, one);
BENCHMARK_CAPTURE(run, LDS_permuted, kLoadShared, 4, 128, 4096,
                  [](unsigned l) { return 4 * (l ^ 5); });
BENCHMARK_CAPTURE(run, LDS_32_ways, kLoadShared, 4, 4, 128, lines);
BENCHMARK_CAPTURE(run, STS, kStoreShared, 4, 128, 4096, words);
BENCHMARK_CAPTURE(run, LDSM, kLoadMatrix, 16, 512, 4096, quads);
BENCHMARK_CAPTURE(run, ATOMS, kAtomicShared, 4, 128, 4096, words);

}  // namespace

}  // namespace lockstep::gpu
