// SPDX-License-Identifier: Apache-2.0
// What a machine can launch, and how many CTAs an SM holds.
#include "models/gpu/device/launch_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/gpu/device/occupancy.h"

namespace lockstep::gpu {
namespace {

using testing::HasSubstr;

cubin::Function kernel_of(std::uint32_t registers, std::uint32_t shared_bytes) {
    cubin::Function kernel;
    kernel.name = "k";
    kernel.registers = registers;
    kernel.shared_bytes = shared_bytes;
    return kernel;
}

/// Why a launch of one CTA is refused; "": it is not.
std::string refusal(const std::vector<std::string>& overrides, std::uint32_t threads,
                    const cubin::Function& kernel) {
    const auto machine = config::Machine::load("a100", overrides);
    try {
        check_launch(*machine, kernel, {.grid = {1, 1, 1}, .block = {threads, 1, 1}});
    } catch (const LaunchRefused& refused) {
        return refused.what();
    }
    return "";
}

TEST(Launch, IsRefusedWhereAnSmDoesNotHoldOneCta) {
    const cubin::Function small = kernel_of(16, 0);
    EXPECT_EQ(refusal({}, 1024, small), "");
    EXPECT_EQ(refusal({"sm.max_warps=8"}, 256, small), "");
    EXPECT_THAT(refusal({"sm.max_warps=7"}, 256, small), HasSubstr("a CTA of 8 warps"));
    EXPECT_THAT(refusal({"sm.max_threads=255"}, 256, small), HasSubstr("a CTA of 8 warps"));
    // 25 warps of 80 registers are 64,000, but a sub-core holds only six of them.
    EXPECT_EQ(refusal({}, 24 * 32, kernel_of(80, 0)), "");
    EXPECT_THAT(refusal({}, 25 * 32, kernel_of(80, 0)), HasSubstr("80 registers a thread"));
    // What the system keeps for itself does not fit beside it.
    EXPECT_THAT(refusal({}, 32, kernel_of(16, 164 * 1024)), HasSubstr("167936 bytes"));
    EXPECT_EQ(refusal({}, 32, kernel_of(16, 163 * 1024)), "");
}

TEST(Launch, SharedMemoryIsNotCountedModulo32Bits) {
    const LaunchRequest request{
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 0xffffff00};
    EXPECT_THROW(check_launch(*config::Machine::load("a100"), kernel_of(16, 0x100), request),
                 LaunchRefused);
}

TEST(Launch, LocalMemoryOfAThreadIsLimited) {
    cubin::Function kernel = kernel_of(16, 0);
    kernel.local_bytes = 512 * 1024;
    EXPECT_EQ(refusal({}, 32, kernel), "");
    kernel.local_bytes += 1;
    EXPECT_THAT(refusal({}, 32, kernel),
                HasSubstr("524289 bytes of local memory exceed the 524288"));
}

TEST(Launch, OccupancyIsBoundedByThreads) {
    const auto machine = config::Machine::load("a100", {"sm.max_threads=1024"});
    EXPECT_EQ(occupancy(*machine, kernel_of(16, 0), 256, 0).by_warps, 4u);
    EXPECT_EQ(occupancy(*config::Machine::load("a100"), kernel_of(16, 0), 256, 0).by_warps, 8u);
}

}  // namespace
}  // namespace lockstep::gpu
