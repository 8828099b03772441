// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/places.h"

#include <gtest/gtest.h>

namespace lockstep::network::gpu {
namespace {

std::uint32_t divided(std::uint32_t x, const kernels::Divider& by) {
    if (by.divisor == 1) return x;
    return static_cast<std::uint32_t>((std::uint64_t{x} * by.multiplier) >> 32) >> by.shift;
}

TEST(Divider, divides_numbers_of_31_bits) {
    for (const std::int64_t d : {1, 2, 3, 7, 10, 147, 3136, 65536, 65537, 12345678, 2147483647}) {
        const kernels::Divider by = divider_of(d);
        const auto divisor = static_cast<std::uint32_t>(d);
        for (std::uint32_t x = 0; x < 3000; ++x) ASSERT_EQ(divided(x, by), x / divisor);
        for (std::uint64_t x = 1; x < 0x80000000u; x = x * 3 / 2 + 1)
            for (const std::uint64_t y : {x - 1, x, x / divisor * divisor}) {
                const auto number = static_cast<std::uint32_t>(y);
                ASSERT_EQ(divided(number, by), number / divisor) << number << " / " << d;
            }
    }
}

TEST(Loops, join_dimensions_that_follow_each_other_in_all_operands) {
    Loops loops{{2, 3, 1, 4}, {}};
    loops.add({12, 4, 9, 1});
    loops.add({0, 0, 0, 1});
    const Loops joined = loops.joined();
    EXPECT_EQ(joined.extents, (Shape{6, 4}));
    EXPECT_EQ(joined.strides[0], (std::vector<std::int64_t>{4, 1}));
    EXPECT_EQ(joined.strides[1], (std::vector<std::int64_t>{0, 1}));
}

TEST(Loops, of_one_element_are_one_loop) {
    Loops loops{{1, 1}, {}};
    loops.add({5, 7});
    EXPECT_EQ(loops.joined().extents, (Shape{1}));
}

TEST(Loops, go_in_the_order_of_the_first_operand) {
    Loops loops{{2, 3, 4}, {}};
    loops.add({12, 1, 3});
    loops.add({1, 2, 3});
    const Loops sorted = loops.sorted();
    EXPECT_EQ(sorted.extents, (Shape{2, 4, 3}));
    EXPECT_EQ(sorted.strides[1], (std::vector<std::int64_t>{1, 3, 2}));
}

TEST(SingleStride, is_there_where_dimensions_follow_each_other) {
    EXPECT_EQ(single_stride({2, 3, 4}, {12, 4, 1}), 1);
    EXPECT_EQ(single_stride({2, 1, 4}, {8, 77, 2}), 2);
    EXPECT_EQ(single_stride({1, 1}, {3, 4}), 0);
    EXPECT_EQ(single_stride({2, 3}, {4, 1}), std::nullopt);
}

}  // namespace
}  // namespace lockstep::network::gpu
