// SPDX-License-Identifier: Apache-2.0
// Bandwidth of each level of memory (micro_bandwidth.cu). On one SM by its clock; of the chip by
// the difference of a long and a short launch, which cancels what a launch costs.
#include <algorithm>

#include "sim/error/error.h"
#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {
namespace {

const char* const kFile = "micro_bandwidth";

unsigned sms(const Run& run) {
    return static_cast<unsigned>(run.machine().integer("sm.count"));
}

// 32 accesses an iteration; stride in elements from lane to lane.
void shared(Run& run, bool reads) {
    const int warps = run["warps"], width = run["width"] / 8, stride = run["stride"] * width;
    const std::string kernel = fmt::format("shared_{}_{}", reads ? "read" : "write", run["width"]);
    if (!run.has({kFile, kernel}))
        throw InputError(
            fmt::format("there is no kernel {}: width is 32, 64 (reads) or 128", kernel));
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto sums = run.zeros<std::uint32_t>(static_cast<std::size_t>(warps) * 32);
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({kFile, kernel}, {static_cast<unsigned>(run["ctas"])},
                   {32u * static_cast<unsigned>(warps)}, 0,
                   Arguments(cycles, sums, stride, iterations));
    });
    run.measure("bandwidth", 32.0 * width * 32 * warps / time, "bytes/cycle/SM");
    run.measure("interval", time / (32.0 * warps), "cycles/instruction");
    run.check_values<std::uint32_t>("sums", sums, [&](int thread) {
        if (!reads) return 0u;
        std::uint32_t sum = 0;  // words hold their numbers
        for (int k = 0; k < 8; ++k) {
            for (int byte = 0; byte < width; byte += 4) {
                sum += static_cast<std::uint32_t>(thread % 32 * stride + 16 * k + byte) / 4;
            }
        }
        return sum * 4 * 2 * kManyIterations;
    });
}

void l1(Run& run) {
    const int warps = run["warps"], width = run["width"] / 8, bytes = run["kib"] * 1024;
    if ((bytes & (bytes - 1)) != 0 || bytes < 8 * 32 * warps * width)
        throw InputError(
            "micro_l1_bandwidth: kib must be a power of two and hold 8 loads a thread");
    const std::string kernel = fmt::format("l1_read_{}", run["width"]);
    if (!run.has({kFile, kernel})) throw InputError("micro_l1_bandwidth: width is 32, 64 or 128");
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto buffer = run.zeros<std::uint32_t>(static_cast<std::size_t>(bytes) / 4);
    for (std::size_t i = 0; i < buffer.size; ++i) buffer.view()[i] = 1;
    const auto sums = run.zeros<std::uint32_t>(static_cast<std::size_t>(warps) * 32);
    constexpr int kFew = 64, kMany = 192;  // of eight loads each
    std::array<double, 2> time{};
    for (const int iterations : {kFew, kMany}) {
        run.launch({kFile, kernel}, {1}, {32u * static_cast<unsigned>(warps)}, 0,
                   Arguments(cycles, buffer, sums, bytes, iterations));
        time[iterations == kMany] = loop_time(cycles, warps);
    }
    run.measure("bandwidth", 8.0 * width * 32 * warps * (kMany - kFew) / (time[1] - time[0]),
                "bytes/cycle/SM");
    run.check_values<std::uint32_t>(
        "sums", sums, [&](int) { return static_cast<std::uint32_t>(8 * width / 4 * 2 * kMany); });
}

// How the L1 copes with scattered loads: banks of its data and of its tags.
void l1_stride(Run& run) {
    const int warps = run["warps"], words = run["width"] / 32, stride = run["stride"];
    const std::string kernel = fmt::format("l1_stride_{}", run["width"]);
    if (!run.has({kFile, kernel})) throw InputError("micro_l1_stride: width is 32 or 64");
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto elements = static_cast<std::size_t>(63 * stride + 32);
    const auto buffer = run.zeros<std::uint32_t>(elements * static_cast<std::size_t>(words));
    for (std::size_t i = 0; i < elements; ++i)
        buffer.view()[i * static_cast<std::size_t>(words)] = static_cast<std::uint32_t>(i);
    const auto sums = run.zeros<std::uint32_t>(static_cast<std::size_t>(warps) * 32);
    constexpr int kFew = 16, kMany = 48;  // of eight loads each
    std::array<double, 2> time{};
    for (const int iterations : {kFew, kMany}) {
        run.launch({kFile, kernel}, {1}, {32u * static_cast<unsigned>(warps)}, 0,
                   Arguments(cycles, buffer, sums, stride, iterations));
        time[iterations == kMany] = loop_time(cycles, warps);
    }
    run.measure("interval", (time[1] - time[0]) / (8.0 * warps * (kMany - kFew)),
                "cycles/instruction");
    run.check_values<std::uint32_t>("sums", sums, [&](int thread) {
        return static_cast<std::uint32_t>((8 * (thread % 64 * stride) + 4 * 28) * 2 * kMany);
    });
}

/// Cycles and seconds that the longer of two launches takes more.
template <class Launch>
LaunchResult difference(Run& run, const Launch& launch, int few, int many) {
    launch(few);
    const LaunchResult a = run.last_launch();
    launch(many);
    const LaunchResult b = run.last_launch();
    LaunchResult d;
    d.cycles = std::max(b.cycles, a.cycles) - a.cycles;
    d.seconds = b.seconds - a.seconds;
    return d;
}

void report(Run& run, double bytes, const LaunchResult& time) {
    run.measure("bandwidth", bytes / (time.seconds * 1e9), "GB/s");
    run.measure("bytes", bytes / static_cast<double>(std::max<std::uint64_t>(time.cycles, 1)),
                "bytes/cycle");
}

// The size asked for is rounded to whole batches of four loads by all threads: single loads at the
// end of a pass would wait for each other.
void l2_read(Run& run) {
    const unsigned grid = 2 * sms(run), block = 512;
    const int batch = static_cast<int>(4 * grid * block);  // elements of 16 bytes
    const int count = std::max((run["kib"] * 64 + batch / 2) / batch, 1) * batch;
    const auto buffer = run.zeros<std::uint32_t>(static_cast<std::size_t>(count) * 4);
    for (std::uint32_t& word : buffer.view()) word = 1;
    const auto sums = run.zeros<std::uint32_t>(std::size_t{grid} * block);
    const int few = 2, many = 2 + run["passes"];
    const LaunchResult time = difference(
        run,
        [&](int passes) {
            run.launch({kFile, "l2_read"}, {grid}, {block}, 0,
                       Arguments(buffer, sums, count, passes));
        },
        few, many);
    report(run, 16.0 * count * (many - few), time);
    const int threads = static_cast<int>(grid * block);
    run.check_values<std::uint32_t>("sums", sums, [&](int thread) {
        std::uint32_t elements = 0;
        for (int pass = 0; pass < many; ++pass) {
            const int first =
                (thread / int(block) + pass) % int(grid) * int(block) + thread % int(block);
            if (first < count)
                elements += static_cast<std::uint32_t>((count - 1 - first) / threads + 1);
        }
        return elements * 4;
    });
}

// What fits L2 and what does not, as programs meet it: CTAs come and go, each with a chunk of the
// data that others have read before. The pattern of gpu-benches' gpu-l2-cache.
void l2_chunks(Run& run) {
    constexpr int kThreads = 1024, kLoad = 16 * kThreads;
    const int chunks = run["chunks"], loads = run["kib"] * 1024 / kLoad;
    if (loads % 4 != 0) throw InputError("micro_l2_chunks: kib must be a multiple of 64");
    const unsigned wave = sms(run) * static_cast<unsigned>(run["ctas"]);
    const std::size_t bytes = static_cast<std::size_t>(loads) * kLoad;
    const auto buffer = run.zeros<std::uint32_t>(static_cast<std::size_t>(chunks) * bytes / 4);
    for (std::uint32_t& word : buffer.view()) word = 1;
    const int few = 2, many = 2 + run["waves"];
    const auto sums = run.zeros<std::uint32_t>(static_cast<std::size_t>(chunks) * kThreads);
    const LaunchResult time = difference(
        run,
        [&](int waves) {
            run.launch({kFile, "l2_chunks"}, {wave * static_cast<unsigned>(waves)}, {kThreads}, 0,
                       Arguments(buffer, sums, chunks, loads));
        },
        few, many);
    report(run, static_cast<double>(bytes) * wave * (many - few), time);
    run.check_values<std::uint32_t>("sums", sums,
                                    [&](int) { return static_cast<std::uint32_t>(4 * loads); });
}

void l2_write(Run& run) {
    const int count = run["kib"] * 64;
    const unsigned grid = 2 * sms(run), block = 512;
    const auto buffer = run.zeros<std::uint32_t>(static_cast<std::size_t>(count) * 4);
    const int few = 2, many = 2 + run["passes"];
    const LaunchResult time = difference(
        run,
        [&](int passes) {
            run.launch({kFile, "stream_write"}, {grid}, {block}, 0,
                       Arguments(buffer, count, passes));
        },
        few, many);
    report(run, 16.0 * count * (many - few), time);
    run.check_values<std::uint32_t>("buffer", buffer,
                                    [&](int i) { return static_cast<std::uint32_t>(i % 4 + 1); });
}

enum class Stream { kRead, kWrite, kCopy };

// `mib` more in the longer launch, from a buffer that neither L2 nor the shorter launch holds.
template <Stream stream>
void dram(Run& run) {
    const int less = run["base"] * 65536, count = less + run["mib"] * 65536;
    const unsigned grid = sms(run) * static_cast<unsigned>(run["ctas"]), block = 512;
    const auto words = static_cast<std::size_t>(count) * 4;
    const auto a = run.zeros<std::uint32_t>(words);
    const auto b = run.zeros<std::uint32_t>(stream == Stream::kCopy ? words : 4);
    const auto sums = run.zeros<std::uint32_t>(std::size_t{grid} * block);
    if (stream != Stream::kWrite && run.verify()) {
        for (std::size_t i = 0; i < words; ++i) a.view()[i] = static_cast<std::uint32_t>(i);
    }
    const LaunchResult time = difference(
        run,
        [&](int elements) {
            if constexpr (stream == Stream::kRead)
                run.launch({kFile, "stream_read"}, {grid}, {block}, 0,
                           Arguments(a, sums, elements));
            else if constexpr (stream == Stream::kWrite)
                run.launch({kFile, "stream_write"}, {grid}, {block}, 0, Arguments(a, elements, 1));
            else
                run.launch({kFile, "stream_copy"}, {grid}, {block}, 0, Arguments(a, b, elements));
        },
        less, count);
    report(run, 16.0 * (count - less) * (stream == Stream::kCopy ? 2 : 1), time);
    if constexpr (stream == Stream::kRead) {
        run.check_values<std::uint32_t>("sums", sums, [&](int thread) {
            std::uint32_t sum = 0;
            for (int i = thread; i < count; i += static_cast<int>(grid * block)) {
                sum += 16 * static_cast<std::uint32_t>(i) + 6;
            }
            return sum;
        });
    } else if constexpr (stream == Stream::kWrite) {
        run.check_values<std::uint32_t>(
            "written", a, [](int i) { return static_cast<std::uint32_t>(i % 4 + 1); });
    } else {
        run.check_values<std::uint32_t>("copy", b,
                                        [](int i) { return static_cast<std::uint32_t>(i); });
    }
}

// What is written stays in L2 as long as it fits: the shorter launch of writes exceeds L2.
std::vector<ParameterInfo> dram_parameters(std::int64_t base, std::int64_t mib) {
    return {{"mib", mib, 1, 4096, "MiB that the longer launch moves more"},
            {"base", base, 1, 4096, "MiB that the shorter launch moves"},
            {"ctas", 4, 1, 32, "CTAs of 512 threads for each SM"}};
}

}  // namespace

std::vector<Workload> bandwidth_workloads() {
    const std::vector<ParameterInfo> kShared = {
        warps_parameter(32),
        {"width", 128, 32, 128, "bits a lane: 32, 64 (reads) or 128"},
        {"stride", 1, 0, 32, "elements from lane to lane; 0: all read one"},
        {"ctas", 1, 1, 1024, "CTAs, all alike; as many as SMs: SMs that share something meet"},
    };
    const auto level = [](std::int64_t kib) {
        return std::vector<ParameterInfo>{
            {"kib", kib, 1, 1 << 20, "KiB that each pass moves"},
            {"passes", 8, 1, 1000, "passes that the longer launch makes more"}};
    };
    return {
        {"micro_shared_bandwidth", "bandwidth of reads from shared memory; conflicts by stride",
         kShared, [](Run& run) { shared(run, true); }},
        {"micro_shared_write_bandwidth", "bandwidth of writes to shared memory", kShared,
         [](Run& run) { shared(run, false); }},
        {"micro_l1_bandwidth",
         "bandwidth of loads that hit L1",
         {warps_parameter(32),
          {"width", 128, 32, 128, "bits a lane: 32, 64 or 128"},
          {"kib", 128, 1, 256, "KiB that are read over and over"}},
         l1},
        {"micro_l1_stride",
         "loads that hit L1, lanes apart: banks of its data and its tags",
         {warps_parameter(32),
          {"width", 32, 32, 64, "bits a lane: 32 or 64"},
          {"stride", 3, 0, 64, "elements from lane to lane"}},
         l1_stride},
        {"micro_l2_bandwidth", "bandwidth of reads that hit L2, whole chip", level(16384), l2_read},
        {"micro_l2_chunks",
         "bandwidth of CTAs that read chunks of data over and over, whole chip",
         {{"chunks", 32, 1, 4096, "chunks of data"},
          {"kib", 512, 64, 4096, "KiB of a chunk, a multiple of 64"},
          {"waves", 3, 1, 1000, "waves of CTAs that the longer launch has more"},
          {"ctas", 2, 1, 2, "CTAs of 1024 threads for each SM and wave"}},
         l2_chunks},
        {"micro_l2_write_bandwidth", "bandwidth of writes that hit L2, whole chip", level(16384),
         l2_write},
        {"micro_dram_read", "bandwidth of reads from memory", dram_parameters(16, 64),
         dram<Stream::kRead>},
        {"micro_dram_write", "bandwidth of writes to memory", dram_parameters(96, 64),
         dram<Stream::kWrite>},
        {"micro_dram_copy", "bandwidth of a copy, reads and writes together",
         dram_parameters(96, 96), dram<Stream::kCopy>},
    };
}

}  // namespace lockstep::cuda::micro
