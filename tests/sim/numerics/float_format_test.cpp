// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/float_format.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp32.h"
#include "sim/numerics/fp8.h"
#include "sim/numerics/tf32.h"
#include "tests/sim/numerics/reference_format.h"

namespace lockstep::numerics {
namespace {

constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kDown, Rounding::kUp,
                               Rounding::kTowardZero};

template <typename Format>
ReferenceFormat reference() {
    return {Format::kExponentBits, Format::kMantissaBits, Format::kSpecials == Specials::kIeee,
            Format::kSpecials != Specials::kNone};
}

template <typename Format>
void expect_both_sources_round(const ReferenceFormat& expected, double value) {
    for (const Rounding mode : kModes) {
        for (const bool saturate : {false, true}) {
            ASSERT_EQ(encode<Format>(value, mode, saturate), expected.round(value, mode, saturate))
                << std::hexfloat << value << " mode " << int(mode) << " sat " << saturate;
            const float narrow = static_cast<float>(value);
            ASSERT_EQ(encode<Format>(narrow, mode, saturate),
                      expected.round(narrow, mode, saturate))
                << std::hexfloat << narrow << " mode " << int(mode) << " sat " << saturate;
        }
    }
}

template <typename Format>
class FloatFormatTest : public testing::Test {};
using Formats = testing::Types<Fp16Format, Bf16Format, Tf32Format, E5m2Format, E4m3Format,
                               E3m2Format, E2m3Format, E2m1Format>;
TYPED_TEST_SUITE(FloatFormatTest, Formats);

TYPED_TEST(FloatFormatTest, DecodesEveryFiniteCode) {
    const ReferenceFormat expected = reference<TypeParam>();
    for (uint32_t code = 0; code <= expected.max_finite(); ++code) {
        ASSERT_EQ(decode<TypeParam>(code), expected.magnitudes[code]);
        ASSERT_EQ(decode<TypeParam>(code | TypeParam::kSign), -expected.magnitudes[code]);
        ASSERT_EQ(std::signbit(decode<TypeParam>(code | TypeParam::kSign)), true);
    }
}

TYPED_TEST(FloatFormatTest, DecodesInfinityAndNan) {
    for (uint32_t code = reference<TypeParam>().max_finite() + 1; code <= TypeParam::kMagnitude;
         ++code) {
        const bool infinite =
            TypeParam::kSpecials == Specials::kIeee && code == TypeParam::kInfinity;
        ASSERT_EQ(std::isinf(decode<TypeParam>(code)), infinite);
        ASSERT_EQ(std::isnan(decode<TypeParam>(code)), !infinite);
        ASSERT_TRUE(std::signbit(decode<TypeParam>(code | TypeParam::kSign)));
    }
}

// Every number of the format, every midpoint, and the closest values on both sides of each.
TYPED_TEST(FloatFormatTest, RoundsAroundEveryCode) {
    const ReferenceFormat expected = reference<TypeParam>();
    const double infinity = std::numeric_limits<double>::infinity();
    const uint32_t step = expected.max_finite() > 40000 ? 7 : 1;  // tf32 has 260,000 numbers
    for (uint32_t code = 0; code < expected.max_finite(); code += step) {
        const double low = expected.magnitudes[code];
        const double middle = low + (expected.magnitudes[code + 1] - low) / 2;
        for (const double centre : {low, middle}) {
            for (const double value :
                 {centre, std::nextafter(centre, 0.0), std::nextafter(centre, infinity),
                  double{std::nextafter(static_cast<float>(centre), 0.0f)},
                  double{std::nextafter(static_cast<float>(centre), 3e38f)}}) {
                expect_both_sources_round<TypeParam>(expected, value);
                expect_both_sources_round<TypeParam>(expected, -value);
                if (this->HasFatalFailure()) return;
            }
        }
    }
}

TYPED_TEST(FloatFormatTest, RoundsAtTheEndOfTheRange) {
    const ReferenceFormat expected = reference<TypeParam>();
    const double max = expected.magnitudes.back();
    const double step = max - expected.magnitudes[expected.max_finite() - 1];
    for (const double value :
         {max, max + step / 4, max + step / 2, max + step * 0.75, max + step, max * 4,
          double{std::numeric_limits<float>::max()}, std::numeric_limits<double>::max(),
          std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
          std::numeric_limits<double>::signaling_NaN(), 0.0,
          std::numeric_limits<double>::denorm_min(), double{std::numeric_limits<float>::min()},
          double{std::numeric_limits<float>::denorm_min()}}) {
        expect_both_sources_round<TypeParam>(expected, value);
        expect_both_sources_round<TypeParam>(expected, -value);
    }
}

TYPED_TEST(FloatFormatTest, RoundsAnyBits) {
    const ReferenceFormat expected = reference<TypeParam>();
    EXPECT_TRUE(rc::check("fp32", [&expected](uint32_t bits) {
        const float value = std::bit_cast<float>(bits * 2654435761u);
        for (const Rounding mode : kModes) {
            for (const bool saturate : {false, true}) {
                RC_ASSERT(encode<TypeParam>(value, mode, saturate) ==
                          expected.round(value, mode, saturate));
            }
        }
    }));
    EXPECT_TRUE(rc::check("fp64 in range", [&expected](uint64_t bits) {
        const uint64_t mixed = bits * 0x9e3779b97f4a7c15u;
        // Exponents about the format's own.
        const double value =
            std::ldexp(1 + std::ldexp(mixed >> 12, -52),
                       static_cast<int>(mixed % (2 * TypeParam::kBias + 8)) - TypeParam::kBias - 4);
        for (const Rounding mode : kModes) {
            for (const double signed_value : {value, -value}) {
                RC_ASSERT(encode<TypeParam>(signed_value, mode, false) ==
                          expected.round(signed_value, mode, false));
            }
        }
    }));
}

TYPED_TEST(FloatFormatTest, RoundTripsEveryCode) {
    for (uint32_t code = 0; code < 2 * TypeParam::kSign; ++code) {
        const float value = decode<TypeParam>(code);
        if (std::isnan(value)) continue;
        for (const Rounding mode : kModes) {
            ASSERT_EQ(encode<TypeParam>(value, mode, false), code);
        }
    }
}

TEST(Fp32, NarrowsFp64AsTheHostDoes) {
    EXPECT_TRUE(rc::check([](uint64_t bits) {
        const uint64_t mixed = bits * 0x9e3779b97f4a7c15u;
        const double value =
            std::bit_cast<double>((mixed & 0x800fffffffffffffu) | (0x369 + mixed % 0x120) << 52);
        RC_ASSERT(std::bit_cast<uint32_t>(fp64_to_fp32(value, Rounding::kNearestEven)) ==
                  std::bit_cast<uint32_t>(static_cast<float>(value)));
        const float down = fp64_to_fp32(value, Rounding::kDown);
        const float up = fp64_to_fp32(value, Rounding::kUp);
        RC_ASSERT(down <= value && value <= up);
        RC_ASSERT(down == up || std::nextafter(down, INFINITY) == up);
        const float toward_zero = fp64_to_fp32(value, Rounding::kTowardZero);
        RC_ASSERT(toward_zero == (value < 0 ? up : down));
    }));
}

TEST(Names, DenoteTheirFormats) {
    EXPECT_EQ(fp32_to_fp16(65504.0f), 0x7bff);
    EXPECT_EQ(fp32_to_fp16(65520.0f), 0x7c00);
    EXPECT_EQ(fp32_to_fp16(65520.0f, Rounding::kTowardZero), 0x7bff);
    EXPECT_EQ(fp64_to_fp16(0x1p-24), 1);
    EXPECT_EQ(fp16_to_fp32(0x3555), 0x1.554p-2f);
    EXPECT_EQ(fp16_to_fp64(0x0001), 0x1p-24);
    EXPECT_EQ(fp32_to_bf16(1.00390625f), 0x3f80);
    EXPECT_EQ(fp64_to_bf16(1.00390625 + 1e-12), 0x3f81);
    EXPECT_EQ(bf16_to_fp32(0x4049), 3.140625f);
    EXPECT_EQ(fp32_to_e4m3(448.0f, false), 0x7e);
    EXPECT_EQ(fp32_to_e4m3(464.0f, false), 0x7e);
    EXPECT_EQ(fp32_to_e4m3(465.0f, false), 0x7f);
    EXPECT_EQ(fp32_to_e4m3(-1e9f, true), 0xfe);
    EXPECT_EQ(fp32_to_e5m2(-1e9f, true), 0xfb);
    EXPECT_EQ(fp32_to_e5m2(-1e9f, false), 0xfc);
    EXPECT_EQ(e4m3_to_fp32(0x01), 0x1p-9f);
    EXPECT_EQ(e5m2_to_fp32(0x01), 0x1p-16f);
    EXPECT_EQ(fp32_to_tf32(1.0f + 0x1p-11f, Rounding::kNearestEven), 0x3f800000u);
    EXPECT_EQ(fp32_to_tf32_ties_away(1.0f + 0x1p-11f), 0x3f802000u);
    EXPECT_EQ(fp32_to_tf32_ties_away(-INFINITY), 0xff800000u);
    EXPECT_EQ(fp32_to_tf32_ties_away(std::numeric_limits<float>::max()), 0x7f800000u);
    EXPECT_EQ(tf32_operand(0x3f801fffu), 1.0f);
}

}  // namespace
}  // namespace lockstep::numerics
