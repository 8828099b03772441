// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/error/error.h"

namespace lockstep::sweep {
namespace {

using testing::HasSubstr;

class StudyFile : public testing::Test {
  protected:
    ~StudyFile() override { std::filesystem::remove(file_); }
    Study read(const std::string& text) {
        std::ofstream(file_) << text;
        StudyText words;
        read_study_file(file_, words);
        return make_study(words);
    }
    /// What is wrong, without the file's name.
    std::string error(const std::string& text) {
        try {
            read(text);
        } catch (const InputError& e) {
            const std::string what = e.what();
            return what.starts_with(file_) ? what.substr(file_.size() + 1) : what;
        }
        return "";
    }
    const std::string file_ = testing::TempDir() + "/" + std::to_string(getpid()) + "study.yaml";
};

constexpr const char* kHead = "workloads: vector_add\nmachines: [h200, a100]\n";

TEST_F(StudyFile, SaysWhatTheOptionsSay) {
    const Study study = read(std::string(kHead) + R"(
vary:
  sm.count: [16, 32]
  l2.size: 25MiB..50MiB..25MiB
  workload.n: 1000..4000..*2
set: {dram.bandwidth: 2TB/s}
where: [sm.count * l2.size < 2GiB, workload.n > 10]
objectives: {time: seconds, cost: dollars}
prices: {h200: 3.5, a100: 1}
seed: 5
mode: cycle
l2: warm
timeout: 2 min
memory: 4 GiB
)");
    EXPECT_EQ(study.machines.size(), 2u);
    EXPECT_EQ(study.machines[0].dollars_per_hour, 3.5);
    ASSERT_EQ(study.axes.size(), 3u);
    EXPECT_EQ(study.axes[2].values.size(), 3u);
    EXPECT_EQ(study.constraints.size(), 2u);
    EXPECT_EQ(study.objectives[1].name, "cost");
    EXPECT_EQ(study.limits.seconds, 120);
    EXPECT_EQ(study.limits.bytes, std::uint64_t{4} << 30);
    EXPECT_EQ(study.seed, 5u);
    EXPECT_EQ(study.l2, "warm");
    EXPECT_EQ(study.machines[0].machine->number("dram.bandwidth"), 2000);
}

TEST_F(StudyFile, NamesTheLineOfWhatIsWrong) {
    const std::string head = kHead;
    EXPECT_EQ(error(head + "vary:\n  sm.cuont: [1, 2]\n"),
              "4: unknown parameter sm.cuont; did you mean sm.count?");
    EXPECT_EQ(error(head + "vary:\n  sm.count: [1, many]\n"),
              "4: sm.count: 'many' is not a number");
    EXPECT_EQ(error(head + "vray: {}\n"), "3: unknown key 'vray'; did you mean vary?");
    EXPECT_EQ(error(head + "samples: some\n"), "3: some is not a whole number");
    EXPECT_EQ(error(head + "mode: fast\n"), "3: unknown value 'fast'");
    EXPECT_THAT(error(head + "where: sm.count < \n"), HasSubstr("3: 'sm.count <': column"));
    EXPECT_EQ(error(head + "where: [sm.cuont < 3]\n"),
              "3: unknown parameter sm.cuont; did you mean sm.count?");
    EXPECT_THAT(error(head + "vary: [\n"), HasSubstr("4: "));
    EXPECT_THAT(error(head + "timeout: 2 years\n"), HasSubstr("3: '2 years' is not a time"));
    EXPECT_THAT(error(head + "memory: 2 s\n"), HasSubstr("3: '2 s' is not an amount of memory"));
    EXPECT_THAT(error(head + "prices: {v100: 3}\n"),
                HasSubstr("3: no machine of this sweep is named v100"));
    EXPECT_THAT(error("workloads: vector_add\nmachines: [h200, h2000]\n"),
                HasSubstr("2: no machine named h2000"));
    EXPECT_THAT(error("machines: h200\nworkloads: [vector_ad]\n"), HasSubstr("2: 'vector_ad' is"));
    EXPECT_THAT(error("machines: h200\nworkloads: vector_add:q=2\n"), HasSubstr("2: "));
    EXPECT_THAT(error("- a\n"), HasSubstr("not a study"));
}

StudyText words() {
    StudyText text;
    text.workloads.push_back({"vector_add", {"X", 0}});
    text.machines.push_back({"h200", {"--on", 0}});
    return text;
}
std::string error(const StudyText& text) {
    try {
        make_study(text);
    } catch (const InputError& e) {
        return e.what();
    }
    return "";
}

TEST(Study, RefusesWhatContradictsItself) {
    StudyText text = words();
    text.axes = {split_axis("sm.count=1,2", {"--vary", 0}),
                 split_axis("sm.count=3", {"--vary", 0})};
    EXPECT_THAT(error(text), HasSubstr("varied twice"));
    text.axes.pop_back();
    text.overrides.push_back({"sm.count=7", {"--set", 0}});
    EXPECT_THAT(error(text), HasSubstr("varied and set"));
    text.overrides.clear();
    text.design = {"lhs", {"--design lhs", 0}};
    EXPECT_EQ(error(text), "--design lhs: design lhs needs samples: how many");
    text.samples = 10;
    EXPECT_EQ(error(text), "");
    text.design = {"grid", {"--design grid", 0}};
    EXPECT_EQ(error(text), "--design grid: design grid takes no samples");
    text.design = {"latin", {"--design latin", 0}};
    EXPECT_THAT(error(text), HasSubstr("unknown design 'latin'"));
}

TEST(Study, ReadsObjectives) {
    StudyText text = words();
    for (const char* objective : {"max:ipc=sm__inst_executed.avg.per_cycle_active", "seconds",
                                  "edp=joules * seconds", "fits=sm.count<=64"})
        text.objectives.push_back({objective, {"--objective", 0}});
    const Study study = make_study(text);
    EXPECT_TRUE(study.objectives[0].is_maximised);
    EXPECT_EQ(study.objectives[0].name, "ipc");
    EXPECT_EQ(study.objectives[1].name, "seconds");
    EXPECT_EQ(study.objectives[2].formula.text(), "joules * seconds");
    EXPECT_EQ(study.objectives[3].name, "fits");
    text.objectives = {{"secons", {"--objective secons", 0}}};
    EXPECT_THAT(error(text), HasSubstr("did you mean seconds?"));
    text.objectives = {{"dollars", {"--objective dollars", 0}}};
    EXPECT_THAT(error(text), HasSubstr("--price h200="));
}

}  // namespace
}  // namespace lockstep::sweep
