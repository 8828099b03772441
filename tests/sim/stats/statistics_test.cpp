// SPDX-License-Identifier: Apache-2.0
#include "sim/stats/statistics.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/error/error.h"

namespace lockstep::stats {
namespace {

Statistics sample() {
    Statistics statistics("h200", "emulate", "vector_add");
    Step step;
    step.name = "add(float, \"x\")";
    step.grid = {4, 2, 1};
    step.block = {256, 1, 1};
    step.metrics = {{"smsp__inst_executed.sum", std::uint64_t{18446744073709551615u}},
                    {"ratio.pct", 12.5}};
    statistics.add(step);
    statistics.add({.name = "other", .metrics = {{"smsp__inst_executed.sum", std::uint64_t{7}}}});
    statistics.add_time(100, 0.25, 40);
    return statistics;
}

TEST(Statistics, JsonHasTheSchemaOfTheContract) {
    const auto json = nlohmann::json::parse(sample().json());
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["machine"], "h200");
    EXPECT_EQ(json["mode"], "emulate");
    EXPECT_EQ(json["workload"], "vector_add");
    ASSERT_EQ(json["steps"].size(), 2u);
    const auto& step = json["steps"][0];
    EXPECT_EQ(step["grid"], (std::vector<int>{4, 2, 1}));
    EXPECT_EQ(step["block"], (std::vector<int>{256, 1, 1}));
    EXPECT_EQ(step["metrics"]["smsp__inst_executed.sum"], 18446744073709551615u);
    EXPECT_EQ(step["metrics"]["ratio.pct"], 12.5);
    EXPECT_EQ(json["totals"]["cycles"], 100);
    EXPECT_EQ(json["totals"]["seconds"], 0.25);
    EXPECT_EQ(json["simulator"]["instructions"], 40);
    EXPECT_GT(json["simulator"]["peak_rss_bytes"], 0);
}

TEST(Statistics, JsonSaysWhatRanWhereThatIsKnown) {
    Statistics statistics = sample();
    EXPECT_FALSE(nlohmann::json::parse(statistics.json()).contains("run"));
    statistics.set_origin({.version = "1.2",
                           .commit = "abc",
                           .machine_file = "mine.yaml",
                           .machine_sha256 = "12",
                           .overrides = {"sm.count=2"},
                           .options = {"--l2 warm"},
                           .seed = 7});
    const auto run = nlohmann::json::parse(statistics.json())["run"];
    EXPECT_EQ(run["version"], "1.2");
    EXPECT_EQ(run["commit"], "abc");
    EXPECT_EQ(run["machine_file"], "mine.yaml");
    EXPECT_EQ(run["machine_sha256"], "12");
    EXPECT_EQ(run["set"], std::vector<std::string>{"sm.count=2"});
    EXPECT_EQ(run["options"], std::vector<std::string>{"--l2 warm"});
    EXPECT_EQ(run["seed"], 7);
}

TEST(Statistics, CsvHasOneRowAStepAndTheUnionOfAllMetrics) {
    EXPECT_EQ(sample().csv(),
              "step,name,grid_x,grid_y,grid_z,block_x,block_y,block_z,smsp__inst_executed.sum,"
              "ratio.pct,machine,workload\n"
              "0,\"add(float, "
              "\"\"x\"\")\",4,2,1,256,1,1,18446744073709551615,12.5,\"h200\",\"vector_add\"\n"
              "1,\"other\",1,1,1,1,1,1,7,,\"h200\",\"vector_add\"\n");
}

TEST(Statistics, AFileIsWrittenWholeOrNotAtAll) {
    const auto folder = std::filesystem::temp_directory_path() / "lockstep_statistics_test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::string path = (folder / "s.json").string();
    sample().write(path);
    std::ifstream file(path);
    EXPECT_EQ(nlohmann::json::parse(file)["machine"], "h200");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    EXPECT_THROW(sample().write((folder / "absent" / "s.json").string()), InputError);
    EXPECT_THROW(sample().write((folder / "s.txt").string()), InputError);
    std::filesystem::remove_all(folder);
}

TEST(Statistics, ALinkStaysALinkAndADeviceADevice) {
    const auto folder = std::filesystem::temp_directory_path() / "lockstep_write_whole_test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "target") << "old";
    std::filesystem::create_symlink("target", folder / "link");
    write_whole(folder / "link", "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
    std::string text;
    std::ifstream(folder / "target") >> text;
    EXPECT_EQ(text, "new");
    write_whole("/dev/null", "nothing");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_THROW(write_whole("/dev/full", "nothing"), InputError);
    EXPECT_THROW(check_writable(folder), InputError);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lockstep::stats
