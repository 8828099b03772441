// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/coalescer.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>

namespace lockstep::gpu {

namespace {

using Addresses = std::function<std::uint64_t(unsigned)>;

sass::Access access(unsigned width, const Addresses& address) {
    sass::Access a;
    a.width = static_cast<std::uint8_t>(width);
    for (unsigned l = 0; l < sass::kWarpSize; ++l) a.address[l] = address(l);
    return a;
}

/// Byte by byte, without any cleverness.
std::map<std::uint64_t, LineAccess> reference(const sass::Access& a, std::uint32_t lanes) {
    std::set<std::uint64_t> bytes;
    std::map<std::uint64_t, LineAccess> lines;
    std::map<std::uint64_t, std::uint8_t> at_address;
    for (unsigned l = 0; l < sass::kWarpSize; ++l) {
        if (!(lanes >> l & 1)) continue;
        for (unsigned i = 0; i < a.width; ++i) bytes.insert(a.address[l] + i);
        LineAccess& line = lines[a.address[l] / 128];
        ++line.lanes;
        line.same_address = std::max(line.same_address, ++at_address[a.address[l]]);
    }
    for (const std::uint64_t byte : bytes)
        lines[byte / 128].sectors |= static_cast<std::uint8_t>(1u << byte % 128 / 32);
    for (auto& [number, line] : lines) {
        line.line = number;
        for (unsigned s = 0; s < 4; ++s) {
            unsigned present = 0;
            for (unsigned i = 0; i < 32; ++i) present += bytes.count(number * 128 + s * 32 + i);
            if (present == 0 || present == 32) continue;
            line.partial |= static_cast<std::uint8_t>(1u << s);
            for (unsigned i = s * 32; i < s * 32 + 32; i += 2)
                if (bytes.contains(number * 128 + i) && bytes.contains(number * 128 + i + 1))
                    line.halves |= std::uint64_t{1} << (i / 2);
        }
    }
    return lines;
}

void check(unsigned width, std::uint32_t lanes, const Addresses& address) {
    const sass::Access a = access(width, address);
    const auto expected = reference(a, lanes);
    LineAccesses loads, stores, atomics;
    coalesce_load(a, lanes, loads);
    coalesce_store(a, lanes, stores);
    coalesce_atomic(a, lanes, atomics);
    for (const LineAccesses* out : {&loads, &stores, &atomics}) {
        ASSERT_EQ(out->count, expected.size());
        for (const LineAccess& line : *out) {
            ASSERT_TRUE(expected.contains(line.line));
            EXPECT_EQ(line.sectors, expected.at(line.line).sectors);
        }
    }
    for (const LineAccess& line : stores) {
        EXPECT_EQ(line.partial, expected.at(line.line).partial) << "width " << width;
        std::uint64_t of_partial = 0;  // what is said of whole sectors does not matter
        for (unsigned s = 0; s < 4; ++s)
            if ((line.partial >> s & 1) != 0) of_partial |= std::uint64_t{0xffff} << (16 * s);
        EXPECT_EQ(line.halves & of_partial, expected.at(line.line).halves) << "width " << width;
    }
    for (const LineAccess& line : atomics) {
        EXPECT_EQ(line.lanes, expected.at(line.line).lanes);
        EXPECT_EQ(line.same_address, expected.at(line.line).same_address);
    }
}

TEST(Coalescer, ConsecutiveWordsAreOneLine) {
    LineAccesses out;
    coalesce_load(access(4, [](unsigned l) { return 0x1000 + 4 * l; }), ~0u, out);
    ASSERT_EQ(out.count, 1u);
    EXPECT_EQ(out.line[0].line, 0x1000u / 128);
    EXPECT_EQ(out.line[0].sectors, 0xf);
    EXPECT_TRUE(out.is_regular);
    EXPECT_FALSE(out.is_uniform);
}

TEST(Coalescer, NoLaneIsNoLine) {
    LineAccesses out;
    coalesce_load(access(4, [](unsigned l) { return 4 * l; }), 0, out);
    EXPECT_EQ(out.count, 0u);
}

TEST(Coalescer, AgreesWithBytes) {
    std::mt19937 random(1);
    for (const unsigned width : {1u, 2u, 4u, 8u, 16u}) {
        for (const std::uint32_t lanes : {~0u, 0xffu, 0x00ffff00u, 0x55555555u, 1u << 31}) {
            check(width, lanes, [&](unsigned l) { return 0x10000 + l * width; });
            check(width, lanes, [&](unsigned l) { return 0x10030 + l * width; });
            check(width, lanes, [&](unsigned) { return 0x10040; });
            check(width, lanes, [&](unsigned l) { return 0x10000 + l * 128; });
            check(width, lanes, [&](unsigned l) { return 0x20000 - l * 64; });
            check(width, lanes, [&](unsigned l) { return 0x10000 + (l ^ 5) * width; });
            for (const unsigned range : {8u, 64u, 4096u})
                check(width, lanes,
                      [&](unsigned) { return 0x10000 + random() % range * std::uint64_t{width}; });
        }
    }
}

TEST(Coalescer, LocalWordsAreLines) {
    const LocalPlace place{.first_line = 1000, .block_stride = 6400};
    LineAccesses out;
    sass::Access a = access(8, [](unsigned) { return 0x10; });
    coalesce_local(a, ~0u, place, out);
    ASSERT_EQ(out.count, 2u);  // words 4 and 5
    EXPECT_EQ(out.line[0].line, 1004u);
    EXPECT_EQ(out.line[1].line, 1005u);
    EXPECT_EQ(out.line[0].sectors, 0xf);
    EXPECT_EQ(out.line[0].partial, 0);

    coalesce_local(a, 0x0000ff07u, place, out);
    EXPECT_EQ(out.line[0].sectors, 0x3);
    EXPECT_EQ(out.line[0].partial, 0x1);
    EXPECT_EQ(out.line[0].halves & 0xffff, 0b111111u);  // words of lanes 0 to 2

    a = access(4, [](unsigned l) { return l % 2 * 256; });  // words 0 and 64
    coalesce_local(a, ~0u, place, out);
    ASSERT_EQ(out.count, 2u);
    EXPECT_EQ(out.line[0].line, 1000u);
    EXPECT_EQ(out.line[1].line, 7400u);
    EXPECT_EQ(out.line[1].sectors, 0xf);
    EXPECT_EQ(out.line[1].partial, 0xf);
    EXPECT_EQ(out.line[0].halves, 0x3333'3333'3333'3333u);  // every other word
}

unsigned tags_of(const Addresses& address) {
    LineAccesses lines;
    coalesce_load(access(4, address), ~0u, lines);
    return tag_cycles(lines, 4);
}

TEST(TagCycles, LinesOfOneBankTakeTurns) {
    const auto at = [](std::uint64_t base, std::uint64_t stride) {
        return tags_of([=](unsigned l) { return base + stride * l; });
    };
    EXPECT_EQ(at(0, 0), 1u);
    EXPECT_EQ(at(0, 16), 1u);        // four lines that begin at a multiple of four
    EXPECT_EQ(at(7 * 128, 8), 2u);   // 7 and 8: 3 ^ 1 and 2
    EXPECT_EQ(at(0, 128), 8u);       // 32 lines
    EXPECT_EQ(at(0, 4 * 128), 8u);   // every fourth
    EXPECT_EQ(at(0, 16 * 128), 8u);  // every sixteenth
    EXPECT_EQ(at(0, 3 * 128), 13u);  // digits cancel; an A100 takes 12.4
}

}  // namespace

}  // namespace lockstep::gpu
