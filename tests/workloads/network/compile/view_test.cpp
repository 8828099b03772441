// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/view.h"

#include <gmock/gmock.h>

namespace lockstep::network::compile {
namespace {

using testing::ElementsAre;

struct Placed : View {
    std::uint64_t address = 0;
};

Placed dense(const Shape& shape) {
    return {{shape, dense_strides(shape), {}}, 64};
}

TEST(View, of_an_image_has_its_channels_innermost) {
    EXPECT_THAT(image_strides({2, 3, 4, 5}), ElementsAre(60, 1, 15, 3));
}

TEST(View, that_fills_a_range_is_dense_in_any_order) {
    EXPECT_TRUE(is_dense({{2, 3, 4, 5}, image_strides({2, 3, 4, 5}), {}}));
    EXPECT_FALSE(is_dense({{2, 3}, {4, 1}, {}}));
}

TEST(View, is_reshaped_without_a_copy_where_its_dimensions_follow) {
    const auto joined = reshaped(dense({2, 3, 4}), {6, 4});
    ASSERT_TRUE(joined.has_value());
    EXPECT_THAT(joined->strides, ElementsAre(4, 1));
    EXPECT_EQ(joined->address, 64u);  // a place stays one
    EXPECT_FALSE(reshaped(permuted(dense({2, 3}), {1, 0}), {6}).has_value());
}

TEST(View, is_turned_by_its_strides) {
    const Placed turned = permuted(dense({2, 3, 4}), {2, 0, 1});
    EXPECT_THAT(turned.shape, ElementsAre(4, 2, 3));
    EXPECT_THAT(turned.strides, ElementsAre(1, 12, 4));
}

TEST(View, is_read_as_few_ranges_of_rows) {
    const auto whole = row_ranges(dense({2, 3, 4}));
    ASSERT_TRUE(whole && whole->size() == 1);
    EXPECT_EQ((*whole)[0].rows, 6);
    // Every other row of two matrices that do not follow each other.
    const auto parts = row_ranges({{2, 2, 4}, {100, 8, 1}, {}});
    ASSERT_TRUE(parts && parts->size() == 2);
    EXPECT_EQ((*parts)[1].offset, 100);
    EXPECT_EQ((*parts)[1].pitch, 8);
    EXPECT_FALSE(row_ranges(permuted_view(dense({2, 3}), {1, 0})).has_value());
}

}  // namespace
}  // namespace lockstep::network::compile
