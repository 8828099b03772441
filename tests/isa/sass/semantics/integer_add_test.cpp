// SPDX-License-Identifier: Apache-2.0
// IADD3 and LEA against sums in 128-bit arithmetic, with every combination of negation, carry in
// and carry out.
#include "tests/isa/sass/semantics/integer_case.h"

namespace lockstep::sass {
namespace {

using Wide = unsigned __int128;

TEST(Iadd3, AllForms) {
    for (unsigned bits = 0; bits < 32; ++bits) {
        const bool na = bits & 1, nb = bits & 2, nc = bits & 4, extended = bits & 8,
                   carry_out = bits & 16;
        IntegerCase test;
        test.word = three_sources(
            0x210,
            {{72, 1, na}, {63, 1, nb}, {75, 1, nc}, {74, 1, extended}, {87, 4, 2}, {77, 4, 3 | 8}});
        if (carry_out) {
            test.word.set_bits(81, 3, 0);
            test.word.set_bits(84, 3, 1);
            test.predicates = 2;
        }
        check(test, [=](Lane& lane) {
            Wide sum = 0;
            const auto add = [&](std::uint32_t x, bool negate) {
                sum += negate ? ~x : x;
                if (negate && !extended) sum += 1;
            };
            add(lane.a, na);
            add(lane.b, nb);
            add(lane.c, nc);
            if (extended) sum += (lane.p[2] ? 1 : 0) + (lane.p[3] ? 0 : 1);
            lane.d = static_cast<std::uint32_t>(sum);
            lane.q[0] = sum >> 32 >= 1;
            lane.q[1] = sum >> 32 >= 2;
        });
    }
}

TEST(Iadd3, SubtractionOf64BitsThroughCarry) {
    TestWarp t;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        t.set64(8, l, 0x1'0000'0000ull * l + 5);
        t.set64(16, l, 7);
    }
    // IADD3 R4, P0, R8, -R16, RZ; IADD3.X R5, R9, ~R17, RZ, P0, !PT
    ASSERT_TRUE(t.run(make_word(0x210, 4, 8, 16, 255, {{63, 1, 1}, {81, 3, 0}, {90, 1, 1}})));
    ASSERT_TRUE(
        t.run(make_word(0x210, 5, 9, 17, 255, {{63, 1, 1}, {74, 1, 1}, {87, 4, 0}, {77, 4, 0xf}})));
    for (unsigned l = 0; l < kWarpSize; ++l) EXPECT_EQ(t.get64(4, l), 0x1'0000'0000ull * l + 5 - 7);
}

TEST(Iadd3, ImmediateKeepsItsTopBit) {
    IntegerCase test{.word = three_sources(0x810), .immediate_b = true};
    check(test, [](Lane& lane) { lane.d = lane.a + lane.b + lane.c; });
}

TEST(Lea, AllForms) {
    for (unsigned bits = 0; bits < 64; ++bits) {
        const bool na = bits & 1, nb = bits & 2, extended = bits & 4, high = bits & 8,
                   sign = (bits & 16) && high, carry_out = bits & 32;
        for (const unsigned shift : {0u, 1u, 2u, 4u, 16u, 31u}) {
            IntegerCase test;
            test.word = three_sources(0x211, {{72, 1, na},
                                              {63, 1, nb},
                                              {74, 1, extended},
                                              {80, 1, high},
                                              {73, 1, sign},
                                              {75, 5, shift},
                                              {87, 4, 2}});
            // Bit 75 is the shift's, so that the third source has no negation.
            if (carry_out) {
                test.word.set_bits(81, 3, 0);
                test.predicates = 1;
            }
            check(
                test,
                [=](Lane& lane) {
                    const std::uint32_t upper = sign ? (lane.a >> 31 ? ~0u : 0u) : lane.c;
                    Wide value = lane.a;
                    if (high) value |= Wide{upper} << 32;
                    value <<= shift;
                    auto x = static_cast<std::uint32_t>(high ? value >> 32 : value);
                    if (na) x = ~x;
                    Wide sum = Wide{x} + (nb ? ~lane.b : lane.b);
                    if (extended) sum += lane.p[2] ? 1 : 0;
                    if (!extended) sum += (na ? 1 : 0) + (nb ? 1 : 0);
                    lane.d = static_cast<std::uint32_t>(sum);
                    lane.q[0] = sum >> 32 != 0;
                },
                8);
        }
    }
}

}  // namespace
}  // namespace lockstep::sass
