// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/mufu/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace lockstep::sass::mufu {
namespace {

/// Samples of a segment of 1 / x from a unit with other coefficients than ours.
std::vector<Sample> samples_of(const Quadratic& q, std::uint32_t first, int count) {
    std::vector<Sample> samples;
    for (int i = 0; i < count; ++i) {
        const std::uint32_t x = first + static_cast<std::uint32_t>(i) * 31;
        int segment;
        double t;
        quadratic_place(Function::kRcp, x, segment, t);
        const auto y =
            static_cast<float>(q.c0 / 0x1p26 + t * (q.c1 / 0x1p16 + t * (q.c2 / 0x1p10)));
        samples.push_back(sample(Function::kRcp, x, std::bit_cast<std::uint32_t>(y)));
        EXPECT_EQ(samples.back().segment, segment);
    }
    return samples;
}

TEST(Fit, FindsWhatGivesTheResults) {
    const Quadratic hidden{65572019 + 5, -62567 - 2, 945 + 2};
    const Fit found = fit(samples_of(hidden, 0x3f830000, 2000), {26, 16, 10});
    EXPECT_EQ(found.fulfilled, 2000u);
    // Other coefficients may give the same results, but none that are far away.
    EXPECT_NEAR(found.quadratic.c1, hidden.c1, 1);
    EXPECT_NEAR(found.quadratic.c2, hidden.c2, 3);
}

TEST(Fit, TakesResultsOfEveryFunction) {
    // Each begins with a segment; the stride spreads a thousand sources over most of it.
    struct Case {
        Function function;
        std::uint32_t first, stride;
    };
    for (const auto& [function, first, stride] :
         std::vector<Case>{{Function::kRcp, 0x3f810000, 65},
                           {Function::kRsq, 0x40020000, 131},
                           {Function::kEx2, 0x3f840000, 131},
                           {Function::kEx2, 0x3f180000, 262},
                           {Function::kLg2, 0x3f120000, 131},
                           {Function::kLg2, 0x3fa20000, 131},
                           {Function::kSin, 0x3e040000, 262},
                           {Function::kSin, 0x3e920000, 131},
                           {Function::kCos, 0x3e040000, 262},
                           {Function::kCos, 0x3ea20000, 131},
                           {Function::kTanh, 0x3f800000, 1048}}) {
        std::vector<std::vector<Sample>> all(static_cast<std::size_t>(segment_count()));
        for (std::uint32_t i = 0; i < 1000; ++i) {
            const std::uint32_t x = first + i * stride;
            const Sample s = sample(function, x, evaluate(function, x));
            ASSERT_LT(s.low, s.high);
            all[static_cast<std::size_t>(s.segment)].push_back(s);
        }
        const FittedTables fitted = fit_tables(all);
        EXPECT_GE(fitted.segments, 1u) << static_cast<int>(function);
        EXPECT_EQ(fitted.fulfilled, fitted.samples) << static_cast<int>(function);
        EXPECT_THAT(fitted.text, testing::HasSubstr("constexpr Segment kTangent7[8] = {"));
    }
}

}  // namespace
}  // namespace lockstep::sass::mufu
