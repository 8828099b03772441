// SPDX-License-Identifier: Apache-2.0
// --trace x.vcd: what machines show as waveforms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/sim/cli/run_program.h"
#include "tests/vcd/vcd.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Waves : public testing::Test {
  protected:
    Waves() : folder_(temporary("waves")) { fs::create_directories(folder_); }
    ~Waves() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ / name; }
    Vcd of(const std::string& arguments) const {
        const Result result = lockstep("run " + arguments + " --trace " + path("w.vcd"));
        EXPECT_EQ(result.status, 0) << result.output;
        return result.status == 0 ? Vcd::read(path("w.vcd")) : Vcd{};
    }

  private:
    const fs::path folder_;
};

/// Times at which a variable gets a value that is neither none nor nothing.
std::size_t values(const Vcd& vcd, const std::string& path) {
    std::size_t count = 0;
    for (const auto& [time, value] : vcd.variables.at(path).values)
        count += value != "" && value != "x" && value != "0";
    return count;
}

TEST_F(Waves, OfAnSmShowItsSubCoresPipesAndQueues) {
    const Vcd vcd = of("hgemm:m=64,n=64,k=64 --quiet --stats " + path("s.json"));
    const auto stats = nlohmann::json::parse(std::ifstream(path("s.json")));
    std::size_t issued = 0;
    for (int s = 0; s < 4; ++s) {
        const std::string sub_core = "sm0.sub_core" + std::to_string(s);
        for (const char* name : {"warp", "issue", "stall", "tensor", "memory_queue"})
            EXPECT_GT(values(vcd, sub_core + "." + name), 5u) << sub_core << name;
        // Each issue is a cycle of its own; where two follow each other, the warp's slot may stay.
        issued += values(vcd, sub_core + ".issue");
    }
    EXPECT_GT(issued, 300u);
    EXPECT_LE(issued, stats["steps"][0]["metrics"]["smsp__inst_executed.sum"]);
    for (const char* name :
         {"sm0.L1_misses", "sm0.crossbar_requests_unanswered", "sm0.warp_0", "sm0.warps_active"})
        EXPECT_GT(values(vcd, name), 0u) << name;
    std::size_t slices = 0, channels = 0;
    for (const auto& [name, variable] : vcd.variables) {
        if (!name.starts_with("l2_")) continue;
        slices += name.find("misses") != std::string::npos && values(vcd, name) > 0;
        channels += name.find("dram") != std::string::npos && values(vcd, name) > 0;
    }
    EXPECT_GT(slices, 5u);
    EXPECT_GT(channels, 5u);
}

TEST_F(Waves, AWindowBoundsThemAndThreadsDoNotMatter) {
    const std::string run =
        "softmax:rows=64,cols=300 --quiet --trace-sms 2-3 --trace-window 1000:1600";
    const Vcd vcd = of(run);
    EXPECT_FALSE(vcd.variables.contains("sm0.sub_core0.warp"));
    EXPECT_GT(values(vcd, "sm3.sub_core0.issue"), 0u);
    for (const auto& [name, variable] : vcd.variables)
        for (const auto& [time, value] : variable.values)
            EXPECT_TRUE(time == 0 || (time >= 1000 && time <= 1600)) << name;
    const auto bytes = [&] {
        std::ifstream file(path("w.vcd"), std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    const std::string one = bytes();
    of(run + " --threads 3");
    EXPECT_EQ(bytes(), one);
}

TEST_F(Waves, OfATpuShowTheArraysEdges) {
    const Vcd vcd = of("mlp --on tpu_v1 --quiet");
    for (const char* name : {"core.matrix0", "core.matrix0_west_edge", "core.matrix0_south_edge",
                             "core.matrix0_weights", "core.steps"})
        EXPECT_GT(values(vcd, name), 0u) << name;
    // Results leave after their rows have entered.
    const auto first = [&](const std::string& name) {
        for (const auto& [time, value] : vcd.variables.at(name).values)
            if (!value.empty()) return time;
        return std::uint64_t{0};
    };
    EXPECT_GT(first("core.matrix0_south_edge"), first("core.matrix0_west_edge"));
}

TEST_F(Waves, OfANpuShowCommandsAndQueues) {
    const Vcd vcd = of("mlp --on npu_auto --quiet");
    EXPECT_GT(values(vcd, "npu.core0"), 0u);
    EXPECT_GT(values(vcd, "npu.steps"), 0u);
    const Result shown = lockstep("run mlp --on npu_auto --trace " + path("w.vcd"));
    EXPECT_THAT(shown.output, HasSubstr("w.vcd: commands and queues"));
    // One line of the trace's writer is what changes, not the machine.
    const Result plain = lockstep("run mlp --on npu_auto");
    EXPECT_THAT(shown.output, HasSubstr(plain.output.substr(plain.output.find("step "), 400)));
}

}  // namespace
}  // namespace lockstep::cli
