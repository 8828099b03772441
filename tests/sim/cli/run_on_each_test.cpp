// SPDX-License-Identifier: Apache-2.0
// One workload on several machines, on this computer, on a data sheet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/sim/cli/run_program.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

TEST(RunOnEach, MachinesStandInOneTable) {
    const std::string stats = temporary("_each.json"), page = temporary("_each.html"),
                      csv = temporary("_each.csv");
    const std::string what =
        "run digits_cnn --on tpu_v3,npu_mobile,host,gtx1080 --energy --verify ";
    const Result result = lockstep(what + "--stats " + stats + " --html " + page);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, AllOf(HasSubstr("tpu_v3"), HasSubstr("simulated"),
                                     HasSubstr("measured"), HasSubstr("roofline")));
    const auto runs = nlohmann::json::parse(read(stats)).at("runs");
    ASSERT_EQ(runs.size(), 4u);
    EXPECT_EQ(runs[0]["machine"], "tpu_v3");
    EXPECT_GT(runs[1]["totals"]["energy.total"], 0);
    EXPECT_GT(runs[0]["totals"]["error.rms"], 0);
    EXPECT_EQ(runs[2]["mode"], "measured");
    EXPECT_THAT(read(page), AllOf(HasSubstr("Roofline"), HasSubstr("Time by layer")));
    EXPECT_EQ(lockstep(what + "--quiet --stats " + csv).status, 0);
    EXPECT_THAT(read(csv), HasSubstr("gtx1080,roofline,"));
    for (const std::string& file : {stats, page, csv}) std::filesystem::remove(file);
}

TEST(RunOnEach, AMachineThatCannotRunItHasItsReason) {
    const Result some = lockstep("run sgemm:m=64,n=64,k=64 --on tpu_v1,a100 --mode emulate");
    EXPECT_EQ(some.status, 2);
    EXPECT_THAT(some.output, AllOf(HasSubstr("tpu_v1 is a TPU"), HasSubstr("a100")));
    for (const auto& [arguments, why] :
         {std::pair{"sgemm --on tpu_v1,tpu_v2", "tpu_v1 is a TPU"},
          {"digits_cnn --on tpu_v1,tpu_v1", "named twice"},
          {"digits_cnn --on tpu_v1,", "empty"},
          {"digits_cnn --on tpu_v1,host --trace t.json", "--trace"},
          {"digits_cnn --on tpu_v1,host --precision 4", "--precision means nothing to any"}}) {
        const Result result = lockstep(std::string("run ") + arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_THAT(result.output, HasSubstr(why)) << arguments;
    }
}

TEST(RunOnEach, ADataSheetExecutesNothing) {
    const Result roof = lockstep("run resnet18 --on gtx580");
    EXPECT_EQ(roof.status, 0);
    EXPECT_THAT(roof.output, HasSubstr("nothing was executed"));
    EXPECT_EQ(lockstep("run resnet18 --on gtx580 --mode emulate").status, 2);
    EXPECT_EQ(lockstep("run resnet18 --on gtx580 --verify").status, 2);
    const Result type = lockstep("run gemm:m=8,n=8,k=8,dtype=bf16 --on gtx580");
    EXPECT_EQ(type.status, 2);
    EXPECT_THAT(type.output, HasSubstr("no peak for bf16; it has them for fp64, fp32"));
}

TEST(RunOnEach, TheHostIsVerified) {
    const Result host = lockstep("run digits_cnn --on host --threads 2 --verify");
    EXPECT_EQ(host.status, 0);
    EXPECT_THAT(host.output, AllOf(HasSubstr("measured on this computer, 2 threads"),
                                   HasSubstr("verified"), Not(HasSubstr("MISMATCH"))));
}

}  // namespace
}  // namespace lockstep::cli
