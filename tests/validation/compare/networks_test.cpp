// SPDX-License-Identifier: Apache-2.0
// Suite networks: which rows are simulations, which are estimates, and that each says so.
#include <gmock/gmock.h>

#include "sim/error/error.h"
#include "validation/compare/network_runs.h"
#include "validation/compare/suite.h"
#include "validation/published/published.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;

TEST(Networks, SimulateSmallBatchesOfInferenceOnCardsThatKernelsAreCompiledFor) {
    const choose::Reached small = {.machine = "a100",
                                   .network = "resnet50",
                                   .phase = choose::Phase::kInference,
                                   .precision = "fp16",
                                   .batch = 8};
    EXPECT_TRUE(is_feasible(small));
    const auto with = [&](auto change) {
        choose::Reached run = small;
        change(run);
        return is_feasible(run);
    };
    EXPECT_FALSE(with([](choose::Reached& run) { run.batch = 16; }));
    EXPECT_FALSE(with([](choose::Reached& run) { run.phase = choose::Phase::kTraining; }));
    EXPECT_FALSE(with([](choose::Reached& run) { run.machine = "v100"; }));  // Volta
    EXPECT_FALSE(with([](choose::Reached& run) { run.machine = "t4", run.precision = "tf32"; }));
    EXPECT_TRUE(with([](choose::Reached& run) { run.machine = "t4", run.precision = "fp32"; }));
}

TEST(Networks, TakeLongerThanTheirKernelsAndSayHowFarSamplingMayBeOff) {
    const choose::Reached run = {.machine = "t4",
                                 .network = "digits_mlp",
                                 .phase = choose::Phase::kInference,
                                 .precision = "fp16",
                                 .batch = 8};
    const NetworkRun simulated = simulate_network(run, 1);
    // Two products and what is between: microseconds each, and the host's calls.
    EXPECT_GT(simulated.samples_per_second, 8 / 1e-3);
    EXPECT_LT(simulated.samples_per_second, 8 / 5e-6);
    EXPECT_GE(simulated.error, 0);
    EXPECT_THAT(table_line(run, simulated), testing::StartsWith("t4,digits_mlp,fp16,8,"));
}

TEST(Networks, SayOfEachRowWhatItIs) {
    const Suite& suite = find_suite("networks");
    const std::vector<Row> rows = suite.rows({.machine = "all"});
    std::size_t simulated = 0;
    for (const Row& row : rows) {
        EXPECT_FALSE(row.source.empty()) << row.name;
        const bool is_simulated = row.quantity == "simulated samples/s";
        simulated += is_simulated;
        EXPECT_THAT(row.note, HasSubstr(is_simulated ? "not the vendor's" : "an estimate, not a"))
            << row.name;
    }
    EXPECT_EQ(simulated, published_table("networks_simulated").rows());
    for (const Row& row : suite.rows({.machine = "t4"}))
        EXPECT_THAT(row.name, testing::StartsWith("t4 "));
    EXPECT_THROW(suite.rows({.machine = "tpu_v3"}), InputError);
}

}  // namespace
}  // namespace lockstep::validation
