// SPDX-License-Identifier: Apache-2.0
// Time of one warp's MMA instruction: operands from registers to registers.
#include <benchmark/benchmark.h>

#include "sim/numerics/fp16.h"
#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {
namespace {

void run_mma(benchmark::State& state, Arch arch, std::uint64_t hi, unsigned opcode) {
    Word word{0x7000u | opcode, hi};
    for (const auto& [bit, number] : {std::pair{16u, 40u}, {24u, 4u}, {32u, 24u}, {64u, 60u}})
        word.set_bits(bit, 8, number);
    TestWarp warp(arch);
    for (unsigned number = 4; number < 32; ++number)
        for (unsigned lane = 0; lane < 32; ++lane)
            warp[number].lane[lane] = numerics::fp32_to_fp16(static_cast<float>(number) / 7) |
                                      numerics::fp32_to_fp16(static_cast<float>(lane) / 9) << 16;
    Program program(arch);
    std::array<std::byte, Word::kBytes> bytes;
    std::memcpy(bytes.data(), &word, Word::kBytes);
    program.add_function("mma", true, bytes);
    program.bind(0);
    warp.warp.mask = kAllLanes;
    const Instruction& instruction = program.code()[0];
    for (auto _ : state) {
        instruction.execute(instruction, warp.warp);
        benchmark::DoNotOptimize(warp[40].lane);
    }
}

/// A warp's share of wgmma, operands from shared memory: multiply-adds a second.
void run_wgmma(benchmark::State& state, std::uint64_t lo, std::uint64_t hi, unsigned macs) {
    constexpr std::uint32_t kSharedBytes = 64 * 1024;
    std::vector<std::byte> shared(kSharedBytes);
    // Numbers of a few binades, in whatever format they are read.
    const bool bytes = (lo & 0xff) == 0xf3;
    std::uint32_t random = 1;
    for (std::size_t at = 0; at < kSharedBytes; at += 2) {
        random = random * 1664525 + 1013904223;
        const std::uint32_t drawn = random >> 16;
        const auto bits = static_cast<std::uint16_t>(bytes ? 0x3030 | (drawn & 0x8f8f)
                                                           : 0x3c00 | (drawn & 0x83ff));
        std::memcpy(shared.data() + at, &bits, 2);
    }
    Launch launch;
    launch.shared_bytes = kSharedBytes;
    Cta cta;
    cta.launch = &launch;
    cta.shared = shared.data();
    TestWarp warp;
    cta.warps.assign(4, &warp.warp);
    warp.warp.cta = &cta;
    warp.warp.mask = kAllLanes;
    // Both with the 128-byte swizzle, A at 0, B at 8 KiB.
    const std::uint32_t descriptors[4] = {0, 64 | 1u << 30, 8192 >> 4, 64 | 1u << 30};
    for (unsigned i = 0; i < 4; ++i)
        for (std::uint32_t& lane : warp.warp.uniform_row(8 + i).lane) lane = descriptors[i];
    const Word word{lo, hi};
    const Instruction& instruction = warp.bind(word).code()[0];
    for (auto _ : state) {
        instruction.execute(instruction, warp.warp);
        benchmark::DoNotOptimize(warp[24].lane);
    }
    state.counters["macs"] =
        benchmark::Counter(static_cast<double>(macs) * static_cast<double>(state.iterations()),
                           benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(run_wgmma, f16_n256, 0x03e00000081879f0, 0x000fe60008000818, 16 * 256 * 16);
BENCHMARK_CAPTURE(run_wgmma, bf16_n256, 0x03e00000081879f0, 0x000fe60008001818, 16 * 256 * 16);
BENCHMARK_CAPTURE(run_wgmma, bf16_n64, 0x00e00000081879f0, 0x000fe60008001818, 16 * 64 * 16);
BENCHMARK_CAPTURE(run_wgmma, bf16_n256_mn_major, 0x43e00000081879f0, 0x000fe60008001818,
                  16 * 256 * 16);
BENCHMARK_CAPTURE(run_wgmma, tf32_n256, 0x07e00000081879f0, 0x000fe60008002818, 16 * 256 * 8);
BENCHMARK_CAPTURE(run_wgmma, e4m3_n256, 0x03e00000081879f3, 0x000fe60008000818, 16 * 256 * 32);
BENCHMARK_CAPTURE(run_wgmma, s8_n256, 0x06600000081879f1, 0x000fe60008041018, 16 * 256 * 32);
BENCHMARK_CAPTURE(run_wgmma, b1_n256, 0x02200000081879f2, 0x000fe60008014018, 16 * 256 * 256);

BENCHMARK_CAPTURE(run_mma, hmma_1688_f32_sm75, 75, 0x1000, 0x23c);
BENCHMARK_CAPTURE(run_mma, hmma_16816_f32_sm80, 80, 0x1800, 0x23c);
BENCHMARK_CAPTURE(run_mma, hmma_16816_f32_sm90, 90, 0x1800, 0x23c);
BENCHMARK_CAPTURE(run_mma, hmma_16816_f16_sm90, 90, 0x0800, 0x23c);
BENCHMARK_CAPTURE(run_mma, hmma_16816_bf16_sm90, 90, 0x41800, 0x23c);
BENCHMARK_CAPTURE(run_mma, hmma_1688_tf32_sm90, 90, 0x81000, 0x23c);
BENCHMARK_CAPTURE(run_mma, hmma_884_step_sm70, 70, 0x5000, 0x236);
BENCHMARK_CAPTURE(run_mma, imma_16832_s8_sm90, 90, 0x405c00, 0x237);
BENCHMARK_CAPTURE(run_mma, dmma_884_sm80, 80, 0x0, 0x23f);
BENCHMARK_CAPTURE(run_mma, bmma_168256_sm80, 80, 0x15400, 0x23d);

}  // namespace
}  // namespace lockstep::sass
