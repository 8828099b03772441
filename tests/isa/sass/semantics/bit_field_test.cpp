// SPDX-License-Identifier: Apache-2.0
// PRMT, SGXT, BMSK, BREV, POPC and FLO against loops over bytes and bits, as the PTX ISA words
// them.
#include "tests/isa/sass/semantics/integer_case.h"

namespace lockstep::sass {
namespace {

std::uint32_t byte_of(const Lane& lane, unsigned i) {
    return (i < 4 ? lane.a >> (8 * i) : lane.c >> (8 * (i - 4))) & 0xff;
}

/// The byte that byte i of the result takes in one of PRMT's named modes, from the tables of PTX.
unsigned named_source(unsigned mode, unsigned selector, unsigned i) {
    switch (mode) {
        case 1:
            return selector + i;  // F4E
        case 2:
            return (selector + 8 - i) % 8;  // B4E
        case 3:
            return selector;  // RC8
        case 4:
            return std::max(i, selector);  // ECL
        case 5:
            return std::min(i, selector);  // ECR
        default:
            return (selector & 1) * 2 + (i & 1);  // RC16
    }
}

TEST(Prmt, AllModes) {
    for (unsigned mode = 0; mode < 7; ++mode) {
        const auto reference = [=](Lane& lane) {
            lane.d = 0;
            for (unsigned i = 0; i < 4; ++i) {
                std::uint32_t byte;
                if (mode == 0) {
                    const unsigned digit = lane.b >> (4 * i) & 15;
                    byte = byte_of(lane, digit & 7);
                    if (digit & 8) byte = byte & 0x80 ? 0xff : 0;
                } else {
                    byte = byte_of(lane, named_source(mode, lane.b & 3, i));
                }
                lane.d |= byte << (8 * i);
            }
        };
        IntegerCase test{.word = three_sources(0x216, {{72, 3, mode}})};
        check(test, reference);
        test.word = three_sources(0x816, {{72, 3, mode}});
        test.immediate_b = true;
        check(test, reference, 200);
    }
    TestWarp t;
    EXPECT_FALSE(t.run(three_sources(0x216, {{72, 3, 7}})));
}

TEST(Prmt, RegisterSelectorAndImmediateData) {
    TestWarp t;
    for (unsigned l = 0; l < kWarpSize; ++l) t[8].lane[l] = 0x33221100, t[16].lane[l] = 0x5410;
    // PRMT R4, R8, R16, 0x77665544
    ASSERT_TRUE(
        t.run(make_word(0x416, {{16, 8, 4}, {24, 8, 8}, {32, 32, 0x77665544}, {64, 8, 16}})));
    EXPECT_EQ(t[4].lane[31], 0x55441100u);
}

TEST(Sgxt, AllForms) {
    for (unsigned bits = 0; bits < 4; ++bits) {
        const bool is_signed = bits & 1, wrap = bits & 2;
        IntegerCase test{.word = three_sources(0x21a, {{73, 1, is_signed}, {75, 1, wrap}})};
        check(
            test,
            [=](Lane& lane) {
                const std::uint32_t count = wrap ? lane.b % 32 : std::min(lane.b, 32u);
                lane.d = 0;
                for (unsigned i = 0; i < 32 && count != 0; ++i) {
                    const unsigned from = i < count ? i : count - 1;
                    if (i < count || is_signed) lane.d |= (lane.a >> from & 1) << i;
                }
            },
            100);
    }
}

TEST(Bmsk, AllForms) {
    for (const bool wrap : {false, true}) {
        IntegerCase test{.word = three_sources(0x21b, {{75, 1, wrap}})};
        check(
            test,
            [=](Lane& lane) {
                const std::uint64_t first = wrap ? lane.a % 32 : lane.a;
                const std::uint64_t width = wrap ? lane.b % 32 : lane.b;
                lane.d = 0;
                for (std::uint64_t i = 0; i < 32; ++i)
                    if (i >= first && i < first + width) lane.d |= 1u << i;
            },
            100);
    }
}

TEST(BitCounts, BrevPopcFlo) {
    IntegerCase test{.word = three_sources(0x301)};
    check(test, [](Lane& lane) {
        lane.d = 0;
        for (unsigned i = 0; i < 32; ++i) lane.d |= (lane.b >> i & 1) << (31 - i);
    });
    for (const bool inverted : {false, true}) {
        test.word = three_sources(0x309, {{63, 1, inverted}});
        check(test, [=](Lane& lane) {
            lane.d = 0;
            for (unsigned i = 0; i < 32; ++i) lane.d += (lane.b >> i & 1) != inverted;
        });
        for (const bool is_signed : {false, true}) {
            for (const bool shift_amount : {false, true}) {
                test.word = three_sources(
                    0x300, {{63, 1, inverted}, {73, 1, is_signed}, {74, 1, shift_amount}});
                check(test, [=](Lane& lane) {
                    const std::uint32_t x = inverted ? ~lane.b : lane.b;
                    const bool looked_for = !(is_signed && x >> 31);
                    lane.d = 0xffffffff;
                    for (unsigned i = 0; i < 32; ++i)
                        if ((x >> i & 1) == looked_for) lane.d = shift_amount ? 31 - i : i;
                });
            }
        }
    }
}

}  // namespace
}  // namespace lockstep::sass
