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

using FragmentWords [[gnu::vector_size(64)]] = std::uint32_t;

/// The lanes of a row by t, then g, of lane 4g + t: those with t of 0 and 1, those with 2 and 3.
struct Quads {
    FragmentWords first, second;

    explicit Quads(const Row& row) {
        FragmentWords low, high;
        std::memcpy(&low, row.lane, sizeof low);
        std::memcpy(&high, row.lane + 16, sizeof high);
        first = __builtin_shufflevector(low, high, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21,
                                        25, 29);
        second = __builtin_shufflevector(low, high, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19,
                                         23, 27, 31);
    }
    Quads(FragmentWords t01, FragmentWords t23) : first(t01), second(t23) {}

    Row row() const {
        const FragmentWords low = __builtin_shufflevector(first, second, 0, 8, 16, 24, 1, 9, 17, 25,
                                                          2, 10, 18, 26, 3, 11, 19, 27);
        const FragmentWords high = __builtin_shufflevector(first, second, 4, 12, 20, 28, 5, 13, 21,
                                                           29, 6, 14, 22, 30, 7, 15, 23, 31);
        Row result;
        std::memcpy(result.lane, &low, sizeof low);
        std::memcpy(result.lane + 16, &high, sizeof high);
        return result;
    }
};

/// The lower halves of two vectors, and the upper ones.
inline FragmentWords lower_halves(FragmentWords a, FragmentWords b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}
inline FragmentWords upper_halves(FragmentWords a, FragmentWords b) {
    return __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                   31);
}

/// out[t][g] = lane 4g + t.
inline void transpose_quads(const Row& row, std::uint32_t (*out)[8]) {
    const Quads quads(row);
    std::memcpy(out[0], &quads.first, sizeof quads.first);
    std::memcpy(out[2], &quads.second, sizeof quads.second);
}

/// Lane 4g + t of the result is in[t][g].
inline Row gather_quads(const std::uint32_t (*in)[8]) {
    FragmentWords first, second;
    std::memcpy(&first, in[0], sizeof first);
    std::memcpy(&second, in[2], sizeof second);
    return Quads(first, second).row();
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
        if (count == 4) {
            load_whole(registers);
            return;
        }
        std::uint32_t quads[4][8];
        for (unsigned i = 0; i < count; ++i) {
            transpose_quads(registers[i], quads);
            for (unsigned t = 0; t < 4; ++t)
                std::memcpy(&element[2 * t + i % 2][8 * (i / 2)], quads[t], sizeof quads[t]);
        }
    }

    void write(Row* registers, unsigned count, std::uint32_t mask) const {
        if (count == 4) return write_whole(registers, mask);
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

  private:
    void load_whole(const Row* registers) {
        for (unsigned i = 0; i < 2; ++i) {
            const Quads upper(registers[i]), lower(registers[i + 2]);  // rows 0-7, rows 8-15
            put(i, lower_halves(upper.first, lower.first));
            put(2 + i, upper_halves(upper.first, lower.first));
            put(4 + i, lower_halves(upper.second, lower.second));
            put(6 + i, upper_halves(upper.second, lower.second));
        }
    }
    void write_whole(Row* registers, std::uint32_t mask) const {
        for (unsigned i = 0; i < 2; ++i) {
            const FragmentWords t0 = get(i), t1 = get(2 + i), t2 = get(4 + i), t3 = get(6 + i);
            const Quads upper(lower_halves(t0, t1), lower_halves(t2, t3));  // rows 0-7
            const Quads lower(upper_halves(t0, t1), upper_halves(t2, t3));  // rows 8-15
            if (mask == kAllLanes) [[likely]] {
                registers[i] = upper.row();
                registers[i + 2] = lower.row();
            } else {
                copy_lanes(registers[i], upper.row(), mask);
                copy_lanes(registers[i + 2], lower.row(), mask);
            }
        }
    }
    void put(unsigned column, FragmentWords words) {
        std::memcpy(element[column], &words, sizeof words);
    }
    FragmentWords get(unsigned column) const {
        FragmentWords words;
        std::memcpy(&words, element[column], sizeof words);
        return words;
    }
};

}  // namespace lockstep::sass
