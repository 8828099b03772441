// SPDX-License-Identifier: Apache-2.0
// Matrices of encoded elements and the fragments that PTX ISA documents for mma, written from its
// formulas (row and column of element i of a lane), independent of the product's layouts.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tests/isa/sass/semantics/test_warp.h"

namespace lockstep::sass {

struct Matrix {
    int rows, columns;
    std::vector<std::uint32_t> bits;

    Matrix(int r, int c) : rows(r), columns(c), bits(static_cast<std::size_t>(r * c)) {}
    std::uint32_t& at(int row, int column) {
        return bits[static_cast<std::size_t>(row * columns + column)];
    }
};

/// Writes element `index` of `width` bits of a lane's fragment that starts at register `first`.
inline void set_element(TestWarp& warp, unsigned first, unsigned lane, unsigned index,
                        unsigned width, std::uint32_t bits) {
    const unsigned per_word = 32 / width;
    std::uint32_t& word = warp[first + index / per_word].lane[lane];
    const unsigned shift = index % per_word * width;
    const std::uint32_t mask = (width == 32 ? ~0u : (1u << width) - 1) << shift;
    word = (word & ~mask) | ((bits << shift) & mask);
}

inline std::uint32_t get_element(TestWarp& warp, unsigned first, unsigned lane, unsigned index,
                                 unsigned width) {
    const unsigned per_word = 32 / width;
    const std::uint32_t word = warp[first + index / per_word].lane[lane];
    return word >> (index % per_word * width) & (width == 32 ? ~0u : (1u << width) - 1);
}

/// Calls f(lane, index, row, column) for each element of A: m rows, k columns of `width` bits.
template <typename F>
void for_each_a(int m, int k, unsigned width, F&& f) {
    const unsigned run = 32 / width;  // consecutive elements in one register
    const unsigned count = static_cast<unsigned>(m * k) / 32;
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < count; ++i) {
            const unsigned lower = m == 8 ? 0 : i / run % 2 * 8;
            const unsigned right = (m == 8 ? i / run : i / run / 2) * 4 * run;
            f(lane, i, static_cast<int>(lane / 4 + lower),
              static_cast<int>(lane % 4 * run + i % run + right));
        }
}

/// The same for B: f(lane, index, k, column).
template <typename F>
void for_each_b(int k, unsigned width, F&& f) {
    const unsigned run = 32 / width;
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < static_cast<unsigned>(k) * 8 / 32; ++i)
            f(lane, i, static_cast<int>(lane % 4 * run + i % run + i / run * 4 * run),
              static_cast<int>(lane / 4));
}

/// The same for C and D: f(lane, index, row, column).
template <typename F>
void for_each_c(int m, F&& f) {
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < static_cast<unsigned>(m) / 4; ++i)
            f(lane, i, static_cast<int>(lane / 4 + i / 2 * 8),
              static_cast<int>(lane % 4 * 2 + i % 2));
}

constexpr unsigned kA = 4, kB = 24, kC = 40, kD = 60, kMetadata = 80;

/// A word as ptxas emits it, with our registers.
inline Word with_registers(std::uint64_t hi, std::uint64_t lo) {
    Word word{lo, hi};
    word.set_bits(16, 8, kD);
    word.set_bits(24, 8, kA);
    word.set_bits(32, 8, kB);
    word.set_bits(64, 8, kC);
    return word;
}

}  // namespace lockstep::sass
