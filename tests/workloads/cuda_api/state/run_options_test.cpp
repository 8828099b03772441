// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/state/run_options.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/error/error.h"

namespace lockstep::cuda {
namespace {

struct Environment {
    ~Environment() {
        for (const auto& [name, value] : RunOptions{}.to_environment()) unsetenv(name.c_str());
    }
    void set(const RunOptions& options) {
        for (const auto& [name, value] : options.to_environment())
            setenv(name.c_str(), value.c_str(), 1);
    }
};

TEST(RunOptions, WhatTheCommandLineWritesTheLibraryReads) {
    Environment environment;
    RunOptions options;
    options.machine = "a100";
    options.mode = "emulate";
    options.overrides = {"sm.count=4", "clock.sm=1000"};
    options.threads = 3;
    options.seed = 99;
    options.max_instructions = 1'000'000'000'000;
    options.stats_file = "/tmp/a b.json";
    options.bounds = "page";
    options.l2 = "warm";
    options.trace_file = "t.json";
    options.trace_window = "100:200";
    options.trace_sms = "0-3";
    options.checks = "race,sync";
    options.workload = "./app -n 4";
    options.quiet = true;
    environment.set(options);
    const RunOptions read = RunOptions::from_environment();
    EXPECT_EQ(read.to_environment(), options.to_environment());
    EXPECT_EQ(read.overrides, options.overrides);
    EXPECT_TRUE(read.quiet);
}

TEST(RunOptions, NothingSetMeansTheDefaults) {
    Environment environment;
    for (const auto& [name, value] : RunOptions{}.to_environment()) unsetenv(name.c_str());
    const RunOptions read = RunOptions::from_environment();
    EXPECT_EQ(read.machine, "h200");
    EXPECT_EQ(read.mode, "cycle");
    EXPECT_EQ(read.threads, 1u);
    EXPECT_TRUE(read.overrides.empty());
}

TEST(RunOptions, MalformedValuesAreTheUsersErrors) {
    for (const auto& [name, value] :
         {std::pair{"LOCKSTEP_THREADS", "0"}, std::pair{"LOCKSTEP_THREADS", "two"},
          std::pair{"LOCKSTEP_SEED", "-1"}, std::pair{"LOCKSTEP_MAX_INSTRUCTIONS", ""},
          std::pair{"LOCKSTEP_MODE", "fast"}, std::pair{"LOCKSTEP_L2", "hot"},
          std::pair{"LOCKSTEP_BOUNDS", "none"}}) {
        Environment environment;
        environment.set({});
        setenv(name, value, 1);
        EXPECT_THROW(RunOptions::from_environment(), InputError) << name << "=" << value;
    }
}

}  // namespace
}  // namespace lockstep::cuda
