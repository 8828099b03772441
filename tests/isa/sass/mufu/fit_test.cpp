// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/mufu/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace lockstep::sass::mufu {
namespace {

/// Samples of the fourth segment of 1 / x from a unit with other coefficients than ours.
std::vector<Sample> samples_of(const Segment& q, int count) {
    std::vector<Sample> samples;
    for (int i = 0; i < count; ++i) {
        const std::uint32_t x = 0x3f830000 + static_cast<std::uint32_t>(i) * 31;
        int segment, places;
        quadratic_place(Function::kRcp, x, segment, places);
        const double sum = q.c0 * 0x1p-26 + kArrays[0].bias * 0x1p-40 + places * (q.c1 * 0x1p-40) +
                           square_of_places(places) * (q.c2 * 0x1p-39);
        const auto y = static_cast<std::uint32_t>(sum * 0x1p24);  // in [1/2, 1)
        samples.push_back(sample(Function::kRcp, x, (y & 0x7fffff) | 126u << 23));
        EXPECT_EQ(samples.back().segment, segment);
    }
    return samples;
}

TEST(Fit, FindsWhatGivesTheResults) {
    const Segment hidden{65572019 + 5, -62567 - 2, 945 + 2};
    const Fit found = fit(samples_of(hidden, 2000), kArrays[0], 3);
    EXPECT_EQ(found.fulfilled, 2000u);
    EXPECT_EQ(found.segment.c0, hidden.c0);
    EXPECT_EQ(found.segment.c1, hidden.c1);
    EXPECT_EQ(found.segment.c2, hidden.c2);
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
                           {Function::kSqrt, 0x40020000, 131},
                           {Function::kSqrt, 0x3fa20000, 131},
                           {Function::kEx2, 0x3f840000, 131},
                           {Function::kEx2, 0x3f180000, 262},
                           {Function::kLg2, 0x3f120000, 131},
                           {Function::kLg2, 0x3fa20000, 131},
                           {Function::kSin, 0x3e040001, 262},
                           {Function::kSin, 0x3e920001, 131},
                           {Function::kCos, 0x3e040001, 262},
                           {Function::kCos, 0x3ea20001, 131},
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
        EXPECT_THAT(fitted.text, testing::HasSubstr("constexpr Segment kTangent[51] = {"));
    }
}

}  // namespace
}  // namespace lockstep::sass::mufu
