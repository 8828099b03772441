// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/error/error.h"

namespace lockstep::sweep {
namespace {

using testing::HasSubstr;

class StoreTest : public testing::Test {
  protected:
    StoreTest() { remove(); }
    ~StoreTest() override { remove(); }
    void remove() const {
        for (const char* ending : {"", "-wal", "-shm", "-journal"})
            std::filesystem::remove(file_ + ending);
    }
    const std::string file_ = testing::TempDir() + "/" + std::to_string(getpid()) + "state.sqlite";
};

Result done(std::uint64_t cycles) {
    Result result;
    result.status = Status::kDone;
    result.cycles = cycles;
    result.seconds = 0.1 * static_cast<double>(cycles);
    result.metrics = {{"dram__bytes.sum", 1e15 + 1}, {"ratio", 1.0 / 3}};
    return result;
}

TEST_F(StoreTest, KeepsResultsExactly) {
    {
        Store store(file_);
        store.add("a", "point a", done(7));
        Result failed;
        failed.status = Status::kFailed;
        failed.reason = "took longer than 2 s";
        store.add("b", "point b", failed);
    }
    Store store(file_);
    auto results = store.results();
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results["a"].status, Status::kDone);
    EXPECT_EQ(results["a"].cycles, 7u);
    EXPECT_EQ(results["a"].seconds, 0.1 * 7);
    EXPECT_EQ(results["a"].metrics, done(7).metrics);
    EXPECT_EQ(results["b"].status, Status::kFailed);
    EXPECT_EQ(results["b"].reason, "took longer than 2 s");
    store.forget_failed();
    EXPECT_EQ(store.results().size(), 1u);
    store.forget_all();
    EXPECT_TRUE(store.results().empty());
}

TEST_F(StoreTest, HasOneWriter) {
    Store store(file_);
    try {
        Store second(file_);
        FAIL() << "two writers";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("another sweep writes this state"));
    }
}

TEST_F(StoreTest, RefusesOtherFiles) {
    std::ofstream(file_) << "a text, and a long one: " << std::string(5000, 'x');
    try {
        Store store(file_);
        FAIL() << "took a text for its state";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("not the state of a sweep"));
    }
    EXPECT_EQ(std::filesystem::file_size(file_), 5024u);
    EXPECT_THROW(Store("/nowhere/at/all.sqlite"), InputError);
}

TEST_F(StoreTest, KeepsAPointOnce) {
    Store store(file_);
    store.add("a", "point a", done(7));
    EXPECT_THROW(store.add("a", "point a", done(7)), InternalError);
}

TEST_F(StoreTest, LosesNothingWhenItsProcessIsKilled) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        Store store(file_);
        for (std::uint64_t i = 0;; ++i) {
            store.add(std::to_string(i), "point", done(i));
            if (write(ends[1], "x", 1) != 1) _exit(1);
        }
    }
    close(ends[1]);
    char byte = 0;
    std::size_t added = 0;
    while (added < 25 && read(ends[0], &byte, 1) == 1) ++added;
    kill(child, SIGKILL);
    while (read(ends[0], &byte, 1) == 1) ++added;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    Store store(file_);
    auto results = store.results();
    EXPECT_GE(results.size(), added);
    EXPECT_LE(results.size(), added + 1);
    for (std::size_t i = 0; i < added; ++i) EXPECT_EQ(results[std::to_string(i)].cycles, i);
}

}  // namespace
}  // namespace lockstep::sweep
