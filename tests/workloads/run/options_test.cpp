// SPDX-License-Identifier: Apache-2.0
// An option that means nothing to what runs is refused, with who takes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/run/job.h"

namespace lockstep::run {
namespace {

using testing::HasSubstr;

/// What is wrong with running this; "" where nothing is.
std::string wrong_with(const Job& job) {
    try {
        Screen screen;
        run(job, screen);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

Job given(const char* what, const char* machine, std::vector<std::string> options) {
    return {.what = what, .machine = machine, .mode = Mode::kEmulate, .given = std::move(options)};
}

TEST(Options, OfAnotherKindOfMachine) {
    EXPECT_EQ(wrong_with(given("gemm:m=8,n=8,k=8", "tpu_v1", {"--l2"})),
              "--l2 is for a GPU; tpu_v1 is a TPU");
    EXPECT_EQ(wrong_with(given("vector_add", "h200", {"--no-values"})),
              "--no-values is for a TPU or an NPU or a systolic array; h200 is a GPU");
    EXPECT_EQ(wrong_with(given("vector_add", "h200", {"--schedule"})),
              "--schedule is for a network; vector_add is a built-in kernel");
}

TEST(Options, OfAnotherThingOnTheSameMachine) {
    EXPECT_EQ(wrong_with(given("vector_add", "h200", {"--grid"})),
              "--grid is for a cubin; vector_add is a built-in kernel");
    EXPECT_EQ(wrong_with(given("gemm", "tpu_v1", {"--arg"})),
              "--arg is for a TPU program; gemm is a network");
}

TEST(Options, ThatTheWayTakes) {
    EXPECT_EQ(wrong_with(given("vector_add:n=32", "h200", {"--verify", "--seed", "--threads"})),
              "");
}

TEST(Options, OfTimeNeedCycleMode) {
    EXPECT_THAT(wrong_with(given("vector_add:n=32", "h200", {"--l2"})),
                HasSubstr("--l2 needs --mode cycle"));
    EXPECT_THAT(wrong_with(given("vector_add:n=32", "h200", {"--trace"})),
                HasSubstr("--trace needs --mode cycle"));
}

TEST(Options, OfValuesNeedValues) {
    Job job = given("gemm", "tpu_v1", {"--no-values", "--program"});
    job.mode = Mode::kCycle;
    job.no_values = true;
    EXPECT_EQ(wrong_with(job), "--program needs values; --no-values has none");
    job.given = {"--no-values"};
    job.mode = Mode::kEmulate;
    EXPECT_EQ(wrong_with(job), "--mode emulate computes values; --no-values has none");
}

TEST(Options, ATraceEndsAsItsMachineWritesIt) {
    Job job{.what = "vector_add:n=32", .trace_file = "x.txt"};
    EXPECT_THAT(wrong_with(job), HasSubstr("a GPU ends in .json or .vcd or .kanata"));
    job.trace_file = "";
    job.trace_window = "1:2";
    EXPECT_EQ(wrong_with(job), "--trace-window needs --trace FILE");
}

TEST(Options, ArgumentsAreForExecutables) {
    const Job job{.what = "vector_add", .arguments = {"5"}};
    EXPECT_EQ(wrong_with(job), "'5': vector_add is a built-in kernel, which takes no arguments");
}

}  // namespace
}  // namespace lockstep::run
