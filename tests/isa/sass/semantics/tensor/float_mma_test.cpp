// SPDX-License-Identifier: Apache-2.0
// HMMA and QMMA against the dot-product rule written out, over fragments laid out by PTX ISA.
#include <gtest/gtest.h>

#include "tests/isa/sass/semantics/tensor/elements.h"
#include "tests/isa/sass/semantics/tensor/matrices.h"
#include "tests/isa/sass/tensor_core/reference_dot_product.h"

namespace lockstep::sass {
namespace {

struct Case {
    const char* name;
    Arch arch;
    std::uint64_t hi, lo;  // as ptxas emits it
    TensorType a, b;
    bool half;
    int k;
    int selector = -1;  // of sparse metadata
};

constexpr TensorType kFp16 = TensorType::kFp16, kBf16 = TensorType::kBf16,
                     kTf32 = TensorType::kTf32, kE4m3 = TensorType::kE4m3,
                     kE5m2 = TensorType::kE5m2;
constexpr std::uint64_t kHmma = 0x723c, kQmma = 0x727a;

const Case kDense[] = {
    {"1688.F32", 75, 0x004b6a0000001000, kHmma, kFp16, kFp16, false, 8},
    {"1688.F16", 75, 0x004b6a0000000000, kHmma, kFp16, kFp16, true, 8},
    {"1688.F32", 80, 0x010fde0000001000, kHmma, kFp16, kFp16, false, 8},
    {"16816.F32", 80, 0x010fee0000001800, kHmma, kFp16, kFp16, false, 16},
    {"16816.F16", 86, 0x010fde0000000800, kHmma, kFp16, kFp16, true, 16},
    {"1688.F32.BF16", 80, 0x010fde0000041000, kHmma, kBf16, kBf16, false, 8},
    {"16816.F32.BF16", 89, 0x010fee0000041800, kHmma, kBf16, kBf16, false, 16},
    {"1684.F32.TF32", 80, 0x010fde0000085000, kHmma, kTf32, kTf32, false, 4},
    {"1688.F32.TF32", 80, 0x010fee0000081000, kHmma, kTf32, kTf32, false, 8},
    {"1688.F32", 90, 0x010fde0000001000, kHmma, kFp16, kFp16, false, 8},
    {"16816.F32", 90, 0x010fee0000001800, kHmma, kFp16, kFp16, false, 16},
    {"16816.F16", 90, 0x010fde0000000800, kHmma, kFp16, kFp16, true, 16},
    {"16816.F32.BF16", 90, 0x010fee0000041800, kHmma, kBf16, kBf16, false, 16},
    {"1684.F32.TF32", 90, 0x010fde0000085000, kHmma, kTf32, kTf32, false, 4},
    {"1688.F32.TF32", 90, 0x010fee0000081000, kHmma, kTf32, kTf32, false, 8},
    {"16832.F32.E4M3.E4M3", 89, 0x004ff60000002c00, kQmma, kE4m3, kE4m3, false, 32},
    {"16832.F32.E5M2.E4M3", 89, 0x004ff60000006c00, kQmma, kE5m2, kE4m3, false, 32},
    {"16832.F32.E4M3.E5M2", 89, 0x004ff6000000ac00, kQmma, kE4m3, kE5m2, false, 32},
    {"16816.F32.E4M3.E4M3", 89, 0x004fe20000002400, kQmma, kE4m3, kE4m3, false, 16},
    {"16816.F16.E5M2.E4M3", 89, 0x004fe20000004400, kQmma, kE5m2, kE4m3, true, 16},
    {"16832.F16.E5M2.E5M2", 89, 0x004fee000000cc00, kQmma, kE5m2, kE5m2, true, 32},
};

const Case kSparse[] = {
    {"SP.16816.F32", 80, 0x010fe20000001a00, kHmma, kFp16, kFp16, false, 16, 0},
    {"SP.16816.F32", 90, 0x010fe20000001a00, kHmma, kFp16, kFp16, false, 16, 3},
    {"SP.16816.F16", 90, 0x010fde0000000a00, kHmma, kFp16, kFp16, true, 16, 2},
    {"SP.16832.F32", 90, 0x010fde0000005a00, kHmma, kFp16, kFp16, false, 32, 1},
    {"SP.16832.F32.BF16", 90, 0x010fde0000045a00, kHmma, kBf16, kBf16, false, 32, 0},
    {"SP.1688.F32.TF32", 80, 0x010fe20000081200, kHmma, kTf32, kTf32, false, 8, 1},
    {"SP.16816.F32.TF32", 90, 0x010fde0000081a00, kHmma, kTf32, kTf32, false, 16, 1},
};

class FloatMma : public testing::Test {
  protected:
    std::mt19937 random_{7};

    Matrix draw(TensorType type, int rows, int columns) {
        std::normal_distribution<float> normal;
        Matrix matrix(rows, columns);
        for (std::uint32_t& bits : matrix.bits)
            bits = random_() % 9 == 0
                       ? 0
                       : encode(type,
                                std::ldexp(normal(random_), static_cast<int>(random_() % 7) - 3));
        return matrix;
    }

    // C in the accumulator's type, spread over the warp.
    Matrix fill_c(TestWarp& warp, bool half) {
        Matrix c = draw(half ? kFp16 : kTf32, 16, 8);
        for_each_c(16, [&](unsigned lane, unsigned i, int row, int column) {
            set_element(warp, kC, lane, i, half ? 16 : 32, c.at(row, column));
        });
        return c;
    }

    // `a` are the numbers of each row in the order of its k indices `column_of`.
    void expect_product(TestWarp& warp, const Case& test, Matrix& a, Matrix& b, Matrix& c,
                        const std::vector<std::vector<int>>& column_of) {
        const DotProductRule rule = dot_product_rule(test.arch, test.a, test.half);
        for_each_c(16, [&](unsigned lane, unsigned i, int row, int column) {
            std::vector<double> x, y;
            for (int j = 0; j < a.columns; ++j) {
                x.push_back(value_of(test.a, a.at(row, j)));
                y.push_back(value_of(
                    test.b,
                    b.at(column_of[static_cast<std::size_t>(row)][static_cast<std::size_t>(j)],
                         column)));
            }
            const TensorType type_c = test.half ? kFp16 : kTf32;
            const float addend = test.half ? value_of(type_c, c.at(row, column))
                                           : std::bit_cast<float>(c.at(row, column));
            const double expected = reference_dot_product(rule, test.a, test.b, x, y, addend);
            const std::uint32_t bits = get_element(warp, kD, lane, i, test.half ? 16 : 32);
            const double result = test.half ? value_of(kFp16, bits) : std::bit_cast<float>(bits);
            ASSERT_EQ(result, expected)
                << test.name << " sm_" << test.arch << " row " << row << " column " << column;
        });
    }
};

TEST_F(FloatMma, DenseShapesMatchTheRule) {
    for (const Case& test : kDense) {
        for (int round = 0; round < 5; ++round) {
            TestWarp warp(test.arch);
            Matrix a = draw(test.a, 16, test.k), b = draw(test.b, test.k, 8);
            for_each_a(16, test.k, width_of(test.a),
                       [&](unsigned lane, unsigned i, int row, int k) {
                           set_element(warp, kA, lane, i, width_of(test.a), a.at(row, k));
                       });
            for_each_b(test.k, width_of(test.b), [&](unsigned lane, unsigned i, int k, int column) {
                set_element(warp, kB, lane, i, width_of(test.b), b.at(k, column));
            });
            Matrix c = fill_c(warp, test.half);
            ASSERT_TRUE(warp.run(with_registers(test.hi, test.lo))) << test.name;
            std::vector<int> all(static_cast<std::size_t>(test.k));
            for (int k = 0; k < test.k; ++k) all[static_cast<std::size_t>(k)] = k;
            expect_product(warp, test, a, b, c, std::vector<std::vector<int>>(16, all));
            if (HasFatalFailure()) return;
        }
    }
}

// Metadata by PTX ISA's figures: 16-bit types have two bits for each kept number, row g in the
// lower and row g + 8 in the upper half of a word; tf32 has four bits, 0100 or 1110.
TEST_F(FloatMma, SparseShapesMatchTheRule) {
    for (const Case& test : kSparse) {
        for (int round = 0; round < 5; ++round) {
            TestWarp warp(test.arch);
            const bool tf32 = test.a == kTf32;
            const int kept = test.k / 2;
            Matrix a = draw(test.a, 16, kept), b = draw(test.b, test.k, 8);
            for (std::uint32_t& word : warp[kMetadata].lane) word = random_();
            std::vector<std::vector<int>> column_of(16);
            for (unsigned row = 0; row < 16; ++row) {
                for (int j = 0; j < kept; ++j) {
                    const int per_word = tf32 ? 4 : 8;
                    const int lanes = kept / per_word;  // that hold metadata, of each quad
                    const unsigned lane =
                        row % 8 * 4 + static_cast<unsigned>(test.selector * lanes + j / per_word);
                    std::uint32_t index;
                    if (tf32) {
                        const bool second = random_() % 2 != 0;
                        index = second ? 0b1110 : 0b0100;
                        column_of[row].push_back(2 * j + second);
                    } else {
                        index = j % 2 == 0 ? random_() % 3 : 3;
                        column_of[row].push_back(j / 2 * 4 + static_cast<int>(index));
                    }
                    set_element(warp, kMetadata, lane,
                                static_cast<unsigned>(j % per_word) +
                                    row / 8 * static_cast<unsigned>(per_word),
                                tf32 ? 4 : 2, index);
                }
            }
            for_each_a(16, kept, width_of(test.a), [&](unsigned lane, unsigned i, int row, int k) {
                set_element(warp, kA, lane, i, width_of(test.a), a.at(row, k));
            });
            for_each_b(test.k, width_of(test.b), [&](unsigned lane, unsigned i, int k, int column) {
                set_element(warp, kB, lane, i, width_of(test.b), b.at(k, column));
            });
            Matrix c = fill_c(warp, test.half);
            Word word = with_registers(test.hi, test.lo);
            word.set_bits(40, 8, kMetadata);
            word.set_bits(48, 2, static_cast<unsigned>(test.selector));
            ASSERT_TRUE(warp.run(word)) << test.name;
            expect_product(warp, test, a, b, c, column_of);
            if (HasFatalFailure()) return;
        }
    }
}

TEST_F(FloatMma, ZeroRegisterAsCAndInactiveLanesKeepTheirValue) {
    TestWarp warp(90);
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < 4; ++i) warp[kA + i].lane[lane] = 0x3c003c00;
        for (unsigned i = 0; i < 2; ++i) warp[kB + i].lane[lane] = 0x3c003c00;
        for (unsigned i = 0; i < 4; ++i) warp[kD + i].lane[lane] = 77;
    }
    Word word = with_registers(0x010fee0000001800, kHmma);
    word.set_bits(64, 8, 255);
    ASSERT_TRUE(warp.run(word, 0x0000ffff));
    EXPECT_EQ(warp[kD].lane[3], std::bit_cast<std::uint32_t>(16.0f));
    EXPECT_EQ(warp[kD + 3].lane[20], 77u);
}

TEST_F(FloatMma, RefusesWhatIsNotExecuted) {
    TestWarp warp(75);
    EXPECT_FALSE(warp.run(with_registers(0x010fee0000001800, kHmma)));  // 16816 on sm_75
    EXPECT_FALSE(warp.run(with_registers(0x010fde0000041000, kHmma)));  // bf16 on sm_75
    TestWarp hopper(90);
    EXPECT_FALSE(hopper.run(with_registers(0x004ff60000002c00, kQmma)));
    EXPECT_FALSE(hopper.run(with_registers(0x010fee0000001900, kHmma)));  // -A
}

}  // namespace
}  // namespace lockstep::sass
