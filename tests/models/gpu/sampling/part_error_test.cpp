// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/part_error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::gpu {
namespace {

TEST(PartError, ComparesEveryFourthLaunchButTheFirst) {
    PartError error;
    std::string compared;
    for (int i = 0; i < 10; ++i) {
        compared += error.compares() ? 'x' : '.';
        error.compares() ? error.add(1, 1) : error.add();
    }
    EXPECT_EQ(compared, ".x...x...x");
}

TEST(PartError, IsStudentsOfWhatPartsDifferBy) {
    PartError error;
    // Student's t of four degrees of freedom: 2.7764.
    EXPECT_NEAR(error.error(), 2.77645 * 0.034 * std::sqrt(2), 1e-6);
    error.add();
    EXPECT_NEAR(error.error(), 2.77645 * 0.034 * std::sqrt(2), 1e-6);
    // 90 and 110: each 10% off their mean. Five: 2.5706.
    error.add(90, 110);
    EXPECT_NEAR(error.error(), 2.57058 * std::sqrt(2 * (2 * 0.01 + 4 * 0.034 * 0.034) / 5), 1e-6);
}

TEST(PartError, FallsWhereThePartsAgree) {
    PartError error;
    for (int i = 0; i < 1000; ++i) error.add(1000, 1000);
    EXPECT_LT(error.error(), 0.01);
}

}  // namespace
}  // namespace lockstep::gpu
