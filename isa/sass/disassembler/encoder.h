// SPDX-License-Identifier: Apache-2.0
// The decoded form of a word by its row of the table, and back.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/sass/table/table.h"
#include "isa/sass/word.h"

namespace lockstep::sass {

/// A word taken apart: the row it belongs to, the value of each piece of the row that has a field
/// (in the order of the row; a field that two pieces share is listed twice), guard and control
/// bits.
struct Decoded {
    const table::Row* row = nullptr;
    std::vector<std::uint64_t> values;
    std::uint8_t guard = 7;     ///< bits 12-15: predicate and, in bit 3, its negation
    std::uint64_t control = 0;  ///< bits 105-127
};

/// row is nullptr where the table does not know the word.
Decoded decode(const Word& word, Arch arch);

/// The word of these values; bits that the row does not name are zero. Later values win where two
/// pieces share a field. Precondition: decoded.row is not nullptr and values has as many entries
/// as decode gives.
Word encode(const Decoded& decoded);

/// The bits that the row, the guard and the control bits cover.
Word covered_bits(const table::Row& row);

}  // namespace lockstep::sass
