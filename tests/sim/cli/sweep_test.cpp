// SPDX-License-Identifier: Apache-2.0
// The verb sweep of the built program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "run_program.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Sweep : public testing::Test {
  protected:
    Sweep() : folder_(temporary("_sweep")) { fs::create_directories(folder_); }
    ~Sweep() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ + "/" + name; }
    static std::string read(const std::string& file) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        return text.str();
    }
    const std::string folder_;
};

const std::string kGrid =
    "sweep vector_add:n=3000 --vary sm.count=8,16 --vary l2.size=25MiB,50MiB "
    "--objective seconds --objective size=sm.count*l2.size ";

TEST_F(Sweep, RunsAGridAndWritesTablesAndAPage) {
    const Result result = lockstep(kGrid + "--out " + path("o.json") + " --html " + path("o.html"));
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("sm.count"), HasSubstr("front"), HasSubstr("4 of 4 points run")));
    const auto root = nlohmann::json::parse(read(path("o.json")));
    ASSERT_EQ(root["points"].size(), 4u);
    EXPECT_EQ(root["points"][1]["vary"]["l2.size"], "50MiB");
    EXPECT_EQ(root["points"][0]["pareto"], true);
    EXPECT_GT(root["points"][0]["metrics"]["smsp__inst_executed.sum"], 0);
    EXPECT_EQ(root["sensitivity"].size(), 2u);
    const std::string page = read(path("o.html"));
    EXPECT_THAT(page, AllOf(HasSubstr("Pareto front"), HasSubstr("<svg"), HasSubstr("All points"),
                            Not(HasSubstr("http"))));
    EXPECT_THAT(lockstep(kGrid + "--out " + path("o.json")).output, HasSubstr("0 of 4 points run"));
    EXPECT_EQ(lockstep(kGrid + "--out " + path("o.csv")).status, 0);
    EXPECT_THAT(read(path("o.csv")), HasSubstr("\"sm.count\",\"l2.size\",\"seconds\""));
}

TEST_F(Sweep, HasTheSameResultsWhateverTheJobs) {
    for (const char* jobs : {"1", "4"})
        EXPECT_EQ(lockstep(kGrid + "--jobs " + jobs + " --out " + path(jobs) + ".json --html " +
                           path(jobs) + ".html")
                      .status,
                  0);
    EXPECT_EQ(read(path("1.json")), read(path("4.json")));
    EXPECT_EQ(read(path("1.html")), read(path("4.html")));
}

TEST_F(Sweep, HasARowForAPointThatFails) {
    const Result result = lockstep(
        "sweep sgemm:m=4096,n=4096,k=4096 vector_add:n=1000 --timeout 2s --out " + path("o.csv"));
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(read(path("o.csv")), HasSubstr("failed,\"took longer than 2 s\""));
    EXPECT_THAT(read(path("o.csv")), HasSubstr("done"));
}

TEST_F(Sweep, RefusesBadInputBeforeAnythingRuns) {
    for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
             {"vector_add --vary sm.cuont=1", "did you mean sm.count?"},
             {"vector_add --vary sm.count=1,b", "'b' is not a number"},
             {"vector_add --vary sm.count", "wanted path=value,value"},
             {"vector_add --vary sm.count=1..9", "needs samples"},
             {"vector_add --where 'sm.count <'", "column"},
             {"vector_ad --vary sm.count=1", "did you mean vector_add?"},
             {"vector_add:q=1 --vary sm.count=1", "q"},
             {"vector_add --on tpu_v1", "runs on a GPU"},
             {"vector_add --out x.txt", ".json or .csv"},
             {"vector_add --out " + path("x.csv") + " --html " + path("x.csv"), "the same file"},
             {"vector_add --html /nowhere/x.html", "cannot be written"},
             {"vector_add --objective nonsense__x", "has no metric nonsense__x"},
             {path("none.yaml"), "cannot be read"}}) {
        const Result result = lockstep("sweep " + arguments + " --state " + path("s.sqlite"));
        EXPECT_EQ(result.status, 2) << arguments << result.output;
        EXPECT_THAT(result.output, HasSubstr(message)) << arguments;
    }
    EXPECT_FALSE(fs::exists(path("x.csv")));
}

TEST_F(Sweep, GoesOnWhereItWasKilled) {
    const std::string sweep =
        "sweep sgemm:m=128,n=128,k=64 --vary sm.count=8..64..8 --vary clock.sm=1000,1500,2000 "
        "--jobs 2 --out ";
    const Result whole = lockstep(sweep + path("whole.json"));
    ASSERT_EQ(whole.status, 0) << whole.output;
    ASSERT_THAT(whole.output, HasSubstr("24 of 24 points run"));
    // As the same command: its state is that of whole.json.
    std::size_t killed = 0;
    const std::string command = "exec " + binary_path("bin/lockstep") + " " + sweep +
                                path("parts.json") + " >/dev/null 2>&1";
    for (int milliseconds = 50; killed < 10; milliseconds += milliseconds / 2) {
        const pid_t child = fork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            _exit(127);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFSIGNALED(status)) break;  // it was done before
        ++killed;
        if (!fs::exists(path("parts.json"))) continue;
        // Killed between its last file and its end: the file is whole.
        EXPECT_EQ(read(path("whole.json")), read(path("parts.json")));
        break;
    }
    EXPECT_GE(killed, 1u);
    const Result rest = lockstep(sweep + path("parts.json"));
    EXPECT_EQ(rest.status, 0) << rest.output;
    EXPECT_EQ(read(path("whole.json")), read(path("parts.json")));
    EXPECT_FALSE(fs::exists(path("parts.sqlite.work")));
    EXPECT_THAT(rest.output, Not(HasSubstr("24 of 24 points run")));
}

/// What sbatch and squeue do, on this machine and at once.
void make_slurm(const std::string& folder) {
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream(folder + "/" + name) << "#!/bin/bash\n" << text;
        fs::permissions(folder + "/" + name, fs::perms::owner_all);
    };
    write(
        "sbatch",
        "for word; do case $word in --array=*) range=${word#--array=0-}; last=${range%%%*};; "
        "--chdir=*) cd \"${word#--chdir=}\";; esac; done\n"
        "for task in $(seq 0 $last); do SLURM_ARRAY_TASK_ID=$task sh \"$word\" >&2 || exit 1; done "
        "2>/dev/null\necho 42\n");
    write("squeue", "exit 0\n");
}

TEST_F(Sweep, HasTheSameResultsOnSlurm) {
    make_slurm(folder_);
    const Result local = lockstep(kGrid + "--out " + path("local.json"));
    EXPECT_EQ(local.status, 0) << local.output;
    const std::string before = std::getenv("PATH");
    setenv("PATH", (folder_ + ":" + before).c_str(), 1);
    const Result slurm = lockstep(kGrid + "--slurm --jobs 2 --out " + path("slurm.json"));
    setenv("PATH", before.c_str(), 1);
    EXPECT_EQ(slurm.status, 0) << slurm.output;
    EXPECT_THAT(slurm.output, HasSubstr("4 of 4 points run"));
    EXPECT_EQ(read(path("local.json")), read(path("slurm.json")));
    EXPECT_FALSE(fs::exists(path("slurm.sqlite.work")));
}

TEST_F(Sweep, RunsOnARealSlurm) {
    if (std::system("sinfo --noheader >/dev/null 2>&1") != 0) GTEST_SKIP() << "Slurm is not there";
    const Result local = lockstep(kGrid + "--out " + path("local.json"));
    const Result slurm = lockstep(kGrid + "--slurm --jobs 2 --out " + path("slurm.json"));
    EXPECT_EQ(slurm.status, 0) << slurm.output;
    EXPECT_EQ(read(path("local.json")), read(path("slurm.json")));
}

TEST_F(Sweep, SaysThatSlurmIsNotThere) {
    const std::string before = std::getenv("PATH");
    setenv("PATH", folder_.c_str(), 1);
    const Result result = lockstep(kGrid + "--slurm --state " + path("s.sqlite"));
    setenv("PATH", before.c_str(), 1);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, HasSubstr("--slurm: "));
}

TEST_F(Sweep, StopsDominatedPointsWhateverTheJobs) {
    // More SMs cost more; a point is dominated by one before it that took no more cycles.
    const std::string sweep =
        "sweep sgemm:m=64,n=64,k=1024 --vary sm.count=2..8..1 --objective cycles "
        "--objective sm.count ";
    ASSERT_EQ(lockstep(sweep + "--out " + path("all.json")).status, 0);
    for (const char* jobs : {"1", "3"}) {
        const Result result =
            lockstep(sweep + "--stop-dominated --jobs " + jobs + " --out " + path(jobs) + ".json");
        EXPECT_EQ(result.status, 0) << result.output;
    }
    EXPECT_EQ(read(path("1.json")), read(path("3.json")));
    const auto all = nlohmann::json::parse(read(path("all.json")))["points"],
               some = nlohmann::json::parse(read(path("1.json")))["points"];
    std::size_t dominated = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool is_dominated = false;
        for (std::size_t k = 0; k < i; ++k) is_dominated |= all[k]["cycles"] <= all[i]["cycles"];
        dominated += is_dominated;
        EXPECT_EQ(some[i]["status"], is_dominated ? "dominated" : "done") << i;
    }
    EXPECT_GT(dominated, 0u);
    const Result refused = lockstep(
        "sweep vector_add --vary sm.count=1,2 --objective "
        "lts__t_sectors.sum --stop-dominated");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.output, HasSubstr("points can be stopped where"));
}

TEST_F(Sweep, ReadsAStudyFile) {
    std::ofstream(path("study.yaml")) << "workloads: [vector_add:n=1000]\n"
                                         "vary:\n"
                                         "  sm.count: [8, 16]\n"
                                         "objectives: {time: seconds}\n";
    const Result result = lockstep("sweep " + path("study.yaml") + " --state " + path("s.sqlite"));
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("time"));
    std::ofstream(path("study.yaml"), std::ios::app) << "jobz: 3\n";
    EXPECT_THAT(lockstep("sweep " + path("study.yaml")).output,
                HasSubstr("study.yaml:5: unknown key 'jobz'"));
}

}  // namespace
}  // namespace lockstep::cli
