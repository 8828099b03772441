// SPDX-License-Identifier: Apache-2.0
// Random operands for one instruction, and what every lane of it must give. The expected values
// come from references that compute one lane at a time in wide arithmetic.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {

/// Values at which integer instructions turn, and otherwise any.
inline std::uint32_t interesting(std::mt19937& random) {
    constexpr std::uint32_t kEdges[] = {
        0,   1,          2,          31,         32,         33,     63,     64,        65,
        255, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xffff, 0x8000, 0x7f80ff01};
    switch (random() % 3) {
        case 0:
            return kEdges[random() % std::size(kEdges)];
        case 1:
            return static_cast<std::uint32_t>(random()) >> (random() % 32);
        default:
            return static_cast<std::uint32_t>(random());
    }
}

/// What one lane sees and gives.
struct Lane {
    std::uint32_t a = 0, b = 0, c = 0;
    std::uint32_t a_high = 0, b_high = 0, c_high = 0;
    bool p[7] = {};
    std::uint32_t d = 0, d_high = 0;
    bool q[2] = {};  ///< what P0 and P1 become

    std::uint64_t a64() const { return a | std::uint64_t{a_high} << 32; }
    std::uint64_t b64() const { return b | std::uint64_t{b_high} << 32; }
    std::uint64_t c64() const { return c | std::uint64_t{c_high} << 32; }
    void set64(std::uint64_t value) {
        d = static_cast<std::uint32_t>(value);
        d_high = static_cast<std::uint32_t>(value >> 32);
    }
};

/// Operand registers of the cases: d = R4, R5; a = R8, R9; b = R16, R17; c = R24, R25; and the
/// destination predicates are P0 and P1, where a word has them.
struct IntegerCase {
    Word word;
    bool writes_register = true;
    bool writes_pair = false;
    bool immediate_b = false;  ///< b is the immediate at 32-63
    unsigned predicates = 0;   ///< destination predicates: none, P0, or P0 and P1
    Arch arch = 90;
};

inline Word three_sources(unsigned opcode, std::initializer_list<Field> fields = {}) {
    return make_word(opcode, 4, 8, 16, 24, fields);
}

/// Runs the word on random operands under full and partial masks; the reference fills d, d_high
/// and q of each lane.
inline void check(const IntegerCase& test, const std::function<void(Lane&)>& reference,
                  unsigned rounds = 40) {
    std::mt19937 random(static_cast<unsigned>(test.word.lo ^ test.word.hi));
    for (unsigned round = 0; round < rounds; ++round) {
        TestWarp t(test.arch);
        Lane lanes[kWarpSize];
        for (unsigned p = 0; p < 7; ++p) t.warp.predicate[p] = static_cast<std::uint32_t>(random());
        Word word = test.word;
        const std::uint32_t immediate = interesting(random);
        if (test.immediate_b) word.set_bits(32, 32, immediate);
        const std::uint32_t mask =
            round % 4 == 0 ? kAllLanes : static_cast<std::uint32_t>(random()) | 1u;
        std::uint32_t predicate_before[2] = {t.warp.predicate[0], t.warp.predicate[1]};
        for (unsigned l = 0; l < kWarpSize; ++l) {
            Lane& lane = lanes[l];
            t[8].lane[l] = lane.a = interesting(random);
            t[9].lane[l] = lane.a_high = interesting(random);
            t[16].lane[l] = lane.b = interesting(random);
            t[17].lane[l] = lane.b_high = interesting(random);
            t[24].lane[l] = lane.c = interesting(random);
            t[25].lane[l] = lane.c_high = interesting(random);
            if (test.immediate_b) lane.b = immediate;
            t[4].lane[l] = 0x11111111;
            t[5].lane[l] = 0x22222222;
            for (unsigned p = 0; p < 7; ++p) lane.p[p] = t.warp.predicate[p] >> l & 1;
            reference(lane);
        }
        ASSERT_TRUE(t.run(word, mask)) << std::hex << word.lo << ' ' << word.hi;
        for (unsigned l = 0; l < kWarpSize; ++l) {
            const Lane& lane = lanes[l];
            const bool active = mask >> l & 1;
            const auto context = [&] {
                return ::testing::Message()
                       << std::hex << "opcode " << word.opcode() << " word " << word.hi << '_'
                       << word.lo << " a " << lane.a << " b " << lane.b << " c " << lane.c
                       << " lane " << std::dec << l;
            };
            const bool writes = active && test.writes_register;
            ASSERT_EQ(t[4].lane[l], writes ? lane.d : 0x11111111) << context();
            ASSERT_EQ(t[5].lane[l], writes && test.writes_pair ? lane.d_high : 0x22222222)
                << context();
            for (unsigned p = 0; p < 2; ++p) {
                const bool before = predicate_before[p] >> l & 1;
                const bool after = t.warp.predicate[p] >> l & 1;
                ASSERT_EQ(after, active && p < test.predicates ? lane.q[p] : before)
                    << "P" << p << ' ' << context();
            }
        }
    }
}

}  // namespace lockstep::sass
