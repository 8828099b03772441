// SPDX-License-Identifier: Apache-2.0
// Suite h200 on sample data (sample/): the measuring program's files of a driver made of the
// emulator, and the cycle model's own counters, each off by up to a tenth. Nothing of it was
// measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/error/error.h"
#include "tests/paths.h"
#include "validation/compare/html_report.h"
#include "validation/compare/report.h"
#include "validation/compare/statistics.h"
#include "validation/compare/suites.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const fs::path kSample = source_path("tests/validation/compare/sample");

const std::vector<Row>& sample_rows() {
    static const std::vector<Row> rows =
        h200_suite().rows({.machine = "h200", .measured = kSample.string()});
    return rows;
}

TEST(MeasuredSuite, ComparesEveryQuantity) {
    const std::vector<Row>& rows = sample_rows();
    for (const Row& row : select(rows, "cycles", std::nullopt))
        EXPECT_LE(std::abs(error_of(row, Error::kRelative)), 12) << row.name;
    EXPECT_EQ(select(rows, "cycles", std::nullopt).size(), 5u);
    for (const Row& row : select(rows, "instructions", std::nullopt))
        EXPECT_EQ(row.reference, row.simulated) << row.name;
    EXPECT_FALSE(select(rows, "dram_read", std::nullopt).empty());
    EXPECT_FALSE(select(rows, "l2_hit_rate", std::nullopt).empty());
    EXPECT_FALSE(select(rows, "stall_long_scoreboard", std::nullopt).empty());
    EXPECT_EQ(select(rows, "micro_latency", std::nullopt).size(), 1u);
    // The same inputs gave the same bits through the driver as on emulator and model.
    const std::vector<Row> outputs = select(rows, "outputs", std::nullopt);
    EXPECT_GE(outputs.size(), 4u);
    for (const Row& row : outputs) EXPECT_EQ(row.reference, row.simulated) << row.note;
    for (const Row& row : rows) EXPECT_THAT(row.source, HasSubstr("SAMPLE, not measured"));
}

TEST(MeasuredSuite, SplitsKernelsForGood) {
    std::set<Part> parts;
    for (const Row& row : sample_rows()) parts.insert(row.part);
    EXPECT_EQ(parts.size(), 2u);
    // Sizes of a kernel are on the same side; the hash never changes.
    for (const Row& row : sample_rows()) {
        EXPECT_EQ(row.part, row.group == "gemm" ? Part::kTrain : Part::kTest) << row.name;
    }
}

TEST(MeasuredSuite, ReportsByGroupAndPart) {
    const std::string text = text_report(h200_suite(), "h200", sample_rows());
    EXPECT_THAT(text, HasSubstr("cycles        "));
    EXPECT_THAT(text, HasSubstr("gemm"));
    EXPECT_THAT(text, HasSubstr(" points"));
    const auto json = Json::parse(json_report(h200_suite(), "h200", sample_rows()));
    EXPECT_EQ(json.at("steps").size(), sample_rows().size());
}

TEST(MeasuredSuite, DrawsAPage) {
    const std::string html = html_report(h200_suite(), "h200", sample_rows());
    for (const char* part : {"<svg", "Roofline", "furthest off", "Statistics", "All values",
                             "Provenance", "aria-label", "prefers-color-scheme",
                             "Made from sample data", "sgemm_naive:m=64,n=64,k=64", "</html>"})
        EXPECT_THAT(html, HasSubstr(part));
    for (const char* number : {">nan", "+nan", "-nan", "\"nan", "inf\""})
        EXPECT_EQ(html.find(number), std::string::npos) << number;
    EXPECT_EQ(html.find("http"), std::string::npos) << "the page needs nothing else";
}

/// A copy of the sample in which one file is changed.
class BadFile : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) /
                  testing::UnitTest::GetInstance()->current_test_info()->name();
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    Json json(const char* name) const { return Json::parse(std::ifstream(kSample / name)); }
    std::string error() const {
        try {
            h200_suite().rows({.machine = "h200", .measured = folder_.string()});
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    }
    void write(const char* name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }
    fs::path folder_;
};

TEST_F(BadFile, NamesTheCubinThatDiffers) {
    Json file = json("elementwise.json");
    file["pairs"][0]["cubins"]["vector_add"] = std::string(64, '0');
    write("elementwise.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("elementwise.json: vector_add:n=2048: cubins.vector_add: "
                                   "measured was 0000"));
}

TEST_F(BadFile, NamesTheCounterThatIsMissing) {
    Json file = json("counters_cold.json");
    file["pairs"][0]["launches"][0]["metrics"].erase("dram__bytes_read.sum");
    write("counters_cold.json", file.dump());
    write("elementwise.json", json("elementwise.json").dump());
    EXPECT_THAT(error(), HasSubstr("counters_cold.json: vector_add:n=2048: "
                                   "launches[0].metrics.dram__bytes_read.sum: is missing"));
}

TEST_F(BadFile, NamesTheCounterThatNoLaunchHas) {
    Json file = json("counters_cold.json");
    file["metrics"].erase(1);
    write("counters_cold.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("counters_cold.json: metrics: sm__cycles_elapsed.max is "
                                   "missing"));
    file = json("counters_cold.json");
    file["pairs"][0]["launches"][0]["metrics"]["sm__cycles_elapsed.max"] = nullptr;
    write("counters_cold.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("launches[0].metrics.sm__cycles_elapsed.max: must be above 0"));
    file["cache"] = "tepid";
    write("counters_cold.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("counters_cold.json: cache: must be cold or warm"));
}

TEST_F(BadFile, NamesWhatStandsTwice) {
    Json file = json("gemm.json");
    write("a.json", file.dump());
    write("b.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("b.json: pairs[0].workload: sgemm_naive:m=64,n=64,k=64 stands "
                                   "in"));
    fs::remove(folder_ / "b.json");
    file["pairs"].push_back(file["pairs"][0]);
    write("a.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("a.json: pairs[1].workload: "));
    file["pairs"][1]["workload"] = "sgemn:m=64";
    write("a.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("a.json: pairs[1].workload: there is no workload 'sgemn'"));
}

TEST_F(BadFile, NamesFilesOfDifferentOrigin) {
    write("a.json", json("gemm.json").dump());
    Json file = json("elementwise.json");
    file["provenance"]["sample"] = false;
    write("b.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("b.json: provenance.sample: is false, in "));
    file["provenance"]["gpu"] = "NVIDIA H200";
    write("b.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("b.json: provenance.gpu: is 'NVIDIA H200', in "));
}

TEST_F(BadFile, NamesWhatIsNoFileOrHoldsNothing) {
    write("a.json", "");
    EXPECT_THAT(error(), HasSubstr("a.json: the file is empty"));
    Json file = json("gemm.json");
    file["pairs"] = Json::array();
    write("a.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("no file has a measured pair"));
    fs::create_directory(folder_ / "b.json");
    EXPECT_THAT(error(), HasSubstr("b.json: is not a file"));
}

TEST_F(BadFile, NamesTheLaunchThatDiffers) {
    Json file = json("elementwise.json");
    file["pairs"][0]["launches"][0]["grid"][0] = 77;
    write("elementwise.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("vector_add:n=2048: launches[0]: is another kernel, grid"));
}

TEST_F(BadFile, SaysThatItIsCutShort) {
    const std::string text = json("gemm.json").dump();
    write("gemm.json", text.substr(0, text.size() - 9));
    EXPECT_THAT(error(), HasSubstr("gemm.json: offset "));
}

TEST_F(BadFile, NamesAnotherMachineAndAnEmptyFolder) {
    EXPECT_THAT(error(), HasSubstr("holds no .json file"));
    Json file = json("gemm.json");
    file["provenance"]["machine"] = "a100";
    write("gemm.json", file.dump());
    EXPECT_THAT(error(), HasSubstr("gemm.json: provenance.machine: is 'a100', compared is 'h200'"));
}

TEST_F(BadFile, TakesEventsWhereThereAreNoCounters) {
    write("elementwise.json", json("elementwise.json").dump());
    Json file = json("elementwise.json");
    file["pairs"].erase(1);
    for (Json& launch : file["pairs"][0]["launches"]) launch["sm_mhz"] = 1980;
    write("elementwise.json", file.dump());
    const auto rows = h200_suite().rows({.machine = "h200", .measured = folder_.string()});
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows[0].quantity, "cycles");
    EXPECT_THAT(rows[0].note, HasSubstr("by events"));
}

}  // namespace
}  // namespace lockstep::validation
