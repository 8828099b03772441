// SPDX-License-Identifier: Apache-2.0
// VABSDIFF, VABSDIFF4, I2I, I2IP and the VI* family against loops over elements in wide arithmetic.
#include "tests/isa/sass/semantics/integer_case.h"

namespace lockstep::sass {
namespace {

std::int64_t element(std::uint32_t value, unsigned width, unsigned i, bool is_signed) {
    std::int64_t x = value >> (width * i) & ((std::uint64_t{1} << width) - 1);
    if (is_signed && x >> (width - 1)) x -= std::int64_t{1} << width;
    return x;
}

TEST(Video, AbsoluteDifferences) {
    for (const bool is_signed : {false, true}) {
        IntegerCase test{.word = three_sources(0x214, {{73, 1, is_signed}})};
        check(test, [=](Lane& lane) {
            const std::int64_t x = element(lane.a, 32, 0, is_signed);
            const std::int64_t y = element(lane.b, 32, 0, is_signed);
            lane.d = static_cast<std::uint32_t>(std::abs(x - y) + lane.c);
        });
        for (const bool accumulate : {false, true}) {
            test.word = three_sources(0x215, {{73, 1, is_signed}, {75, 1, accumulate}});
            check(test, [=](Lane& lane) {
                lane.d = accumulate ? lane.c : 0;
                for (unsigned i = 0; i < 4; ++i) {
                    const auto difference = static_cast<std::uint32_t>(std::abs(
                        element(lane.a, 8, i, is_signed) - element(lane.b, 8, i, is_signed)));
                    lane.d += accumulate ? difference : difference << (8 * i);
                }
            });
        }
    }
}

std::int64_t saturated(std::uint32_t value, unsigned width, bool is_signed) {
    const std::int64_t low = is_signed ? -(std::int64_t{1} << (width - 1)) : 0;
    const std::int64_t high = (std::int64_t{1} << (is_signed ? width - 1 : width)) - 1;
    return std::min(std::max(element(value, 32, 0, true), low), high);
}

TEST(Video, SaturatingConversion) {
    for (unsigned type = 0; type < 4; ++type) {
        const unsigned width = type < 2 ? 8 : 16;
        IntegerCase test{.word = three_sources(0x238, {{76, 2, type}})};
        check(test, [=](Lane& lane) {
            lane.d = static_cast<std::uint32_t>(saturated(lane.b, width, type & 1));
        });
    }
    constexpr unsigned kWidth[] = {8, 8, 16, 16, 2, 2, 4, 4}, kPart[] = {0, 0, 0, 0, 3, 3, 2, 2};
    for (unsigned i = 0; i < 16; ++i) {
        const unsigned type = i % 8, width = kWidth[type];
        const bool on_90 = i >= 8;
        IntegerCase test{
            .word = three_sources(0x239, {{74, 2, on_90}, {76, 3, type}, {72, 2, kPart[type]}})};
        test.arch = on_90 ? 90 : 75;
        check(test, [=](Lane& lane) {
            const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
            std::uint64_t d = static_cast<std::uint64_t>(saturated(lane.b, width, type & 1)) & mask;
            d |= (static_cast<std::uint64_t>(saturated(lane.a, width, type & 1)) & mask) << width;
            d |= std::uint64_t{lane.c} << (2 * width);
            lane.d = static_cast<std::uint32_t>(d);
        });
    }
}

/// Opcodes of VIMNMX, VIMNMX3, VIADDMNMX.
void check_extremum(unsigned opcode, bool three, bool sum) {
    for (unsigned bits = 0; bits < 16; ++bits) {
        const bool is_signed = bits & 1, halves = bits & 2, relu = bits & 4, minimum = bits & 8;
        for (const bool by_lane : {false, true}) {
            IntegerCase test{.word = three_sources(
                                 opcode, {{72, 1, is_signed},
                                          {73, 1, halves},
                                          {76, 1, relu},
                                          {87, 4, (by_lane ? 2u : 7u) | (minimum ? 0u : 8u)}})};
            check(
                test,
                [=](Lane& lane) {
                    const bool smallest = (!by_lane || lane.p[2]) == minimum;
                    const unsigned width = halves ? 16 : 32;
                    const auto choose = [&](std::int64_t x, std::int64_t y) {
                        return smallest ? std::min(x, y) : std::max(x, y);
                    };
                    lane.d = 0;
                    for (unsigned i = 0; i < 32 / width; ++i) {
                        const std::int64_t x = element(lane.a, width, i, is_signed);
                        const std::int64_t y = element(lane.b, width, i, is_signed);
                        const std::int64_t z = element(lane.c, width, i, is_signed);
                        std::int64_t value =
                            sum ? element(static_cast<std::uint32_t>(x + y), width, 0, is_signed)
                                : choose(x, y);
                        if (three) value = choose(value, z);
                        if (relu) value = std::max<std::int64_t>(value, 0);
                        const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
                        lane.d |= static_cast<std::uint32_t>((value & mask) << (width * i));
                    }
                },
                10);
        }
    }
}

TEST(Dpx, Extrema) {
    check_extremum(0x248, false, false);
    check_extremum(0x20f, true, false);
    check_extremum(0x246, true, true);
}

TEST(Dpx, WhichWasChosen) {
    for (const bool minimum : {false, true}) {
        for (const bool halves : {false, true}) {
            IntegerCase test;
            test.word = three_sources(0x248, {{72, 1, 1},
                                              {73, 1, halves},
                                              {81, 3, 0},
                                              {84, 3, halves ? 1u : 7u},
                                              {87, 4, minimum ? 7u : 15u}});
            test.predicates = halves ? 2 : 1;
            check(test, [=](Lane& lane) {
                const unsigned width = halves ? 16 : 32;
                lane.d = 0;
                for (unsigned i = 0; i < 32 / width; ++i) {
                    const std::int64_t x = element(lane.a, width, i, true);
                    const std::int64_t y = element(lane.b, width, i, true);
                    lane.q[i] = minimum ? x <= y : x >= y;
                    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
                    lane.d |=
                        static_cast<std::uint32_t>(((lane.q[i] ? x : y) & mask) << (width * i));
                }
            });
        }
    }
}

TEST(Dpx, Viadd) {
    IntegerCase test{.word = three_sources(0x236)};
    check(test, [](Lane& lane) { lane.d = lane.a + lane.b; });
    test.word = three_sources(0x236, {{73, 1, 1}});
    check(test, [](Lane& lane) {
        lane.d = (lane.a + lane.b) & 0xffff;
        lane.d |= ((lane.a >> 16) + (lane.b >> 16)) << 16;
    });
}

}  // namespace
}  // namespace lockstep::sass
