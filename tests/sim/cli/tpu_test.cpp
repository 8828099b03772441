// SPDX-License-Identifier: Apache-2.0
// TPU programs from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "run_program.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kExample = source_path("isa/tpu/examples/fully_connected.tpu");

std::string written(const std::string& text) {
    const std::string path = temporary("_made.tpu");
    std::ofstream(path) << text;
    return path;
}

TEST(Tpu, RunsAProgramOnValuesThatAreGiven) {
    const std::string out = temporary(".bin"), stats = temporary(".json");
    const Result result = lockstep("run " + kExample + " --on tpu_v1 --arg iota --arg out:" + out +
                                   " --stats " + stats);
    ASSERT_EQ(result.status, 0) << result.output;
    // Row 0: (0 1 2 3) by the weights is (34 -8); with the bias (44 -18), a quarter of it, ReLU.
    std::ifstream file(out, std::ios::binary);
    char values[16];
    ASSERT_TRUE(file.read(values, 16));
    EXPECT_EQ(values[0], 11);
    EXPECT_EQ(values[1], 0);
    EXPECT_EQ(values[14], 123);
    const auto metrics = nlohmann::json::parse(std::ifstream(stats))["steps"][0]["metrics"];
    EXPECT_EQ(metrics["macs"], 64);
    EXPECT_EQ(metrics["dram_bytes_read"], 65536);  // v1's tiles are whole
    EXPECT_EQ(metrics["stall_cycles.weight"].get<int>() + metrics["stall_cycles.shift"].get<int>() +
                  metrics["stall_cycles.nonmatrix"].get<int>() +
                  metrics["lockstep__array_active_cycles"].get<int>(),
              metrics["cycles"].get<int>());
    fs::remove(out);
    fs::remove(stats);
}

TEST(Tpu, EmulationCountsTheSameWork) {
    const std::string stats = temporary(".json");
    const auto work = [&](const std::string& what, const std::string& mode) {
        const Result result =
            lockstep("run " + what + " --on tpu_v1 --quiet --mode " + mode + " --stats " + stats);
        EXPECT_EQ(result.status, 0) << result.output;
        const auto root = nlohmann::json::parse(std::ifstream(stats));
        auto list = nlohmann::json::array({root["simulator"]["instructions"]});
        for (const auto& step : root["steps"])
            list.push_back(
                {step["name"], step["metrics"]["macs"], step["metrics"]["lockstep__instructions"]});
        return list;
    };
    for (const std::string& what : {kExample, std::string("mlp:batch=3")}) {
        EXPECT_EQ(work(what, "cycle"), work(what, "emulate"));
        EXPECT_GT(work(what, "emulate").size(), 1u);
    }
    fs::remove(stats);
}

TEST(Tpu, EmulationGivesTheSameValues) {
    const Result cycle = lockstep("run " + kExample + " --on tpu_v1 --seed 3");
    const Result emulated = lockstep("run " + kExample + " --on tpu_v1 --seed 3 --mode emulate");
    const auto checksum = [](const std::string& text) {
        return text.substr(text.find("checksum"), 25);
    };
    EXPECT_EQ(checksum(cycle.output), checksum(emulated.output));
    EXPECT_EQ(emulated.status, 0);
}

TEST(Tpu, TimeAloneIsTheSameTime) {
    const auto line = [](const Result& result) {
        const std::size_t at = result.output.find("fc ");
        return result.output.substr(at, result.output.find('\n', at) - at);
    };
    const Result with = lockstep("run " + kExample + " --on tpu_v1");
    const Result without = lockstep("run " + kExample + " --on tpu_v1 --no-values");
    EXPECT_EQ(line(with), line(without));
    EXPECT_EQ(without.output.find("checksum"), std::string::npos);
}

TEST(Tpu, TracesQueuesAndIdleArrays) {
    const std::string path = temporary("_trace.json");
    const Result result = lockstep("run " + kExample + " --on tpu_v1 --trace " + path);
    ASSERT_EQ(result.status, 0) << result.output;
    const std::string text = nlohmann::json::parse(std::ifstream(path)).dump();
    for (const char* what :
         {"matrix0", "matrix0 idle", "weight stall", "read_weights 3", "activate 5", "fc"})
        EXPECT_THAT(text, HasSubstr(std::string("\"") + what + "\"")) << what;
    fs::remove(path);
    EXPECT_EQ(lockstep("run " + kExample + " --on tpu_v1 --trace x.kanata").status, 2);
    EXPECT_EQ(lockstep("run " + kExample + " --on tpu_v1 --trace x.json --trace-window 5").status,
              2);
}

TEST(Tpu, DisassemblesAndRunsWhatItPrinted) {
    const Result text = lockstep("disasm " + kExample);
    EXPECT_THAT(text.output, HasSubstr("matrix_multiply pitch=4, rows=8, lanes=4, columns=2"));
    const std::string path = written(text.output);
    EXPECT_EQ(lockstep("run --on tpu_v1 " + path).status, 0);
    fs::remove(path);
}

TEST(Tpu, ProgramsOfNetworksCanBeKept) {
    const std::string first = temporary("_first.tpu"), again = temporary("_again.tpu");
    const auto line_of = [](const std::string& text, const std::string& name) {
        const std::size_t at = text.find("\n" + name);
        return text.substr(at, text.find('\n', at + 1) - at);
    };
    for (const char* machine : {"tpu_v1", "tpu_v3"}) {
        const Result made = lockstep(std::string("run mlp:input=40,hidden=30 --on ") + machine +
                                     " --program " + first);
        ASSERT_EQ(made.status, 0) << made.output;
        const Result ran = lockstep("run " + first + " --on " + machine + " --program " + again);
        ASSERT_EQ(ran.status, 0) << ran.output;
        EXPECT_EQ(line_of(made.output, "total"), line_of(ran.output, "total"));
        EXPECT_EQ(lockstep("disasm " + first).output, lockstep("disasm " + again).output);
        // The listing is a text that the assembler takes.
        std::ofstream(again) << lockstep("disasm " + first).output;
        EXPECT_EQ(lockstep("run " + again + " --on " + machine).status, 0);
    }
    fs::remove(first);
    fs::remove(again);
    EXPECT_EQ(lockstep("run mlp --on tpu_v1 --program x.bin").status, 2);
    EXPECT_EQ(lockstep("run mlp --on tpu_v1 --no-values --program x.tpu").status, 2);
    EXPECT_EQ(lockstep("run sgemm --program x.tpu").status, 2);
}

TEST(Tpu, RefusesWhatIsWrong) {
    const auto refused = [](const std::string& text, const std::string& options = "") {
        const std::string path = written(text);
        const Result result = lockstep("run " + path + " --on tpu_v1 " + options);
        fs::remove(path);
        return result;
    };
    Result result = refused("halt\nfly\n");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, HasSubstr("_made.tpu:2: unknown instruction 'fly'"));
    result = refused(std::string("LOCKTPU\0\1\0", 10));
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, HasSubstr("offset 0x8: the version needs 4 bytes"));
    result = refused("vector rows=1, columns=1, a_scale=1, out_scale=1, a=0x2000000\nhalt\n");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.output, HasSubstr("of 25165824 bytes of the unified buffer"));
    EXPECT_EQ(refused("halt\n", "--verify").status, 2);
    EXPECT_EQ(refused("halt\n", "--arg zeros").status, 2);
    EXPECT_EQ(refused("halt\n", "--kernel x").status, 2);
    EXPECT_EQ(refused("halt\n", "--on h200").status, 2);
    EXPECT_THAT(lockstep("run sgemm --no-values").output, HasSubstr("--no-values is for a TPU"));
}

// A stride has 6 bits: v1's host does what does not fit, later TPUs say so.
TEST(Tpu, SizesThatNoInstructionHolds) {
    const std::string wide = "run conv2d:c=4,k=4,h=70,w=70,stride=64,r=1,s=1 --verify --on ";
    const Result first = lockstep(wide + "tpu_v1");
    EXPECT_EQ(first.status, 0) << first.output;
    EXPECT_THAT(first.output, HasSubstr("verified"));
    const Result later = lockstep(wide + "tpu_v3");
    EXPECT_EQ(later.status, 2);
    EXPECT_THAT(later.output,
                HasSubstr("conv2d (Conv): convolve: 64 does not fit into stride_height (6 bits)"));
}

TEST(Tpu, MachinesAreListedWithEvidence) {
    for (const char* name : {"tpu_v1", "tpu_v2", "tpu_v3", "tpu_v4"})
        EXPECT_THAT(lockstep(std::string("machines ") + name).output,
                    AllOf(HasSubstr("array.rows"), HasSubstr("published: "), HasSubstr("MHz")));
}

}  // namespace
}  // namespace lockstep::cli
