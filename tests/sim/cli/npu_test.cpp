// SPDX-License-Identifier: Apache-2.0
// NPU programs from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "run_program.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kExample = source_path("isa/npu/examples/convolution.npu");

TEST(Npu, RunsAProgramInCyclesAndEmulated) {
    const std::string stats = temporary(".json"), first = temporary("_1.bin"),
                      second = temporary("_2.bin");
    const auto run = [&](const std::string& options) {
        return lockstep("run " + kExample + " --on npu_mobile --arg iota " + options);
    };
    const Result cycles = run("--arg out:" + first + " --stats " + stats);
    ASSERT_EQ(cycles.status, 0) << cycles.output;
    const auto root = nlohmann::json::parse(std::ifstream(stats));
    const auto& metrics = root["steps"][0]["metrics"];
    EXPECT_EQ(metrics["macs"], 9216);
    EXPECT_EQ(metrics["lockstep__macs_8bit"], 9216);
    EXPECT_EQ(metrics["cycles"], root["totals"]["cycles"]);
    EXPECT_EQ(metrics["dram_bytes_write"], 64);  // 32 bytes, a whole granule
    ASSERT_EQ(run("--mode emulate --arg out:" + second).status, 0);
    const auto bytes = [](const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    EXPECT_EQ(bytes(first).size(), 32u);
    EXPECT_EQ(bytes(first), bytes(second));
    const Result timed =
        lockstep("run " + kExample + " --on npu_mobile --no-values --stats " + stats);
    ASSERT_EQ(timed.status, 0) << timed.output;
    EXPECT_EQ(nlohmann::json::parse(std::ifstream(stats))["totals"]["cycles"],
              root["totals"]["cycles"]);
    for (const std::string& path : {stats, first, second}) fs::remove(path);
}

TEST(Npu, ShowsTheWiresOfTheArray) {
    const std::string wires = temporary(".vcd");
    const std::string small = " --on npu_edge --set array.stripe=16 --trace " + wires;
    const Result result = lockstep("run " + kExample + small);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("the wires of the array for"));
    std::ifstream file(wires);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_THAT(text, HasSubstr("$enddefinitions"));
    fs::remove(wires);
    EXPECT_EQ(lockstep("run " + kExample + small + " --no-values").status, 2);
}

TEST(Npu, ListsAndRefusesPrograms) {
    const Result listing = lockstep("disasm " + kExample);
    EXPECT_EQ(listing.status, 0);
    EXPECT_THAT(listing.output, AllOf(HasSubstr("convolve"), HasSubstr("pool=max")));
    const Result on_tpu = lockstep("run " + kExample + " --on tpu_v1");
    EXPECT_EQ(on_tpu.status, 2);
    EXPECT_THAT(on_tpu.output, HasSubstr("npu_mobile"));
    const std::string made = temporary("_made.npu");
    std::ofstream(made) << ".generation 1\nconvolve inpt=3\nhalt\n";
    const Result wrong = lockstep("run " + made + " --on npu_mobile");
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.output, HasSubstr(":2:"));
    fs::remove(made);
}

}  // namespace
}  // namespace lockstep::cli
