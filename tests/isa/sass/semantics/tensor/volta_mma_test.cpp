// SPDX-License-Identifier: Apache-2.0
// The HMMA.884 sequences that ptxas emits for mma.m8n8k4, with the fragments of PTX ISA.
#include <gtest/gtest.h>

#include "sim/numerics/fp16.h"
#include "tests/isa/sass/semantics/tensor/matrices.h"
#include "tests/isa/sass/tensor_core/reference_dot_product.h"

namespace lockstep::sass {
namespace {

float from_half(std::uint32_t bits) {
    return numerics::fp16_to_fp32(static_cast<std::uint16_t>(bits));
}

void compare(Arch arch, bool a_by_columns, bool b_by_columns, bool d_is_fp32, bool c_is_fp32) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    TestWarp warp(arch);
    std::vector<Matrix> a, b, c;
    for (int pair = 0; pair < 4; ++pair) {
        a.emplace_back(8, 4);
        b.emplace_back(4, 8);
        c.emplace_back(8, 8);
        for (auto& bits : a.back().bits) bits = numerics::fp32_to_fp16(normal(random));
        for (auto& bits : b.back().bits) bits = numerics::fp32_to_fp16(normal(random));
        for (auto& bits : c.back().bits)
            bits = c_is_fp32 ? std::bit_cast<std::uint32_t>(normal(random))
                             : numerics::fp32_to_fp16(normal(random));
    }
    const auto position_fp32 = [](unsigned lane, unsigned i) {
        const unsigned x = lane & 1;
        const unsigned row = lane < 16 ? x + (i & 2) : x + (i & 2) + 4;
        return std::pair<int, int>(row, (i & 4) + (lane & 2) + (i & 1));
    };
    const auto position_fp16 = [](unsigned lane, unsigned i) {
        return std::pair<int, int>(lane < 16 ? lane % 4 : lane % 4 + 4, i);
    };
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned pair = lane % 16 / 4;
        const int upper = lane < 16 ? 0 : 4;
        const int t = static_cast<int>(lane % 4);
        for (int i = 0; i < 4; ++i) {
            const auto index = static_cast<unsigned>(i);
            set_element(warp, kA, lane, index, 16,
                        a_by_columns ? a[pair].at(i + upper, t) : a[pair].at(t + upper, i));
            set_element(warp, kB, lane, index, 16,
                        b_by_columns ? b[pair].at(i, t + upper) : b[pair].at(t, i + upper));
        }
        for (unsigned i = 0; i < 8; ++i) {
            const auto [row, column] = c_is_fp32 ? position_fp32(lane, i) : position_fp16(lane, i);
            set_element(warp, kC, lane, i, c_is_fp32 ? 32 : 16, c[pair].at(row, column));
        }
    }
    for (unsigned step = 0; step < (d_is_fp32 ? 4u : 2u); ++step) {
        Word word = with_registers(0, 0x7000);
        word.set_bits(0, 12, 0x236);
        word.set_bits(73, 1, a_by_columns);
        word.set_bits(74, 1, b_by_columns);
        word.set_bits(76, 1, d_is_fp32);
        word.set_bits(78, 1, c_is_fp32);
        word.set_bits(79, 2, step);
        word.set_bits(16, 8, kD + 2 * step);
        word.set_bits(64, 8, kC + (d_is_fp32 && !c_is_fp32 ? step / 2 * 2 : 2 * step));
        ASSERT_TRUE(warp.run(word));
    }
    const DotProductRule rule{4, arch == 70 ? 23 : 24, -132,
                              d_is_fp32 ? AccumulatorType::kFp32 : AccumulatorType::kFp16};
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned pair = lane % 16 / 4;
        for (unsigned i = 0; i < 8; ++i) {
            const auto [row, column] = d_is_fp32 ? position_fp32(lane, i) : position_fp16(lane, i);
            std::vector<double> x, y;
            for (int k = 0; k < 4; ++k) {
                x.push_back(from_half(a[pair].at(row, k)));
                y.push_back(from_half(b[pair].at(k, column)));
            }
            const std::uint32_t addend = c[pair].at(row, column);
            const double expected =
                reference_group(rule, TensorType::kFp16, TensorType::kFp16, x, y,
                                c_is_fp32 ? std::bit_cast<float>(addend) : from_half(addend));
            const std::uint32_t bits = get_element(warp, kD, lane, i, d_is_fp32 ? 32 : 16);
            ASSERT_EQ(d_is_fp32 ? std::bit_cast<float>(bits) : from_half(bits), expected);
        }
    }
}

TEST(VoltaMma, EveryLayoutAndStepMatchesTheRule) {
    for (const Arch arch : {70, 75})
        for (const bool a : {false, true})
            for (const bool b : {false, true}) {
                compare(arch, a, b, false, false);
                compare(arch, a, b, true, false);
                compare(arch, a, b, true, true);
            }
}

}  // namespace
}  // namespace lockstep::sass
