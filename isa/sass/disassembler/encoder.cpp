// SPDX-License-Identifier: Apache-2.0
// Fields are copied bit for bit: the table says where they lie, and nothing is interpreted. That is
// what makes encode(decode(w)) == w a test of the table and not of this code.
#include "isa/sass/disassembler/encoder.h"

#include "sim/error/error.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kGuardBit = 12, kGuardBits = 4;
constexpr unsigned kControlBit = 105, kControlBits = 23;

template <class Visit>
void for_each_field(const table::Row& row, Visit visit) {
    for (const table::Operand& operand : table::operands(row))
        for (const table::Piece& piece : table::pieces(operand)) {
            if (piece.field.runs != 0) visit(piece.field);
            if (piece.condition_bit != 0) visit({.run = {{piece.condition_bit, 1}}, .runs = 1});
        }
}

}  // namespace

Decoded decode(const Word& word, Arch arch) {
    Decoded decoded{.row = table::find(word, arch)};
    if (decoded.row == nullptr) return decoded;
    for_each_field(*decoded.row,
                   [&](const table::Field& field) { decoded.values.push_back(field.get(word)); });
    decoded.guard = static_cast<std::uint8_t>(word.bits(kGuardBit, kGuardBits));
    decoded.control = word.bits(kControlBit, kControlBits);
    return decoded;
}

Word encode(const Decoded& decoded) {
    LOCKSTEP_CHECK(decoded.row != nullptr, "encoding a word that no row describes");
    Word word = decoded.row->value;
    std::size_t next = 0;
    for_each_field(*decoded.row,
                   [&](const table::Field& field) { field.set(word, decoded.values.at(next++)); });
    word.set_bits(kGuardBit, kGuardBits, decoded.guard);
    word.set_bits(kControlBit, kControlBits, decoded.control);
    return word;
}

Word covered_bits(const table::Row& row) {
    Word covered = row.mask;
    for_each_field(row, [&](const table::Field& field) { field.set(covered, ~0ull); });
    covered.set_bits(kGuardBit, kGuardBits, ~0ull);
    covered.set_bits(kControlBit, kControlBits, ~0ull);
    return covered;
}

}  // namespace lockstep::sass
