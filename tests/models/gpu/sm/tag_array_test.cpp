// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/tag_array.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

unsigned present(TagArray& tags, unsigned lines) {
    unsigned found = 0;
    for (unsigned line = 0; line < lines; ++line) found += tags.find(line) != engine::kNever;
    return found;
}

TEST(TagArray, HoldsAllOfItsLinesWhateverTheNumberOfSets) {
    for (const unsigned sets : {1u, 2u, 16u, 23u, 46u}) {
        constexpr unsigned kWays = 16;
        TagArray tags(sets * kWays, kWays);
        for (unsigned line = 0; line < sets * kWays; ++line) tags.insert(line, line);
        EXPECT_EQ(present(tags, sets * kWays), sets * kWays) << sets << " sets";
        EXPECT_EQ(tags.find(sets * kWays - 1), sets * kWays - 1);
    }
}

TEST(TagArray, ReplacesTheLineThatWasUsedLongestAgo) {
    TagArray tags(23 * 2, 2);
    tags.insert(5, 1);
    tags.insert(5 + 23, 2);
    tags.find(5);
    tags.insert(5 + 46, 3);
    EXPECT_EQ(tags.find(5), 1u);
    EXPECT_EQ(tags.find(5 + 23), engine::kNever);
    EXPECT_EQ(tags.find(5 + 46), 3u);
    tags.clear();
    EXPECT_EQ(tags.find(5), engine::kNever);
}

}  // namespace
}  // namespace lockstep::gpu
