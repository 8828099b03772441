// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/microscaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep::numerics {
namespace {

TEST(Microscaling, SaturatesAndMapsNanToTheLargest) {
    EXPECT_EQ(e2m3_to_fp32(0x1f), 7.5f);
    EXPECT_EQ(e3m2_to_fp32(0x1f), 28.0f);
    EXPECT_EQ(e2m1_to_fp32(0x07), 6.0f);
    EXPECT_EQ(e2m1_to_fp32(0x09), -0.5f);
    for (const float large : {100.0f, INFINITY, std::numeric_limits<float>::quiet_NaN()}) {
        EXPECT_EQ(fp32_to_e2m3(large), 0x1f);
        EXPECT_EQ(fp32_to_e3m2(large), 0x1f);
        EXPECT_EQ(fp32_to_e2m1(large), 0x07);
    }
    EXPECT_EQ(fp32_to_e2m1(-INFINITY), 0x0f);
    EXPECT_EQ(fp32_to_e2m1(0.25f), 0x00);
    EXPECT_EQ(fp32_to_e2m1(0.75f), 0x02);
}

TEST(Microscaling, ScaleHoldsEveryPowerOfTwo) {
    for (int code = 0; code < 255; ++code) {
        const float value = e8m0_to_fp32(static_cast<uint8_t>(code));
        ASSERT_EQ(value, std::ldexp(1.0, code - 127));
        ASSERT_EQ(fp32_to_e8m0(value, Rounding::kUp), code);
        ASSERT_EQ(fp32_to_e8m0(-value, Rounding::kTowardZero), code);
        if (code == 254) continue;
        const float above = std::nextafter(value, INFINITY);
        ASSERT_EQ(fp32_to_e8m0(above, Rounding::kUp), code + 1);
        ASSERT_EQ(fp32_to_e8m0(above, Rounding::kTowardZero), code);
    }
    EXPECT_TRUE(std::isnan(e8m0_to_fp32(0xff)));
    EXPECT_EQ(fp32_to_e8m0(std::numeric_limits<float>::quiet_NaN(), Rounding::kUp), 0xff);
    EXPECT_EQ(fp32_to_e8m0(INFINITY, Rounding::kUp), 0xfe);
    EXPECT_EQ(fp32_to_e8m0(0.0f, Rounding::kUp), 0);
    EXPECT_EQ(fp32_to_e8m0(0x1p-149f, Rounding::kUp), 0);
}

}  // namespace
}  // namespace lockstep::numerics
