// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/memory_queue.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

TEST(MemoryQueue, HoldsFewerInstructionsOfGlobalMemory) {
    MemoryQueue queue(4, 2, 4);
    queue.push(0, true);
    queue.push(0, true);
    EXPECT_FALSE(queue.has_room(true));
    EXPECT_TRUE(queue.has_room(false));
    queue.push(0, false);
    queue.push(0, false);
    EXPECT_FALSE(queue.has_room(false));
    queue.pop(10);
    EXPECT_TRUE(queue.has_room(true));
    queue.push(10, true);
    EXPECT_FALSE(queue.has_room(true));
    EXPECT_EQ(queue.size(), 4u);
}

TEST(MemoryQueue, HandsOnInOrderOneAnInterval) {
    MemoryQueue queue(4, 4, 3);
    EXPECT_EQ(queue.next(), engine::kNever);
    queue.push(10, true);
    queue.push(11, false);
    EXPECT_EQ(queue.next(), 10u);
    queue.pop(10);
    EXPECT_EQ(queue.next(), 13u);
}

}  // namespace
}  // namespace lockstep::gpu
