// SPDX-License-Identifier: Apache-2.0
// Warp-wide operations of lanes that are not together (data/collective.cu).
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

class Collective : public testing::TestWithParam<Target> {
  protected:
    bool skips_absent_lanes() const { return std::stoi(GetParam().arch + 3) >= 80; }

    /// What the kernel makes of two warps, or nothing where it deadlocks.
    template <typename T, typename... Parameters>
    std::vector<T> results(const std::string& kernel, Parameters... parameters) {
        const auto out = runner.ints(64);
        try {
            runner.launch(kernel, {1}, {64}, out.data(), parameters...);
        } catch (const DeviceFault& fault) {
            EXPECT_EQ(fault.kind(), sass::FaultKind::kDeadlock) << fault.what();
            return {};
        }
        const T* const first = reinterpret_cast<const T*>(out.data());
        return {first, first + 64};
    }

    /// 0, 1, 2, ...: sums of them are exact.
    const float* numbers(int count) {
        const auto in = runner.ints(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            const auto number = static_cast<float>(i);
            std::memcpy(&in[static_cast<std::size_t>(i)], &number, sizeof number);
        }
        return reinterpret_cast<const float*>(in.data());
    }

    KernelRunner runner{GetParam().machine,
                        std::string("collective_") + GetParam().arch + ".cubin",
                        {},
                        GetParam().in_cycles};
};

TEST_P(Collective, LanesShuffleFromTwoPlaces) {
    const std::vector<int> out = results<int>("shuffles_from_two_places");
    ASSERT_EQ(out.size(), 64u);
    for (int t = 0; t < 64; ++t) {
        const int other = 100 + (t ^ 16);
        EXPECT_EQ(out[t], t % 32 < 16 ? (3 * other + 1000) * 2 : (other + 2000) * 3) << t;
    }
}

TEST_P(Collective, LanesVoteFromThreePlaces) {
    const std::vector<unsigned> out = results<unsigned>("ballots_from_three_places");
    ASSERT_EQ(out.size(), 64u);
    unsigned ballot = 0;
    for (int l = 0; l < 32; ++l)
        ballot |= unsigned{l < (l % 4 == 0 ? 8 : l % 4 == 1 ? 16 : 24)} << l;
    for (int t = 0; t < 64; ++t)
        EXPECT_EQ(out[t], ballot + (t % 4 == 0 ? 1 : t % 4 == 1 ? 2 : 3)) << t;
}

TEST_P(Collective, LanesMeetFromTwoLoops) {
    const std::vector<int> out = results<int>("sums_from_two_loops");
    ASSERT_EQ(out.size(), 64u);
    for (int t = 0; t < 64; ++t) {
        const int other = t % 32 ^ 1;
        int sum = 0;
        for (int i = 0; i < 5; ++i) sum += t % 2 ? other + 5 - i : -other * i;
        EXPECT_EQ(out[t], sum) << t;
    }
}

TEST_P(Collective, HalvesOfAWarpGoTheirOwnWays) {
    const std::vector<int> out = results<int>("halves");
    ASSERT_EQ(out.size(), 64u);
    for (int t = 0; t < 64; ++t) {
        const int other = t % 32 ^ 15;
        EXPECT_EQ(out[t], t % 32 < 16 ? other : 2 * other) << t;
    }
}

TEST_P(Collective, LanesThatLeftALoopAreAbsentSinceAmpere) {
    constexpr int kCount = 72;  // the last trip is of lanes 0 to 7
    const std::vector<float> out = results<float>("sums_in_a_loop", numbers(kCount), kCount);
    ASSERT_EQ(out.size(), skips_absent_lanes() ? 64u : 0u);
    if (out.empty()) return;
    for (int t = 0; t < 64; t += 8) {
        float sum = 0;
        for (int first = t % 32; first < kCount; first += 32)
            for (int i = first; i < first + 8; ++i) sum += static_cast<float>(i);
        EXPECT_EQ(out[static_cast<std::size_t>(t)], sum) << t;
    }
}

TEST_P(Collective, LanesThatLeftOneOfTwoLoopsAreAbsentSinceAmpere) {
    constexpr int kCount = 16;
    const std::vector<float> out =
        results<float>("sums_in_nested_loops", numbers(8 * kCount), kCount);
    ASSERT_EQ(out.size(), skips_absent_lanes() ? 64u : 0u);
    for (std::size_t t = 0; t < out.size(); t += 8) {
        const int group = static_cast<int>(t) % 32 / 8;
        // A sum goes down the lanes: lane l holds that of lanes l and up, of 8 at most.
        float total = 0;
        for (int outer = 0; outer <= group; ++outer) {
            float lane[8] = {};
            const auto add_down = [](float(&value)[8]) {
                for (int offset = 4; offset > 0; offset /= 2) {
                    float before[8];
                    std::copy_n(value, 8, before);
                    for (int l = 0; l < 8; ++l) value[l] += before[l + offset < 8 ? l + offset : l];
                }
            };
            for (int first = 0; first < kCount * (outer + group); first += 8) {
                float value[8];
                for (int l = 0; l < 8; ++l) value[l] = static_cast<float>(first + l);
                add_down(value);
                for (int l = 0; l < 8; ++l) lane[l] += value[l];
            }
            add_down(lane);
            total = total * 2 + lane[0];
        }
        EXPECT_EQ(out[t], total) << t;
    }
}

TEST_P(Collective, ABallotInALoopIsOfThoseWhoStayed) {
    const std::vector<unsigned> out = results<unsigned>("ballots_in_a_loop", 40);
    ASSERT_EQ(out.size(), skips_absent_lanes() ? 64u : 0u);
    for (std::size_t t = 0; t < out.size(); ++t)
        EXPECT_EQ(out[t], t % 32 < 8 ? 0xaau : 0xaaaaaaaau) << t;
}

constexpr Target kTargets[] = {{"t4", "sm_75"}, {"a100", "sm_80"}, {"h200", "sm_90"}};
constexpr Target kInCycles[] = {
    {"t4", "sm_75", true}, {"a100", "sm_80", true}, {"h200", "sm_90", true}};
const auto kName = [](const testing::TestParamInfo<Target>& target) { return target.param.arch; };
INSTANTIATE_TEST_SUITE_P(Emulator, Collective, testing::ValuesIn(kTargets), kName);
INSTANTIATE_TEST_SUITE_P(Simulator, Collective, testing::ValuesIn(kInCycles), kName);

}  // namespace
}  // namespace lockstep
