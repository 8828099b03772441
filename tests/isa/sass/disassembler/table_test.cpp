// SPDX-License-Identifier: Apache-2.0
// The table itself: no word belongs to two rows, and fields lie where the row can hold them.
#include "isa/sass/table/table.h"

#include <gtest/gtest.h>

namespace lockstep::sass::table {
namespace {

TEST(Table, NoTwoRowsOfAnArchitectureOverlap) {
    const auto all = rows();
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1;
             j < all.size() && all[j].value.opcode() == all[i].value.opcode(); ++j) {
            const Row &a = all[i], &b = all[j];
            const bool differ = ((a.value.lo ^ b.value.lo) & a.mask.lo & b.mask.lo) != 0 ||
                                ((a.value.hi ^ b.value.hi) & a.mask.hi & b.mask.hi) != 0;
            EXPECT_TRUE(differ || (a.archs & b.archs) == 0)
                << "sass.table:" << a.line << " and :" << b.line;
        }
}

TEST(Table, FieldsStayOutOfOpcodeGuardAndControlBits) {
    for (const Row& row : rows())
        for (const Operand& operand : operands(row))
            for (const Piece& piece : pieces(operand))
                for (unsigned i = 0; i < piece.field.runs; ++i) {
                    const BitRun run = piece.field.run[i];
                    const bool is_reuse = run.first >= 122 && run.first + run.count <= 126;
                    EXPECT_TRUE(is_reuse || (run.first >= 16 && run.first + run.count <= 105))
                        << "sass.table:" << row.line;
                }
}

}  // namespace
}  // namespace lockstep::sass::table
