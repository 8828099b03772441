// SPDX-License-Identifier: Apache-2.0
// Divergence, calls, barriers, spinning and faults of compiled kernels (data/control_flow.cu).
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ControlFlow : public testing::TestWithParam<Target> {
  protected:
    ControlFlow() : ControlFlow(DeviceOptions{}) {}
    explicit ControlFlow(const DeviceOptions& options)
        : runner(GetParam().machine, std::string("control_flow_") + GetParam().arch + ".cubin",
                 options, GetParam().in_cycles) {}

    /// Launches and returns the fault's report; fails where there is none of this kind.
    template <typename... Parameters>
    std::string fault(sass::FaultKind kind, const std::string& kernel, sass::Dim3 block,
                      Parameters... parameters) {
        try {
            runner.launch(kernel, {1}, block, parameters...);
        } catch (const DeviceFault& error) {
            EXPECT_EQ(error.kind(), kind) << error.what();
            return error.what();
        }
        ADD_FAILURE() << kernel << " did not fault";
        return "";
    }

    KernelRunner runner;
};

int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

TEST_P(ControlFlow, Recursion) {
    const auto out = runner.ints(64);
    runner.launch("recursion", {1}, {64}, out.data());
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], fibonacci(t % 12)) << t;
}

TEST_P(ControlFlow, RecursionOfDifferentDepth) {
    constexpr int kCount = 100;
    const auto data = runner.ints(32 * kCount);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i * 7919 % 1009);
    runner.device().set_stack_bytes(16384);
    runner.launch("recursive_sort", {1}, {32}, data.data(), kCount);
    for (int t = 0; t < 32; ++t)
        EXPECT_TRUE(std::is_sorted(&data[t * kCount], &data[t * kCount] + kCount)) << t;
}

TEST_P(ControlFlow, FunctionPointers) {
    const auto out = runner.ints(64);
    runner.launch("function_pointers", {1}, {64}, out.data());
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], t & 1 ? t * 3 : t + 1) << t;
}

TEST_P(ControlFlow, VirtualCalls) {
    const auto out = runner.ints(64);
    runner.launch("virtual_calls", {1}, {64}, out.data());
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], t & 1 ? t * t : t) << t;
}

TEST_P(ControlFlow, ReductionsByMask) {
    const auto out = runner.ints(64);
    runner.launch("reduce_by_mask", {1}, {64}, out.data());
    for (int t = 0; t < 64; ++t) {
        int sum = 0;
        for (int other = t / 32 * 32; other < t / 32 * 32 + 32; ++other)
            if ((other % 3 == 0) == (t % 3 == 0)) sum += other;
        EXPECT_EQ(out[t], sum) << t;
    }
}

TEST_P(ControlFlow, ReductionsOfSeveralWarps) {
    const auto out = runner.ints(256);
    runner.launch("reduce_several_warps", {1}, {256}, out.data());
    for (int t = 0; t < 256; ++t) EXPECT_EQ(out[t], t < 128 ? 127 * 64 : 127 * 64 + 128 * 128) << t;
}

TEST_P(ControlFlow, SpinLockWithinAWarp) {
    const auto lock = runner.ints(1), out = runner.ints(1);
    runner.launch("warp_spin_lock", {2}, {64}, lock.data(), out.data());
    EXPECT_EQ(out[0], 2 * 63 * 64 / 2);
}

TEST_P(ControlFlow, ThreadsOfAWarpTakeTurns) {
    const auto turn = runner.ints(1), out = runner.ints(64);
    runner.launch("take_turns", {1}, {64}, turn.data(), out.data());
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], t * 3 + 64 + t) << t;
}

TEST(UnoptimisedCode, Runs) {
    for (const auto& [machine, arch] : {std::pair{"a100", "sm_80"}, std::pair{"h200", "sm_90"}}) {
        KernelRunner runner(machine, std::string("unoptimised_") + arch + ".cubin");
        const auto out = runner.ints(256);
        runner.launch("recursion", {1}, {64}, out.data());
        for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], fibonacci(t % 12)) << arch << t;
        runner.launch("reduce_several_warps", {1}, {256}, out.data());
        for (int t = 0; t < 256; ++t)
            EXPECT_EQ(out[t], t < 128 ? 127 * 64 : 127 * 64 + 128 * 128) << arch << t;
    }
}

int switches_and_loops(int t, int in1) {
    int v = t;
    switch (t % 9) {
        case 0:
            v += in1;
            break;
        case 1:
            v *= 3;
            break;
        case 2:
            v -= 5;
            break;
        case 3:
            v ^= 77;
            break;
        case 4:
            v |= 9;
            break;
        case 5:
            v &= 12;
            break;
        case 6:
            v += 100;
            break;
        case 7:
            v = v * v;
            break;
        default:
            v = -v;
    }
    for (int i = 0; i < t % 5 && i < 3; i++) v += i * v;
    return v;
}

TEST_P(ControlFlow, SwitchesAndLoops) {
    const auto out = runner.ints(128), in = runner.ints(2);
    in[1] = 42;
    runner.launch("switches_and_loops", {1}, {128}, out.data(), in.data());
    for (int t = 0; t < 128; ++t) EXPECT_EQ(out[t], switches_and_loops(t, 42)) << t;
}

TEST_P(ControlFlow, ThreadsOfAWarpContendForALock) {
    const auto out = runner.ints(1);
    runner.launch("spin_lock", {8}, {64}, out.data());
    EXPECT_EQ(out[0], 512);
}

TEST_P(ControlFlow, BarriersReduce) {
    const auto out = runner.ints(200);
    runner.launch("barriers", {1}, {200}, out.data());
    for (int t = 0; t < 200; ++t) EXPECT_EQ(out[t], 1000000 + 100 * 10 + 0) << t;
}

TEST_P(ControlFlow, ExitedThreadsCountAsArrived) {
    const auto out = runner.ints(96);
    runner.launch("exits_before_barrier", {1}, {96}, out.data());
    for (int t = 0; t < 96; ++t) EXPECT_EQ(out[t], t % 32 < 16) << t;
}

TEST_P(ControlFlow, NamedBarriers) {
    const auto out = runner.ints(64);
    runner.launch("named_barriers", {1}, {128}, out.data());
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], t * 2) << t;
}

TEST_P(ControlFlow, GridSync) {
    const auto out = runner.ints(12800);
    runner.cooperative = true;
    runner.launch("grid_sync", {100}, {128}, out.data());
    for (int t = 0; t < 12800; ++t) ASSERT_EQ(out[t], 132) << t;
}

TEST_P(ControlFlow, ACtaMayWaitForALaterOne) {
    const auto out = runner.ints(2);
    runner.launch("wait_for_later_cta", {2}, {1}, out.data());
    EXPECT_EQ(out[0], 7);
}

TEST_P(ControlFlow, BarrierThatCannotComplete) {
    const auto out = runner.ints(64);
    EXPECT_THAT(fault(sass::FaultKind::kDivergentBarrier, "half_a_barrier", {32}, out.data()),
                AllOf(HasSubstr("divergent barrier"), HasSubstr("half_a_barrier"),
                      HasSubstr("is never reached by all threads")));
}

TEST_P(ControlFlow, OutOfBounds) {
    const auto out = runner.ints(100);
    EXPECT_THAT(fault(sass::FaultKind::kIllegalAddress, "out_of_bounds", {32}, out.data(), 96),
                AllOf(HasSubstr("illegal address"), HasSubstr("4-byte store"),
                      HasSubstr("thread       (4,0,0)"), HasSubstr("400-byte"), HasSubstr("STG")));
}

TEST_P(ControlFlow, MisalignedAndNull) {
    const auto out = runner.ints(100);
    EXPECT_THAT(fault(sass::FaultKind::kMisalignedAddress, "misaligned", {1}, out.data()),
                HasSubstr("misaligned"));
    EXPECT_THAT(fault(sass::FaultKind::kIllegalAddress, "null_pointer", {1}, out.data()),
                HasSubstr("0x0"));
}

TEST_P(ControlFlow, SharedOutOfBounds) {
    const auto out = runner.ints(1);
    EXPECT_THAT(
        fault(sass::FaultKind::kIllegalAddress, "shared_out_of_bounds", {32}, out.data(), 1 << 16),
        HasSubstr("shared"));
}

TEST_P(ControlFlow, Trap) {
    const auto out = runner.ints(1);
    EXPECT_THAT(fault(sass::FaultKind::kTrap, "trap", {32}, out.data()),
                HasSubstr("thread       (3,0,0)"));
}

TEST(Stack, GrowsByWhatAKernelAllocates) {
    for (const bool in_cycles : {false, true}) {
        for (const auto& [machine, arch] : {std::pair{"t4", "sm_75"}, std::pair{"h200", "sm_90"}}) {
            KernelRunner runner(machine, std::string("alloca_") + arch + ".cubin", {}, in_cycles);
            const auto out = runner.ints(64);
            runner.launch("sum_of_squares", {1}, {64}, out.data());
            for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], (t - 1) * t * (2 * t - 1) / 6) << t;
        }
    }
}

class EndlessControlFlow : public ControlFlow {
  protected:
    EndlessControlFlow() : ControlFlow(DeviceOptions{.max_instructions = 100000}) {}
};

TEST_P(EndlessControlFlow, InstructionLimit) {
    const auto out = runner.ints(1);
    EXPECT_THAT(fault(sass::FaultKind::kInstructionLimit, "endless", {32}, out.data()),
                HasSubstr("100000"));
}

constexpr Target kTargets[] = {
    {"v100", "sm_70"}, {"t4", "sm_75"}, {"a100", "sm_80"}, {"h200", "sm_90"}};
constexpr Target kInCycles[] = {{"v100", "sm_70", true},
                                {"t4", "sm_75", true},
                                {"a100", "sm_80", true},
                                {"h200", "sm_90", true}};
const auto kName = [](const testing::TestParamInfo<Target>& info) { return info.param.arch; };

INSTANTIATE_TEST_SUITE_P(Emulator, ControlFlow, testing::ValuesIn(kTargets), kName);
INSTANTIATE_TEST_SUITE_P(Simulator, ControlFlow, testing::ValuesIn(kInCycles), kName);
INSTANTIATE_TEST_SUITE_P(Emulator, EndlessControlFlow, testing::ValuesIn(kTargets), kName);
INSTANTIATE_TEST_SUITE_P(Simulator, EndlessControlFlow, testing::ValuesIn(kInCycles), kName);

}  // namespace
}  // namespace lockstep
