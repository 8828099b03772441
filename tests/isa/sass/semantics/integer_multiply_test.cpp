// SPDX-License-Identifier: Apache-2.0
// IMAD in its low, wide and high forms and IDP against 128-bit arithmetic and plain byte loops.
#include "tests/isa/sass/semantics/integer_case.h"

namespace lockstep::sass {
namespace {

using Wide = unsigned __int128;

TEST(Imad, Low) {
    for (unsigned bits = 0; bits < 4; ++bits) {
        const bool negate = bits & 1, extended = bits & 2;
        IntegerCase test{
            .word = three_sources(0x224, {{75, 1, negate}, {74, 1, extended}, {87, 4, 2}})};
        check(test, [=](Lane& lane) {
            std::uint64_t sum = std::uint64_t{lane.a} * lane.b + (negate ? ~lane.c : lane.c);
            sum += extended ? lane.p[2] : negate;
            lane.d = static_cast<std::uint32_t>(sum);
        });
    }
}

TEST(Imad, MoveSpellingAndOperandOrder) {
    TestWarp t;
    for (unsigned l = 0; l < kWarpSize; ++l) t[16].lane[l] = 3 * l, t[8].lane[l] = l + 1;
    // IMAD.MOV.U32 R4, RZ, RZ, R16
    ASSERT_TRUE(t.run(make_word(0x224, 4, 255, 255, 16), 0x0000ffff));
    // IMAD R5, R8, R16, 0x7: in this form b is at 64-71 and the addend at 32-63.
    ASSERT_TRUE(t.run(make_word(0x424, {{16, 8, 5}, {24, 8, 8}, {32, 32, 7}, {64, 8, 16}})));
    for (unsigned l = 0; l < kWarpSize; ++l) {
        EXPECT_EQ(t[4].lane[l], l < 16 ? 3 * l : 0);
        EXPECT_EQ(t[5].lane[l], (l + 1) * 3 * l + 7);
    }
}

template <bool kHigh>
void check_wide() {
    for (unsigned bits = 0; bits < 16; ++bits) {
        const bool is_signed = bits & 1, negate = bits & 2, extended = bits & 4, out = bits & 8;
        IntegerCase test;
        test.writes_pair = !kHigh;
        test.word =
            three_sources(kHigh ? 0x227 : 0x225,
                          {{73, 1, is_signed}, {75, 1, negate}, {74, 1, extended}, {87, 4, 2}});
        if (out) {
            test.word.set_bits(81, 3, 0);
            test.predicates = 1;
        }
        check(test, [=](Lane& lane) {
            const std::int64_t x =
                is_signed ? std::int64_t{static_cast<std::int32_t>(lane.a)} : std::int64_t{lane.a};
            const std::int64_t y =
                is_signed ? std::int64_t{static_cast<std::int32_t>(lane.b)} : std::int64_t{lane.b};
            const auto product = static_cast<std::uint64_t>(static_cast<__int128>(x) * y);
            Wide sum = Wide{product} + (negate ? ~lane.c64() : lane.c64());
            sum += extended ? lane.p[2] : negate;
            lane.set64(static_cast<std::uint64_t>(kHigh ? sum << 32 >> 64 : sum));
            if (kHigh) lane.d = static_cast<std::uint32_t>(sum >> 32);
            lane.q[0] = (sum >> 64) != 0;
        });
    }
}
TEST(Imad, Wide) {
    check_wide<false>();
}
TEST(Imad, High) {
    check_wide<true>();
}

TEST(Idp, AllSignsAndHalves) {
    for (unsigned bits = 0; bits < 32; ++bits) {
        const bool sa = bits & 1, sb = bits & 2, two = bits & 4, upper = (bits & 8) && two,
                   negate = bits & 16;
        IntegerCase test{
            .word = three_sources(
                0x226, {{73, 1, sa}, {74, 1, sb}, {76, 1, two}, {77, 1, upper}, {75, 1, negate}})};
        check(test, [=](Lane& lane) {
            std::int64_t sum = negate ? -std::int64_t{lane.c} : std::int64_t{lane.c};
            for (unsigned i = 0; i < (two ? 2u : 4u); ++i) {
                const unsigned width = two ? 16 : 8;
                std::int64_t x = lane.a >> (i * width) & ((1u << width) - 1);
                if (sa && x >= (1 << (width - 1))) x -= 1 << width;
                std::int64_t y = lane.b >> ((i + (upper ? 2 : 0)) * 8) & 0xff;
                if (sb && y >= 128) y -= 256;
                sum += x * y;
            }
            lane.d = static_cast<std::uint32_t>(sum);
        });
    }
}

}  // namespace
}  // namespace lockstep::sass
