// SPDX-License-Identifier: Apache-2.0
// SHF against shifts of a 128-bit value, and LOP3 against its truth table bit by bit.
#include "tests/isa/sass/semantics/integer_case.h"

namespace lockstep::sass {
namespace {

using Wide = __int128;

std::uint32_t expected_shf(unsigned type, bool wrap, bool right, bool high, const Lane& lane) {
    const unsigned width = type >= 2 ? 32 : 64;
    const bool is_signed = type % 2 == 0;
    const std::uint32_t count = wrap ? lane.b % width : std::min(lane.b, width);
    const std::uint64_t value = lane.a | std::uint64_t{lane.c} << 32;
    Wide wide = is_signed ? Wide{static_cast<std::int64_t>(value)} : Wide{value};
    wide = right ? wide >> count : wide << count;
    return static_cast<std::uint32_t>(high ? wide >> 32 : wide);
}

TEST(Shf, AllFormsAndCounts) {
    for (unsigned bits = 0; bits < 32; ++bits) {
        const unsigned type = bits & 3;
        const bool wrap = bits & 4, right = bits & 8, high = bits & 16;
        const auto reference = [=](Lane& lane) {
            lane.d = expected_shf(type, wrap, right, high, lane);
        };
        IntegerCase test{.word = three_sources(0x219, {{73, 4, bits & 15}, {80, 1, high}})};
        check(test, reference, 100);
        test.word = three_sources(0x819, {{73, 4, bits & 15}, {80, 1, high}});
        test.immediate_b = true;
        check(test, reference, 200);
    }
}

TEST(Lop3, EveryTruthTable) {
    for (unsigned table = 0; table < 256; ++table) {
        for (const bool conjunction : {false, true}) {
            IntegerCase test;
            test.word = three_sources(0x212, {{72, 8, table},
                                              {80, 1, conjunction},
                                              {81, 3, conjunction ? 0u : 7u},
                                              {87, 4, 2 | 8}});
            test.predicates = conjunction ? 1 : 0;
            const auto reference = [=](Lane& lane) {
                lane.d = 0;
                for (unsigned i = 0; i < 32; ++i) {
                    const unsigned index =
                        (lane.a >> i & 1) * 4 + (lane.b >> i & 1) * 2 + (lane.c >> i & 1);
                    lane.d |= (table >> index & 1) << i;
                }
                lane.q[0] = lane.d != 0 && !lane.p[2];
            };
            check(test, reference, 4);
        }
    }
}

TEST(Lop3, PredicateByDisjunction) {
    IntegerCase test{.word = three_sources(0x212, {{72, 8, 0xc0}, {81, 3, 0}, {87, 4, 2}}),
                     .predicates = 1};
    check(test, [](Lane& lane) {
        lane.d = lane.a & lane.b;
        lane.q[0] = lane.d != 0 || lane.p[2];
    });
}

}  // namespace
}  // namespace lockstep::sass
