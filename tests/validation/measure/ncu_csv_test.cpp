// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/ncu_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/error/error.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;

CounterFile manifest() {
    CounterFile file{.cache = "cold"};
    file.metrics.assign(profiled_metrics().begin(), profiled_metrics().end());
    file.pairs = {{"relu:n=1", {{"relu", {132}, {256}, {}}}},
                  {"sgd:n=1", {{"sgd", {1}, {256}, {}}}}};
    return file;
}

/// What ncu prints, in its own form, with one value for all metrics.
std::string csv(const std::string& first = "\"1,234.5\"", const std::string& left_out = "") {
    std::string header = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"",
                units = "\"\",\"\",\"\",\"\"";
    std::string one = "\"0\",\"relu\",\"(256, 1, 1)\",\"(132, 1, 1)\"";
    std::string two = "\"1\",\"sgd(float*, int)\",\"(256, 1, 1)\",\"(1, 1, 1)\"";
    for (const std::string_view metric : profiled_metrics()) {
        if (metric == left_out) continue;
        header += fmt::format(",\"{}\"", metric);
        units += metric == "dram__bytes_read.sum" ? ",\"Kbyte\"" : ",\"\"";
        one += "," + first;
        two += ",\"7\"";
    }
    return "==PROF== Connected to process 1\n" + header + "\n" + units + "\n" + one + "\n" + two +
           "\n==PROF== Disconnected from process 1\n";
}

std::string error_of(const std::string& text) {
    CounterFile file = manifest();
    try {
        add_counters(file, text, "n.csv");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(NcuCsv, FillsTheManifest) {
    CounterFile file = manifest();
    add_counters(file, csv(), "n.csv");
    const auto& first = file.pairs[0].launches[0].metrics;
    EXPECT_EQ(first.at("sm__cycles_elapsed.max"), 1234.5);
    EXPECT_EQ(first.at("dram__bytes_read.sum"), 1234500);
    EXPECT_EQ(first.size(), profiled_metrics().size());
    EXPECT_EQ(file.pairs[1].launches[0].metrics.at("sm__cycles_elapsed.max"), 7);
}

TEST(NcuCsv, KeepsThatThereIsNoValue) {
    std::string text = csv("7");
    // The last column of the first launch: a ratio without a denominator.
    text.replace(text.find(",7\n"), 2, ",\"(!) nan\"");
    CounterFile file = manifest();
    add_counters(file, text, "n.csv");
    const auto& metrics = file.pairs[0].launches[0].metrics;
    EXPECT_TRUE(std::isnan(metrics.at(std::string(profiled_metrics().back()))));
    const CounterFile again = read_counters(to_text(file), "c.json");
    EXPECT_EQ(again.metrics, file.metrics);
    EXPECT_TRUE(
        std::isnan(again.pairs[0].launches[0].metrics.at(std::string(profiled_metrics().back()))));
    const std::vector<std::string> available = available_metrics(text, "n.csv");
    EXPECT_EQ(available.size(), profiled_metrics().size() - 1);
    EXPECT_EQ(available_metrics(csv("1", "dram__bytes_write.sum"), "n.csv").size(),
              profiled_metrics().size() - 1);
    EXPECT_THROW(available_metrics(csv("1", "smsp__inst_executed.sum"), "n.csv"), InputError);
}

/// The CSV with the unit of the bytes that are read replaced.
std::string with_unit(const std::string& unit) {
    std::string text = csv("\"2.5\"");
    return text.replace(text.find("Kbyte"), 5, unit);
}

TEST(NcuCsv, TakesBaseAndScaledUnits) {
    for (const auto& [unit, scale] :
         std::vector<std::pair<std::string, double>>{{"byte", 1}, {"", 1}, {"Mbyte", 1e6}}) {
        CounterFile file = manifest();
        add_counters(file, with_unit(unit), "n.csv");
        EXPECT_EQ(file.pairs[0].launches[0].metrics.at("dram__bytes_read.sum"), 2.5 * scale);
    }
    EXPECT_THAT(error_of(with_unit("Kibyte")),
                HasSubstr("n.csv: column 'dram__bytes_read.sum' has the unknown unit 'Kibyte'"));
}

TEST(NcuCsv, StoresAMetricUnderItsFirstName) {
    std::string text = csv("7");
    text.replace(text.find("dram__bytes_write"), 17, "dram__bytes_op_write");
    const std::vector<std::string> available = available_metrics(text, "n.csv");
    EXPECT_EQ(available.size(), profiled_metrics().size());
    EXPECT_THAT(available, testing::Contains("dram__bytes_op_write.sum"));
    CounterFile file = manifest();
    file.metrics = available;
    add_counters(file, text, "n.csv");
    EXPECT_EQ(file.pairs[1].launches[0].metrics.at("dram__bytes_write.sum"), 7);
    EXPECT_THAT(file.metrics, testing::Contains("dram__bytes_write.sum"));
    EXPECT_THAT(file.metrics, testing::Not(testing::Contains("dram__bytes_op_write.sum")));
}

TEST(NcuCsv, NamesWhatIsWrong) {
    EXPECT_THAT(error_of(csv("\"n/a\"")), HasSubstr("n.csv: launch 0: column "
                                                    "'gpu__time_duration.sum' is 'n/a'"));
    EXPECT_THAT(error_of(csv("\"twelve\"")), HasSubstr("is 'twelve', not a number"));
    EXPECT_THAT(error_of(csv("1", "dram__bytes_write.sum")),
                HasSubstr("n.csv: there is no column 'dram__bytes_write.sum'"));
    EXPECT_THAT(error_of("==ERROR== ERR_NVGPUCTRPERM\n"), HasSubstr("no header line"));
    const std::string trailer = "==PROF== Disconnected from process 1\n";
    std::string whole = csv();
    whole.resize(whole.size() - trailer.size());
    EXPECT_THAT(error_of(whole.substr(0, whole.rfind("\"1\",\"sgd"))),
                HasSubstr("launch 1: is missing (sgd of sgd:n=1)"));
    EXPECT_THAT(error_of(whole.substr(0, whole.size() - 3)), HasSubstr("a quote does not end"));
    EXPECT_THAT(error_of(whole.substr(0, whole.size() - 20)), HasSubstr("fields, the header has"));
    std::string other = whole;
    other.replace(other.find("relu"), 4, "gelu");
    EXPECT_THAT(error_of(other), HasSubstr("'Kernel Name' is 'gelu'"));
    other = whole;
    other.replace(other.find("(132"), 4, "(133");
    EXPECT_THAT(error_of(other), HasSubstr("'Grid Size' is '(133, 1, 1)'"));
    EXPECT_THAT(error_of(whole + whole.substr(whole.rfind("\"1\",\"sgd"))),
                HasSubstr("one more than the plan has"));
}

TEST(Csv, KeepsQuotedCommasQuotesAndLineEnds) {
    const auto lines = parse_csv("a,\"b,\"\"c\"\"\nd\",\r\ne", "x.csv");
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0], (std::vector<std::string>{"a", "b,\"c\"\nd", ""}));
    EXPECT_EQ(lines[1], (std::vector<std::string>{"e"}));
}

}  // namespace
}  // namespace lockstep::validation
