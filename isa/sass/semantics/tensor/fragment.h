// SPDX-License-Identifier: Apache-2.0
// Where the elements of a matrix lie in the registers of a warp. All MMA instructions since sm_75
// deal in 32-bit words: register i of A holds, in lane 4g + t, word t + 4 (i / 2) of row g + 8 (i %
// 2); register i of B holds word t + 4i of column g; register i of C and D (32-bit accumulators)
// holds row g + 8 (i / 2), column 2t + i % 2. Source: PTX ISA, "Matrix Fragments for mma".
#pragma once

#include <cstdint>
#include <cstring>

#include "isa/sass/row.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

/// out[t][g] = lane 4g + t.
inline void transpose_quads(const Row& row, std::uint32_t (*out)[8]) {
    using Words [[gnu::vector_size(64)]] = std::uint32_t;
    Words low, high;
    std::memcpy(&low, row.lane, sizeof low);
    std::memcpy(&high, row.lane + 16, sizeof high);
    const Words first = __builtin_shufflevector(low, high, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13,
                                                17, 21, 25, 29);
    const Words second = __builtin_shufflevector(low, high, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11,
                                                 15, 19, 23, 27, 31);
    std::memcpy(out[0], &first, sizeof first);
    std::memcpy(out[2], &second, sizeof second);
}

/// Lane 4g + t of the result is in[t][g].
inline Row gather_quads(const std::uint32_t (*in)[8]) {
    using Words [[gnu::vector_size(64)]] = std::uint32_t;
    Words first, second;
    std::memcpy(&first, in[0], sizeof first);
    std::memcpy(&second, in[2], sizeof second);
    const Words low = __builtin_shufflevector(first, second, 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18,
                                              26, 3, 11, 19, 27);
    const Words high = __builtin_shufflevector(first, second, 4, 12, 20, 28, 5, 13, 21, 29, 6, 14,
                                               22, 30, 7, 15, 23, 31);
    Row row;
    std::memcpy(row.lane, &low, sizeof low);
    std::memcpy(row.lane + 16, &high, sizeof high);
    return row;
}

/// The words of A: [word][row]; rows 8-15 are zero where A is a single register of 8 rows.
struct FragmentA {
    std::uint32_t word[16][16];

    FragmentA(const Row* registers, unsigned count) {
        std::uint32_t quads[4][8];
        for (unsigned i = 0; i < count; ++i) {
            transpose_quads(registers[i], quads);
            for (unsigned t = 0; t < 4; ++t)
                std::memcpy(&word[t + 4 * (i / 2)][8 * (i % 2)], quads[t], sizeof quads[t]);
        }
        if (count == 1)
            for (unsigned t = 0; t < 4; ++t) std::memset(&word[t][8], 0, 32);
    }
};

/// The words of B: [column][word].
struct FragmentB {
    std::uint32_t word[8][16];

    FragmentB(const Row* registers, unsigned count) {
        for (unsigned i = 0; i < count; ++i)
            for (unsigned g = 0; g < 8; ++g)
                std::memcpy(&word[g][4 * i], &registers[i].lane[4 * g], 16);
    }
};

/// C and D with 32-bit elements: [column][row]. `count` registers: 4, or 2 for 8 rows.
struct FragmentC {
    alignas(64) std::uint32_t element[8][16];

    FragmentC() = default;
    FragmentC(const Row* registers, unsigned count) {
        std::uint32_t quads[4][8];
        for (unsigned i = 0; i < count; ++i) {
            transpose_quads(registers[i], quads);
            for (unsigned t = 0; t < 4; ++t)
                std::memcpy(&element[2 * t + i % 2][8 * (i / 2)], quads[t], sizeof quads[t]);
        }
    }

    void write(Row* registers, unsigned count, std::uint32_t mask) const {
        std::uint32_t quads[4][8];
        for (unsigned i = 0; i < count; ++i) {
            for (unsigned t = 0; t < 4; ++t)
                std::memcpy(quads[t], &element[2 * t + i % 2][8 * (i / 2)], sizeof quads[t]);
            copy_lanes(registers[i], gather_quads(quads), mask);
        }
    }

    /// fp16 accumulators: register i holds row g + 8i, columns 2t (lower half) and 2t + 1.
    static FragmentC of_halves(const Row* registers) {
        FragmentC c;
        std::uint32_t quads[4][8];
        for (unsigned i = 0; i < 2; ++i) {
            transpose_quads(registers[i], quads);
            for (unsigned t = 0; t < 4; ++t) {
                for (unsigned g = 0; g < 8; ++g) {
                    c.element[2 * t][8 * i + g] = quads[t][g] & 0xffff;
                    c.element[2 * t + 1][8 * i + g] = quads[t][g] >> 16;
                }
            }
        }
        return c;
    }

    void write_halves(Row* registers, std::uint32_t mask) const {
        std::uint32_t quads[4][8];
        for (unsigned i = 0; i < 2; ++i) {
            for (unsigned t = 0; t < 4; ++t)
                for (unsigned g = 0; g < 8; ++g)
                    quads[t][g] = element[2 * t][8 * i + g] | element[2 * t + 1][8 * i + g] << 16;
            copy_lanes(registers[i], gather_quads(quads), mask);
        }
    }
};

}  // namespace lockstep::sass
