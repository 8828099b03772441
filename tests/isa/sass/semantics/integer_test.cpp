// SPDX-License-Identifier: Apache-2.0
// Moves, selection, extrema and absolute values; operand forms (immediate, constant, uniform
// register, bindless constant) on the simplest instructions.
#include "isa/sass/global_memory.h"
#include "tests/isa/sass/semantics/integer_case.h"

namespace lockstep::sass {
namespace {

TEST(Integer, MovSelIabs) {
    IntegerCase test{.word = three_sources(0x202, {{72, 4, 15}})};
    check(test, [](Lane& lane) { lane.d = lane.b; });
    test.word = three_sources(0x207, {{87, 4, 3}});
    check(test, [](Lane& lane) { lane.d = lane.p[3] ? lane.a : lane.b; });
    test.word = three_sources(0x207, {{87, 4, 3 | 8}});
    check(test, [](Lane& lane) { lane.d = lane.p[3] ? lane.b : lane.a; });
    test.word = three_sources(0x213);
    check(test, [](Lane& lane) { lane.d = lane.b >> 31 ? 0 - lane.b : lane.b; });
}

TEST(Integer, SelWritesOverItsSources) {
    TestWarp t;
    t.warp.predicate[0] = 0x0f0f0f0f;
    for (unsigned l = 0; l < kWarpSize; ++l) t[4].lane[l] = l, t[16].lane[l] = 100 + l;
    ASSERT_TRUE(t.run(make_word(0x207, 4, 4, 16, 0, {{87, 4, 0}})));
    for (unsigned l = 0; l < kWarpSize; ++l) EXPECT_EQ(t[4].lane[l], l & 4 ? 100 + l : l);
}

TEST(Integer, Imnmx) {
    for (unsigned bits = 0; bits < 8; ++bits) {
        const bool is_signed = bits & 1, negate = bits & 2, constant = bits & 4;
        IntegerCase test{
            .word = three_sources(
                0x217, {{73, 1, is_signed}, {87, 4, (constant ? 7u : 2u) | negate * 8}})};
        check(test, [=](Lane& lane) {
            const bool minimum = (constant || lane.p[2]) != negate;
            const auto key = [&](std::uint32_t x) {
                return is_signed ? std::int64_t{static_cast<std::int32_t>(x)} : std::int64_t{x};
            };
            const bool a_first = key(lane.a) < key(lane.b);
            lane.d = a_first == minimum ? lane.a : lane.b;
        });
    }
}

TEST(OperandForms, ImmediateConstantUniform) {
    TestWarp t;
    t.constant[0x24 / 4] = 0xabcd1234;
    for (std::uint32_t& lane : t.warp.uniform_row(9).lane) lane = 0x55aa;
    ASSERT_TRUE(t.run(make_word(0x802, {{16, 8, 4}, {32, 32, 0xdeadbeef}, {72, 4, 15}})));
    EXPECT_EQ(t[4].lane[7], 0xdeadbeefu);
    ASSERT_TRUE(t.run(make_word(0xa02, {{16, 8, 4}, {38, 16, 0x24}, {54, 5, 0}, {72, 4, 15}})));
    EXPECT_EQ(t[4].lane[7], 0xabcd1234u);
    ASSERT_TRUE(t.run(make_word(0xc02, {{16, 8, 4}, {32, 6, 9}, {91, 1, 1}, {72, 4, 15}})));
    EXPECT_EQ(t[4].lane[7], 0x55aau);
}

class OneBuffer : public GlobalMemory {
  public:
    std::uint32_t words[16] = {};
    Extent find(std::uint64_t address) const override {
        const Extent extent{0x10000, 0x10000 + sizeof words,
                            reinterpret_cast<std::byte*>(const_cast<std::uint32_t*>(words))};
        return extent.contains(address, 1) ? extent : Extent{};
    }
    std::string describe(std::uint64_t) const override { return "no allocation"; }
};

TEST(OperandForms, BindlessConstant) {
    OneBuffer memory;
    for (unsigned i = 0; i < 16; ++i) memory.words[i] = 1000 + i;
    Program program(90);
    // IADD3 R4, R8, cx[UR6][0x8], R24 and the same past the end of the buffer (32 bytes)
    Word words[2];
    for (unsigned i = 0; i < 2; ++i) {
        words[i] = make_word(0xa10, {{16, 8, 4 + i},
                                     {24, 8, 8},
                                     {32, 6, 6},
                                     {64, 8, 24},
                                     {91, 1, 1},
                                     {38, 16, i == 0 ? 0x8u : 0x20u}});
    }
    program.add_function("f", true, std::as_bytes(std::span(words)));
    program.bind(0);
    Launch launch;
    launch.program = &program;
    launch.memory = &memory;
    Cta cta;
    cta.launch = &launch;
    TestWarp t;
    t.warp.cta = &cta;
    t.warp.mask = kAllLanes;
    const std::uint64_t descriptor = 0x10000 >> 4 | std::uint64_t{32 >> 4} << 45;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        t.warp.uniform_row(6).lane[l] = static_cast<std::uint32_t>(descriptor);
        t.warp.uniform_row(7).lane[l] = static_cast<std::uint32_t>(descriptor >> 32);
        t[8].lane[l] = l;
        t[24].lane[l] = 1;
    }
    for (const Instruction& in : program.code().first(2)) in.execute(in, t.warp);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        EXPECT_EQ(t[4].lane[l], 1002 + l + 1);
        EXPECT_EQ(t[5].lane[l], l + 1);
    }
}

TEST(Integer, NothingHappens) {
    TestWarp t;
    t[4].lane[3] = 77;
    for (const unsigned opcode : {0x918u, 0x91au, 0x801u})
        ASSERT_TRUE(t.run(make_word(opcode, {})));
    EXPECT_EQ(t[4].lane[3], 77u);
}

}  // namespace
}  // namespace lockstep::sass
