// SPDX-License-Identifier: Apache-2.0
#include "sim/config/key_values.h"

#include <gtest/gtest.h>

namespace lockstep::config {
namespace {

TEST(KeyValues, SplitsAtCommasAndTheFirstEqualsSign) {
    const auto items = key_values("m=512,name=a=b");
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].key, "m");
    EXPECT_EQ(items[0].value, "512");
    EXPECT_EQ(items[1].text, "name=a=b");
    EXPECT_EQ(items[1].value, "a=b");
    EXPECT_EQ(items[1].at, 6u);
}

TEST(KeyValues, KeepsItemsThatAreNone) {
    EXPECT_TRUE(key_values("").empty());
    const auto items = key_values("m,=1,,");
    ASSERT_EQ(items.size(), 4u);
    EXPECT_EQ(items[0].text, "m");
    for (const KeyValue& item : items) EXPECT_EQ(item.key, "");
    EXPECT_EQ(items[3].at, 6u);
    EXPECT_EQ(items[3].text, "");
}

}  // namespace
}  // namespace lockstep::config
