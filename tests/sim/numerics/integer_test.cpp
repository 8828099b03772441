// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/integer.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lockstep::numerics {
namespace {

TEST(DivideUp, counts_a_part_that_is_not_full) {
    EXPECT_EQ(divide_up(0, 4), 0);
    EXPECT_EQ(divide_up(4, 4), 1);
    EXPECT_EQ(divide_up(5, 4), 2);
}

TEST(DivideUp, does_not_overflow_where_its_operands_fit) {
    EXPECT_EQ(divide_up(UINT64_MAX, std::uint64_t{2}), UINT64_MAX / 2 + 1);
    EXPECT_EQ(divide_up(std::int64_t{1} << 40, 3u), 366503875926);
}

TEST(RoundUp, gives_a_multiple) {
    EXPECT_EQ(round_up(0u, 256u), 0u);
    EXPECT_EQ(round_up(257u, 256u), 512u);
    EXPECT_EQ(round_up(512u, 256u), 512u);
}

}  // namespace
}  // namespace lockstep::numerics
