// SPDX-License-Identifier: Apache-2.0
// IMMA, BMMA, DMMA and MOVM against plain matrix multiplication.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/isa/sass/semantics/tensor/matrices.h"

namespace lockstep::sass {
namespace {

std::int64_t as_integer(std::uint32_t bits, unsigned width, bool is_signed) {
    const std::uint32_t top = bits << (32 - width);
    return is_signed ? static_cast<std::int32_t>(top) >> (32 - width)
                     : static_cast<std::int64_t>(top >> (32 - width));
}

struct Case {
    Arch arch;
    std::uint64_t hi;  // as ptxas emits it for signed operands
    int m, k;
    unsigned width;
    int selector = -1;
};

const Case kImma[] = {
    {75, 0x0040640000005400, 8, 16, 8},      {80, 0x010fd80000005400, 8, 16, 8},
    {80, 0x010fde0000405400, 16, 16, 8},     {90, 0x010fee0000405c00, 16, 32, 8},
    {75, 0x0040640000385400, 8, 32, 4},      {80, 0x004fe20000585c00, 16, 32, 4},
    {86, 0x004fee0000785400, 16, 64, 4},     {90, 0x010fe20000405d00, 16, 32, 8, 1},
    {80, 0x010fde0000605500, 16, 64, 8, 0},  {80, 0x024ff60000785510, 16, 64, 4, 1},
    {80, 0x04afe200007c5d04, 16, 128, 4, 0},
};

void compare_imma(const Case& test, bool a_signed, bool b_signed, bool saturate) {
    std::mt19937 random(11);
    const bool sparse = test.selector >= 0;
    const int kept = sparse ? test.k / 2 : test.k;
    TestWarp warp(test.arch);
    Matrix a(test.m, kept), b(test.k, 8), c(test.m, 8);
    for (auto& bits : a.bits) bits = random();
    for (auto& bits : b.bits) bits = random();
    for (auto& bits : c.bits)
        bits = random() % 2 ? random() % 1000 : (random() % 2 ? 0x7fffff00u : 0x80000100u);
    for (auto& word : warp[kMetadata].lane) word = random();
    std::vector<std::vector<int>> column_of(16);
    for (unsigned row = 0; row < 16; ++row)
        for (int j = 0; j < kept; ++j) {
            if (!sparse) {
                column_of[row].push_back(j);
                continue;
            }
            // A word of metadata has 16 indices, of a kept number each, or of two of 4 bits; row
            // g + 8 is a lane further.
            const int together = test.width == 4 ? 2 : 1, i = j / together;
            const unsigned lane = row % 8 * 4 + row / 8 +
                                  (kept / together == 16 ? 2 * static_cast<unsigned>(test.selector)
                                                         : static_cast<unsigned>(i / 16 * 2));
            const std::uint32_t index =
                get_element(warp, kMetadata, lane, static_cast<unsigned>(i % 16), 2);
            column_of[row].push_back((i / 2 * 4 + static_cast<int>(index)) * together +
                                     j % together);
        }
    for_each_a(test.m, kept, test.width, [&](unsigned lane, unsigned i, int row, int k) {
        set_element(warp, kA, lane, i, test.width, a.at(row, k));
    });
    for_each_b(test.k, test.width, [&](unsigned lane, unsigned i, int k, int column) {
        set_element(warp, kB, lane, i, test.width, b.at(k, column));
    });
    for_each_c(test.m, [&](unsigned lane, unsigned i, int row, int column) {
        set_element(warp, kC, lane, i, 32, c.at(row, column));
    });
    Word word = with_registers(test.hi, 0x7237);
    word.set_bits(76, 1, a_signed);
    word.set_bits(78, 1, b_signed);
    word.set_bits(82, 1, saturate);
    if (sparse) {
        word.set_bits(40, 8, kMetadata);
        word.set_bits(48, 2, static_cast<unsigned>(test.selector));
    }
    ASSERT_TRUE(warp.run(word));
    for_each_c(test.m, [&](unsigned lane, unsigned i, int row, int column) {
        std::int64_t sum = static_cast<std::int32_t>(c.at(row, column));
        for (int j = 0; j < kept; ++j)
            sum += as_integer(a.at(row, j), test.width, a_signed) *
                   as_integer(b.at(column_of[static_cast<unsigned>(row)][static_cast<unsigned>(j)],
                                   column),
                              test.width, b_signed);
        if (saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
        ASSERT_EQ(get_element(warp, kD, lane, i, 32), static_cast<std::uint32_t>(sum))
            << "sm_" << test.arch << " " << test.m << "x8x" << test.k << " row " << row;
    });
}

TEST(IntegerMma, EveryShapeAndSignMatches) {
    for (const Case& test : kImma)
        for (const bool a_signed : {false, true})
            for (const bool b_signed : {false, true})
                for (const bool saturate : {false, true})
                    compare_imma(test, a_signed, b_signed, saturate);
}

TEST(BitMma, EveryShapeAndOperationMatches) {
    std::mt19937 random(5);
    const struct {
        std::uint64_t hi;
        int m, words;
    } shapes[] = {{0x0001'0400, 8, 4}, {0x0001'0c00, 16, 4}, {0x0001'1400, 16, 8}};
    for (const auto& shape : shapes)
        for (const bool is_and : {false, true}) {
            TestWarp warp(80);
            Matrix a(shape.m, shape.words), b(shape.words, 8), c(shape.m, 8);
            for (Matrix* matrix : {&a, &b, &c})
                for (auto& bits : matrix->bits) bits = random();
            for_each_a(shape.m, shape.words, 32, [&](unsigned lane, unsigned i, int row, int w) {
                set_element(warp, kA, lane, i, 32, a.at(row, w));
            });
            for_each_b(shape.words, 32, [&](unsigned lane, unsigned i, int w, int column) {
                set_element(warp, kB, lane, i, 32, b.at(w, column));
            });
            for_each_c(shape.m, [&](unsigned lane, unsigned i, int row, int column) {
                set_element(warp, kC, lane, i, 32, c.at(row, column));
            });
            Word word = with_registers(shape.hi, 0x723d);
            word.set_bits(78, 1, is_and);
            ASSERT_TRUE(warp.run(word));
            for_each_c(shape.m, [&](unsigned lane, unsigned i, int row, int column) {
                std::uint32_t sum = c.at(row, column);
                for (int w = 0; w < shape.words; ++w)
                    for (int bit = 0; bit < 32; ++bit) {
                        const bool x = a.at(row, w) >> bit & 1, y = b.at(w, column) >> bit & 1;
                        sum += is_and ? x && y : x != y;
                    }
                ASSERT_EQ(get_element(warp, kD, lane, i, 32), sum);
            });
        }
}

// m8n8k4, m16n8k4, m16n8k8, m16n8k16: PTX ISA's fragments of f64.
TEST(DoubleMma, EveryShapeIsAChainOfFusedMultiplyAdds) {
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal;
    for (const unsigned shape : {0u, 1u, 2u, 3u}) {
        const unsigned m = shape == 0 ? 8 : 16;
        const unsigned k = shape < 2 ? 4 : (shape == 2 ? 8 : 16);
        TestWarp warp(shape == 0 ? 80 : 90);
        double a[16][16], b[16][8], c[16][8];
        for (auto& row : a)
            for (double& x : row) x = normal(random);
        for (auto& row : b)
            for (double& x : row) x = normal(random);
        for (auto& row : c)
            for (double& x : row) x = normal(random);
        for (unsigned lane = 0; lane < 32; ++lane) {
            const unsigned g = lane / 4, t = lane % 4;
            for (unsigned i = 0; i < m * k / 32; ++i) {
                const unsigned row = m == 8 ? g : (i % 2 == 0 ? g : g + 8);
                const unsigned column = m == 8 ? t : i / 2 * 4 + t;
                warp.set64(kA + 2 * i, lane, std::bit_cast<std::uint64_t>(a[row][column]));
            }
            for (unsigned i = 0; i < k / 4; ++i)
                warp.set64(kB + 2 * i, lane, std::bit_cast<std::uint64_t>(b[t + 4 * i][g]));
            for (unsigned i = 0; i < m / 4; ++i)
                warp.set64(kC + 2 * i, lane,
                           std::bit_cast<std::uint64_t>(c[g + i / 2 * 8][2 * t + i % 2]));
        }
        ASSERT_TRUE(warp.run(with_registers(std::uint64_t{shape} << 12, 0x723f)));
        for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned i = 0; i < m / 4; ++i) {
                const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
                double sum = c[row][column];
                for (unsigned j = 0; j < k; ++j) sum = std::fma(a[row][j], b[j][column], sum);
                ASSERT_EQ(warp.get64(kD + 2 * i, lane), std::bit_cast<std::uint64_t>(sum));
            }
    }
}

TEST(DoubleMma, RoundsAsTheInstructionSaysAndMakesItsOwnNan) {
    TestWarp warp(90);
    for (unsigned lane = 0; lane < 32; ++lane) {
        warp.set64(kA, lane, std::bit_cast<std::uint64_t>(lane % 4 == 0 ? 0x1p-60 : 0.0));
        warp.set64(kB, lane, std::bit_cast<std::uint64_t>(lane / 4 == 7 ? INFINITY : 1.0));
        for (unsigned i = 0; i < 2; ++i)
            warp.set64(kC + 2 * i, lane, std::bit_cast<std::uint64_t>(1.0));
    }
    Word word = with_registers(0, 0x723f);
    word.set_bits(78, 2, 2);  // .RP
    ASSERT_TRUE(warp.run(word));
    EXPECT_EQ(std::bit_cast<double>(warp.get64(kD, 0)), std::nextafter(1.0, 2.0));
    EXPECT_EQ(warp.get64(kD + 2, 3), 0xfff8000000000000u);  // column 7: 0 * infinity
}

// A NaN of B at k = 6, then one of A at k = 12: an H200 (driver 580.159.04, 2026-11-27) returns the
// first.
TEST(DoubleMma, KeepsTheFirstNanOfAChain) {
    constexpr std::uint64_t kOfA = 0xfff8b17a98e2c008, kOfB = 0x7ff339620e3f3e8f;
    TestWarp warp(90);
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < 8; ++i) warp.set64(kA + 2 * i, lane, 0);
        for (unsigned i = 0; i < 4; ++i) warp.set64(kB + 2 * i, lane, 0);
        for (unsigned i = 0; i < 4; ++i) warp.set64(kC + 2 * i, lane, 0);
    }
    warp.set64(kA + 2 * 6, 3 * 4, kOfA);      // row 3, k = 12
    warp.set64(kB + 2 * 1, 2 * 4 + 2, kOfB);  // k = 6, column 2
    ASSERT_TRUE(warp.run(with_registers(3 << 12, 0x723f)));
    EXPECT_EQ(warp.get64(kD, 3 * 4 + 1), 0x7ffb39620e3f3e8fu);  // row 3, column 2
    EXPECT_EQ(warp.get64(kD, 3 * 4), kOfA);                     // row 3, column 0
    EXPECT_EQ(warp.get64(kD, 1), 0x7ffb39620e3f3e8fu);          // row 0, column 2
    EXPECT_EQ(warp.get64(kD, 0), 0u);
}

TEST(MatrixMove, Transposes) {
    TestWarp warp(90);
    for (unsigned row = 0; row < 8; ++row)
        for (unsigned column = 0; column < 8; ++column)
            set_element(warp, kA, row * 4 + column / 2, column % 2, 16, 100 * row + column);
    Word word{0x723a, 0};
    word.set_bits(16, 8, kD);
    word.set_bits(24, 8, kA);
    ASSERT_TRUE(warp.run(word));
    for (unsigned row = 0; row < 8; ++row)
        for (unsigned column = 0; column < 8; ++column)
            ASSERT_EQ(get_element(warp, kD, row * 4 + column / 2, column % 2, 16),
                      100 * column + row);
}

}  // namespace
}  // namespace lockstep::sass
