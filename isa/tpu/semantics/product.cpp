// SPDX-License-Identifier: Apache-2.0
// A column of the array adds products from its top down; columns are independent and are done
// together. bf16: products and sums are rounded to fp32, in the array's order. Integers: any order
// gives the same, and fp32 is exact as long as sums stay below 2^24 (8-bit operands: up to 256
// lanes); fp64 serves the rest.
#include "isa/tpu/semantics/product.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace lockstep::tpu {

namespace {

template <typename T>
struct Simd {
    static constexpr std::uint32_t kWidth = 64 / sizeof(T);
    typedef T Vector __attribute__((vector_size(64)));
};

constexpr int kRows = 6, kVectors = 4;  // what fits into 32 host registers

/// sums[row][0 .. vectors * width) for `rows` rows of a; w is packed to that width.
template <typename T, int rows>
void sum_block(const float* a, std::uint32_t lanes, const T* w, T* sums) {
    using Vector = typename Simd<T>::Vector;
    Vector sum[rows][kVectors] = {};
    for (std::uint32_t k = 0; k < lanes; ++k) {
        Vector weight[kVectors];
        std::memcpy(weight, w + std::size_t{k} * kVectors * Simd<T>::kWidth, sizeof(weight));
        for (int row = 0; row < rows; ++row) {
            const auto value = static_cast<T>(a[std::size_t(row) * lanes + k]);
            for (int v = 0; v < kVectors; ++v) {
                const Vector term = value * weight[v];
                sum[row][v] = sum[row][v] + term;
            }
        }
    }
    std::memcpy(sums, sum, sizeof(sum));
}

/// Calls finish(row, first column, count, sums) for every piece of the result.
template <typename T, typename Finish>
void multiply(const TileProduct& product, const Finish& finish) {
    constexpr std::uint32_t kBlock = kVectors * Simd<T>::kWidth;
    std::vector<T> packed(std::size_t{product.lanes} * kBlock);
    T sums[kRows][kBlock];
    for (std::uint32_t first = 0; first < product.columns; first += kBlock) {
        const std::uint32_t columns = std::min(kBlock, product.columns - first);
        std::fill(packed.begin(), packed.end(), T{});
        for (std::uint32_t k = 0; k < product.lanes; ++k)
            std::copy_n(product.w + std::size_t{k} * product.w_pitch + first, columns,
                        packed.begin() + std::size_t{k} * kBlock);
        for (std::uint32_t row = 0; row < product.rows;) {
            const float* a = product.a + std::size_t{row} * product.lanes;
            const std::uint32_t count = product.rows - row >= kRows ? kRows : 1;
            if (count == kRows)
                sum_block<T, kRows>(a, product.lanes, packed.data(), sums[0]);
            else
                sum_block<T, 1>(a, product.lanes, packed.data(), sums[0]);
            for (std::uint32_t r = 0; r < count; ++r) finish(row + r, first, columns, sums[r]);
            row += count;
        }
    }
}

float canonical(float value) {
    return value == value ? value : std::bit_cast<float>(0x7fc00000u);
}

template <typename T, typename Integer>
void multiply_integers(const TileProduct& product, bool accumulate, std::uint32_t* acc,
                       std::uint32_t acc_pitch) {
    multiply<T>(
        product, [&](std::uint32_t row, std::uint32_t first, std::uint32_t columns, const T* sums) {
            std::uint32_t* out = acc + std::size_t{row} * acc_pitch + first;
            for (std::uint32_t column = 0; column < columns; ++column) {
                const auto value = static_cast<std::uint32_t>(static_cast<Integer>(sums[column]));
                out[column] = accumulate ? out[column] + value : value;
            }
        });
}

}  // namespace

void integer_product(const TileProduct& product, bool wide, bool accumulate, std::uint32_t* acc,
                     std::uint32_t acc_pitch) {
    constexpr std::uint32_t kExactLanes = 256;  // 255 * 255 * 256 < 2^24
    if (!wide && product.lanes <= kExactLanes)
        multiply_integers<float, std::int32_t>(product, accumulate, acc, acc_pitch);
    else
        multiply_integers<double, std::int64_t>(product, accumulate, acc, acc_pitch);
}

void bf16_product(const TileProduct& product, bool accumulate, std::uint32_t* acc,
                  std::uint32_t acc_pitch) {
    multiply<float>(product, [&](std::uint32_t row, std::uint32_t first, std::uint32_t columns,
                                 const float* sums) {
        std::uint32_t* out = acc + std::size_t{row} * acc_pitch + first;
        for (std::uint32_t column = 0; column < columns; ++column) {
            float value = canonical(sums[column]);
            if (accumulate) value = canonical(std::bit_cast<float>(out[column]) + value);
            out[column] = std::bit_cast<std::uint32_t>(value);
        }
    });
}

}  // namespace lockstep::tpu
