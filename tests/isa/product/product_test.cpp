// SPDX-License-Identifier: Apache-2.0
// Whole-tile products against the definition, one multiplication and one addition at a time.
#include "isa/product/product.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "sim/numerics/bf16.h"

namespace lockstep::product {
namespace {

struct Case {
    std::uint32_t rows, lanes, columns;
};

class TileProducts : public testing::TestWithParam<Case> {};

TEST_P(TileProducts, IntegersAreExactModulo32Bits) {
    const auto [rows, lanes, columns] = GetParam();
    std::mt19937 random(5);
    for (const auto& [low, high] : {std::pair{-128, 127}, {0, 255}, {-32768, 32767}}) {
        std::uniform_int_distribution<int> draw(low, high);
        const std::uint32_t pitch = integer_pitch(lanes);
        std::vector<std::int16_t> a(rows * pitch), w(lanes * columns);
        for (std::uint32_t m = 0; m < rows; ++m)
            for (std::uint32_t k = 0; k < lanes; ++k)
                a[m * pitch + k] = static_cast<std::int16_t>(draw(random));
        for (std::int16_t& value : w) value = static_cast<std::int16_t>(draw(random));
        // The extremes stand at the front, so that some sum reaches them.
        for (std::uint32_t k = 0; k < lanes; ++k)
            a[k] = w[k * columns] = static_cast<std::int16_t>(low == 0 ? high : low);
        const IntegerWeights weights(w.data(), lanes, columns, columns);
        // All of the tile, and a part of it.
        for (const auto& [k_used, n_used] :
             {std::pair{lanes, columns}, {(lanes + 1) / 2, (columns + 1) / 2}}) {
            const std::uint32_t own = integer_pitch(k_used);
            std::vector<std::int16_t> part(rows * own);
            for (std::uint32_t m = 0; m < rows; ++m)
                std::copy_n(a.begin() + m * pitch, k_used, part.begin() + m * own);
            std::vector<std::uint32_t> acc(rows * columns, 7);
            for (const bool accumulate : {false, true}) {
                integer_product(part.data(), rows, k_used, weights, n_used, accumulate, acc.data(),
                                columns);
                for (std::uint32_t m = 0; m < rows; ++m)
                    for (std::uint32_t n = 0; n < columns; ++n) {
                        std::int64_t sum = 0;
                        for (std::uint32_t k = 0; k < k_used; ++k)
                            sum += std::int64_t{a[m * pitch + k]} * w[k * columns + n];
                        const std::int64_t wanted = n >= n_used ? 7 : accumulate ? 2 * sum : sum;
                        ASSERT_EQ(acc[m * columns + n], static_cast<std::uint32_t>(wanted));
                    }
            }
        }
    }
}

TEST_P(TileProducts, Bf16SumsInTheOrderOfTheLanes) {
    const auto [rows, lanes, columns] = GetParam();
    std::mt19937 random(6);
    std::normal_distribution<float> normal;
    const auto draw = [&] {
        return numerics::bf16_to_fp32(numerics::fp32_to_bf16(normal(random)));
    };
    std::vector<float> a(rows * lanes), w(lanes * columns);
    for (float& value : a) value = draw();
    for (float& value : w) value = draw();
    std::vector<std::uint32_t> acc(rows * columns, std::bit_cast<std::uint32_t>(0.25f));
    const TileProduct product{a.data(), w.data(), rows, lanes, columns, columns};
    bf16_product(product, true, acc.data(), columns);
    for (std::uint32_t m = 0; m < rows; ++m)
        for (std::uint32_t n = 0; n < columns; ++n) {
            volatile float sum = 0;
            for (std::uint32_t k = 0; k < lanes; ++k) {
                volatile const float term = a[m * lanes + k] * w[k * columns + n];
                sum = sum + term;
            }
            ASSERT_EQ(acc[m * columns + n], std::bit_cast<std::uint32_t>(0.25f + sum));
        }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TileProducts,
                         testing::Values(Case{1, 1, 1}, Case{7, 256, 65}, Case{13, 100, 32},
                                         Case{6, 300, 64}, Case{3, 0, 5}, Case{12, 31, 200}));

TEST(TileProductsNan, IsTheOneNan) {
    const float a[] = {std::bit_cast<float>(0xffc12345u)}, w[] = {1.0f};
    std::uint32_t acc = 0;
    bf16_product({a, w, 1, 1, 1, 1}, false, &acc, 1);
    EXPECT_EQ(acc, 0x7fc00000u);
}

}  // namespace
}  // namespace lockstep::product
