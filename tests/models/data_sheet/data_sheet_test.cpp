// SPDX-License-Identifier: Apache-2.0
// Peaks that follow from machine files, against the vendors' own figures.
#include "models/data_sheet/data_sheet.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

struct Published {
    const char* machine;
    const char* precision;
    double tera;
    double tolerance;  ///< relative: a data sheet rounds, and tells the clock that it likes
};

class PublishedPeak : public testing::TestWithParam<Published> {};

TEST_P(PublishedPeak, FollowsFromTheMachineFile) {
    const DataSheet sheet = data_sheet(*config::Machine::load(GetParam().machine));
    EXPECT_NEAR(sheet.peak(GetParam().precision) / (GetParam().tera * 1e12), 1,
                GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    DataSheet, PublishedPeak,
    testing::Values(
        // NVIDIA H100 whitepaper; its Tensor Cores' peaks are at 1830 MHz, the clock here is 1980.
        Published{"h100", "fp32", 66.9, 0.01}, Published{"h100", "fp16", 989.4, 0.09},
        Published{"h100", "fp8", 1978.9, 0.09}, Published{"h100", "fp64", 66.9, 0.01},
        Published{"a100", "tf32", 156, 0.01}, Published{"a100", "bf16", 312, 0.01},
        Published{"a100", "int8", 624, 0.01}, Published{"a100", "fp32", 19.5, 0.01},
        Published{"v100", "fp16", 125, 0.01}, Published{"v100", "fp32", 15.7, 0.01},
        Published{"t4", "fp16", 65, 0.01}, Published{"t4", "int8", 130, 0.01},
        Published{"rtx4090", "fp16", 165.2, 0.01}, Published{"rtx3090", "fp16", 71, 0.01},
        Published{"tpu_v1", "int8", 92, 0.01},       // Jouppi et al., ISCA 2017
        Published{"tpu_v3", "bf16", 61.5, 0.01},     // 123 TFLOPS a chip of two cores
        Published{"tpu_v6e", "bf16", 918, 0.01},     // cloud.google.com/tpu/docs/v6e
        Published{"nvdla_large", "int8", 4.1, 0.01}  // 2,048 MACs at 1 GHz
        ),
    [](const auto& tested) {
        return std::string(tested.param.machine) + "_" + tested.param.precision;
    });

TEST(DataSheet, MemoryOfTpusFollowsFromItsWidthAndClock) {
    EXPECT_NEAR(data_sheet(*config::Machine::load("tpu_v5e")).bandwidth, 819e9, 2e9);
    EXPECT_NEAR(data_sheet(*config::Machine::load("tpu_v1")).bandwidth, 34e9, 0.3e9);
}

TEST(DataSheet, EveryMachineHasOne) {
    for (const std::string& name : config::Machine::names()) {
        const DataSheet sheet = data_sheet(*config::Machine::load(name));
        EXPECT_FALSE(sheet.units.empty()) << name;
        EXPECT_EQ(sheet.most() > 0, name != "host") << name;
    }
}

TEST(DataSheet, OldTensorCoresHaveNoBf16) {
    EXPECT_EQ(data_sheet(*config::Machine::load("v100")).peak("bf16"), 0);
    EXPECT_EQ(data_sheet(*config::Machine::load("t4")).peak("tf32"), 0);
}

}  // namespace
}  // namespace lockstep
