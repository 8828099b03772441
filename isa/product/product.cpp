// SPDX-License-Identifier: Apache-2.0
// A column of the array adds products from its top down; columns are independent and are done
// together. bf16: products and sums are rounded to fp32, in the array's order. Integers: any order
// gives the same modulo 2^32, so that two lanes are multiplied and added at once, as the host's
// dot-product instructions do.
#include "isa/product/product.h"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __AVX512VNNI__
#include <immintrin.h>
#endif

namespace lockstep::product {

namespace {

constexpr std::uint32_t kWidth = 16;  // 32-bit values of a host vector
typedef float Floats __attribute__((vector_size(4 * kWidth)));
typedef std::uint32_t Words __attribute__((vector_size(4 * kWidth)));
typedef std::int32_t Integers __attribute__((vector_size(4 * kWidth)));

constexpr int kRows = 6, kVectors = 4;  // what fits into 32 host registers
constexpr std::uint32_t kBlock = kVectors * kWidth;

/// Adds to sums[row][0 .. kBlock) for `rows` rows of a; w is packed to that width.
template <int rows>
void sum_floats(const float* a, std::uint32_t lanes, const float* w, float* sums) {
    Floats sum[rows][kVectors];
    std::memcpy(sum, sums, sizeof(sum));
    for (std::uint32_t k = 0; k < lanes; ++k) {
        Floats weight[kVectors];
        std::memcpy(weight, w + std::size_t{k} * kBlock, sizeof(weight));
        for (int row = 0; row < rows; ++row) {
            const float value = a[std::size_t(row) * lanes + k];
            for (int v = 0; v < kVectors; ++v) {
                const Floats term = value * weight[v];
                sum[row][v] = sum[row][v] + term;
            }
        }
    }
    std::memcpy(sums, sum, sizeof(sum));
}

/// Adds low half * low half + high half * high half of each 32 bits, signed, modulo 2^32.
inline void add_pair(Words& sum, std::uint32_t a, const Words& w) {
#ifdef __AVX512VNNI__
    sum = reinterpret_cast<Words>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sum),
                                                      _mm512_set1_epi32(static_cast<int>(a)),
                                                      reinterpret_cast<__m512i>(w)));
#else
    const auto low = static_cast<std::uint32_t>(static_cast<std::int16_t>(a & 0xffff)),
               high = static_cast<std::uint32_t>(static_cast<std::int16_t>(a >> 16));
    const Integers words = reinterpret_cast<Integers>(w);
    sum += low * reinterpret_cast<Words>((words << 16) >> 16) +
           high * reinterpret_cast<Words>(words >> 16);
#endif
}

/// The same for pairs of integers.
template <int rows, int vectors>
void sum_pairs(const std::int16_t* a, std::uint32_t pairs, const std::uint32_t* w,
               std::uint32_t* sums) {
    Words sum[rows][vectors] = {};
    for (std::uint32_t k = 0; k < pairs; ++k) {
        Words weight[vectors];
        std::memcpy(weight, w + std::size_t{k} * vectors * kWidth, sizeof(weight));
        for (int row = 0; row < rows; ++row) {
            std::uint32_t value;
            std::memcpy(&value, a + 2 * (std::size_t(row) * pairs + k), sizeof(value));
            for (int v = 0; v < vectors; ++v) add_pair(sum[row][v], value, weight[v]);
        }
    }
    std::memcpy(sums, sum, sizeof(sum));
}

float canonical(float value) {
    return value == value ? value : std::bit_cast<float>(0x7fc00000u);
}

/// Columns from `first` on that are done together: as many as fit the host's registers, then a
/// vector at a time.
std::uint32_t block_width(std::uint32_t first, std::uint32_t columns) {
    return columns - first >= kBlock ? kBlock : kWidth;
}

template <int rows>
void integer_rows(const std::int16_t* a, std::uint32_t lanes, const std::uint32_t* w,
                  std::uint32_t width, std::uint32_t columns, bool accumulate, std::uint32_t* acc,
                  std::uint32_t acc_pitch) {
    const std::uint32_t pairs = integer_pitch(lanes) / 2;
    std::uint32_t sums[rows * kBlock];
    if (width == kBlock)
        sum_pairs<rows, kVectors>(a, pairs, w, sums);
    else
        sum_pairs<rows, 1>(a, pairs, w, sums);
    for (int row = 0; row < rows; ++row) {
        std::uint32_t* const out = acc + std::size_t(row) * acc_pitch;
        const std::uint32_t* const of_row = sums + std::size_t(row) * width;
        if (accumulate)
            for (std::uint32_t c = 0; c < columns; ++c) out[c] += of_row[c];
        else
            std::copy_n(of_row, columns, out);
    }
}

/// Where the sums of a tile start.
enum class Start : std::uint8_t {
    kZero,
    kAddAfter,  ///< at zero; acc is added at the end
    kThere,     ///< at what acc has
};

void multiply_floats(const TileProduct& product, Start start, std::uint32_t* acc,
                     std::uint32_t acc_pitch) {
    std::vector<float> packed(std::size_t{product.lanes} * kBlock);
    float sums[kRows * kBlock];
    for (std::uint32_t first = 0; first < product.columns; first += kBlock) {
        const std::uint32_t columns = std::min(kBlock, product.columns - first);
        std::fill(packed.begin(), packed.end(), 0.0f);
        for (std::uint32_t k = 0; k < product.lanes; ++k)
            std::copy_n(product.w + std::size_t{k} * product.w_pitch + first, columns,
                        packed.begin() + std::size_t{k} * kBlock);
        for (std::uint32_t row = 0; row < product.rows;) {
            const float* a = product.a + std::size_t{row} * product.lanes;
            const std::uint32_t count = product.rows - row >= kRows ? kRows : 1;
            std::fill_n(sums, std::size_t{count} * kBlock, 0.0f);
            if (start == Start::kThere)
                for (std::uint32_t r = 0; r < count; ++r)
                    std::memcpy(sums + std::size_t{r} * kBlock,
                                acc + std::size_t{row + r} * acc_pitch + first, 4 * columns);
            if (count == kRows)
                sum_floats<kRows>(a, product.lanes, packed.data(), sums);
            else
                sum_floats<1>(a, product.lanes, packed.data(), sums);
            for (std::uint32_t r = 0; r < count; ++r) {
                std::uint32_t* out = acc + std::size_t{row + r} * acc_pitch + first;
                for (std::uint32_t column = 0; column < columns; ++column) {
                    float value = canonical(sums[std::size_t{r} * kBlock + column]);
                    if (start == Start::kAddAfter)
                        value = canonical(std::bit_cast<float>(out[column]) + value);
                    out[column] = std::bit_cast<std::uint32_t>(value);
                }
            }
            row += count;
        }
    }
}

}  // namespace

void bf16_product(const TileProduct& product, bool accumulate, std::uint32_t* acc,
                  std::uint32_t acc_pitch) {
    multiply_floats(product, accumulate ? Start::kAddAfter : Start::kZero, acc, acc_pitch);
}

void bf16_product_onto(const TileProduct& product, std::uint32_t* acc, std::uint32_t acc_pitch) {
    multiply_floats(product, Start::kThere, acc, acc_pitch);
}

IntegerWeights::IntegerWeights(const std::int16_t* w, std::uint32_t lanes, std::uint32_t columns,
                               std::uint32_t pitch)
    : lanes_(lanes), columns_(columns) {
    const std::uint32_t pairs = integer_pitch(lanes) / 2;
    pairs_.resize(std::size_t{pairs} * ((columns + kWidth - 1) / kWidth * kWidth));
    std::uint32_t* out = pairs_.data();
    for (std::uint32_t first = 0; first < columns;) {
        const std::uint32_t width = block_width(first, columns);
        const std::uint32_t used = std::min(width, columns - first);
        for (std::uint32_t k = 0; k < lanes; k += 2, out += width) {
            const std::int16_t* const even = w + std::size_t{k} * pitch + first;
            if (k + 1 == lanes) {
                for (std::uint32_t c = 0; c < used; ++c)
                    out[c] = static_cast<std::uint16_t>(even[c]);
                continue;
            }
            const std::int16_t* const odd = even + pitch;
            for (std::uint32_t c = 0; c < used; ++c)
                out[c] = static_cast<std::uint16_t>(even[c]) |
                         static_cast<std::uint32_t>(static_cast<std::uint16_t>(odd[c])) << 16;
        }
        first += width;
    }
}

const std::uint32_t* IntegerWeights::block(std::uint32_t column) const {
    return pairs_.data() + std::size_t{integer_pitch(lanes_) / 2} * column;
}

void integer_product(const std::int16_t* a, std::uint32_t rows, std::uint32_t lanes,
                     const IntegerWeights& w, std::uint32_t columns, bool accumulate,
                     std::uint32_t* acc, std::uint32_t acc_pitch) {
    const std::uint32_t pitch = integer_pitch(lanes);
    for (std::uint32_t first = 0; first < columns;) {
        // Blocks are those of all of w, of which some columns may be used.
        const std::uint32_t width = block_width(first, w.columns());
        const std::uint32_t used = std::min(width, columns - first);
        const std::uint32_t* const weights = w.block(first);
        for (std::uint32_t row = 0; row < rows;) {
            const std::int16_t* const from = a + std::size_t{row} * pitch;
            std::uint32_t* const out = acc + std::size_t{row} * acc_pitch + first;
            if (rows - row >= kRows) {
                integer_rows<kRows>(from, lanes, weights, width, used, accumulate, out, acc_pitch);
                row += kRows;
            } else {
                integer_rows<1>(from, lanes, weights, width, used, accumulate, out, acc_pitch);
                ++row;
            }
        }
        first += width;
    }
}

}  // namespace lockstep::product
