// SPDX-License-Identifier: Apache-2.0
// Which columns of A the kept numbers of a structured-sparse operand belong to.
#pragma once

#include <cstdint>

#include "isa/sass/row.h"

namespace lockstep::sass {

enum class SparseKind : std::uint8_t {
    kBytes,   ///< 8-bit numbers, or pairs of 4-bit numbers, two of four
    kHalves,  ///< 16-bit numbers, two of four
    kWords,   ///< tf32, one of two
};

struct SparseIndices {
    std::uint8_t column[32][16];  ///< [kept number of the row][row]

    /// `kept` numbers a row. `selector` is the instruction's: the lane of each quad, or pair of
    /// lanes, whose `metadata` counts.
    SparseIndices(const Row& metadata, unsigned selector, SparseKind kind, unsigned kept);
};

}  // namespace lockstep::sass
