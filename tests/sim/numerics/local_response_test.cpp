// SPDX-License-Identifier: Apache-2.0
// The table of local response normalisation against the function, and rows against their
// definition.
#include "sim/numerics/local_response.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace lockstep::numerics {
namespace {

TEST(LocalResponse, EachSumHasItsPlace) {
    for (std::uint32_t sum = 0; sum < 1u << kLocalResponseSumBits; sum += sum < 5000 ? 1 : 97) {
        const auto [entry, fraction, bits] = detail::local_response_place(sum);
        ASSERT_LT(entry + 1, kLocalResponseEntries);
        ASSERT_EQ(detail::local_response_sum(entry) + fraction, sum);
        ASSERT_EQ(detail::local_response_sum(entry + 1) - detail::local_response_sum(entry),
                  1 << bits);
    }
    EXPECT_EQ(detail::local_response_place(1u << 31).entry, kLocalResponseEntries - 2);
}

RC_GTEST_PROP(LocalResponse, TheTableIsNearTheFunction, ()) {
    const double alpha = std::pow(10.0, *rc::gen::inRange(-9, 1)),
                 beta = 0.25 * *rc::gen::inRange(0, 5), bias = 0.5 * *rc::gen::inRange(1, 5);
    const auto sum = *rc::gen::inRange<std::uint32_t>(0, 1u << 20);
    const LocalResponseTable table = local_response_table(alpha, beta, bias);
    const double exact = std::pow(bias + alpha * sum, -beta);
    // Half a step of the entries; a chord over an eighth of a power of two, beta (beta + 1) / 8
    // / 64.
    RC_ASSERT(std::abs(local_response_of(table.entries, sum) * table.step - exact) <=
              1.1 * table.step + exact / 256);
}

RC_GTEST_PROP(LocalResponse, ARowIsAsDefined, ()) {
    const auto x = *rc::gen::container<std::vector<std::int32_t>>(rc::gen::inRange(-255, 256));
    const auto before = *rc::gen::inRange<std::size_t>(0, 8),
               after = *rc::gen::inRange<std::size_t>(0, 8);
    const LocalResponseTable table = local_response_table(1e-4, 0.75, 1);
    std::vector<std::int32_t> out(x.size());
    local_response_row(x, out, before, after, table.entries);
    for (std::size_t c = 0; c < x.size(); ++c) {
        std::uint32_t sum = 0;
        for (std::size_t i = c < before ? 0 : c - before; i < x.size() && i <= c + after; ++i)
            sum += static_cast<std::uint32_t>(x[i] * x[i]);
        RC_ASSERT(out[c] == x[c] * local_response_of(table.entries, sum));
    }
}

}  // namespace
}  // namespace lockstep::numerics
