// SPDX-License-Identifier: Apache-2.0
// The machine systolic and the suite scalesim from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "run_program.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

nlohmann::json statistics(const std::string& arguments) {
    const std::string path = temporary(".json");
    const Result result = lockstep("run " + arguments + " --on systolic --stats " + path);
    EXPECT_EQ(result.status, 0) << result.output;
    auto json = nlohmann::json::parse(std::ifstream(path));
    fs::remove(path);
    return json;
}

TEST(Systolic, RunsAGemmInEveryDataflow) {
    // SCALE-Sim v2: 64 x 64 x 64 on 16 x 16 takes 1759, 1503 and 1759 cycles.
    for (const auto& [dataflow, scalesim] : {std::pair{"ws", 1759}, {"os", 1503}, {"is", 1759}}) {
        const auto json = statistics(
            std::string("gemm:m=64,n=64,k=64 --set array.rows=16 --set array.columns=16 --verify "
                        "--set array.dataflow=") +
            dataflow);
        const auto& metrics = json["steps"][0]["metrics"];
        EXPECT_EQ(metrics["cycles"], 1760) << dataflow;
        EXPECT_EQ(metrics["lockstep__scalesim_total_cycles"], scalesim);
        EXPECT_EQ(metrics["macs"], 64 * 64 * 64);
        EXPECT_EQ(json["totals"]["cycles"], 1760);
        EXPECT_EQ(json["machine"], "systolic");
    }
}

TEST(Systolic, RunsAConvolutionAndKeepsScaleSimsOutputSizeApart) {
    const auto json =
        statistics("conv2d:h=13,w=11,c=5,k=7,r=3,s=2,stride=3,pad=0,dtype=bf16 --verify");
    const auto& metrics = json["steps"][0]["metrics"];
    EXPECT_EQ(metrics["macs"], 16 * 7 * 30);
    EXPECT_EQ(metrics["lockstep__scalesim_total_cycles"],
              113);  // of 20 positions: 13 / 3 rounded up
}

TEST(Systolic, EveryFidelityGivesTheSameStatistics) {
    nlohmann::json first;
    for (const char* fidelity : {"netlist", "registers", "wavefront", "auto"}) {
        auto json = statistics(std::string("gemm:m=9,n=10,k=11 --set array.rows=4 --set "
                                           "array.columns=5 --set array.overlap=double "
                                           "--set array.fidelity=") +
                               fidelity);
        json.erase("simulator");
        json.erase("run");  // says which fidelity was set
        if (first.is_null()) first = json;
        EXPECT_EQ(json, first) << fidelity;
    }
}

TEST(Systolic, WritesAVcd) {
    const std::string path = temporary(".vcd");
    const Result result = lockstep(
        "run gemm:m=3,n=4,k=5 --on systolic --set array.rows=3 --set array.columns=3 --verify "
        "--trace " +
        path);
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, AllOf(HasSubstr("netlist"), HasSubstr("verified")));
    EXPECT_GT(fs::file_size(path), 1000u);
    fs::remove(path);
}

TEST(Systolic, EmulatesWithoutTime) {
    const auto json = statistics("gemm:m=8,n=8,k=8 --mode emulate --verify");
    EXPECT_EQ(json["totals"]["cycles"], 0);
    EXPECT_FALSE(json["steps"][0]["metrics"].contains("cycles"));
}

TEST(Systolic, TimesWithoutValues) {
    auto timed = statistics("mobilenet_v2 --no-values --quiet");
    EXPECT_GT(timed["totals"]["cycles"], 0);
    EXPECT_GT(timed["steps"].size(), 50u);
    // What no machine holds can still be timed: 2048 x 2048 folds of 65536 + 94 cycles.
    const auto large = statistics("gemm:m=65536,n=65536,k=65536 --no-values");
    EXPECT_EQ(large["totals"]["cycles"], 2048ll * 2048 * (65536 + 94));
}

TEST(Systolic, NetworksAreListed) {
    EXPECT_THAT(lockstep("workloads").output, AllOf(HasSubstr("resnet50"), HasSubstr("sgemm")));
    const Result result = lockstep("workloads conv2d");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, HasSubstr("stride"));
}

TEST(Systolic, SaysWhatIsWrongWithTheInput) {
    const auto expect = [](const std::string& arguments, const std::string& text) {
        const Result result = lockstep("run " + arguments + " --on systolic");
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        EXPECT_THAT(result.output, HasSubstr(text)) << arguments;
    };
    expect("gemm --trace x.json", ".vcd");
    expect("resnet18 --trace x.vcd", "single matrix product");
    expect("gemm --trace x.vcd --set array.rows=64", "32 x 32");
    expect("gemm:dtype=fp16", "int8 and bf16");
    expect("gemm --set array.dataflow=rs", "ws, os, is");
    expect("sgemm", "is a built-in kernel, which runs on a GPU (--on h200)");
    expect("gemm --no-values --verify", "--verify needs values");
    expect("gemm --no-values --trace x.vcd", "--trace needs values");
    expect("gemm:m=65536,n=65536,k=65536", "--no-values");
    expect("gemm --trace-sms 0", "--trace-sms is for a GPU; systolic is a systolic array");
    expect("softmax", "no matrix product");
    expect("gemm --block 4", "--block is for");
    expect("/bin/sh", "is an executable, which runs on a GPU");
    expect("/no/such.onnx", "such.onnx");
}

TEST(Compare, TheScaleSimSuiteIsEqual) {
    const Result result = lockstep("compare --suite scalesim");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, HasSubstr("4827 of 4827 values equal"));
    EXPECT_THAT(lockstep("compare").output, HasSubstr("scalesim"));
    EXPECT_EQ(lockstep("compare --suite scalesim --on h200").status, 2);
    EXPECT_EQ(lockstep("compare --suite nothing").status, 2);
}

}  // namespace
}  // namespace lockstep::cli
