// SPDX-License-Identifier: Apache-2.0
// Latency of each level of memory by pointer chases (micro_chase.cu). One warp or thread of one SM;
// what L2 must not hold is evicted by reading twice its size first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/error/error.h"
#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {
namespace {

const char* const kFile = "micro_chase";
constexpr int kStepsAnIteration = 16;

ParameterInfo size(std::string name, std::int64_t value, std::string meaning) {
    return {std::move(name), value, 0, 1 << 30, std::move(meaning)};
}

/// Reads more than L2 holds, so that it holds nothing of what is in use.
void evict_l2(Run& run) {
    const auto bytes = 2 * static_cast<std::size_t>(run.machine().integer("l2.size"));
    const auto lines = run.zeros<std::uint32_t>(bytes / sizeof(std::uint32_t));
    const auto sum = run.zeros<std::uint32_t>(1);
    const auto sms = static_cast<unsigned>(run.machine().integer("sm.count"));
    run.launch({kFile, "evict"}, {4 * sms}, {512}, 0,
               Arguments(lines, sum, static_cast<int>(bytes / 16)));
}

/// A ring through `array`: element i holds the address of the element that order[i] comes before.
void link(Array<std::uint64_t> array, const std::vector<std::size_t>& order) {
    for (std::size_t i = 0; i < order.size(); ++i) {
        array.view()[order[i]] =
            array.address + sizeof(std::uint64_t) * order[(i + 1) % order.size()];
    }
}

/// The places of a ring: every `stride` bytes, in a scattered but fixed order if asked for.
std::vector<std::size_t> places(std::size_t count, std::size_t stride, bool scattered) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i * stride / sizeof(std::uint64_t);
    if (!scattered) return order;
    numerics::Random random(1);
    for (std::size_t i = count; i > 1; --i) {
        std::swap(order[i - 1], order[static_cast<std::size_t>(random.integer(0, int(i) - 1))]);
    }
    return order;
}

// Pointer chase over `bytes` at `stride`. The place after the last timed one is part of the result.
void chase(Run& run) {
    const auto bytes = static_cast<std::size_t>(run["bytes"]);
    const auto stride = static_cast<std::size_t>(run["stride"]);
    if (stride < 8 || stride % 8 != 0 || bytes < stride)
        throw InputError("micro_chase: stride must be a multiple of 8, bytes at least stride");
    if (run["width"] == 128 && stride % 16 != 0)
        throw InputError("micro_chase: width=128 needs a stride that is a multiple of 16");
    const std::size_t count = bytes / stride;
    const std::vector<std::size_t> order = places(count, stride, run["scattered"] != 0);
    const auto ring = run.zeros<std::uint64_t>(bytes / sizeof(std::uint64_t) + 2);
    link(ring, order);
    if (run["evict"] != 0) evict_l2(run);

    const int timed = std::max(run["steps"] / kStepsAnIteration, 1);
    const int warm = run["warm"] / kStepsAnIteration;
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto at = [&](std::size_t step) {
        return ring.address + sizeof(std::uint64_t) * order[step % count];
    };
    const char* const kernel = run["width"] == 128   ? "chase_global_128"
                               : run["past_l1"] != 0 ? "chase_l2"
                                                     : "chase_global";
    run.launch({kFile, kernel}, {1}, {1}, 0,
               Arguments(cycles, ring.part(order[0], 1), ring.part(order[0], 1), warm, timed));
    run.measure("latency", static_cast<double>(cycles.view()[0]) / (timed * kStepsAnIteration),
                "cycles");
    run.check_values<std::uint64_t>("last place", cycles.part(1, 1), [&](int) {
        return at(static_cast<std::size_t>(timed) * kStepsAnIteration + 2);
    });
}

/// A preset of micro_chase under a name of its own.
Workload chase_preset(std::string name, std::string summary, std::int64_t bytes,
                      std::int64_t stride, std::int64_t steps, std::int64_t warm,
                      std::int64_t scattered, std::int64_t past_l1, std::int64_t evict) {
    return {std::move(name),
            std::move(summary),
            {size("bytes", bytes, "size of the ring"),
             size("stride", stride, "bytes from one place of the ring to the next"),
             size("steps", steps, "loads that are timed"),
             size("warm", warm, "loads before them, from the ring's begin"),
             {"width", 64, 64, 128, "bits a load: 64 or 128"},
             {"scattered", scattered, 0, 1, "the ring goes through its places in random order"},
             {"past_l1", past_l1, 0, 1, "loads bypass L1"},
             {"evict", evict, 0, 1, "what L2 holds is evicted first"}},
            chase};
}

// 32-bit loads that hit L1: the least that a global load takes.
void l1_word(Run& run) {
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto words = run.zeros<std::uint32_t>(1024), last = run.zeros<std::uint32_t>(32);
    for (std::size_t i = 0; i < words.size; ++i) {
        words.view()[i] = static_cast<std::uint32_t>(words.address + 4 * i);
    }
    const int stride = 4 * run["stride"];
    run.launch({kFile, "words_global"}, {1}, {32}, 0, Arguments(cycles, words, last, stride));
    run.measure("latency", chain_latency(cycles), "cycles");
    run.check_values<std::uint32_t>("last", last, [&](int lane) {
        return static_cast<std::uint32_t>(words.address) +
               static_cast<std::uint32_t>(lane * stride);
    });
}

void shared_word(Run& run) {
    const int width = run["width"], stride = run["stride"] * width / 8;
    if (width != 32 && width != 64 && width != 128)
        throw InputError("micro_shared_latency: width must be 32, 64 or 128");
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto last = run.zeros<std::uint32_t>(32);
    const std::string kernel = fmt::format("words_shared_{}", width);
    run.launch({kFile, kernel}, {1}, {32}, 0, Arguments(cycles, last, stride));
    run.measure("latency", chain_latency(cycles), "cycles");
    run.check_values<std::uint32_t>(
        "last", last, [&](int lane) { return static_cast<std::uint32_t>(lane * stride); });
}

// One ring through `bytes` of constant memory at 64 bytes' stride, or at one place.
void constant_word(Run& run) {
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto last = run.zeros<std::uint32_t>(32);
    const auto words = run.variable<std::uint32_t>(kFile, "constant_offsets");
    const std::uint32_t bytes = static_cast<std::uint32_t>(run["bytes"]) / 64 * 64;
    for (std::uint32_t at = 0; at < bytes; at += 64) words.view()[at / 4] = (at + 64) % bytes;
    run.launch({kFile, "words_constant"}, {1}, {32}, 0, Arguments(cycles, last, 0));
    run.measure("latency", chain_latency(cycles), "cycles");
    run.check_values<std::uint32_t>("last", last, [&](int) { return 64u * kChainSteps % bytes; });
}

// The latency of each of `lines` lines, one by one: how far L2's slices are.
void l2_slices(Run& run) {
    const int lines = run["lines"], stride = run["stride"];
    const auto buffer =
        run.zeros<std::uint32_t>((static_cast<std::size_t>(lines) * stride + 3) / 4);
    const Clocks cycles = run.zeros<std::uint64_t>(static_cast<std::size_t>(lines) + 1);
    run.launch({kFile, "probe_lines"}, {1}, {1}, 0, Arguments(cycles, buffer, stride, lines, 2));
    std::vector<std::uint64_t> sorted(cycles.view().begin(), cycles.view().begin() + lines);
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](double share) {
        const auto index = static_cast<std::size_t>(share * (lines - 1));
        return static_cast<double>(sorted[index]);
    };
    run.measure("minimum", at(0), "cycles");
    run.measure("p10", at(0.1), "cycles");
    run.measure("p50", at(0.5), "cycles");
    run.measure("p90", at(0.9), "cycles");
    run.measure("maximum", at(1), "cycles");
    const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
    run.measure("mean", sum / lines, "cycles");
    // The near and the far half, where L2 is in two parts.
    const double middle = (at(0) + at(1)) / 2;
    const auto far = std::lower_bound(sorted.begin(), sorted.end(), middle,
                                      [](std::uint64_t x, double y) { return double(x) < y; });
    run.measure("near", std::accumulate(sorted.begin(), far, 0.0) / double(far - sorted.begin()),
                "cycles");
    run.measure("far", std::accumulate(far, sorted.end(), 0.0) / double(sorted.end() - far),
                "cycles");
    run.check_values<std::uint64_t>("sum", cycles.part(static_cast<std::size_t>(lines), 1),
                                    [](int) { return std::uint64_t{0}; });
}

}  // namespace

std::vector<Workload> latency_workloads() {
    constexpr std::int64_t kMiB = 1 << 20;
    return {
        chase_preset("micro_chase", "latency of a pointer chase", 1 << 14, 128, 1024, 1024, 0, 0,
                     0),
        chase_preset("micro_l1_latency_64", "latency of 64-bit loads that hit L1", 1 << 13, 128,
                     1024, 1024, 0, 0, 0),
        chase_preset("micro_l2_latency", "latency of loads that hit L2, all slices together",
                     2 * kMiB, 128, 4096, 16384, 1, 1, 0),
        chase_preset("micro_dram_latency", "latency of loads that miss L2; TLBs are warm",
                     16 * kMiB, 4096, 1024, 0, 1, 1, 1),
        chase_preset("micro_tlb_latency", "latency of loads that miss L2 and the TLBs", 512 * kMiB,
                     2 * kMiB, 256, 0, 1, 1, 1),
        {"micro_l1_latency",
         "latency of 32-bit loads that hit L1",
         {{"stride", 1, 0, 32, "words from lane to lane; 0: all read one word"}},
         l1_word},
        {"micro_shared_latency",
         "latency of loads from shared memory",
         {{"width", 32, 32, 128, "bits a lane: 32, 64 or 128"},
          {"stride", 1, 0, 32, "elements from lane to lane; 0: all read one"}},
         shared_word},
        {"micro_constant_latency",
         "latency of LDC with an index",
         {{"bytes", 1024, 64, 6656,
           "constant memory that is walked, 64 bytes a step; one round warms it"}},
         constant_word},
        {"micro_l2_slices",
         "latency of single lines in L2, by percentile",
         {{"lines", 2048, 16, 65536, "how many lines"},
          {"stride", 128, 32, 1 << 21, "bytes between them"}},
         l2_slices},
    };
}

}  // namespace lockstep::cuda::micro
