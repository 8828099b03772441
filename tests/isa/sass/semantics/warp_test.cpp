// SPDX-License-Identifier: Apache-2.0
// VOTE, MATCH, REDUX, SHFL, R2UR and ELECT against loops over the lanes that take part; BRA.U.
#include <bit>

#include "tests/isa/sass/semantics/integer_case.h"

namespace lockstep::sass {
namespace {

TEST(Vote, AllModes) {
    std::mt19937 random(5);
    for (unsigned mode = 0; mode < 3; ++mode) {
        for (unsigned round = 0; round < 60; ++round) {
            TestWarp t;
            const std::uint32_t mask = random() | 1u << round % 32;
            const std::uint32_t p = round % 3 == 0 ? random() : round % 3 == 1 ? mask : ~mask;
            t.warp.predicate[2] = p;
            t.warp.predicate[0] = 0xaaaaaaaa;
            for (std::uint32_t& lane : t[4].lane) lane = 9;
            bool all = true, any = false;
            for (unsigned l = 0; l < kWarpSize; ++l) {
                if (!(mask >> l & 1)) continue;
                all = all && (p >> l & 1);
                any = any || (p >> l & 1);
            }
            const bool result = mode == 0 ? all : mode == 1 ? any : all || !any;
            ASSERT_TRUE(
                t.run(make_word(0x806, {{16, 8, 4}, {72, 2, mode}, {81, 3, 0}, {87, 4, 2}}), mask));
            for (unsigned l = 0; l < kWarpSize; ++l)
                EXPECT_EQ(t[4].lane[l], mask >> l & 1 ? p & mask : 9);
            EXPECT_EQ(t.warp.predicate[0], (0xaaaaaaaa & ~mask) | (result ? mask : 0));
            // VOTEU
            ASSERT_TRUE(
                t.run(make_word(0x886, {{16, 8, 7}, {72, 2, mode}, {81, 3, 1}, {87, 4, 2}}), mask));
            for (const std::uint32_t lane : t.warp.uniform_row(7).lane) EXPECT_EQ(lane, p & mask);
            EXPECT_EQ(t.warp.predicate[kUniformPredicate0 + 1], result ? kAllLanes : 0);
        }
    }
}

/// The lanes that branch to the program's first word, of those that execute `word` at its second.
std::uint32_t branching(const Word& word, std::uint32_t active, std::uint32_t predicate) {
    TestWarp t;
    t.warp.predicate[2] = predicate;
    t.warp.active = active;
    t.warp.pc = 1;
    EXPECT_TRUE(t.run(word, active & predicate));
    std::uint32_t lanes = t.warp.pc == 0 ? t.warp.active : 0;
    for (const Path& path : t.warp.parked) lanes |= path.pc == 0 ? path.lanes : 0;
    return lanes;
}

TEST(Branch, UniformOnesTakeAWholePathOrNothing) {
    constexpr std::uint32_t kActive = 0x00ffff00, kSome = 0x00f00000;
    const auto bra = [](unsigned mode, unsigned any) {
        return make_word(0x947, {{12, 3, 2},
                                 {16, 8, 0xfc},
                                 {32, 2, mode},
                                 {34, 30, ~0ull},
                                 {64, 18, ~0ull},
                                 {84, 1, any}});  // @P2 to 16 bytes before
    };
    EXPECT_EQ(branching(bra(0, 0), kActive, kSome), kSome);
    EXPECT_EQ(branching(bra(1, 0), kActive, kSome), 0);  // .U
    EXPECT_EQ(branching(bra(1, 0), kActive, kActive), kActive);
    EXPECT_EQ(branching(bra(1, 0), kActive, kAllLanes), kActive);
    EXPECT_EQ(branching(bra(1, 1), kActive, kSome), kActive);  // .U.ANY
    EXPECT_EQ(branching(bra(1, 1), kActive, ~kActive), 0);
}

TEST(Rpcmov, AThreadsReturnAddressHoldsTwoWords) {
    constexpr unsigned kHigh = 31;
    constexpr std::uint32_t kLanes = 0x0ff0f0f0;
    TestWarp t;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        t[5].lane[l] = 100 + l;
        t[7].lane[l] = t[8].lane[l] = 7;
    }
    ASSERT_TRUE(t.run(make_word(0x352, {{32, 8, 5}, {kHigh, 1, 1}})));  // Rpc.HI, R5
    ASSERT_TRUE(t.run(make_word(0x952, {{32, 32, 77}}), kLanes));       // Rpc.LO, 77
    ASSERT_TRUE(t.run(make_word(0x353, {{16, 8, 7}}), kLanes));         // R7, Rpc.LO
    ASSERT_TRUE(t.run(make_word(0x353, {{16, 8, 8}, {kHigh, 1, 1}})));  // R8, Rpc.HI
    for (unsigned l = 0; l < kWarpSize; ++l) {
        EXPECT_EQ(t[7].lane[l], kLanes >> l & 1 ? 77 : 7);
        EXPECT_EQ(t[8].lane[l], 100 + l);
    }
}

TEST(Match, AnyAndAll) {
    std::mt19937 random(6);
    for (unsigned round = 0; round < 100; ++round) {
        const bool wide = round & 1, any = round & 2;
        TestWarp t;
        const std::uint32_t mask = random() | 4u;
        const unsigned values = round % 5 == 0 ? 1 : 3;
        for (unsigned l = 0; l < kWarpSize; ++l) {
            t[8].lane[l] = random() % values;
            t[9].lane[l] = random() % values;
        }
        t.warp.predicate[0] = 0;
        ASSERT_TRUE(t.run(
            make_word(
                0x3a1,
                {{16, 8, 4}, {24, 8, 8}, {73, 1, wide}, {79, 1, any}, {81, 3, any ? 7u : 0u}}),
            mask));
        const auto value = [&](unsigned l) { return wide ? t.get64(8, l) : t[8].lane[l]; };
        bool all = true;
        for (unsigned l = 0; l < kWarpSize; ++l)
            all = all && (!(mask >> l & 1) || value(l) == value(std::countr_zero(mask)));
        for (unsigned l = 0; l < kWarpSize; ++l) {
            if (!(mask >> l & 1)) continue;
            std::uint32_t same = 0;
            for (unsigned i = 0; i < kWarpSize; ++i)
                if ((mask >> i & 1) && value(i) == value(l)) same |= 1u << i;
            EXPECT_EQ(t[4].lane[l], any ? same : all ? mask : 0);
        }
        if (!any) {
            EXPECT_EQ(t.warp.predicate[0], all ? mask : 0);
        }
    }
}

TEST(Redux, AllOperations) {
    std::mt19937 random(7);
    for (unsigned operation = 0; operation < 6; ++operation) {
        for (const bool is_signed : {false, true}) {
            for (unsigned round = 0; round < 20; ++round) {
                TestWarp t;
                const std::uint32_t mask = random() | 8u;
                for (std::uint32_t& lane : t[8].lane) lane = interesting(random);
                std::int64_t result = 0;
                bool first = true;
                for (unsigned l = 0; l < kWarpSize; ++l) {
                    if (!(mask >> l & 1)) continue;
                    const std::uint32_t bits = t[8].lane[l];
                    const std::int64_t x = is_signed ? std::int64_t{static_cast<std::int32_t>(bits)}
                                                     : std::int64_t{bits};
                    switch (operation) {
                        case 0:
                            result = first ? x : result & x;
                            break;
                        case 1:
                            result = first ? x : result | x;
                            break;
                        case 2:
                            result = first ? x : result ^ x;
                            break;
                        case 3:
                            result = first ? x : result + x;
                            break;
                        case 4:
                            result = first ? x : std::min(result, x);
                            break;
                        default:
                            result = first ? x : std::max(result, x);
                            break;
                    }
                    first = false;
                }
                ASSERT_TRUE(t.run(
                    make_word(0x3c4,
                              {{16, 8, 5}, {24, 8, 8}, {78, 3, operation}, {73, 1, is_signed}}),
                    mask));
                for (const std::uint32_t lane : t.warp.uniform_row(5).lane)
                    EXPECT_EQ(lane, static_cast<std::uint32_t>(result));
            }
        }
    }
}

/// The pseudocode of shfl.sync in the PTX ISA.
struct Source {
    unsigned lane;
    bool valid;
};
Source shuffle_source(unsigned mode, int lane, std::uint32_t b, std::uint32_t c) {
    const int bval = b & 0x1f, cval = c & 0x1f, segmask = c >> 8 & 0x1f;
    const int max_lane = (lane & segmask) | (cval & ~segmask);
    const int min_lane = lane & segmask;
    int j = 0;
    bool p = false;
    switch (mode) {
        case 1:
            j = lane - bval;
            p = j >= max_lane;
            break;
        case 2:
            j = lane + bval;
            p = j <= max_lane;
            break;
        case 3:
            j = lane ^ bval;
            p = j <= max_lane;
            break;
        default:
            j = min_lane | (bval & ~segmask);
            p = j <= max_lane;
            break;
    }
    return {static_cast<unsigned>(p ? j : lane), p};
}

TEST(Shfl, AllModesAndForms) {
    std::mt19937 random(8);
    for (unsigned mode = 0; mode < 4; ++mode) {
        for (const unsigned form : {0x389u, 0x589u, 0x989u, 0xf89u}) {
            for (unsigned round = 0; round < 60; ++round) {
                TestWarp t;
                const std::uint32_t mask = round % 2 ? kAllLanes : random() | 1u;
                const std::uint32_t width_mask = 0x1f & ~((1u << random() % 6) - 1);
                const std::uint32_t plain = width_mask << 8 | (mode == 1 ? 0 : 0x1f);
                const std::uint32_t c = round % 3 ? plain : random() & 0x1fff;
                const std::uint32_t b = random() & 31;
                t.warp.predicate[0] = 0;
                for (unsigned l = 0; l < kWarpSize; ++l) {
                    t[8].lane[l] = 1000 + l;
                    t[16].lane[l] = form == 0x389 || form == 0x589 ? random() & 63 : b;
                    t[24].lane[l] = c;
                }
                Word word = make_word(form, {{16, 8, 4}, {24, 8, 8}, {58, 2, mode}, {81, 3, 0}});
                const bool register_b = form == 0x389 || form == 0x589;
                const bool register_c = form == 0x389 || form == 0x989;
                if (!register_b) word.set_bits(53, 5, b);
                if (!register_c) word.set_bits(40, 13, c);
                if (register_b) word.set_bits(32, 8, 16);
                if (register_c) word.set_bits(64, 8, 24);
                ASSERT_TRUE(t.run(word, mask));
                for (unsigned l = 0; l < kWarpSize; ++l) {
                    if (!(mask >> l & 1)) continue;
                    const Source from = shuffle_source(mode, static_cast<int>(l), t[16].lane[l], c);
                    EXPECT_EQ(t[4].lane[l], 1000 + from.lane) << "mode " << mode << " c " << c;
                    EXPECT_EQ(t.warp.predicate[0] >> l & 1, from.valid);
                }
            }
        }
    }
}

TEST(ToUniform, R2urAndElect) {
    for (const Arch arch : {80, 90}) {
        TestWarp t(arch);
        for (unsigned l = 0; l < kWarpSize; ++l) t[8].lane[l] = 50 + l;
        ASSERT_TRUE(t.run(
            make_word(arch == 90 ? 0x2ca : 0x3c2, {{16, 8, 6}, {24, 8, 8}, {84, 3, 0}}), 0xf0));
        for (const std::uint32_t lane : t.warp.uniform_row(6).lane) EXPECT_EQ(lane, 54u);
    }
    TestWarp different;
    for (unsigned l = 0; l < kWarpSize; ++l) different[8].lane[l] = l / 8;
    different.warp.predicate[1] = 0;
    ASSERT_TRUE(different.run(make_word(0x2ca, {{16, 8, 63}, {24, 8, 8}, {84, 3, 0}, {81, 3, 1}}),
                              0x00ffff00));
    EXPECT_EQ(different.warp.predicate[1], 0x00ff0000u);
    // R2UR.OR
    different.warp.predicate[1] = 0x00000100;
    ASSERT_TRUE(different.run(make_word(0x2ca, {{16, 8, 63}, {24, 8, 8}, {84, 3, 1}, {81, 3, 1}}),
                              0x00ffff00));
    EXPECT_EQ(different.warp.predicate[1], 0x00ff0100u);
    TestWarp t;
    t.warp.predicate[0] = 0xff;
    ASSERT_TRUE(t.run(make_word(0x82f, {{16, 8, 6}, {81, 3, 0}, {87, 4, 7}}), 0xf0));
    EXPECT_EQ(t.warp.predicate[0], 0x1fu);
    EXPECT_EQ(t.warp.uniform_row(6).lane[0], 4u);
}

}  // namespace
}  // namespace lockstep::sass
