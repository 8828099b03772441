// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/job_for.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(JobFor, MachinesAreAList) {
    EXPECT_THAT(machines_of("h200"), ElementsAre("h200"));
    EXPECT_THAT(machines_of("h200,mine.yaml,host"), ElementsAre("h200", "mine.yaml", "host"));
    for (const char* wrong : {"", "h200,", ",h200", "h200,,host", "h200,host,h200"})
        EXPECT_THROW(machines_of(wrong), InputError) << wrong;
}

TEST(JobFor, AMachineGetsTheOptionsThatItTakes) {
    Job job;
    job.what = "digits_cnn";
    job.verify = job.energy = job.host = true;
    job.precision = "4";
    job.given = {"--verify", "--energy", "--host", "--precision"};
    job.options = {"--energy", "--precision 4", "--host"};
    std::vector<std::string> taken;
    const Job npu = job_for(job, "npu_mobile", taken);
    EXPECT_EQ(npu.given, job.given);
    EXPECT_EQ(taken, job.given);
    EXPECT_EQ(npu.precision, "4");

    taken.clear();
    const Job tpu = job_for(job, "tpu_v3", taken);
    EXPECT_THAT(taken, ElementsAre("--verify", "--energy"));
    EXPECT_TRUE(tpu.verify && tpu.energy);
    EXPECT_FALSE(tpu.host);
    EXPECT_EQ(tpu.precision, Job().precision);
    EXPECT_THAT(tpu.options, ElementsAre("--energy"));

    taken.clear();
    const Job card = job_for(job, "gtx1080", taken);
    EXPECT_THAT(taken, IsEmpty());
    EXPECT_FALSE(card.verify || card.energy);
    EXPECT_EQ(card.machine, "gtx1080");
}

TEST(JobFor, AMachineThatCannotRunItSaysSo) {
    Job job;
    job.what = "sgemm";
    std::vector<std::string> taken;
    EXPECT_THROW(job_for(job, "tpu_v1", taken), InputError);
    EXPECT_THROW(job_for(job, "no_such_machine", taken), InputError);
}

TEST(JobFor, SamplesAreTheBatch) {
    const auto samples = [](const char* what) {
        Job job;
        job.what = what;
        return samples_of(job);
    };
    EXPECT_EQ(samples("resnet18"), 1);
    EXPECT_EQ(samples("resnet18:batch=8"), 8);
    EXPECT_EQ(samples("bert_base:seq=128,batch=16"), 16);
    EXPECT_EQ(samples("x.onnx:minibatch=4"), 1);
    EXPECT_EQ(samples("x.onnx:minibatch=4,batch=2"), 2);
    EXPECT_EQ(samples("batch=2.onnx"), 1);
}

}  // namespace
}  // namespace lockstep::run
