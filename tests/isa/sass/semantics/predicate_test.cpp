// SPDX-License-Identifier: Apache-2.0
// ISETP, PLOP3, P2R and R2P against comparisons and truth tables evaluated lane by lane.
#include "tests/isa/sass/semantics/integer_case.h"

namespace lockstep::sass {
namespace {

bool holds(unsigned comparison, std::int64_t x, std::int64_t y) {
    switch (comparison) {
        case 0:
            return false;
        case 1:
            return x < y;
        case 2:
            return x == y;
        case 3:
            return x <= y;
        case 4:
            return x > y;
        case 5:
            return x != y;
        case 6:
            return x >= y;
        default:
            return true;
    }
}

bool combined(unsigned operation, bool x, bool y) {
    return operation == 0 ? x && y : operation == 1 ? x || y : x != y;
}

TEST(Isetp, AllComparisons) {
    for (unsigned comparison = 0; comparison < 8; ++comparison) {
        for (unsigned operation = 0; operation < 3; ++operation) {
            for (unsigned bits = 0; bits < 8; ++bits) {
                const bool is_signed = bits & 1, extended = bits & 2, negate = bits & 4;
                IntegerCase test;
                test.word = three_sources(0x20c, {{76, 3, comparison},
                                                  {74, 2, operation},
                                                  {73, 1, is_signed},
                                                  {72, 1, extended},
                                                  {81, 3, 0},
                                                  {84, 3, 1},
                                                  {87, 4, 2u | negate * 8},
                                                  {68, 4, 3}});
                test.writes_register = false;
                test.predicates = 2;
                check(
                    test,
                    [=](Lane& lane) {
                        const auto value = [&](std::uint32_t x) {
                            return is_signed ? std::int64_t{static_cast<std::int32_t>(x)}
                                             : std::int64_t{x};
                        };
                        bool result = holds(comparison, value(lane.a), value(lane.b));
                        const bool constant = comparison == 0 || comparison == 7;
                        if (extended && lane.a == lane.b && !constant) result = lane.p[3];
                        lane.q[0] = combined(operation, result, lane.p[2] != negate);
                        lane.q[1] = combined(operation, !result, lane.p[2] != negate);
                    },
                    8);
            }
        }
    }
    TestWarp t;
    EXPECT_FALSE(t.run(three_sources(0x20c, {{74, 2, 3}})));
}

/// A 64-bit comparison as compilers write it: the low words unsigned, then the high words with .EX.
TEST(Isetp, Compares64Bits) {
    std::mt19937_64 random(1);
    for (unsigned comparison = 1; comparison < 7; ++comparison) {
        TestWarp t;
        for (unsigned l = 0; l < kWarpSize; ++l) {
            const std::uint64_t x = random();
            t.set64(8, l, x);
            t.set64(16, l, l % 3 == 0 ? x : l % 3 == 1 ? x ^ (random() & 0xff) : random());
        }
        ASSERT_TRUE(t.run(make_word(0x20c, 0, 8, 16, 0, {{76, 3, comparison}, {81, 3, 0}})));
        ASSERT_TRUE(t.run(
            make_word(0x20c, 0, 9, 17, 0,
                      {{76, 3, comparison}, {73, 1, 1}, {72, 1, 1}, {81, 3, 1}, {68, 4, 0}})));
        for (unsigned l = 0; l < kWarpSize; ++l)
            EXPECT_EQ(t.warp.predicate[1] >> l & 1,
                      holds(comparison, static_cast<std::int64_t>(t.get64(8, l)),
                            static_cast<std::int64_t>(t.get64(16, l))));
    }
}

bool table_bit(unsigned table, bool a, bool b, bool c) {
    return table >> (a * 4 + b * 2 + c) & 1;
}

TEST(Plop3, EveryTableAndRegisterForm) {
    for (unsigned table = 0; table < 256; ++table) {
        const unsigned second = table * 37 % 256;
        IntegerCase test;
        test.writes_register = false;
        test.predicates = 2;
        test.word = make_word(0x81c, {{16, 8, second},
                                      {64, 3, table & 7},
                                      {72, 5, table >> 3},
                                      {81, 3, 0},
                                      {84, 3, 1},
                                      {87, 4, 2},
                                      {77, 4, 3 | 8},
                                      {68, 4, 4}});
        check(
            test,
            [=](Lane& lane) {
                lane.q[0] = table_bit(table, lane.p[2], !lane.p[3], lane.p[4]);
                lane.q[1] = table_bit(second, lane.p[2], !lane.p[3], lane.p[4]);
            },
            4);
        const std::initializer_list<Field> common = {
            {16, 8, second}, {72, 8, table}, {81, 3, 0}, {84, 3, 1}, {87, 4, 2}};
        test.word = make_word(0x21d, common);
        test.word.set_bits(32, 8, 16);
        test.word.set_bits(68, 4, 4 | 8);
        check(
            test,
            [=](Lane& lane) {
                lane.q[0] = table_bit(table, lane.p[2], lane.b >> 31, !lane.p[4]);
                lane.q[1] = table_bit(second, lane.p[2], lane.b >> 31, !lane.p[4]);
            },
            4);
        test.word = make_word(0x21e, common);
        test.word.set_bits(32, 8, 16);
        test.word.set_bits(64, 8, 24);
        check(
            test,
            [=](Lane& lane) {
                lane.q[0] = table_bit(table, lane.p[2], lane.b >> 31, lane.c >> 31);
                lane.q[1] = table_bit(second, lane.p[2], lane.b >> 31, lane.c >> 31);
            },
            4);
        test.word = make_word(0x21f, common);
        test.word.set_bits(24, 8, 8);
        test.word.set_bits(32, 8, 16);
        test.word.set_bits(64, 8, 24);
        check(
            test,
            [=](Lane& lane) {
                lane.q[0] = table_bit(table, lane.a >> 31, lane.b >> 31, lane.c >> 31);
                lane.q[1] = table_bit(second, lane.a >> 31, lane.b >> 31, lane.c >> 31);
            },
            4);
    }
}

TEST(Plop3, UniformPredicateAsThirdSource) {
    TestWarp t;
    t.warp.predicate[kUniformPredicate0 + 5] = kAllLanes;
    // PLOP3.LUT P0, PT, PT, PT, UP5, 0x80, 0x0
    const Word word = make_word(0x81c, {{64, 3, 0},
                                        {72, 5, 0x80 >> 3},
                                        {81, 3, 0},
                                        {87, 4, 7},
                                        {77, 4, 7},
                                        {67, 1, 1},
                                        {68, 4, 5}});
    ASSERT_TRUE(t.run(word));
    EXPECT_EQ(t.warp.predicate[0], kAllLanes);
}

TEST(PredicateMoves, ToRegister) {
    for (unsigned byte = 0; byte < 4; ++byte) {
        IntegerCase test{.word = three_sources(0x803, {{76, 2, byte}}), .immediate_b = true};
        check(test, [=](Lane& lane) {
            lane.d = lane.a;
            for (unsigned i = 0; i < 7; ++i) {
                if (!(lane.b >> i & 1)) continue;
                lane.d &= ~(1u << (8 * byte + i));
                lane.d |= std::uint32_t{lane.p[i]} << (8 * byte + i);
            }
        });
    }
}

TEST(PredicateMoves, FromRegister) {
    std::mt19937 random(3);
    for (unsigned byte = 0; byte < 4; ++byte) {
        TestWarp t;
        std::uint32_t before[8];
        for (unsigned p = 0; p < 7; ++p) t.warp.predicate[p] = before[p] = random();
        for (std::uint32_t& lane : t[8].lane) lane = random();
        const std::uint32_t names = random() & 0x7f, mask = random();
        ASSERT_TRUE(t.run(make_word(0x804, {{24, 8, 8}, {32, 32, names}, {76, 2, byte}}), mask));
        for (unsigned l = 0; l < kWarpSize; ++l) {
            for (unsigned p = 0; p < 7; ++p) {
                const bool written = (mask >> l & 1) && (names >> p & 1);
                const std::uint32_t value = t[8].lane[l] >> (8 * byte + p) & 1;
                EXPECT_EQ(t.warp.predicate[p] >> l & 1, written ? value : before[p] >> l & 1);
            }
        }
        EXPECT_EQ(t.warp.predicate[kPredicatePT], kAllLanes);
    }
}

}  // namespace
}  // namespace lockstep::sass
