// SPDX-License-Identifier: Apache-2.0
// --trace x.vcd of a kernel.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>

#include "tests/models/gpu/kernel_fixture.h"
#include "tests/vcd/vcd.h"

namespace lockstep::gpu {
namespace {

class Waves : public testing::Test {
  protected:
    ~Waves() override { std::remove(path_.c_str()); }
    /// vector_add of 4,000 elements on a small h200.
    Vcd run(DeviceOptions options, LaunchResult* result = nullptr) const {
        options.trace.file = path_;
        {
            KernelRunner gpu("h200", "../../../../workloads/cuda/cubin/sm_90/vector_add.cubin",
                             options, true);
            constexpr int kCount = 4000;
            const auto a = gpu.ints(kCount), b = gpu.ints(kCount), c = gpu.ints(kCount);
            const LaunchResult made = gpu.launch("vector_add", {16, 1, 1}, {256, 1, 1}, a.data(),
                                                 b.data(), c.data(), kCount);
            if (result != nullptr) *result = made;
        }
        return Vcd::read(path_);
    }
    const std::string path_ =
        testing::TempDir() + "/gpu_waves_" + std::to_string(getpid()) + ".vcd";
};

/// Times at which a variable gets a value that is neither none nor nothing.
std::size_t values(const Vcd& vcd, const std::string& path) {
    std::size_t count = 0;
    for (const auto& [time, value] : vcd.variables.at(path).values)
        count += value != "" && value != "x" && value != "0";
    return count;
}

TEST_F(Waves, ShowSubCoresPipesAndQueues) {
    LaunchResult result;
    const Vcd vcd = run({}, &result);
    std::size_t issued = 0;
    for (int s = 0; s < 4; ++s) {
        const std::string sub_core = "sm0.sub_core" + std::to_string(s);
        for (const char* name : {".warp", ".issue", ".stall", ".lsu", ".memory_queue"})
            EXPECT_GT(values(vcd, sub_core + name), 0u) << sub_core << name;
        issued += values(vcd, sub_core + ".issue");
    }
    // 14 SMs have 16 CTAs of 8 warps; each warp issues some 20 instructions.
    EXPECT_GT(issued, 100u);
    EXPECT_LE(issued, result.warp_instructions / 4);
    for (const char* name : {"sm0.L1_misses", "sm0.crossbar_requests_unanswered", "sm0.warp_0",
                             "sm0.warps_active", "sm0.CTA_slot_0"})
        EXPECT_GT(values(vcd, name), 0u) << name;
    std::size_t slices = 0, channels = 0;
    for (const auto& [name, variable] : vcd.variables) {
        slices += name.ends_with("_misses") && name.starts_with("l2_") && values(vcd, name) > 0;
        channels += name.find(".dram") != std::string::npos && values(vcd, name) > 0;
    }
    EXPECT_GT(slices, 3u);
    EXPECT_GT(channels, 3u);
}

TEST_F(Waves, AWindowBoundsThemAndThreadsDoNotMatter) {
    DeviceOptions options;
    options.trace.from = 1500;
    options.trace.until = 2000;
    options.trace.first_sm = options.trace.last_sm = 3;
    const Vcd vcd = run(options);
    EXPECT_FALSE(vcd.variables.contains("sm0.sub_core0.warp"));
    EXPECT_TRUE(vcd.variables.contains("sm3.sub_core0.warp"));
    options.threads = 3;
    const Vcd threads = run(options);
    std::size_t shown = 0;
    for (const auto& [name, variable] : vcd.variables) {
        EXPECT_EQ(threads.variables.at(name).values, variable.values) << name;
        for (const auto& [time, value] : variable.values) {
            EXPECT_TRUE(time == 0 || (time >= 1500 && time <= 2000)) << name << " at " << time;
            shown += time != 0;
        }
    }
    EXPECT_GT(shown, 0u);
}

}  // namespace
}  // namespace lockstep::gpu
