// SPDX-License-Identifier: Apache-2.0
// A run as its callers see it: data, and lines for whoever shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/paths.h"
#include "workloads/run/kind.h"
#include "workloads/run/tpu/network.h"

namespace lockstep::run {
namespace {

using testing::HasSubstr;

class Recorded final : public Screen {
  public:
    void print(std::string_view text) override { printed += text; }
    void print_always(std::string_view text) override { insisted += text; }
    std::string printed, insisted;
};

TEST(Run, EveryMachineIsOfAKindThatRunsSomething) {
    for (const std::string& name : config::Machine::names()) {
        const auto machine = config::Machine::load(name);
        EXPECT_FALSE(kind_of(*machine).ways.empty()) << name;
    }
}

TEST(Run, EveryKindIsNamedAsItsMachinesAre) {
    std::set<std::string_view> names;
    for (const Kind& kind : kinds()) {
        EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " has two rows";
        EXPECT_EQ(config::Machine::load(std::string(kind.example))->kind(), kind.name);
    }
}

TEST(Run, ANetworkOnAGpuGivesItsLaunchesAsStepsInBothModes) {
    for (const char* machine : {"h200", "a100", "t4"})
        for (const Mode mode : {Mode::kCycle, Mode::kEmulate}) {
            Job job;
            job.what = "digits_cnn";
            job.machine = machine;
            job.mode = mode;
            job.verify = true;
            job.schedule = true;
            Recorded screen;
            const Outcome outcome = run(job, screen);
            EXPECT_TRUE(outcome.passed) << screen.insisted;
            EXPECT_THAT(screen.printed, HasSubstr("verified linear: 10 elements"));
            EXPECT_THAT(screen.insisted, HasSubstr("product_fp32_small grid"));
            const auto& steps = outcome.statistics.steps();
            ASSERT_GE(steps.size(), 5u);
            EXPECT_EQ(steps[0].name, "conv1+conv1.relu: product_fp32_small");
            const auto has_time = [](const stats::Step& step) {
                return std::ranges::count(step.metrics, "sm__cycles_elapsed.max",
                                          &stats::Metrics::value_type::first) != 0;
            };
            EXPECT_EQ(std::ranges::all_of(steps, has_time), mode == Mode::kCycle);
        }
}

TEST(Run, ANetworkOnAGpuRefusesWhatItCannotDo) {
    const auto message = [](const std::string& what, const std::string& machine,
                            const std::string& precision) -> std::string {
        Job job;
        job.what = what;
        job.machine = machine;
        job.precision = precision;
        job.mode = Mode::kEmulate;
        Screen screen;
        try {
            run(job, screen);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message("digits_cnn", "h200", "fp17"), HasSubstr("--precision fp17: a GPU"));
    EXPECT_THAT(message("digits_cnn:dtype=fp32", "h200", "fp16"), HasSubstr("which of them?"));
    EXPECT_THAT(message("digits_cnn", "v100", ""), HasSubstr("compute capability 7.0"));
}

TEST(Run, AKernelGivesItsLaunchesAsSteps) {
    Recorded screen;
    const Outcome outcome = run({.what = "vector_add:n=64", .mode = Mode::kEmulate}, screen);
    ASSERT_EQ(outcome.statistics.steps().size(), 1u);
    EXPECT_EQ(outcome.statistics.steps()[0].name, "vector_add");
    EXPECT_EQ(outcome.statistics.machine(), "h200");
    EXPECT_EQ(outcome.status(), ExitStatus::kDone);
    EXPECT_THAT(screen.printed, HasSubstr("warp-instructions"));
    EXPECT_EQ(screen.insisted, "");
}

TEST(Run, EnergyIsCountedByStepAndShown) {
    Recorded screen;
    const Outcome outcome =
        run({.what = "vector_add:n=262144", .machine = "a100", .energy = true}, screen);
    EXPECT_THAT(screen.printed, HasSubstr("Energy "));
    const auto has = [](const stats::Metrics& metrics, std::string_view wanted) {
        return std::ranges::any_of(metrics,
                                   [&](const auto& metric) { return metric.first == wanted; });
    };
    const stats::Metrics& step = outcome.statistics.steps().at(0).metrics;
    for (const char* name : {"energy.total", "energy.dram", "lockstep__toggle_rate_memory.pct",
                             "lockstep__toggle_rate_arithmetic.pct"})
        EXPECT_TRUE(has(step, name)) << name;
    EXPECT_TRUE(has(outcome.statistics.totals(), "area.sm"));
    const Outcome without = run({.what = "vector_add:n=262144", .machine = "a100"}, screen);
    EXPECT_FALSE(has(without.statistics.steps().at(0).metrics, "energy.total"));
}

TEST(Run, ZerosToggleNothing) {
    Screen screen;
    const auto toggles = [&](const std::string& input) {
        const Outcome outcome =
            run({.what = source_path("workloads/cuda/cubin/sm_80/vector_add.cubin"),
                 .machine = "a100",
                 .energy = true,
                 .kernel = "vector_add",
                 .grid = "64",
                 .block = "256",
                 .kernel_arguments = {input, input, "zeros:65536", "16384"}},
                screen);
        for (const auto& [name, value] : outcome.statistics.steps().at(0).metrics)
            if (name == "lockstep__toggle_rate_memory.pct") return value.as_double();
        return -1.0;
    };
    EXPECT_EQ(toggles("zeros:65536"), 0);
    const double random = toggles("random:65536");
    EXPECT_NEAR(random, 50, 1);  // random bits
}

TEST(Run, ANameOfTwoThingsIsWhatTheMachineRuns) {
    Screen screen;
    const auto name = [&](const char* machine) {
        const Job job{.what = "gemm:m=8,n=8,k=8", .machine = machine, .mode = Mode::kEmulate};
        return run(job, screen).statistics.steps().at(0).name;
    };
    EXPECT_EQ(name("h200"), "sgemm_register_blocked");
    EXPECT_EQ(name("systolic"), "gemm");
}

TEST(Run, ANameOfTwoThingsIsTheNetworkWhereItsParametersAre) {
    Screen screen;
    const auto name = [&](const char* what) {
        const Job job{.what = what, .machine = "h200", .mode = Mode::kEmulate, .verify = true};
        return run(job, screen).statistics.steps().at(0).name;
    };
    EXPECT_EQ(name("attention:heads=4,seq=32,d=16"), "attention_flash");
    EXPECT_EQ(name("attention:heads=4,kv_heads=2,seq=32,queries=1,d=16").substr(0, 16),
              "attention.scores");
    EXPECT_THROW(name("attention:heads=4,kv_haeds=2"), InputError);
}

TEST(Run, WhatWasVerifiedIsShown) {
    Recorded screen;
    Job job{.what = "gemm:m=8,n=8,k=8", .machine = "systolic", .verify = true};
    EXPECT_TRUE(run(job, screen).passed);
    EXPECT_THAT(screen.printed, HasSubstr("verified gemm: 64 elements"));
}

TEST(Run, ANetworkIsTimedWithoutValues) {
    const Job job{.what = "gemm:m=64,n=64,k=64", .machine = "tpu_v1"};
    Screen screen;
    Job timed = job;
    timed.no_values = true;
    EXPECT_EQ(time_tpu_network(job)
                  .steps.at(0)
                  .metrics(tpu::Parameters(*config::Machine::load("tpu_v1")))[0]
                  .second.count,
              run(timed, screen).statistics.steps().at(0).metrics[0].second.count);
    EXPECT_THROW(time_tpu_network({.what = job.what}), InputError);  // h200
}

}  // namespace
}  // namespace lockstep::run
