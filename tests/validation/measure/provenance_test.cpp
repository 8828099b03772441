// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "validation/measure/nvml.h"

namespace lockstep::validation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MachineOf, TakesWholeWords) {
    EXPECT_EQ(machine_of("NVIDIA H200"), "h200");
    EXPECT_EQ(machine_of("NVIDIA H100 80GB HBM3"), "h100");
    EXPECT_EQ(machine_of("NVIDIA A100-SXM4-80GB"), "a100");
    EXPECT_EQ(machine_of("NVIDIA GeForce RTX 3090"), "rtx3090");
    EXPECT_EQ(machine_of("Tesla T4"), "t4");
    // Another chip's memory and clocks, though it has as many SMs.
    EXPECT_THROW(machine_of("NVIDIA GH200 480GB"), InputError);
    EXPECT_THROW(machine_of(""), InputError);
}

TEST(CardState, SaysWhatTheLibraryKnows) {
    const auto state = card_state(LOCKSTEP_FAKE_DRIVER, "0000:1a:00.0");
    EXPECT_EQ(state, (std::map<std::string, std::string>{{"driver", "580.1"},
                                                         {"sm_mhz", "345"},
                                                         {"memory_mhz", "3201"},
                                                         {"power_limit_w", "700.5"},
                                                         {"ecc", "on"},
                                                         {"clocks_low_by", "idle, power cap"},
                                                         {"processes", "2"}}));
    EXPECT_TRUE(card_state(LOCKSTEP_FAKE_DRIVER, "0000:1b:00.0").empty());
    EXPECT_TRUE(card_state("libnothing_of_the_kind.so", "0000:1a:00.0").empty());
}

TEST(Provenance, TellsWhatIsDoubtful) {
    const auto driver = Driver::load(LOCKSTEP_FAKE_DRIVER);
    const Provenance p = provenance_of(*driver, LOCKSTEP_FAKE_DRIVER, "");
    EXPECT_EQ(p.machine, "h200");
    EXPECT_EQ(p.sm_mhz_rated, 1980);
    EXPECT_THAT(doubts(p), ElementsAre("2 other processes compute on the GPU",
                                       "clocks are kept low by: idle, power cap"));
    EXPECT_THAT(doubts({.card = {{"mig", "on"}, {"ecc", "off"}}}),
                ElementsAre(HasSubstr("MIG"), "ECC is off"));
    EXPECT_TRUE(doubts({.card = {{"processes", "0"}, {"clocks_low_by", "idle"}}}).empty());
}

}  // namespace
}  // namespace lockstep::validation
