// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/event_wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace lockstep::gpu {
namespace {

TEST(EventWheel, HandlesEventsInTheOrderOfTheirCycles) {
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        EventWheel<int> wheel;
        std::multimap<engine::Cycle, int> expected;
        wheel.reset(1000);
        engine::Cycle now = 1000;
        int number = 0;
        for (int step = 0; step < 300; ++step) {
            for (unsigned i = random() % 4; i > 0; --i) {
                const engine::Cycle at = now + 1 + random() % (random() % 8 == 0 ? 5000 : 100);
                wheel.schedule(at, number);
                expected.emplace(at, number++);
            }
            const engine::Cycle first = expected.empty() ? engine::kNever : expected.begin()->first;
            ASSERT_EQ(wheel.next(), first);
            now += random() % 60;
            wheel.advance(now, [&](int event) {
                ASSERT_FALSE(expected.empty());
                const auto range = expected.equal_range(expected.begin()->first);
                const auto found = std::find_if(range.first, range.second,
                                                [&](const auto& e) { return e.second == event; });
                ASSERT_NE(found, range.second);
                expected.erase(found);
            });
            ASSERT_TRUE(expected.empty() || expected.begin()->first > now);
        }
    }
}

TEST(EventWheel, GivesEventsOfThePastInTheNextCycle) {
    EventWheel<int> wheel;
    wheel.advance(100, [](int) {});
    wheel.schedule(50, 7);
    EXPECT_EQ(wheel.next(), 101u);
}

}  // namespace
}  // namespace lockstep::gpu
