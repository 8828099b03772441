// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/buffer.h"

#include <gmock/gmock.h>

#include "workloads/network/compile/refusal.h"

namespace lockstep::network::compile {
namespace {

TEST(Heap, gives_back_what_nobody_owns) {
    Heap heap(0, 1024);
    std::uint64_t a = 0, b = 0, c = 0;
    std::shared_ptr<void> first = heap.allocate(500, a);
    const std::shared_ptr<void> second = heap.allocate(512, b);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(heap.allocate(1, c), nullptr);
    first.reset();
    EXPECT_NE(heap.allocate(512, c), nullptr);
    EXPECT_EQ(c, a);
    EXPECT_EQ(heap.most_used(), 1024u);
}

TEST(Ring, comes_round_and_knows_what_it_overwrote) {
    Ring ring("the buffer", 0, 1024);
    ring.allocate(512);
    const std::uint64_t serial = ring.serial();
    ring.allocate(512);
    EXPECT_TRUE(ring.holds(serial));
    EXPECT_EQ(ring.allocate(256), 0u);
    EXPECT_FALSE(ring.holds(serial));
}

TEST(Ring, goes_round_what_is_pinned) {
    Ring ring("the buffer", 0, 1024);
    EXPECT_EQ(ring.pin(256), 0u);
    EXPECT_EQ(ring.allocate(512), 256u);
    EXPECT_EQ(ring.allocate(512), 256u);
    EXPECT_EQ(ring.room(), 768u);
}

TEST(Ring, spares_what_was_pinned_before) {
    Ring ring("the buffer", 0, 4096);
    EXPECT_EQ(ring.pin(256), 0u);
    ring.release();
    EXPECT_EQ(ring.pin(256), 3840u);
    EXPECT_EQ(ring.allocate(2048), 256u);
    EXPECT_EQ(ring.allocate(1536), 2304u);
    EXPECT_EQ(ring.allocate(256), 256u) << "what was pinned at 0 may still be in use";
    ring.release();
    EXPECT_EQ(ring.pin(2048), 0u);
    EXPECT_EQ(ring.allocate(2048), 2048u) << "there is no room elsewhere";
}

TEST(Ring, pins_the_next_place_beside_earlier_ranges) {
    Ring ring("the buffer", 0, 1024);
    EXPECT_EQ(ring.pin_next(256), 0u);
    const std::uint64_t serial = ring.serial();
    EXPECT_EQ(ring.allocate(256), 256u);
    EXPECT_EQ(ring.pin_next(256), 512u);
    EXPECT_TRUE(ring.holds(serial));
    EXPECT_EQ(ring.allocate(256), 768u);
    EXPECT_EQ(ring.allocate(512), 0u);
    EXPECT_EQ(ring.allocate(256), 768u) << "what is pinned is left out";
}

TEST(Ring, says_what_there_is_no_room_for) {
    Ring ring("the scratchpad", 0, 1024);
    ring.pin(512);
    try {
        ring.allocate(768);
        FAIL() << "there was room";
    } catch (const Refusal& refusal) {
        EXPECT_THAT(refusal.what(),
                    testing::HasSubstr("the scratchpad is too small: 768 bytes beside 512"));
    }
}

}  // namespace
}  // namespace lockstep::network::compile
