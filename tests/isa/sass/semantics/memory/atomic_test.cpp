// SPDX-License-Identifier: Apache-2.0
// Atomics of every operation and type against straightforward references, lanes in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "isa/sass/semantics/mbarrier.h"
#include "sim/numerics/fp16.h"
#include "tests/isa/sass/semantics/memory/memory_warp.h"

namespace lockstep::sass {
namespace {

constexpr std::uint64_t kBase = MemoryWarp::kGlobal;
constexpr unsigned kExchange = 8;

std::uint64_t read(const std::vector<std::uint8_t>& bytes, std::size_t offset, unsigned width) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + offset, width);
    return value;
}

template <typename T>
std::uint64_t reference(unsigned op, std::uint64_t old_bits, std::uint64_t operand_bits) {
    const auto old = static_cast<T>(old_bits), v = static_cast<T>(operand_bits);
    using U = std::make_unsigned_t<T>;
    T result{};
    switch (op) {
        case 0:
            result = static_cast<T>(static_cast<U>(old) + static_cast<U>(v));
            break;
        case 1:
            result = std::min(old, v);
            break;
        case 2:
            result = std::max(old, v);
            break;
        case 3:
            result = static_cast<U>(old) >= static_cast<U>(v) ? 0 : old + 1;
            break;
        case 4:
            result = old == 0 || static_cast<U>(old) > static_cast<U>(v) ? v : old - 1;
            break;
        case 5:
            result = old & v;
            break;
        case 6:
            result = old | v;
            break;
        case 7:
            result = old ^ v;
            break;
        default:
            result = v;
    }
    return static_cast<U>(result);
}

struct IntegerType {
    unsigned field;
    unsigned width;
    std::uint64_t (*reference)(unsigned, std::uint64_t, std::uint64_t);
};
constexpr IntegerType kIntegerTypes[] = {{0, 4, reference<std::uint32_t>},
                                         {1, 4, reference<std::int32_t>},
                                         {2, 8, reference<std::uint64_t>},
                                         {3, 8, reference<std::int64_t>}};

TEST(Atomic, IntegerOperationsOfAllTypesInAllSpaces) {
    std::mt19937 random(1);
    for (const bool parallel : {false, true})
        for (const unsigned opcode : {0x3a8u, 0x38cu, 0x38au, 0x98eu})
            for (const IntegerType& type : kIntegerTypes)
                for (unsigned op = 0; op <= kExchange; ++op) {
                    if (opcode == 0x98e && op == kExchange) continue;
                    MemoryWarp t;
                    t.launch.parallel = parallel;
                    // Eight different addresses, each hit by four lanes.
                    std::vector<std::uint8_t>& memory =
                        opcode == 0x3a8 || opcode == 0x98e ? t.global : t.shared;
                    const std::uint64_t base = opcode == 0x38a   ? kSharedWindow
                                               : opcode == 0x38c ? 0
                                                                 : kBase;
                    for (unsigned l = 0; l < kWarpSize; ++l) {
                        t.set64(8, l, base + 16 * (l % 8));
                        const std::uint64_t operand =
                            random() % 3 == 0 ? random() % 4
                                              : random() | std::uint64_t{random()} << 32;
                        t.set64(16, l, operand);
                    }
                    std::vector<std::uint8_t> want = memory;
                    const std::uint32_t mask = 0xfff0ff7f;
                    std::array<std::uint64_t, kWarpSize> old{};
                    for (unsigned l = 0; l < kWarpSize; ++l) {
                        if (!(mask >> l & 1)) continue;
                        old[l] = read(want, 16 * (l % 8), type.width);
                        const std::uint64_t value = type.reference(op, old[l], t.get64(16, l));
                        std::memcpy(want.data() + 16 * (l % 8), &value, type.width);
                    }
                    t.set_lanes(20, [](unsigned) { return 99; });
                    t.execute(make_word(opcode, {{16, 8, opcode == 0x98e ? 20u : 24u},
                                                 {24, 8, 8},
                                                 {32, 8, 16},
                                                 {72, 1, opcode != 0x38c},
                                                 {73, 3, type.field},
                                                 {87, 4, op}}),
                              mask);
                    ASSERT_EQ(memory, want) << std::hex << opcode << " op " << op;
                    EXPECT_TRUE(t.warp.access.is_atomic);
                    EXPECT_EQ(t[20].lane[3], 99u);
                    if (opcode == 0x98e) continue;
                    for (unsigned l = 0; l < kWarpSize; ++l) {
                        if (mask >> l & 1) {
                            ASSERT_EQ(type.width == 8 ? t.get64(24, l) : t[24].lane[l], old[l]);
                        } else {
                            ASSERT_EQ(t[24].lane[l], 0x01010101u * 24 + l);
                        }
                    }
                }
}

void run_float(MemoryWarp& t, unsigned opcode, unsigned type, unsigned op = 0) {
    t.execute(make_word(opcode, {{16, 8, 24},
                                 {24, 8, 8},
                                 {32, 8, 16},
                                 {72, 1, 1},
                                 {73, 4, type},
                                 {87, 3, op << 1},
                                 {90, 1, 0}}));
}

TEST(Atomic, FloatAddFlushesOnlyWithFtz) {
    constexpr std::uint32_t kSubnormal = 0x00400000;
    for (const unsigned type : {9u, 12u}) {
        MemoryWarp t;
        t.set_addresses(8, [](unsigned l) { return kBase + 4 * l; });
        for (unsigned l = 0; l < kWarpSize; ++l)
            MemoryWarp::set_word(
                t.global, 4 * l,
                l == 0 ? kSubnormal : std::bit_cast<std::uint32_t>(1.5f * static_cast<float>(l)));
        t.set_lanes(16, [](unsigned l) {
            return l == 0 ? 0u : l == 1 ? 0x7f800001u : std::bit_cast<std::uint32_t>(0.25f);
        });
        run_float(t, 0x3a3, type);
        EXPECT_EQ(MemoryWarp::word_at(t.global, 0), type == 9 ? 0u : kSubnormal);
        EXPECT_EQ(MemoryWarp::word_at(t.global, 4), 0x7fffffffu);
        EXPECT_EQ(std::bit_cast<float>(MemoryWarp::word_at(t.global, 8)), 3.25f);
        EXPECT_EQ(std::bit_cast<float>(t[24].lane[2]), 3.0f);
    }
}

TEST(Atomic, FloatTypesBeforeSm90) {
    for (const Arch arch : {70, 75, 80, 89}) {
        MemoryWarp t(arch);
        t.set_addresses(8, [](unsigned l) { return kBase + 8 * (l % 2); });
        const double start = 2.5;
        std::memcpy(t.global.data(), &start, 8);
        for (unsigned l = 0; l < kWarpSize; ++l) t.set64(16, l, std::bit_cast<std::uint64_t>(0.5));
        // RED.E.ADD.F64.RN
        t.execute(make_word(0x98e, {{24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, 6}, {87, 3, 0}}));
        EXPECT_EQ(std::bit_cast<double>(read(t.global, 0, 8)), 2.5 + 16 * 0.5);
        // ATOMG.E.ADD.F32.FTZ.RN
        MemoryWarp::set_word(t.global, 0, std::bit_cast<std::uint32_t>(1.0f));
        t.set_lanes(16, [](unsigned) { return std::bit_cast<std::uint32_t>(1.0f); });
        t.execute(make_word(
            0x3a8, {{16, 8, 24}, {24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, 3}, {87, 4, 0}}));
        EXPECT_EQ(std::bit_cast<float>(MemoryWarp::word_at(t.global, 0)), 17.0f);
        EXPECT_EQ(std::bit_cast<float>(t[24].lane[30]), 16.0f);
    }
}

TEST(Atomic, HalfPairs) {
    using numerics::fp16_to_fp32;
    using numerics::fp32_to_fp16;
    std::mt19937 random(3);
    for (const unsigned op : {0u, 1u, 2u})
        for (const unsigned parts : {1u, 2u, 4u}) {
            MemoryWarp t;
            t.set_addresses(8, [](unsigned l) { return kBase + 16 * l; });
            for (unsigned l = 0; l < kWarpSize; ++l)
                for (unsigned w = 0; w < parts; ++w) {
                    t[16 + w].lane[l] = random() & 0x7bff7bff;
                    MemoryWarp::set_word(t.global, 16 * l + 4 * w, random() & 0xfbfffbff);
                }
            std::vector<std::uint8_t> want = t.global;
            for (unsigned l = 0; l < kWarpSize; ++l)
                for (unsigned h = 0; h < 2 * parts; ++h) {
                    const float a =
                        fp16_to_fp32(static_cast<std::uint16_t>(read(want, 16 * l + 2 * h, 2)));
                    const float b = fp16_to_fp32(
                        static_cast<std::uint16_t>(t[16 + h / 2].lane[l] >> (h % 2 * 16)));
                    const double exact = static_cast<double>(a) + b;
                    const std::uint16_t value = op == 0   ? numerics::fp64_to_fp16(exact)
                                                : op == 1 ? fp32_to_fp16(std::min(a, b))
                                                          : fp32_to_fp16(std::max(a, b));
                    std::memcpy(want.data() + 16 * l + 2 * h, &value, 2);
                }
            run_float(t, 0x9a6, parts == 4 ? 2 : parts - 1, op);
            ASSERT_EQ(t.global, want) << op << " x" << parts;
        }
}

TEST(Atomic, GenericFloatSaysWhereItWasPerformed) {
    MemoryWarp t;
    t.set_addresses(8, [](unsigned l) { return l < 16 ? kBase + 4 * l : kSharedWindow + 4 * l; });
    t.set_lanes(16, [](unsigned) { return std::bit_cast<std::uint32_t>(1.0f); });
    for (unsigned l = 0; l < kWarpSize; ++l) MemoryWarp::set_word(t.global, 4 * l, 0);
    const std::vector<std::uint8_t> shared = t.shared;
    // ATOM.E.ADD.F32.FTZ.RN P0, RZ, [R8], R16
    t.execute(make_word(
        0x3a2,
        {{16, 8, 255}, {24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 4, 9}, {81, 3, 0}, {87, 3, 0}}));
    EXPECT_EQ(t.warp.predicate[0], 0x0000ffffu);
    EXPECT_EQ(t.shared, shared);
    EXPECT_EQ(MemoryWarp::word_at(t.global, 60), std::bit_cast<std::uint32_t>(1.0f));
    EXPECT_EQ(t.warp.mask, kAllLanes);
}

// mbarrier.arrive at a generic address, which nvdisasm names POPC.INC, is as ATOMS.ARRIVE.64.
TEST(Atomic, ArrivalsAtGenericAddressesBeforeSm90) {
    // ATOM.E.POPC.INC.???2.STRONG.SM PT, R20, [R8.64+URZ]
    const Word word{0x0000000008147f8a, 0x00321e000c9ea57f};
    MemoryWarp t(80);
    t.set_addresses(8, [](unsigned) { return kBase + 16; });
    std::uint64_t barrier = 0x3fffffd83fffffd8;  // 40 arrivals, none of them yet
    std::memcpy(t.global.data() + 16, &barrier, sizeof barrier);
    ASSERT_TRUE(t.run(word));
    for (unsigned l = 0; l < kWarpSize; ++l) {
        EXPECT_EQ(t.get64(20, l), barrier) << l;
        barrier = arrive_sm80(barrier);
    }
    EXPECT_EQ(read(t.global, 16, 8), barrier);
    MemoryWarp hopper(90);
    EXPECT_FALSE(hopper.run(word));
}

TEST(Atomic, CompareAndSwap) {
    for (const unsigned opcode : {0x3a9u, 0x38du, 0x38bu})
        for (const unsigned size : {0u, 2u, 4u})
            for (const unsigned mode : {0u, 3u}) {
                if (opcode == 0x3a9 && mode != 0) continue;
                MemoryWarp t;
                const bool is_shared = opcode == 0x38d;
                std::vector<std::uint8_t>& memory = is_shared ? t.shared : t.global;
                const unsigned words = size == 0 ? 1 : size;
                for (unsigned l = 0; l < kWarpSize; ++l) {
                    t.set64(8, l, (is_shared ? 0 : kBase) + 16 * l);
                    for (unsigned w = 0; w < 4; ++w) {
                        t[16 + w].lane[l] = MemoryWarp::word_at(memory, 16 * l + 4 * w);
                        t[20 + w].lane[l] = 1000 + w;
                    }
                    if (l % 2) t[16 + words - 1].lane[l] ^= 0x80000000;
                }
                const std::vector<std::uint8_t> before = memory;
                t.execute(make_word(opcode, {{16, 8, 24},
                                             {24, 8, 8},
                                             {32, 8, 16},
                                             {64, 8, 20},
                                             {72, 1, !is_shared},
                                             {73, 3, size},
                                             {87, 2, mode}}));
                for (unsigned l = 0; l < kWarpSize; ++l)
                    for (unsigned w = 0; w < words; ++w) {
                        const std::uint32_t old = MemoryWarp::word_at(before, 16 * l + 4 * w);
                        EXPECT_EQ(MemoryWarp::word_at(memory, 16 * l + 4 * w),
                                  l % 2 ? old : 1000 + w);
                        EXPECT_EQ(t[24 + w].lane[l], mode == 0 ? old : w == 0 ? l % 2 == 0 : 0u);
                    }
            }
}

TEST(Atomic, Exchange128) {
    MemoryWarp t;
    t.set_addresses(8, [](unsigned l) { return kBase + 16 * (l / 2); });
    const std::vector<std::uint8_t> before = t.global;
    t.execute(make_word(
        0x3a8, {{16, 8, 24}, {24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, 4}, {87, 4, 8}}));
    for (unsigned i = 0; i < 4; ++i) {
        EXPECT_EQ(t[24 + i].lane[6], MemoryWarp::word_at(before, 48 + 4 * i));
        EXPECT_EQ(t[24 + i].lane[7], t[16 + i].lane[6]);
        EXPECT_EQ(MemoryWarp::word_at(t.global, 48 + 4 * i), t[16 + i].lane[7]);
    }
}

TEST(Atomic, SharedExchange128) {
    MemoryWarp t;
    t.set_lanes(8, [](unsigned l) { return 16 * (l / 2); });
    const std::vector<std::uint8_t> before = t.shared;
    // ATOMS.EXCH.128 R24, [R8], R16
    t.execute(make_word(0x38c, {{16, 8, 24}, {24, 8, 8}, {32, 8, 16}, {73, 3, 4}, {87, 4, 8}}));
    for (unsigned i = 0; i < 4; ++i) {
        EXPECT_EQ(t[24 + i].lane[6], MemoryWarp::word_at(before, 48 + 4 * i));
        EXPECT_EQ(t[24 + i].lane[7], t[16 + i].lane[6]);
        EXPECT_EQ(MemoryWarp::word_at(t.shared, 48 + 4 * i), t[16 + i].lane[7]);
    }
}

TEST(Atomic, SwapAtOneAddressSucceedsOnce) {
    MemoryWarp t;
    t.set_lanes(8, [](unsigned) { return 64; });
    MemoryWarp::set_word(t.shared, 64, 0);
    t.set_lanes(16, [](unsigned) { return 0; });
    t.set_lanes(20, [](unsigned l) { return l + 1; });
    // ATOMS.CAST.SPIN R20, [R8], R16, R20
    t.execute(make_word(0x38d, {{16, 8, 20}, {24, 8, 8}, {32, 8, 16}, {64, 8, 20}, {87, 2, 3}}),
              0xffff0000);
    EXPECT_EQ(MemoryWarp::word_at(t.shared, 64), 17u);
    EXPECT_EQ(t[20].lane[16], 1u);
    EXPECT_EQ(t[20].lane[17], 0u);
}

TEST(Atomic, FaultsNameTheAccess) {
    MemoryWarp t;
    t.set_addresses(8, [](unsigned l) { return l == 3 ? 0 : kBase; });
    const Fault fault =
        t.fault_of(make_word(0x3a8, {{24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, 0}, {87, 4, 0}}));
    EXPECT_EQ(fault.kind, FaultKind::kIllegalAddress);
    EXPECT_EQ(fault.lane, 3u);
    EXPECT_EQ(fault.what, "4-byte atomic on 0x0 in global memory: no allocation holds all of it");
}

TEST(MemoryOrder, QueryOfAddressSpace) {
    MemoryWarp t;
    t.set_addresses(8, [](unsigned l) {
        return l < 8 ? kSharedWindow + l : l < 16 ? kLocalWindow + l : kBase + l;
    });
    // .G, .L, .S, .D: PTX says that shared::cluster contains shared::cta.
    const std::uint32_t want[] = {0xffff0000, 0x0000ff00, 0x000000ff, 0x000000ff};
    for (unsigned space = 0; space < 4; ++space) {
        t.execute(
            make_word(0x3aa, {{16, 8, 255}, {24, 8, 8}, {72, 1, 1}, {73, 2, space}, {81, 3, 1}}));
        EXPECT_EQ(t.warp.predicate[1], want[space]);
    }
}

TEST(MemoryOrder, FencesAndCacheControlChangeNothing) {
    MemoryWarp t;
    const std::vector<std::uint8_t> global = t.global;
    // MEMBAR, ERRBAR, CGAERRBAR, CCTL.IVALL, FENCE.VIEW.ASYNC
    for (const unsigned opcode : {0x992u, 0x9abu, 0x5abu, 0x98fu, 0x3c6u})
        EXPECT_TRUE(t.run(make_word(opcode, {{24, 8, 255}})));
    EXPECT_EQ(t.global, global);
}

}  // namespace
}  // namespace lockstep::sass
