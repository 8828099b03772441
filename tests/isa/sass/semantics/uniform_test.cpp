// SPDX-License-Identifier: Apache-2.0
// The uniform datapath: one example of each operation that it shares with the vector datapath
// (whose own tests are exhaustive), its guards, its predicates, and ULDC.
#include <gtest/gtest.h>

#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {
namespace {

class Uniform : public ::testing::Test {
  protected:
    void set(unsigned number, std::uint32_t value) {
        for (std::uint32_t& lane : t.warp.uniform_row(number).lane) lane = value;
    }
    std::uint32_t get(unsigned number) {
        const Row& row = t.warp.uniform_row(number);
        for (const std::uint32_t lane : row.lane) EXPECT_EQ(lane, row.lane[0]);
        return row.lane[0];
    }
    /// UR4 = operation on UR8, UR16, UR24; run for few lanes, as in divergent code.
    std::uint32_t run(unsigned opcode, std::initializer_list<Field> fields = {}) {
        Word word = make_word(opcode, 4, 8, 16, 24, fields);
        word.set_bits(91, 1, 1);
        EXPECT_TRUE(t.run(word, 0x00100000)) << std::hex << opcode;
        return get(4);
    }
    TestWarp t;
};

TEST_F(Uniform, Arithmetic) {
    set(8, 0xfffffff0);
    set(16, 0x30);
    set(24, 5);
    EXPECT_EQ(run(0x290, {{81, 3, 0}}), 0x25u);
    EXPECT_EQ(t.warp.predicate[kUniformPredicate0], kAllLanes);
    EXPECT_EQ(run(0x290, {{74, 1, 1}, {87, 4, 0}, {77, 4, 0xf}}), 0x26u);
    EXPECT_EQ(run(0x291, {{75, 5, 4}}), 0xffffff30u);
    EXPECT_EQ(run(0x292, {{72, 8, 0x96}}), 0xfffffff0u ^ 0x30u ^ 5u);
    EXPECT_EQ(run(0x2a4, {{73, 1, 1}}), 0xfffffff0u * 0x30u + 5u);
    EXPECT_EQ(run(0x287, {{87, 4, 0}}), 0xfffffff0u);
    EXPECT_EQ(run(0x29a, {{73, 1, 1}}), 0xfffffff0u);
    EXPECT_EQ(run(0x2bf), 2u);
    EXPECT_EQ(run(0x2bd), 5u);
    EXPECT_EQ(run(0x2be), 0x0c000000u);
    set(16, 0x5140);
    EXPECT_EQ(run(0x296), 0x00ff05f0u);
    set(16, 4);
    EXPECT_EQ(run(0x299, {{73, 2, 3}, {76, 1, 1}}), 0x5fffffffu);
    EXPECT_EQ(run(0x29b), 0u);
}

TEST_F(Uniform, Pairs) {
    set(8, 0xffffffff);
    set(9, 1);
    set(16, 2);
    set(17, 3);
    set(24, 0);
    set(25, 0);
    EXPECT_EQ(run(0x297), 1u);
    EXPECT_EQ(get(5), 5u);
    EXPECT_EQ(run(0x2a5), 0xfffffffeu);
    EXPECT_EQ(get(5), 1u);
    EXPECT_EQ(run(0x2a5, {{73, 1, 1}}), 0xfffffffeu);
    EXPECT_EQ(get(5), 0xffffffffu);
    // UIADD3.64: 0 - 1 in 64 bits, with the carry that says "borrow".
    set(8, 0);
    set(9, 0);
    set(16, 1);
    set(17, 0);
    EXPECT_EQ(run(0x297, {{63, 1, 1}, {81, 3, 2}}), 0xffffffffu);
    EXPECT_EQ(get(5), 0xffffffffu);
    EXPECT_EQ(t.warp.predicate[kUniformPredicate0 + 2], 0u);
}

TEST_F(Uniform, Predicates) {
    set(8, 3);
    set(16, 7);
    run(0x28c, {{76, 3, 1}, {81, 3, 3}});
    EXPECT_EQ(t.warp.predicate[kUniformPredicate0 + 3], kAllLanes);
    // UPLOP3 UP1 = UP3 & !UP2
    ASSERT_TRUE(t.run(
        make_word(
            0x89c,
            {{64, 3, 0}, {72, 5, 0x80 >> 3}, {81, 3, 1}, {87, 4, 3}, {77, 4, 2 | 8}, {68, 4, 7}}),
        1));
    EXPECT_EQ(t.warp.predicate[kUniformPredicate0 + 1], kAllLanes);
    // UP2UR UR4, UPR, UR8, 0x7f; then UR2UP UPR, UR4 with all but UP3 named
    ASSERT_TRUE(t.run(make_word(0x883, {{16, 8, 4}, {24, 8, 8}, {32, 32, 0x7f}, {91, 1, 1}}), 1));
    EXPECT_EQ(get(4), 0x0au);
    set(4, 0x01);
    ASSERT_TRUE(t.run(make_word(0x884, {{24, 8, 4}, {32, 32, 0x77}, {91, 1, 1}}), 1));
    EXPECT_EQ(t.warp.predicate[kUniformPredicate0], kAllLanes);
    EXPECT_EQ(t.warp.predicate[kUniformPredicate0 + 1], 0u);
    EXPECT_EQ(t.warp.predicate[kUniformPredicate0 + 3], kAllLanes);
}

TEST_F(Uniform, GuardsAreUniformPredicates) {
    Program program(90);
    const Word words[] = {make_word(0x882, {{12, 3, 2}, {15, 1, 1}}),
                          make_word(0x886, {{12, 3, 2}}), make_word(0x210, {{12, 3, 2}}),
                          make_word(0x9c3, {{12, 3, 2}})};
    program.add_function("f", true, std::as_bytes(std::span(words)));
    program.bind(0);
    EXPECT_EQ(program.code()[0].guard, kUniformPredicate0 + 2);
    EXPECT_EQ(program.code()[0].guard_invert, kAllLanes);
    EXPECT_EQ(program.code()[1].guard, 2);
    EXPECT_EQ(program.code()[2].guard, 2);
    EXPECT_EQ(program.code()[3].guard, kUniformPredicate0 + 2);
}

TEST_F(Uniform, LoadConstant) {
    t.constant[4] = 0x8091a2b3;
    t.constant[5] = 0x11223344;
    const auto load = [&](unsigned size, unsigned offset) {
        EXPECT_TRUE(t.run(
            make_word(0xab9, {{16, 8, 4}, {38, 16, offset}, {54, 5, 0}, {73, 3, size}}), 0x80));
        return get(4);
    };
    EXPECT_EQ(load(4, 16), 0x8091a2b3u);
    EXPECT_EQ(load(0, 17), 0xa2u);
    EXPECT_EQ(load(1, 19), 0xffffff80u);
    EXPECT_EQ(load(2, 18), 0x8091u);
    EXPECT_EQ(load(3, 18), 0xffff8091u);
    EXPECT_EQ(load(5, 16), 0x8091a2b3u);
    EXPECT_EQ(get(5), 0x11223344u);
}

TEST_F(Uniform, LoadConstantIndexed) {
    std::uint32_t words[4] = {0x8091a2b3, 0x11223344, 0xffffffff, 7};
    Launch launch;
    launch.constant[3] = std::as_bytes(std::span(words));
    Cta cta;
    cta.launch = &launch;
    t.warp.cta = &cta;
    set(8, 4);
    const auto load = [&](unsigned size, std::int64_t offset) {
        EXPECT_TRUE(t.run(make_word(0xabb, {{16, 8, 4},
                                            {24, 8, 8},
                                            {38, 16, static_cast<std::uint64_t>(offset)},
                                            {54, 5, 3},
                                            {73, 3, size},
                                            {91, 1, 1}})));
        return get(4);
    };
    EXPECT_EQ(load(4, 0), 0x11223344u);
    EXPECT_EQ(load(4, -4), 0x8091a2b3u);
    EXPECT_EQ(load(5, 4), 0xffffffffu);
    EXPECT_EQ(get(5), 7u);
    EXPECT_EQ(load(0, 1), 0x33u);
    EXPECT_EQ(load(4, 12), 0u);
}

}  // namespace
}  // namespace lockstep::sass
