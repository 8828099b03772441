// SPDX-License-Identifier: Apache-2.0
// Loads and stores of every size, address form and pattern of addresses, against bytes of memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/isa/sass/semantics/memory/memory_warp.h"

namespace lockstep::sass {
namespace {

using testing::HasSubstr;
constexpr std::uint64_t kBase = MemoryWarp::kGlobal;
constexpr std::uint32_t kMasks[] = {kAllLanes, 0x0000ffff, 0x80000001, 0x12345678, 0x10};

/// What a lane's register i must hold after loading from bytes + offset.
std::uint32_t expected(const std::vector<std::uint8_t>& bytes, std::size_t offset, unsigned size,
                       unsigned i) {
    switch (size) {
        case kFieldU8:
            return bytes.at(offset);
        case kFieldS8:
            return static_cast<std::uint32_t>(static_cast<std::int8_t>(bytes.at(offset)));
        case kFieldU16:
            return bytes.at(offset) | bytes.at(offset + 1) << 8;
        case kFieldS16:
            return static_cast<std::uint32_t>(
                static_cast<std::int16_t>(bytes.at(offset) | bytes.at(offset + 1) << 8));
        default:
            return MemoryWarp::word_at(bytes, offset + 4 * i);
    }
}

unsigned rows(unsigned size) {
    return std::max(1u, kFieldBytes[size] / 4);
}

/// Offset of each lane, multiples of `bytes`, in several patterns.
using Offsets = std::array<std::uint32_t, kWarpSize>;
std::vector<Offsets> patterns(unsigned bytes, unsigned limit) {
    std::mt19937 random(bytes);
    std::vector<Offsets> all(5);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        all[0][l] = 64 + l * bytes;                      // consecutive
        all[1][l] = 16 * 5;                              // all equal
        all[2][l] = (31 - l) * bytes;                    // backwards
        all[3][l] = random() % (limit / bytes) * bytes;  // anywhere
        all[4][l] = (l / 8) * 32;                        // groups
    }
    return all;
}

TEST(Load, OfOneAddressBySixteenBytesBeforeSm80) {
    constexpr unsigned kFieldUniform128 = 7;
    for (const unsigned opcode : {0x381u, 0x980u}) {
        MemoryWarp t(75);
        t.set_addresses(8, [](unsigned) { return kBase + 0x60; });
        t.execute(
            make_word(opcode, {{16, 8, 20}, {24, 8, 8}, {72, 1, 1}, {73, 3, kFieldUniform128}}));
        for (unsigned l = 0; l < kWarpSize; ++l)
            for (unsigned i = 0; i < 4; ++i)
                EXPECT_EQ(t[20 + i].lane[l], MemoryWarp::word_at(t.global, 0x60 + 4 * i));
    }
}

TEST(Load, GlobalSharedAndLocalOfAllSizesAndPatterns) {
    for (const unsigned opcode : {0x381u, 0x984u, 0x983u})
        for (unsigned size = kFieldU8; size <= kField128; ++size)
            for (const Offsets& offsets : patterns(kFieldBytes[size], MemoryWarp::kLocalBytes - 64))
                for (const std::uint32_t mask : kMasks) {
                    MemoryWarp t;
                    if (opcode == 0x381)
                        t.set_addresses(8, [&](unsigned l) { return kBase + offsets[l] - 0x20; });
                    else
                        t.set_lanes(8, [&](unsigned l) { return offsets[l] - 0x20; });
                    const Row before[4] = {t[20], t[21], t[22], t[23]};
                    t.execute(make_word(opcode, {{16, 8, 20},
                                                 {24, 8, 8},
                                                 {40, 24, 0x20},
                                                 {72, 1, opcode == 0x381},
                                                 {73, 3, size}}),
                              mask);
                    for (unsigned l = 0; l < kWarpSize; ++l)
                        for (unsigned i = 0; i < 4; ++i) {
                            std::uint32_t want = before[i].lane[l];
                            if (i < rows(size) && (mask >> l & 1)) {
                                if (opcode == 0x983) {
                                    std::vector<std::uint8_t> own(MemoryWarp::kLocalBytes);
                                    for (unsigned b = 0; b < own.size(); ++b)
                                        own[b] = t.local[(b / 4 * 32 + l) * 4 + b % 4];
                                    want = expected(own, offsets[l], size, i);
                                } else {
                                    want = expected(opcode == 0x381 ? t.global : t.shared,
                                                    offsets[l], size, i);
                                }
                            }
                            ASSERT_EQ(t[20 + i].lane[l], want)
                                << std::hex << opcode << " size " << size << " lane " << l;
                        }
                    EXPECT_EQ(t.warp.access.lanes, mask);
                    EXPECT_EQ(t.warp.access.width, kFieldBytes[size]);
                    EXPECT_FALSE(t.warp.access.is_store);
                    EXPECT_EQ(t.warp.access.address[4], (opcode == 0x381 ? kBase : 0) + offsets[4]);
                }
}

TEST(Store, GlobalSharedAndLocalOfAllSizesAndPatterns) {
    for (const unsigned opcode : {0x386u, 0x388u, 0x387u})
        for (unsigned size = kFieldU8; size <= kField128; ++size)
            for (const Offsets& offsets : patterns(kFieldBytes[size], MemoryWarp::kLocalBytes - 64))
                for (const std::uint32_t mask : kMasks) {
                    MemoryWarp t;
                    if (opcode == 0x386)
                        t.set_addresses(8, [&](unsigned l) { return kBase + offsets[l] + 0x10; });
                    else
                        t.set_lanes(8, [&](unsigned l) { return offsets[l] + 0x10; });
                    std::vector<std::uint8_t>& memory = opcode == 0x386   ? t.global
                                                        : opcode == 0x388 ? t.shared
                                                                          : t.local;
                    std::vector<std::uint8_t> want = memory;
                    for (unsigned l = 0; l < kWarpSize; ++l)
                        for (unsigned b = 0; (mask >> l & 1) && b < kFieldBytes[size]; ++b) {
                            const unsigned at = offsets[l] + b;
                            want[opcode == 0x387 ? (at / 4 * 32 + l) * 4 + at % 4 : at] =
                                static_cast<std::uint8_t>(t[16 + b / 4].lane[l] >> (b % 4 * 8));
                        }
                    t.execute(make_word(opcode, {{24, 8, 8},
                                                 {32, 8, 16},
                                                 {40, 24, 0xfffff0},
                                                 {72, 1, opcode == 0x386},
                                                 {73, 3, size}}),
                              mask);
                    ASSERT_EQ(memory, want) << std::hex << opcode << " size " << size;
                    EXPECT_TRUE(t.warp.access.is_store);
                }
}

TEST(Load, RegisterZReadsFromOffsetAndWritesNowhere) {
    MemoryWarp t;
    t.execute(make_word(0x984, {{16, 8, 20}, {24, 8, 255}, {40, 24, 0x40}, {73, 3, kField32}}));
    for (unsigned l = 0; l < kWarpSize; ++l)
        EXPECT_EQ(t[20].lane[l], MemoryWarp::word_at(t.shared, 0x40));
    t.execute(make_word(0x984, {{16, 8, 255}, {24, 8, 255}, {73, 3, kField128}}));
    t.execute(make_word(0x388, {{24, 8, 255}, {32, 8, 255}, {40, 24, 0x40}, {73, 3, kField128}}),
              1);
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(t.shared[0x40 + i], 0);
}

// The words below are what the compiler emits; comments show NVIDIA's disassembly.
TEST(Load, DescriptorFormIgnoresTheUniformRegister) {
    MemoryWarp t;
    t.set_uniform64(10, 0x123456789);
    t.set_addresses(8, [](unsigned l) { return kBase + 4 * l; });
    // LDG.E R13, desc[UR10][R8.64+0x4]
    t.execute(Word{0x0000040a080d7981, 0x0000e8000c1e1900});
    for (unsigned l = 0; l < kWarpSize; ++l)
        EXPECT_EQ(t[13].lane[l], MemoryWarp::word_at(t.global, 4 + 4 * l));
    // STG.E desc[UR10][R4.64], R3
    t.set_addresses(4, [](unsigned l) { return kBase + 256 + 8 * l; });
    t.execute(Word{0x0000000304007986, 0x000fe2000c10190a});
    EXPECT_EQ(MemoryWarp::word_at(t.global, 256 + 24), t[3].lane[3]);
}

TEST(Load, UniformRegisterForms) {
    for (const Arch arch : {75, 80, 90}) {
        MemoryWarp t(arch);
        t.set_uniform64(4, kBase + 0x100);
        t.set_lanes(8, [](unsigned l) { return 4 * l; });
        // [R8.U32+UR4+0x10], then [R8.64+UR4+0x10]
        const auto load = [](unsigned wide, unsigned a) {
            return make_word(0x981, {{16, 8, 20},
                                     {24, 8, a},
                                     {32, 8, 4},
                                     {40, 24, 0x10},
                                     {72, 1, 1},
                                     {73, 3, kField32},
                                     {90, 1, wide},
                                     {91, 1, 1}});
        };
        t.execute(load(0, 8));
        for (unsigned l = 0; l < kWarpSize; ++l)
            ASSERT_EQ(t[20].lane[l], MemoryWarp::word_at(t.global, 0x110 + 4 * l));
        t.set_addresses(8, [](unsigned l) { return std::uint64_t{0} - 4 * l; });
        t.execute(load(1, 8));
        for (unsigned l = 0; l < kWarpSize; ++l)
            ASSERT_EQ(t[20].lane[l], MemoryWarp::word_at(t.global, 0x110 - 4 * l));
        // STG.E [UR4+0x10], R16
        t.execute(make_word(0x986, {{24, 8, 255},
                                    {32, 8, 16},
                                    {40, 24, 0x10},
                                    {64, 8, 4},
                                    {72, 1, 1},
                                    {73, 3, kField32},
                                    {91, 1, 1}}),
                  1u << 7);
        EXPECT_EQ(MemoryWarp::word_at(t.global, 0x110), t[16].lane[7]);
        // LDS R20, [R8.X4+UR6+0x10] and STS [R8.X8+UR6], R16
        t.set_lanes(8, [](unsigned l) { return l ^ 5; });
        for (unsigned l = 0; l < kWarpSize; ++l) t.uniform(6).lane[l] = 0x200;
        t.execute(make_word(0x984, {{16, 8, 20},
                                    {24, 8, 8},
                                    {32, 8, 6},
                                    {40, 24, 0x10},
                                    {73, 3, kField32},
                                    {78, 2, 1},
                                    {91, 1, 1}}));
        for (unsigned l = 0; l < kWarpSize; ++l)
            ASSERT_EQ(t[20].lane[l], MemoryWarp::word_at(t.shared, 0x210 + 4 * (l ^ 5)));
        t.execute(make_word(
            0x988,
            {{24, 8, 8}, {32, 8, 16}, {64, 8, 6}, {73, 3, kField32}, {78, 2, 2}, {91, 1, 1}}));
        for (unsigned l = 0; l < kWarpSize; ++l)
            ASSERT_EQ(MemoryWarp::word_at(t.shared, 0x200 + 8 * (l ^ 5)), t[16].lane[l]);
    }
}

TEST(Load, PredicateOfLdgGivesZeroWithoutAccess) {
    MemoryWarp t;
    t.warp.predicate[2] = 0x0000ff00;
    t.set_addresses(8, [](unsigned l) { return l >= 8 && l < 16 ? kBase + 8 * l : 0; });
    // Bits 64-66 hold 7 - predicate.
    t.execute(
        make_word(0x381, {{16, 8, 20}, {24, 8, 8}, {64, 4, 7 - 2}, {72, 1, 1}, {73, 3, kField64}}));
    for (unsigned l = 0; l < kWarpSize; ++l)
        EXPECT_EQ(t.get64(20, l), l >= 8 && l < 16 ? t.get64(20, l) : 0);
    EXPECT_EQ(t[21].lane[9], MemoryWarp::word_at(t.global, 76));
}

TEST(Load, LanesMayBeInSeveralAllocations) {
    MemoryWarp t;
    auto& other = t.memory.add(kBase + 0x100000, 64);
    MemoryWarp::set_word(other, 60, 77);
    t.set_addresses(8, [](unsigned l) { return l == 30 ? kBase + 0x10003c : kBase + 4 * l; });
    t.execute(make_word(0x381, {{16, 8, 20}, {24, 8, 8}, {72, 1, 1}, {73, 3, kField32}}));
    EXPECT_EQ(t[20].lane[30], 77u);
    EXPECT_EQ(t[20].lane[29], MemoryWarp::word_at(t.global, 29 * 4));
    t.execute(make_word(0x386, {{24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, kField32}}));
    EXPECT_EQ(MemoryWarp::word_at(other, 60), t[16].lane[30]);
}

TEST(Load, FindsEachAllocationOnce) {
    MemoryWarp t;
    constexpr std::uint64_t kArrays = 5, kApart = 0x100000;
    for (std::uint64_t array = 1; array < kArrays; ++array)
        t.memory.add(kBase + array * kApart, 128);
    for (unsigned repeat = 0; repeat < 40; ++repeat) {
        t.set_addresses(8, [&](unsigned l) { return kBase + repeat % kArrays * kApart + 4 * l; });
        t.execute(make_word(0x381, {{16, 8, 20}, {24, 8, 8}, {72, 1, 1}, {73, 3, kField32}}));
    }
    EXPECT_EQ(t.memory.lookups, kArrays);
}

TEST(Store, ToLocalMemoryIsNoted) {
    MemoryWarp t;
    t.set_lanes(8, [](unsigned) { return 8; });
    t.execute(make_word(0x983, {{16, 8, 20}, {24, 8, 8}, {73, 3, kField32}}));
    t.execute(make_word(0x388, {{24, 8, 8}, {32, 8, 16}, {73, 3, kField32}}));
    EXPECT_FALSE(t.warp.has_written_local);
    t.execute(make_word(0x387, {{24, 8, 8}, {32, 8, 16}, {73, 3, kField32}}));
    EXPECT_TRUE(t.warp.has_written_local);
    // By a generic address, where one lane's is local.
    t.warp.has_written_local = false;
    t.set_addresses(8, [](unsigned l) { return l == 5 ? kLocalWindow + 8 : kSharedWindow + 64; });
    t.execute(
        make_word(0x385, {{24, 8, 8}, {32, 32, 0}, {64, 8, 16}, {72, 1, 1}, {73, 3, kField32}}));
    EXPECT_TRUE(t.warp.has_written_local);
}

TEST(Load, GenericAddressesReachAllSpaces) {
    MemoryWarp t;
    for (const bool mixed : {false, true}) {
        t.set_addresses(8, [&](unsigned l) {
            const std::uint64_t space[] = {kSharedWindow + 64, kLocalWindow + 8, kBase + 128};
            return mixed ? space[l % 3] : space[0];
        });
        // LD.E R20, [R8]
        t.execute(make_word(0x980, {{16, 8, 20}, {24, 8, 8}, {72, 1, 1}, {73, 3, kField32}}));
        for (unsigned l = 0; l < kWarpSize; ++l) {
            const std::uint32_t want[] = {MemoryWarp::word_at(t.shared, 64),
                                          MemoryWarp::word_at(t.local, (2 * 32 + l) * 4),
                                          MemoryWarp::word_at(t.global, 128)};
            EXPECT_EQ(t[20].lane[l], want[mixed ? l % 3 : 0]);
        }
        EXPECT_EQ(t.warp.access.space, mixed ? Space::kGeneric : Space::kShared);
        EXPECT_EQ(t.warp.access.lanes, kAllLanes);
        EXPECT_EQ(t.warp.mask, kAllLanes);
        // ST.E [R8+-0x4], R16: 32-bit offset at bit 32, data at bit 64
        t.execute(make_word(
            0x385, {{24, 8, 8}, {32, 32, 0xfffffffc}, {64, 8, 16}, {72, 1, 1}, {73, 3, kField32}}));
        EXPECT_EQ(MemoryWarp::word_at(t.shared, 60), t[16].lane[mixed ? 30 : 31]);
        if (mixed) {
            EXPECT_EQ(MemoryWarp::word_at(t.local, (32 + 1) * 4), t[16].lane[1]);
            EXPECT_EQ(MemoryWarp::word_at(t.global, 124), t[16].lane[29]);
        }
    }
}

TEST(Load, Constant) {
    MemoryWarp t;
    std::vector<std::uint8_t> bank(256);
    std::iota(bank.begin(), bank.end(), std::uint8_t{100});
    t.launch.constant[3] = std::as_bytes(std::span(bank));
    for (unsigned size = kFieldU8; size <= kField64; ++size) {
        const unsigned bytes = kFieldBytes[size];
        t.set_lanes(8, [&](unsigned l) { return (l * 5 % 16) * bytes; });
        t.execute(
            make_word(0xb82, {{16, 8, 20}, {24, 8, 8}, {38, 16, 0x20}, {54, 5, 3}, {73, 3, size}}));
        for (unsigned l = 0; l < kWarpSize; ++l)
            for (unsigned i = 0; i < rows(size); ++i)
                ASSERT_EQ(t[20 + i].lane[l], expected(bank, 0x20 + t[8].lane[l], size, i));
    }
    // ptxas moves these loads in front of the branches that guard them.
    t.set_lanes(8, [](unsigned l) { return l == 31 ? 0xfffffff0 : l * 4; });
    t.execute(
        make_word(0xb82, {{16, 8, 20}, {24, 8, 8}, {38, 16, 200}, {54, 5, 3}, {73, 3, kField32}}));
    for (unsigned l = 0; l < kWarpSize - 1; ++l)
        EXPECT_EQ(t[20].lane[l], l < 14 ? expected(bank, 200 + 4 * l, kField32, 0) : 0) << l;
    EXPECT_EQ(t[20].lane[31], expected(bank, 184, kField32, 0));
    // Unoptimised code reads its tables of jumps at a register's offset less 0x8000.
    t.set_lanes(8, [](unsigned l) { return 0x8000 + 4 * l; });
    t.execute(make_word(
        0xb82, {{16, 8, 20}, {24, 8, 8}, {38, 16, 0x8000}, {54, 5, 3}, {73, 3, kField32}}));
    for (unsigned l = 0; l < kWarpSize; ++l)
        EXPECT_EQ(t[20].lane[l], expected(bank, 4 * l, kField32, 0)) << l;
    const Fault fault = t.fault_of(
        make_word(0xb82, {{16, 8, 20}, {24, 8, 8}, {38, 16, 1}, {54, 5, 3}, {73, 3, kField32}}));
    EXPECT_EQ(fault.kind, FaultKind::kMisalignedAddress);
    EXPECT_EQ(fault.space, Space::kConstant);
    // With RZ it is a literal: c[0x0][0x28].
    t.constant[10] = 1234;
    t.constant[11] = 5678;
    t.execute(make_word(0xb82, {{16, 8, 20}, {24, 8, 255}, {38, 16, 0x28}, {73, 3, kField64}}), 2);
    EXPECT_EQ(t.get64(20, 1), 1234 | 5678ull << 32);
    EXPECT_NE(t[20].lane[0], 1234u);
}

TEST(Fault, GlobalOutOfBoundsNamesTheLane) {
    MemoryWarp t;
    t.set_addresses(8, [](unsigned l) { return kBase + MemoryWarp::kGlobalBytes - 112 + 4 * l; });
    const Word load = make_word(0x381, {{16, 8, 20}, {24, 8, 8}, {72, 1, 1}, {73, 3, kField32}});
    const Fault fault = t.fault_of(load);
    EXPECT_EQ(fault.kind, FaultKind::kIllegalAddress);
    EXPECT_EQ(fault.lane, 28u);
    EXPECT_EQ(fault.address, kBase + MemoryWarp::kGlobalBytes);
    EXPECT_EQ(fault.bytes, 4u);
    EXPECT_EQ(fault.space, Space::kGlobal);
    EXPECT_EQ(fault.what,
              "4-byte load from 0x200000002000 in global memory: no allocation holds all of it");
    // The lanes inside are fine by themselves.
    t.execute(load, 0x0fffffff);
    // A scattered one, and one that straddles the end.
    t.set_addresses(8, [](unsigned l) { return l == 5 ? 0x10 : kBase + 16 * (l * 7 % 32); });
    EXPECT_EQ(t.fault_of(load).lane, 5u);
    auto& odd = t.memory.add(kBase + 0x100000, 10);
    (void)odd;
    t.set_addresses(8, [](unsigned) { return kBase + 0x100008; });
    EXPECT_EQ(t.fault_of(load).address, kBase + 0x100008);
}

TEST(Fault, Misaligned) {
    MemoryWarp t;
    t.set_addresses(8, [](unsigned l) { return kBase + 8 * l + (l == 9 ? 4 : 0); });
    const Fault global =
        t.fault_of(make_word(0x381, {{16, 8, 20}, {24, 8, 8}, {72, 1, 1}, {73, 3, kField64}}));
    EXPECT_EQ(global.kind, FaultKind::kMisalignedAddress);
    EXPECT_EQ(global.lane, 9u);
    for (const unsigned opcode : {0x984u, 0x983u}) {
        t.set_lanes(8, [](unsigned l) { return 2 + 4 * l; });
        const Fault fault =
            t.fault_of(make_word(opcode, {{16, 8, 20}, {24, 8, 8}, {73, 3, kField32}}));
        EXPECT_EQ(fault.kind, FaultKind::kMisalignedAddress);
        EXPECT_EQ(fault.lane, 0u);
    }
}

TEST(Fault, SharedAndLocalOutOfBounds) {
    MemoryWarp t;
    t.set_lanes(8, [](unsigned l) { return MemoryWarp::kSharedBytes - 64 + 4 * l; });
    const Fault shared = t.fault_of(make_word(0x388, {{24, 8, 8}, {32, 8, 16}, {73, 3, kField32}}));
    EXPECT_EQ(shared.kind, FaultKind::kIllegalAddress);
    EXPECT_EQ(shared.lane, 16u);
    EXPECT_EQ(shared.space, Space::kShared);
    EXPECT_EQ(shared.what, "4-byte store to 0x1000 in shared memory: the CTA has 4096 bytes of it");
    t.set_lanes(8, [](unsigned) { return MemoryWarp::kLocalBytes; });
    const Fault local = t.fault_of(make_word(0x983, {{16, 8, 20}, {24, 8, 8}, {73, 3, kField32}}));
    EXPECT_EQ(local.space, Space::kLocal);
    // Negative addresses wrap to 4 GiB - 4 and are out of bounds too.
    t.set_lanes(8, [](unsigned) { return 0xfffffffcu; });
    EXPECT_EQ(t.fault_of(make_word(0x984, {{16, 8, 20}, {24, 8, 8}, {73, 3, kField32}})).kind,
              FaultKind::kIllegalAddress);
}

TEST(Fault, ReadOnlyMemory) {
    MemoryWarp t;
    t.memory.add(kBase + 0x100000, 256, false);
    t.set_addresses(8, [](unsigned l) { return kBase + 0x100000 + 4 * l; });
    t.execute(make_word(0x381, {{16, 8, 20}, {24, 8, 8}, {72, 1, 1}, {73, 3, kField32}}));
    const Fault fault =
        t.fault_of(make_word(0x386, {{24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, kField32}}));
    EXPECT_EQ(fault.kind, FaultKind::kIllegalAddress);
    EXPECT_THAT(fault.what, HasSubstr("4-byte store to"));
}

TEST(Load, UnknownFormsAreRefused) {
    MemoryWarp t;
    EXPECT_EQ(t.fault_of(make_word(0x381, {{72, 1, 1}, {73, 3, 7}})).kind, FaultKind::kNotExecuted);
    EXPECT_EQ(t.fault_of(make_word(0x582, {{73, 3, 4}, {91, 1, 1}})).kind, FaultKind::kNotExecuted);
}

}  // namespace
}  // namespace lockstep::sass
