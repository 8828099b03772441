// SPDX-License-Identifier: Apache-2.0
#include "sim/process/process_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "sim/error/error.h"

namespace lockstep::process {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(ProcessPool, HandsOverInOrder) {
    std::vector<std::string> texts;
    const std::size_t begun = run_in_processes(
        6, 3, 0,
        [](std::size_t job) {
            usleep(static_cast<useconds_t>(1000 * (6 - job)));
            return std::string(100'000 * job, static_cast<char>('a' + job));
        },
        [&](std::size_t job, const JobResult& result) {
            EXPECT_EQ(job, texts.size());
            EXPECT_TRUE(result.is_done);
            texts.push_back(result.text);
        });
    EXPECT_EQ(begun, 6u);
    for (std::size_t job = 0; job < 6; ++job)
        EXPECT_EQ(texts[job], std::string(100'000 * job, static_cast<char>('a' + job)));
}

TEST(ProcessPool, TellsHowAJobEnded) {
    std::vector<JobResult> results;
    run_in_processes(
        3, 1, 0,
        [](std::size_t job) -> std::string {
            if (job == 0) throw InputError("wrong field");
            if (job == 1) LOCKSTEP_CHECK(false, "a defect");
            raise(SIGKILL);
            return "";
        },
        [&](std::size_t, const JobResult& result) { results.push_back(result); });
    ASSERT_EQ(results.size(), 3u);
    EXPECT_TRUE(results[0].is_input_error);
    EXPECT_EQ(results[0].text, "wrong field");
    EXPECT_FALSE(results[1].is_input_error || results[1].is_done);
    EXPECT_THAT(results[1].text, HasSubstr("a defect"));
    EXPECT_THAT(results[2].text, HasSubstr("signal 9"));
}

TEST(ProcessPool, EndsWithTheLimit) {
    std::vector<std::string> texts;
    const std::size_t begun = run_in_processes(
        100, 2, 1,
        [](std::size_t job) {
            if (job > 0) usleep(60'000'000);
            return std::string("done");
        },
        [&](std::size_t, const JobResult& result) { texts.push_back(result.text); });
    EXPECT_EQ(begun, 3u);
    ASSERT_EQ(texts.size(), 3u);
    EXPECT_EQ(texts[0], "done");
    EXPECT_EQ(texts[2], "the time limit was reached");
}

/// The one job of a pool with such limits.
JobResult run_one(Limits limits, const std::function<std::string()>& work) {
    ProcessPool pool(limits);
    pool.start(7, work);
    while (true)
        for (const auto& [job, result] : pool.wait(10s)) {
            EXPECT_EQ(job, 7u);
            return result;
        }
}

TEST(ProcessPool, EndsAJobThatTakesTooLong) {
    const JobResult result = run_one({.seconds = 0.2}, [] {
        usleep(60'000'000);
        return std::string("late");
    });
    EXPECT_FALSE(result.is_done);
    EXPECT_EQ(result.text, "took longer than 0.2 s");
}

TEST(ProcessPool, EndsAJobThatTakesTooMuchMemory) {
    const JobResult result = run_one({.bytes = std::uint64_t{256} << 20}, [] {
        std::vector<char> memory(std::size_t{1} << 30);
        std::memset(memory.data(), 1, memory.size());
        usleep(60'000'000);
        return std::string(1, memory[5]);
    });
    EXPECT_FALSE(result.is_done);
    EXPECT_EQ(result.text, "took more than 256 MiB of memory");
}

TEST(ProcessPool, WaitsForAnotherProgramThatAJobBecomes) {
    const JobResult result = run_one({}, []() -> std::string {
        execl("/bin/sh", "sh", "-c", "sleep 0.2; exit 9", nullptr);
        return "";
    });
    EXPECT_FALSE(result.is_done);
    EXPECT_EQ(result.text, "ended with status 9");
}

TEST(ProcessPool, EndsAJobThatIsNoLongerWanted) {
    ProcessPool pool;
    for (const std::size_t job : {1u, 2u})
        pool.start(job, [] {
            usleep(60'000'000);
            return std::string();
        });
    EXPECT_TRUE(pool.wait(10ms).empty());
    pool.end(2, "not wanted");
    const auto ended = pool.wait(10s);
    ASSERT_EQ(ended.size(), 1u);
    EXPECT_EQ(ended[0].job, 2u);
    EXPECT_EQ(ended[0].result.text, "not wanted");
    EXPECT_EQ(pool.running(), 1u);
}

TEST(ProcessPool, TellsTheTimeOnACore) {
    const JobResult result = run_one({}, [] {
        volatile unsigned work = 0;
        for (unsigned i = 0; i < 200'000'000; ++i) work = work + i;
        return std::to_string(work);
    });
    EXPECT_TRUE(result.is_done);
    EXPECT_GT(result.cpu_seconds, 0.02);
}

}  // namespace
}  // namespace lockstep::process
