// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/wake_wheel.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "sim/engine/time.h"

namespace lockstep::engine {
namespace {

TEST(WakeWheel, TakesTilesInOrderAndOnce) {
    WakeWheel wheel;
    wheel.reset(200);
    for (const std::uint32_t tile : {150u, 3u, 64u, 3u}) wheel.add(tile, 5);
    EXPECT_EQ(wheel.next(), 5u);
    std::vector<std::uint32_t> tiles;
    wheel.take(tiles);
    EXPECT_EQ(tiles, (std::vector<std::uint32_t>{3, 64, 150}));
    EXPECT_EQ(wheel.next(), kNever);
    EXPECT_THROW(wheel.add(0, 5), InternalError);
}

TEST(WakeWheel, AgreesWithAnOrderedSet) {
    EXPECT_TRUE(rc::check([] {
        const auto tiles = *rc::gen::inRange<std::uint32_t>(1, 150);
        WakeWheel wheel;
        wheel.reset(tiles);
        std::set<std::pair<std::uint64_t, std::uint32_t>> reference;
        std::vector<std::uint32_t> taken;
        for (int step = 0; step < 200; ++step) {
            if (*rc::gen::inRange(0, 3) != 0) {
                const auto tile = *rc::gen::inRange<std::uint32_t>(0, tiles);
                const std::uint64_t ahead = *rc::gen::element(0, 1, 2, 62, 63, 64, 65, 130, 5000);
                wheel.add(tile, wheel.current() + ahead);
                reference.emplace(wheel.current() + ahead, tile);
            } else if (!reference.empty()) {
                const std::uint64_t window = reference.begin()->first;
                RC_ASSERT(wheel.next() == window);
                std::vector<std::uint32_t> expected;
                for (; !reference.empty() && reference.begin()->first == window;
                     reference.erase(reference.begin()))
                    expected.push_back(reference.begin()->second);
                wheel.take(taken);
                RC_ASSERT(taken == expected);
            } else {
                RC_ASSERT(wheel.next() == kNever);
            }
        }
    }));
}

}  // namespace
}  // namespace lockstep::engine
