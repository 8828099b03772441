// SPDX-License-Identifier: Apache-2.0
// Look-up in the generated arrays: rows are sorted by opcode (bits 0-11), and the few rows of an
// opcode differ in bit 91, in the architectures or in modifier bits that change the operands.
// Source: sass.table.
#include "isa/sass/table/table.h"

#include <algorithm>

namespace lockstep::sass::table {

namespace {
#include "sass_table.inc"  // kTexts, kPieces, kOperands, kRows, kFirstRow
}

unsigned arch_bit(Arch arch) {
    constexpr Arch kArchs[] = {70, 75, 80, 86, 89, 90};
    const auto* it = std::find(std::begin(kArchs), std::end(kArchs), arch);
    return it == std::end(kArchs) ? 0 : 1u << (it - kArchs);
}

const Row* find(const Word& encoded, Arch arch) {
    Word word = encoded;
    if (arch == 70) word.set_bits(91, 1, 0);  // it has no uniform datapath and ignores the bit
    const unsigned bit = arch_bit(arch);
    for (unsigned i = kFirstRow[word.opcode()]; i < kFirstRow[word.opcode() + 1]; ++i) {
        const Row& row = kRows[i];
        if ((row.archs & bit) != 0 && (word.lo & row.mask.lo) == row.value.lo &&
            (word.hi & row.mask.hi) == row.value.hi)
            return &row;
    }
    return nullptr;
}

std::span<const Row> rows() {
    return kRows;
}
std::span<const Operand> operands(const Row& row) {
    return std::span(kOperands).subspan(row.first_operand, row.operands);
}
std::span<const Piece> pieces(const Operand& operand) {
    return std::span(kPieces).subspan(operand.first_piece, operand.pieces);
}
std::string_view text(unsigned index) {
    return kTexts[index];
}

}  // namespace lockstep::sass::table
