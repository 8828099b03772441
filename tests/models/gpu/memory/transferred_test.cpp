// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/memory/transferred.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

TEST(Transferred, KeepsTheNewestThatFindRoom) {
    Transferred transferred(1000);
    transferred.add({0, 300, Transfer::kRead});
    transferred.add({1000, 600, Transfer::kWrite});
    transferred.add({2000, 400, Transfer::kRead});  // the first has lost all of its room
    auto ranges = transferred.take();
    ASSERT_EQ(ranges.size(), 2u);
    EXPECT_EQ(ranges[0].begin, 1000u);
    EXPECT_EQ(ranges[0].transfer, Transfer::kWrite);
    EXPECT_EQ(ranges[1].begin, 2000u);
    EXPECT_TRUE(transferred.take().empty());

    transferred.add({0, 300, Transfer::kRead});
    transferred.add({5000, 2500, Transfer::kWrite});  // its end
    ranges = transferred.take();
    ASSERT_EQ(ranges.size(), 1u);
    EXPECT_EQ(ranges[0].begin, 6500u);
    EXPECT_EQ(ranges[0].bytes, 1000u);
}

}  // namespace
}  // namespace lockstep::gpu
