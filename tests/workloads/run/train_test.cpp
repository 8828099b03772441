// SPDX-License-Identifier: Apache-2.0
// Training as its callers see it: what is shown and kept, on which machines, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/run/job_for.h"
#include "workloads/run/train/job.h"

namespace lockstep::run {
namespace {

using testing::HasSubstr;

class Recorded final : public Screen {
  public:
    void print(std::string_view text) override { printed += text; }
    void print_always(std::string_view text) override { insisted += text; }
    std::string printed, insisted;
};

std::shared_ptr<TrainJob> two_steps() {
    auto training = std::make_shared<TrainJob>();
    training->options.steps = 2;
    training->options.data.train_examples = 100;
    training->options.data.test_examples = 50;
    return training;
}

Job job_on(const std::string& machine, const std::string& what = "digits_mlp:hidden=16") {
    return {.what = what, .machine = machine, .training = two_steps(), .given = {"--train"}};
}

std::string refusal_of(const Job& job) {
    Recorded screen;
    try {
        run(job, screen);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Train, ATpuSimulatesTheFirstStepAndIsAsTheReferenceInAll) {
    Job job = job_on("tpu_v3");
    job.verify = true;
    Recorded screen;
    const Outcome outcome = run(job, screen);
    EXPECT_EQ(outcome.status(), ExitStatus::kDone);
    EXPECT_EQ(screen.insisted, "");
    EXPECT_THAT(screen.printed, HasSubstr("verified step 2"));
    EXPECT_THAT(screen.printed, HasSubstr("a step takes "));
    EXPECT_EQ(outcome.statistics.steps().front().name, "linear1");
    EXPECT_EQ(outcome.statistics.steps().back().name, "epoch 1");
}

TEST(Train, AGpuSimulatesTheFirstStepAndIsAsTheReferenceInAll) {
    Job job = job_on("h200", "digits_mlp:batch=8,hidden=16");
    job.verify = true;
    Recorded screen;
    const Outcome outcome = run(job, screen);
    EXPECT_EQ(outcome.status(), ExitStatus::kDone);
    EXPECT_EQ(screen.insisted, "");
    EXPECT_THAT(screen.printed, HasSubstr("verified step 2"));
    EXPECT_THAT(screen.printed, HasSubstr("a step takes "));
    EXPECT_EQ(outcome.statistics.steps().back().name, "epoch 1");
}

TEST(Train, AGpuSamplesTheFirstStepAndEmulatesTheRest) {
    Job job = job_on("h200", "digits_mlp:batch=8,hidden=16");
    job.sample = true;
    job.l2 = "warm";
    job.given = {"--train", "--sample", "--l2"};
    Recorded screen;
    EXPECT_EQ(run(job, screen).status(), ExitStatus::kDone);
    EXPECT_THAT(screen.printed, HasSubstr("a step takes "));
}

TEST(Train, MachinesComeToTheSameLoss) {
    std::vector<double> losses;
    for (const char* machine : {"host", "h200", "tpu_v3"}) {
        Job job = job_on(machine);
        job.mode = Mode::kEmulate;
        auto training = two_steps();
        training->options.steps = 0;
        training->options.epochs = 2;
        job.training = training;
        Recorded screen;
        const stats::Metrics metrics = run(job, screen).statistics.steps().back().metrics;
        for (const auto& [name, value] : metrics)
            if (name == "lockstep__training_loss") losses.push_back(value.number);
    }
    ASSERT_EQ(losses.size(), 3u);
    EXPECT_NEAR(losses[1], losses[0], 1e-4 * losses[0]);
    EXPECT_NEAR(losses[2], losses[0], 1e-2 * losses[0]) << "its products are of bf16";
}

TEST(Train, ThisComputerTrainsToo) {
    Recorded screen;
    const Outcome outcome = run(job_on("host"), screen);
    EXPECT_THAT(screen.printed, HasSubstr("measured on this computer"));
    EXPECT_EQ(outcome.statistics.steps().size(), 1u);
}

TEST(Train, IsRefusedWhereAMachineHasNoFloatingPoint) {
    EXPECT_THAT(refusal_of(job_on("npu_mobile")),
                HasSubstr("--train: npu_mobile is an NPU, an integer machine for inference"));
    EXPECT_THAT(refusal_of(job_on("tpu_v1")), HasSubstr("first generation, an integer machine"));
    EXPECT_THAT(refusal_of(job_on("systolic")), HasSubstr("multiplies matrices and computes"));
    Job job = job_on("tpu_v3");
    auto training = two_steps();
    training->options.step.compute = network::ElementType::kFp16;
    job.training = training;
    EXPECT_THAT(refusal_of(job), HasSubstr("--mixed fp16: a TPU multiplies in bf16"));
    std::vector<std::string> taken;
    EXPECT_THROW(job_for(job_on("tpu_v3"), "npu_mobile", taken), InputError);
}

TEST(Train, RefusesWhatDoesNotFit) {
    Job job = job_on("tpu_v3");
    job.training = nullptr;
    job.given = {"--epochs"};
    EXPECT_EQ(refusal_of(job), "--epochs needs --train");
    job = job_on("host", "digits_mlp:batch=2");
    auto training = two_steps();
    training->batch = 4;
    job.training = training;
    EXPECT_THAT(refusal_of(job), HasSubstr("the batch is given twice"));
    job = job_on("host", "mlp:input=9");
    training = two_steps();
    training->options.data.name = "digits";
    job.training = training;
    EXPECT_THAT(refusal_of(job),
                HasSubstr("mlp takes x fp32[1,9] and gives [1,10]; digits are images"));
}

}  // namespace
}  // namespace lockstep::run
