// SPDX-License-Identifier: Apache-2.0
// LDSM, STSM, LDGSTS, mbarriers and bulk copies; words with 64-bit literals are what the compiler
// emits.
#include <gtest/gtest.h>

#include "isa/sass/semantics/mbarrier.h"
#include "tests/isa/sass/semantics/memory/memory_warp.h"

namespace lockstep::sass {
namespace {

constexpr std::uint64_t kBase = MemoryWarp::kGlobal;

std::uint16_t half_at(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
    return static_cast<std::uint16_t>(bytes[offset] | bytes[offset + 1] << 8);
}

TEST(MatrixLoad, FragmentsOfAllCounts) {
    for (unsigned count = 0; count < 3; ++count)
        for (const bool transposed : {false, true}) {
            MemoryWarp t;
            t.set_lanes(8, [](unsigned l) { return 16 * (l * 11 % 32); });
            t.execute(make_word(
                0x83b,
                {{16, 8, 20}, {24, 8, 8}, {40, 24, 0x20}, {72, 2, count}, {78, 2, transposed}}));
            for (unsigned i = 0; i < 1u << count; ++i)
                for (unsigned l = 0; l < kWarpSize; ++l)
                    for (unsigned h = 0; h < 2; ++h) {
                        unsigned row = l / 4, column = 2 * (l % 4) + h;
                        if (transposed) std::swap(row, column);
                        const std::size_t at =
                            0x20 + t[8].lane[8 * i + row] + std::size_t{2} * column;
                        ASSERT_EQ(t[20 + i].lane[l] >> (16 * h) & 0xffff, half_at(t.shared, at));
                    }
            EXPECT_EQ(t[20 + (1u << count)].lane[3], 0x01010101u * (20 + (1u << count)) + 3);
            EXPECT_EQ(t.warp.access.lanes, count == 2 ? kAllLanes : (1u << (8 << count)) - 1);
            EXPECT_EQ(t.warp.access.width, 16);
        }
}

TEST(MatrixLoad, StoreIsTheInverse) {
    for (unsigned count = 0; count < 3; ++count)
        for (const unsigned transposed : {0u, 1u}) {
            MemoryWarp t;
            t.set_lanes(8, [](unsigned l) { return 16 * (l * 11 % 32); });
            t.execute(
                make_word(0x844, {{24, 8, 8}, {32, 8, 16}, {72, 2, count}, {78, 2, transposed}}));
            t.execute(
                make_word(0x83b, {{16, 8, 20}, {24, 8, 8}, {72, 2, count}, {78, 2, transposed}}));
            for (unsigned i = 0; i < 1u << count; ++i)
                for (unsigned l = 0; l < kWarpSize; ++l)
                    ASSERT_EQ(t[20 + i].lane[l], t[16 + i].lane[l]);
        }
}

TEST(MatrixLoad, RowsMustBeAlignedAndInBounds) {
    MemoryWarp t;
    t.set_lanes(8, [](unsigned l) { return l == 9 ? 8 : 16 * l; });
    const Word x2 = make_word(0x83b, {{16, 8, 20}, {24, 8, 8}, {72, 2, 1}});
    EXPECT_EQ(t.fault_of(x2).kind, FaultKind::kMisalignedAddress);
    t.execute(make_word(0x83b, {{16, 8, 20}, {24, 8, 8}, {72, 2, 0}}));
    t.set_lanes(8, [](unsigned l) { return l == 9 ? MemoryWarp::kSharedBytes : 16 * l; });
    EXPECT_EQ(t.fault_of(x2).lane, 9u);
}

TEST(AsyncCopy, CopiesAllSizesBothWays) {
    for (const unsigned size : {kField32, kField64, kField128})
        for (const bool scattered : {false, true})
            for (const std::uint32_t mask : {kAllLanes, 0x0ff00ff0u}) {
                MemoryWarp t;
                const unsigned bytes = kFieldBytes[size];
                const auto from = [&](unsigned l) { return (scattered ? l * 7 % 32 : l) * bytes; };
                const auto to = [&](unsigned l) { return (scattered ? 31 - l : l) * bytes; };
                t.set_addresses(8, [&](unsigned l) { return kBase + from(l) + 0x40; });
                t.set_lanes(4, [&](unsigned l) { return to(l); });
                std::vector<std::uint8_t> want = t.shared;
                for (unsigned l = 0; l < kWarpSize; ++l)
                    if (mask >> l & 1)
                        std::memcpy(&want[0x100 + to(l)], &t.global[0x30 + from(l)], bytes);
                // LDGSTS [R4+0x100], desc[UR][R8.64+-0x10]
                t.execute(make_word(0xfae, {{81, 3, 0},
                                            {16, 8, 4},
                                            {24, 8, 8},
                                            {32, 12, 0xff0},
                                            {44, 20, 0x100},
                                            {70, 1, 1},
                                            {73, 3, size},
                                            {76, 1, 1},
                                            {91, 1, 1}}),
                          mask);
                ASSERT_EQ(t.shared, want);
                EXPECT_EQ(t.warp.access.space, Space::kGlobal);
                EXPECT_EQ(t.warp.access.copy_to[5], 0x100 + to(5));
                EXPECT_EQ(t.warp.mask, mask);
            }
}

TEST(AsyncCopy, PredicateAndByteCountFillWithZeros) {
    MemoryWarp t;
    t.warp.predicate[1] = 0xfffffff0;
    // Lanes 0-3 have no valid source; the low bits of the others' addresses are the bytes to zero.
    t.set_addresses(4, [](unsigned l) { return l < 4 ? 0 : kBase + 16 * l + l % 16; });
    t.set_lanes(19, [](unsigned l) { return 16 * l; });
    // LDGSTS.E.BYPASS.128.ZFILL [R19+0x420], [R4.64], P1
    t.execute(Word{0x0042000004137fae, 0x000fe80008941c44});
    for (unsigned l = 0; l < kWarpSize; ++l)
        for (unsigned b = 0; b < 16; ++b)
            ASSERT_EQ(t.shared[0x420 + 16 * l + b],
                      l < 4 || b >= 16 - l % 16 ? 0 : t.global[16 * l + b])
                << l << " " << b;
    // LDGSTS.E.BYPASS.128 [R19+0x450], [R2.64], !P2 with P2 true: zeros, nothing read.
    t.warp.predicate[2] = kAllLanes;
    t.set_addresses(2, [](unsigned) { return 0; });
    t.execute(Word{0x0045000002137fae, 0x0003e8000d101c44});
    EXPECT_EQ(t.shared[0x450 + 500], 0);
    EXPECT_EQ(t.warp.access.lanes, 0u);
}

TEST(AsyncCopy, UniformForms) {
    MemoryWarp t;
    t.set_addresses(8, [](unsigned l) { return kBase + 4 * l; });
    t.set_lanes(4, [](unsigned l) { return 4 * l; });
    t.set_uniform64(12, 0x200);
    // LDGSTS.E [R4+UR12+0x30], desc[][R8.64+0x10]
    t.execute(make_word(0xdae, {{81, 3, 0},
                                {16, 8, 4},
                                {24, 8, 8},
                                {32, 12, 0x10},
                                {44, 20, 0x30},
                                {64, 6, 12},
                                {70, 1, 1},
                                {73, 3, kField32},
                                {91, 1, 1}}));
    EXPECT_EQ(MemoryWarp::word_at(t.shared, 0x230 + 12), MemoryWarp::word_at(t.global, 0x10 + 12));
    // LDGSTS.E [R4], [R4.U32+UR14+0x10]
    t.set_uniform64(14, kBase + 0x100);
    t.execute(make_word(0xfae, {{81, 3, 0},
                                {16, 8, 4},
                                {24, 8, 4},
                                {32, 12, 0x10},
                                {64, 6, 14},
                                {73, 3, kField32},
                                {91, 1, 1}}));
    EXPECT_EQ(MemoryWarp::word_at(t.shared, 40), MemoryWarp::word_at(t.global, 0x110 + 40));
}

TEST(AsyncCopy, Faults) {
    MemoryWarp t;
    t.set_addresses(8, [](unsigned l) { return kBase + 16 * l + (l == 7 ? 4 : 0); });
    t.set_lanes(4, [](unsigned l) { return 16 * l; });
    const Word copy = make_word(0xfae, {{81, 3, 0},
                                        {16, 8, 4},
                                        {24, 8, 8},
                                        {70, 1, 1},
                                        {73, 3, kField128},
                                        {76, 1, 1},
                                        {91, 1, 1}});
    const Fault source = t.fault_of(copy);
    EXPECT_EQ(source.kind, FaultKind::kMisalignedAddress);
    EXPECT_EQ(source.space, Space::kGlobal);
    EXPECT_EQ(source.lane, 7u);
    t.set_addresses(8, [](unsigned l) { return kBase + 16 * l; });
    t.set_lanes(4, [](unsigned l) { return MemoryWarp::kSharedBytes - 256 + 16 * l; });
    const Fault destination = t.fault_of(copy);
    EXPECT_EQ(destination.space, Space::kShared);
    EXPECT_EQ(destination.lane, 16u);
}

TEST(Mbarrier, CountsArrivalsAndBytes) {
    Mbarrier barrier = Mbarrier::of(33);
    // What the compiler computes for mbarrier.init with 33.
    const std::uint64_t low = (0x100000u - 33u) << 1, high = (0x100000u - 33u) << 11;
    EXPECT_EQ(barrier.bits(), low | high << 32);
    barrier.arrive(32, 0);
    EXPECT_EQ(barrier.pending(), 1u);
    // What it computes for mbarrier.pending_count.
    EXPECT_EQ(0x100000u - (barrier.bits() >> 43 & 0xfffff), 1u);
    barrier.arrive(0, 1024);
    EXPECT_EQ(barrier.transactions(), 1024);
    barrier.arrive(1, 0);
    EXPECT_FALSE(barrier.phase());
    EXPECT_EQ(barrier.pending(), 0u);
    barrier.arrive(0, -1000);
    EXPECT_FALSE(barrier.phase());
    barrier.arrive(0, -24);
    EXPECT_TRUE(barrier.phase());
    EXPECT_EQ(barrier.pending(), 33u);
    barrier.drop(1);
    barrier.arrive(33, 0);
    EXPECT_FALSE(barrier.phase());
    EXPECT_EQ(barrier.pending(), 32u);
    barrier.arrive(0, -1);  // a copy that ends before its bytes are announced
    EXPECT_EQ(barrier.transactions(), -1);
    barrier.arrive(32, 1);
    EXPECT_TRUE(barrier.phase());
}

TEST(Mbarrier, OfSm80) {
    // What the compiler stores for mbarrier.init with 33.
    std::uint64_t bits = 0x3fffffdf | 0x7fffffdfull << 32;
    for (unsigned phase = 1; phase < 5; ++phase) {
        for (unsigned i = 0; i < 33; ++i) {
            EXPECT_EQ(bits >> 63, (phase - 1) % 2);
            // mbarrier.pending_count
            EXPECT_EQ(0x80000000u - (bits >> 32 & 0x7fffffff), 33 - i);
            bits = arrive_sm80(bits);
        }
        EXPECT_EQ(bits >> 63, phase % 2);
    }
    MemoryWarp t(80);
    t.uniform(63);
    MemoryWarp::set_word(t.shared, 0, 0x40000000u - 32);
    MemoryWarp::set_word(t.shared, 4, 0x80000000u - 32);
    // ATOMS.ARRIVE.64 R2, [URZ]
    t.execute(Word{0x00000000ff027f8c, 0x001fe2000c80043f});
    EXPECT_EQ(t[3].lane[31], 0x7fffffffu);
    EXPECT_EQ(MemoryWarp::word_at(t.shared, 4), 0x80000000u | (0x80000000u - 32));
    // ARRIVES.LDGSTSBAR.64 [URZ]
    t.execute(Word{0x00000000ff0079b0, 0x000fe20008000a3f}, 0xff);
    EXPECT_EQ(MemoryWarp::word_at(t.shared, 4), 0x80000000u | (0x80000000u - 24));
}

TEST(Mbarrier, InstructionsOfSm90) {
    MemoryWarp t;
    constexpr std::uint64_t kBarrier = 0x80;
    t.set_uniform64(9, kBarrier);
    t.set_uniform64(4, Mbarrier::of(33).bits());
    // SYNCS.EXCH.64 URZ, [UR9], UR4
    t.execute(Word{0x00000004093f75b2, 0x0004e40008000100});
    EXPECT_EQ(MemoryWarp::word_at(t.shared, kBarrier), (0x100000u - 33) << 1);
    // SYNCS.ARRIVE.TRANS64.A1T0 R2, [UR9], RZ
    t.execute(Word{0x000000ffff0279a7, 0x000ea40008100009});
    EXPECT_EQ(0x100000u - (t[3].lane[31] >> 11 & 0xfffff), 2u);
    // SYNCS.ARRIVE.TRANS64 R2, [UR9], R0 with 1024 bytes, by one lane
    t.set_lanes(0, [](unsigned) { return 1024; });
    t.execute(Word{0x00000000ff0279a7, 0x004e640008000009}, 1);
    // SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR9], R0: not while bytes are missing
    t.set_lanes(0, [](unsigned) { return 0; });
    t.warp.budget = 100;
    t.execute(Word{0x00000000ff0075a7, 0x000ea40008020149});
    EXPECT_EQ(t.warp.predicate[1], 0u);
    EXPECT_EQ(t.warp.budget, 0u);
    // UBLKCP.S.G [UR8], [UR4], UR12
    t.set_uniform64(4, kBase + 0x200);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        t.uniform(8).lane[l] = 0x400;
        t.uniform(12).lane[l] = 64;
    }
    t.execute(Word{0x00000008040073ba, 0x0005d8000800020c});
    EXPECT_TRUE(
        std::equal(t.global.begin() + 0x200, t.global.begin() + 0x600, t.shared.begin() + 0x400));
    t.execute(Word{0x00000000ff0075a7, 0x000ea40008020149});
    EXPECT_EQ(t.warp.predicate[1], kAllLanes);
    // SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 R6, [UR9], RZ
    t.execute(Word{0x000000ffff0679a7, 0x000e620008100809}, 1);
    // SYNCS.ARRIVE.TRANS64.ART0 RZ, [UR9], R4
    t.set_lanes(4, [](unsigned) { return 32; });
    t.execute(Word{0x00000004ffff79a7, 0x0003e80008500009}, 1);
    const std::uint64_t bits = MemoryWarp::word_at(t.shared, kBarrier) |
                               std::uint64_t{MemoryWarp::word_at(t.shared, kBarrier + 4)} << 32;
    EXPECT_FALSE(Mbarrier(bits).phase());
    EXPECT_EQ(Mbarrier(bits).pending(), 32u);
    // UBLKCP.G.S [UR4], [UR6], UR7
    t.set_uniform64(4, kBase);
    t.set_uniform64(6, 0x400 | 8ull << 32);
    t.execute(Word{0x00000004060073ba, 0x0005e20008000407});
    EXPECT_TRUE(std::equal(t.global.begin(), t.global.begin() + 128, t.shared.begin() + 0x400));
    t.set_uniform64(4, kBase + MemoryWarp::kGlobalBytes - 64);
    EXPECT_EQ(t.fault_of(Word{0x00000004060073ba, 0x0005e20008000407}).kind,
              FaultKind::kIllegalAddress);
}

TEST(AsyncCopy, WaitingFindsCopiesDone) {
    MemoryWarp t;
    EXPECT_TRUE(t.run(Word{0x00000000000079af, 0x000e220000000000}));  // LDGDEPBAR
    EXPECT_TRUE(t.run(Word{0x000080400000791a, 0x000fc80000000000}));  // DEPBAR.LE SB0, 0x1
}

}  // namespace
}  // namespace lockstep::sass
