// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/packed_int.h"

#include <gtest/gtest.h>

namespace lockstep::numerics {
namespace {

template <int bits>
void expect_every_element_round_trips() {
    for (int index = 0; index < 32 / bits; ++index) {
        for (int value = -(1 << (bits - 1)); value < 1 << bits; ++value) {
            const uint32_t background = 0xa5c396f0u;
            const uint32_t word = pack<bits>(background, index, value);
            const int modulus = 1 << bits;
            const int unsigned_value = (value + modulus) % modulus;
            const int signed_value =
                unsigned_value >= modulus / 2 ? unsigned_value - modulus : unsigned_value;
            ASSERT_EQ(unpack_unsigned<bits>(word, index), unsigned_value);
            ASSERT_EQ(unpack_signed<bits>(word, index), signed_value);
            for (int other = 0; other < 32 / bits; ++other) {
                if (other == index) continue;
                ASSERT_EQ(unpack_unsigned<bits>(word, other),
                          unpack_unsigned<bits>(background, other));
            }
        }
    }
}

TEST(PackedInt, EveryElementRoundTrips) {
    expect_every_element_round_trips<8>();
    expect_every_element_round_trips<4>();
    expect_every_element_round_trips<2>();
}

TEST(PackedInt, Saturates) {
    EXPECT_EQ(saturate_signed<8>(128), 127);
    EXPECT_EQ(saturate_signed<8>(-129), -128);
    EXPECT_EQ(saturate_signed<4>(8), 7);
    EXPECT_EQ(saturate_signed<2>(-3), -2);
    EXPECT_EQ(saturate_unsigned<8>(256), 255);
    EXPECT_EQ(saturate_unsigned<4>(-1), 0);
    EXPECT_EQ(saturate_unsigned<2>(4), 3);
}

}  // namespace
}  // namespace lockstep::numerics
