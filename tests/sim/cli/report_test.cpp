// SPDX-License-Identifier: Apache-2.0
// What is shown and where: machines, reports, statistics, and messages that say what would do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/paths.h"
#include "tests/sim/cli/run_program.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

/// A folder of this process that goes away with the test.
class Report : public testing::Test {
  protected:
    Report() : folder_(temporary("report")) { fs::create_directories(folder_); }
    ~Report() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ / name; }
    static std::string read(const std::string& file) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        return text.str();
    }
    nlohmann::json run(const std::string& arguments) const {
        const Result result = lockstep("run " + arguments + " --stats " + path("s.json"));
        EXPECT_EQ(result.status, 0) << result.output;
        return nlohmann::json::parse(read(path("s.json")));
    }

    const fs::path folder_;
};

TEST_F(Report, AMachineFitsTheTerminal) {
    setenv("COLUMNS", "90", 1);
    for (const char* machine : {"h200", "tpu_v4", "systolic"})
        for (const char* form : {"", " --short"}) {
            std::istringstream lines(lockstep(std::string("machines ") + machine + form).output);
            std::size_t widest = 0;
            for (std::string line; std::getline(lines, line);)
                widest = std::max(widest, line.size());
            EXPECT_LE(widest, 90u) << machine << form;
        }
    unsetenv("COLUMNS");
}

TEST_F(Report, AMachineAsYamlIsTheMachine) {
    for (const std::string machine : {"h200", "tpu_v1", "systolic"}) {
        const std::string yaml = lockstep("machines --yaml " + machine).output;
        std::ofstream(path("m.yaml")) << yaml;
        EXPECT_EQ(lockstep("machines --yaml " + path("m.yaml")).output, yaml);
        EXPECT_EQ(lockstep("machines " + machine).output,
                  lockstep("machines " + path("m.yaml")).output);
    }
}

TEST_F(Report, AFilterShowsSomeParameters) {
    const Result l2 = lockstep("machines h200 l2.size --short");
    EXPECT_EQ(std::count(l2.output.begin(), l2.output.end(), '\n'), 2) << l2.output;
    EXPECT_THAT(lockstep("machines h200 no_such_thing").output, HasSubstr("no parameter has"));
}

TEST_F(Report, TwoMachinesAreSetSideBySide) {
    const Result diff = lockstep("machines --diff h200 h100");
    EXPECT_THAT(diff.output,
                AllOf(HasSubstr("h200"), HasSubstr("dram."), Not(HasSubstr("sm.count "))));
    EXPECT_EQ(lockstep("machines --diff h200 h200").output.find("sm."), std::string::npos);
    EXPECT_EQ(lockstep("machines --diff h200").status, 2);
}

TEST_F(Report, TheProgramSaysItsVersion) {
    const Result result = lockstep("--version");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output,
                testing::MatchesRegex("lockstep [0-9.]+( \\([0-9a-f]+(-modified)?\\))?\n"));
}

TEST_F(Report, StatisticsSayWhatRan) {
    const auto stats =
        run("vector_add:n=64 --l2 warm --set sm.count=4 --seed 9 --threads 2 --quiet");
    EXPECT_EQ(stats["run"]["set"], std::vector<std::string>{"sm.count=4"});
    EXPECT_EQ(stats["run"]["options"], std::vector<std::string>{"--l2 warm"});
    EXPECT_EQ(stats["run"]["seed"], 9);
    EXPECT_EQ(stats["run"]["machine_file"], "h200");
    EXPECT_EQ(stats["run"]["machine_sha256"].get<std::string>().size(), 64u);
    EXPECT_FALSE(stats["run"]["version"].get<std::string>().empty());
    EXPECT_NE(run("vector_add:n=64 --on h100")["run"]["machine_sha256"],
              stats["run"]["machine_sha256"]);
}

TEST_F(Report, OneFileIsNotTwo) {
    for (const std::string& options :
         {"--stats " + path("x.json") + " --trace " + path("x.json"),
          "--stats " + path("x.json") + " --screen " + path("sub/../x.json")}) {
        const Result result = lockstep("run vector_add:n=64 " + options);
        EXPECT_EQ(result.status, 2) << options;
        EXPECT_THAT(result.output, HasSubstr("name the same file"));
        EXPECT_FALSE(fs::exists(path("x.json")));
    }
}

TEST_F(Report, TheScreenGoesToAFile) {
    const std::string command = "run gemm:m=8,n=8,k=8 --on systolic --verify";
    const Result there = lockstep(command + " --screen " + path("screen.txt"));
    EXPECT_EQ(there.output, "");
    EXPECT_EQ(read(path("screen.txt")), lockstep(command).output);
}

TEST_F(Report, OnlyTheLongestStepsAreShown) {
    const Result all = lockstep("run mlp --on tpu_v1 --no-values");
    const Result top = lockstep("run mlp --on tpu_v1 --no-values --top 1");
    EXPECT_GT(all.output.size(), top.output.size());
    EXPECT_THAT(top.output, HasSubstr("steps more, "));
    EXPECT_EQ(lockstep("run vector_add --top 1").status, 2);
}

TEST_F(Report, EmulationOnATpuShowsItsSteps) {
    const Result result = lockstep("run gemm:m=8,n=8,k=8 --on tpu_v1 --mode emulate");
    EXPECT_THAT(result.output, AllOf(HasSubstr("gemm"), HasSubstr("512 MACs")));
}

TEST_F(Report, MessagesSayWhatWouldDo) {
    std::ofstream(path("x.cu")) << "__global__ void f() {}";
    std::ofstream(path("kernels.cubin")) << "";
    const auto expect = [](const std::string& arguments, const std::string& text) {
        const Result result = lockstep("run " + arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        EXPECT_THAT(result.output, HasSubstr(text)) << arguments;
    };
    expect(path("x.cu"), "CUDA source; compile it first (nvcc");
    expect(path("kernel.cubin"), "did you mean " + path("kernels.cubin"));
    expect("./sgem", "did you mean sgemm?");
    expect("vector_add:size=3", "there are n");
    expect("gemm:mm=3 --on tpu_v1", "it has m, n, k, steps, dtype");
    expect("vector_add --set sm.count=3kg", "a number without a unit is wanted");
    expect("vector_add --set l2.size=30Mb", "KiB, MiB, GiB (of 1024) or kB, MB, GB (of 1000)");
    expect("gemm --on tpu_v1 --set sm.count=3", "sm.count is a parameter of a gpu");
}

TEST_F(Report, AVcdIsBounded) {
    const std::string run =
        "run gemm:m=40000,n=32,k=32 --on systolic --set array.rows=32 "
        "--set array.columns=32 --trace " +
        path("w.vcd");
    const Result refused = lockstep(run);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.output, AllOf(HasSubstr("at most 1 GiB"), HasSubstr("--trace-window")));
    EXPECT_THAT(lockstep(run + " --trace-window 900000:900001").output, HasSubstr("the run has"));
    EXPECT_TRUE(fs::is_empty(folder_));
    const Result window = lockstep(
        "run gemm:m=64,n=8,k=8 --on systolic --set array.rows=8 "
        "--set array.columns=8 --trace-window 20:30 --trace " +
        path("w.vcd"));
    EXPECT_EQ(window.status, 0) << window.output;
    EXPECT_GT(fs::file_size(path("w.vcd")), 1000u);
}

TEST_F(Report, AKilledTraceLeavesNothing) {
    const pid_t child = fork();
    if (child == 0) {
        const std::string program = binary_path("bin/lockstep");
        const std::string trace = path("w.vcd");
        execl(program.c_str(), "lockstep", "run", "gemm:m=10000,n=32,k=32", "--on", "systolic",
              "--set", "array.rows=32", "--set", "array.columns=32", "--quiet", "--trace",
              trace.c_str(), nullptr);
        _exit(1);
    }
    // It writes some megabytes a second for a minute.
    std::this_thread::sleep_for(std::chrono::seconds(3));
    ASSERT_EQ(kill(child, SIGTERM), 0);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(fs::is_empty(folder_)) << fs::directory_iterator(folder_)->path();
}

}  // namespace
}  // namespace lockstep::cli
