// SPDX-License-Identifier: Apache-2.0
// What the rows of memory operations say.
#include "models/gpu/sm/memory_operation.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

using enum MemoryOperation;

TEST(MemoryOperation, TraitsAreThoseOfTheRow) {
    for (const MemoryOperationRow& row : kMemoryOperations) {
        EXPECT_EQ(is_shared(row.operation), row.way == MemoryWay::kShared);
        EXPECT_EQ(has<kReadsData>(row.operation), (row.traits & kReadsData) != 0);
        // Only what passes the tags has a place in the queue behind them.
        const bool passes_tags = row.way == MemoryWay::kLoad || row.way == MemoryWay::kAtomic;
        EXPECT_TRUE(passes_tags || !has<kReturnsByQueue>(row.operation));
        // What goes to L2 to change it carries data there.
        EXPECT_TRUE(has<kReadsData>(row.operation) || !has<kChangesGlobal>(row.operation));
    }
    EXPECT_TRUE(has<kChangesGlobal>(kReductionGlobal));
    EXPECT_FALSE(has<kChangesGlobal>(kStoreLocal));
    EXPECT_FALSE(has<kReturnsByQueue>(kReductionGlobal));
    EXPECT_TRUE(is_long_scoreboard(kLoadLocal));
    EXPECT_FALSE(is_long_scoreboard(kLoadConstant));
}

}  // namespace
}  // namespace lockstep::gpu
