// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/random.h"

#include <gtest/gtest.h>

namespace lockstep::numerics {
namespace {

TEST(Random, is_splitmix64) {
    // The published sequence of seed 1234567
    // (rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64).
    Random random(1234567);
    for (const std::uint64_t bits :
         {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u})
        EXPECT_EQ(random.bits(), bits);
}

TEST(Random, hashes_what_the_sequence_counts) {
    Random random(7);
    EXPECT_EQ(random.bits(), random_bits(7, 0));
}

TEST(Random, stays_in_its_range) {
    Random random(1);
    for (int i = 0; i < 1000; ++i) {
        const int whole = random.integer(-3, 4);
        EXPECT_TRUE(whole >= -3 && whole <= 4);
        const float real = random.uniform(-1, 1);
        EXPECT_TRUE(real >= -1 && real < 1);
    }
    EXPECT_LT(unit_of(UINT64_MAX), 1.0f);
}

}  // namespace
}  // namespace lockstep::numerics
