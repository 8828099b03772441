// SPDX-License-Identifier: Apache-2.0
// Some launches of a device simulated, the others emulated: one memory, and an L2 that does not
// pretend to know what emulated kernels left in it.
#include "models/gpu/device/launch_selection.h"

#include <gmock/gmock.h>

#include "sim/stats/find.h"
#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

constexpr int kCount = 4096;
constexpr const char* kCubin = "../../../../workloads/cuda/cubin/sm_90/vector_add.cubin";

/// x += y, `times` launches; the cycles of each.
std::vector<std::uint64_t> cycles_of(const DeviceOptions& options, int times) {
    KernelRunner runner("h200", kCubin, options, true);
    const auto memory = runner.ints(2 * kCount);
    auto* x = reinterpret_cast<float*>(memory.data());
    float* y = x + kCount;
    for (int i = 0; i < kCount; ++i) y[i] = static_cast<float>(i);
    std::vector<std::uint64_t> cycles;
    for (int i = 0; i < times; ++i)
        cycles.push_back(
            runner.launch("vector_add", {kCount / 256}, {256}, x, y, x, kCount).cycles);
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(x[i], static_cast<float>(times * i)) << i;
    return cycles;
}

TEST(LaunchSelection, SimulatesWhatIsSelectedAndEmulatesTheRestInOneMemory) {
    const auto all = cycles_of({}, 4);
    const auto some = cycles_of({.simulate = {.kernel = "vector", .skip = 1, .count = 2}}, 4);
    EXPECT_EQ(some[0], 0u);
    EXPECT_EQ(some[1], all[0]);  // the first that the chip sees
    EXPECT_EQ(some[2], all[1]);
    EXPECT_EQ(some[3], 0u);
    EXPECT_THAT(cycles_of({.simulate = {.kernel = "^add"}}, 2), testing::Each(0u));
}

/// Cycles of the second launch of a kernel; `between`: after one of another.
std::uint64_t second(const DeviceOptions& options, bool between) {
    KernelRunner runner("h200", "memory_sm_90.cubin", options, true);
    const auto in = runner.ints(kCount), out = runner.ints(kCount);
    const auto run = [&](const char* kernel) {
        return runner.launch(kernel, {1}, {128}, in.data(), out.data(), 40).cycles;
    };
    run("local_array");
    if (between) {
        EXPECT_EQ(run("async_copies"), 0u);
    }
    return run("local_array");
}

TEST(LaunchSelection, FindsNothingInL2AfterAnEmulatedLaunch) {
    const std::uint64_t cold = second({}, false);
    EXPECT_LT(second({.l2 = L2Start::kWarm}, false), cold);
    EXPECT_EQ(second({.l2 = L2Start::kWarm, .simulate = {.kernel = "local"}}, true), cold);
}

TEST(L2, HoldsWhatCopiesHaveBroughtWhereItIsWarm) {
    // `emulated`: which of the launches is, before or after the copy; 2: none.
    const auto dram_bytes = [](L2Start l2, Transfer transfer, unsigned emulated) {
        KernelRunner runner("h200", kCubin,
                            {.l2 = l2, .simulate = {.skip = emulated < 2 ? 1u : 0u}}, true);
        const auto memory = runner.ints(2 * kCount);
        const auto x = reinterpret_cast<DevicePointer>(memory.data());
        const DevicePointer y = x + kCount * sizeof(float);
        const auto launch = [&] {
            return runner.launch("vector_add", {kCount / 256}, {256}, x, y, x, kCount);
        };
        if (emulated == 0) launch();
        runner.device().note_transfer(x, memory.size_bytes(), transfer);
        if (emulated == 1) launch();
        return stats::number(launch().metrics, "dram__bytes_read.sum");
    };
    const double all = 2 * kCount * sizeof(float);
    EXPECT_GE(dram_bytes(L2Start::kCold, Transfer::kWrite, 2), all);
    for (const Transfer transfer : {Transfer::kRead, Transfer::kWrite}) {
        EXPECT_LT(dram_bytes(L2Start::kWarm, transfer, 2), all / 4);  // code, parameters
        EXPECT_LT(dram_bytes(L2Start::kWarm, transfer, 0), all / 4);
        EXPECT_GE(dram_bytes(L2Start::kWarm, transfer, 1), all);
    }
}

TEST(LaunchSelection, CountsOnlyLaunchesThatMatch) {
    gpu::LaunchSelection selection({.kernel = "^void sum<", .skip = 1, .count = 1});
    const std::string sum = "_Z3sumIfEvPT_", other = "_Z4fillPf";
    EXPECT_FALSE(selection.takes(sum));
    EXPECT_FALSE(selection.takes(other));
    EXPECT_TRUE(selection.takes(sum));
    EXPECT_FALSE(selection.takes(other));
    EXPECT_FALSE(selection.takes(sum));
}

TEST(LaunchSelection, NamesThePlaceOfAMistake) {
    try {
        check_filter({.kernel = "gemm(a|b"});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("--kernel gemm(a|b"),
                                                 testing::HasSubstr("at character 9")));
    }
    try {
        check_filter({.kernel = "ab*+*"});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("at character 5"));
    }
}

}  // namespace
}  // namespace lockstep
