// SPDX-License-Identifier: Apache-2.0
// Programs with a race that chips forgive (data/forgiven_races.cu): emulation and the cycle model
// both compute what their authors meant.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

class ForgivenRaces : public testing::TestWithParam<Target> {
  protected:
    ForgivenRaces()
        : runner_(GetParam().machine, std::string("forgiven_races_") + GetParam().arch + ".cubin",
                  {}, GetParam().in_cycles) {}

    std::span<float> floats(std::size_t count) {
        const std::span<int> ints = runner_.ints(count);
        return {reinterpret_cast<float*>(ints.data()), count};
    }
    /// Values that differ from element to element.
    std::span<float> values(std::size_t count) {
        const std::span<float> all = floats(count);
        for (std::size_t i = 0; i < count; ++i)
            all[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
        return all;
    }

    KernelRunner runner_;
};

constexpr unsigned kWarp = 32;

/// As __shfl_xor_sync adds them up: the same in all lanes.
float sum_of_warp(std::span<const float> values) {
    float x[kWarp] = {}, next[kWarp];
    std::copy(values.begin(), values.end(), x);
    for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
        for (unsigned l = 0; l < kWarp; ++l) next[l] = x[l] + x[l ^ offset];
        std::copy(next, next + kWarp, x);
    }
    return x[0];
}

float sum_of_block(std::span<const float> values) {
    float partial[kWarp] = {};
    for (std::size_t w = 0; w * kWarp < values.size(); ++w)
        partial[w] = sum_of_warp(values.subspan(w * kWarp, kWarp));
    return sum_of_warp(partial);
}

TEST_P(ForgivenRaces, ABlockReductionInALoop) {
    for (const unsigned threads : {64u, 256u, 1024u}) {
        constexpr int kRounds = 12;
        const std::size_t warps = threads / kWarp;
        const auto in = values(kRounds * threads), out = floats(kRounds * warps);
        runner_.launch("reduce_in_loop", {1}, {threads}, in.data(), out.data(), kRounds);
        for (std::size_t i = 0; i < out.size(); ++i)
            ASSERT_EQ(out[i], sum_of_block(in.subspan(i / warps * threads, threads)))
                << "round " << i / warps << " warp " << i % warps << " of " << warps;
    }
}

TEST_P(ForgivenRaces, ABlockReductionOfRegistersInALoop) {
    constexpr unsigned kThreads = 512;
    constexpr int kRounds = 10;
    const auto out = floats(kThreads);
    runner_.launch("reduce_registers", {1}, {kThreads}, out.data(), kRounds);
    std::vector<float> x(kThreads);
    std::iota(x.begin(), x.end(), 0.0f);
    for (int r = 0; r < kRounds; ++r) {
        const float all = sum_of_block(x);
        for (float& value : x) value = std::fma(value, 0.5f, 0.001f * all);
    }
    for (unsigned t = 0; t < kThreads; ++t)
        ASSERT_NEAR(out[t], x[t], 1e-5f * std::abs(x[t])) << "thread " << t;
}

TEST_P(ForgivenRaces, TheGradientOfASoftmax) {
    constexpr int kRows = 300, kRowsPerCta = 4;
    const auto y = values(kRows * kRows), dy = values(kRows * kRows), dx = floats(kRows * kRows);
    std::reverse(dy.begin(), dy.end());
    runner_.launch("softmax_gradient", {(kRows + kRowsPerCta - 1) / kRowsPerCta}, {256}, dx.data(),
                   dy.data(), y.data(), kRows, kRowsPerCta);
    for (int row = 0; row < kRows; ++row) {
        double sum = 0;
        for (int c = 0; c <= row; ++c) sum += double{y[row * kRows + c]} * dy[row * kRows + c];
        for (int c = 0; c <= row; ++c) {
            const int at = row * kRows + c;
            ASSERT_NEAR(dx[at], 0.25 * y[at] * (dy[at] - sum), 1e-4)
                << "row " << row << " column " << c;
        }
    }
}

TEST_P(ForgivenRaces, ARepeatedMatrixVectorProduct) {
    constexpr int kN = 96;
    const auto a = values(kN * kN), y = values(kN), x = values(kN);
    const std::vector<float> before(x.begin(), x.end());
    runner_.launch("repeated_product", {kN / kWarp}, {kWarp, 8}, a.data(), y.data(), x.data(), kN);
    for (int i = 0; i < kN; ++i) {
        double sum = before[i];
        for (int j = 0; j < kN; ++j) sum += double{a[i * kN + j]} * y[j];
        ASSERT_NEAR(x[i], sum, 1e-4 * sum) << "element " << i;
    }
}

TEST_P(ForgivenRaces, ALateClear) {
    constexpr int kThreads = 256;
    const auto in = runner_.ints(4 * kThreads), out = runner_.ints(4);
    std::iota(in.begin(), in.end(), 1);
    runner_.launch("late_clear", {1}, {kThreads}, in.data(), out.data());
    for (int r = 0; r < 4; ++r)
        EXPECT_EQ(out[r],
                  std::accumulate(in.begin() + r * kThreads, in.begin() + (r + 1) * kThreads, 0));
}

constexpr Target kTargets[] = {
    {"a100", "sm_80"}, {"h200", "sm_90"}, {"a100", "sm_80", true}, {"h200", "sm_90", true}};
INSTANTIATE_TEST_SUITE_P(Devices, ForgivenRaces, testing::ValuesIn(kTargets), [](const auto& test) {
    return std::string(test.param.arch) + (test.param.in_cycles ? "_in_cycles" : "_emulated");
});

}  // namespace
}  // namespace lockstep
