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
