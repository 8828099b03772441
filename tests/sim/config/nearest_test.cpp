// SPDX-License-Identifier: Apache-2.0
#include "sim/config/nearest.h"

#include <gtest/gtest.h>

namespace lockstep::config {
namespace {

TEST(Nearest, FindsTheCandidateWithTheFewestEdits) {
    EXPECT_EQ(nearest("sm.cuont", {"sm.registers", "sm.count", "l2.size"}), "sm.count");
    EXPECT_EQ(nearest("h20", {"h100", "h200", "a100"}), "h200");
}

TEST(Nearest, FindsNothingWhereAllAreFar) {
    EXPECT_EQ(nearest("zzzzzz", {"sm.count", "l2.size"}), "");
    EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace lockstep::config
