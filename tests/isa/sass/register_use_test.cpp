// SPDX-License-Identifier: Apache-2.0
// Operand roles of words that ptxas emits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>

#include "isa/sass/program.h"
#include "isa/sass/table/table.h"

namespace lockstep::sass {
namespace {

using testing::Contains;
using testing::Not;
using testing::UnorderedElementsAre;

std::vector<RegisterUse> uses_of(const Word& word, Arch arch = 90) {
    Program program(arch);
    std::array<std::byte, Word::kBytes> bytes;
    std::memcpy(bytes.data(), &word, Word::kBytes);
    program.add_function("test", true, bytes);
    program.bind(0);
    const auto uses = program.uses(0);
    return {uses.begin(), uses.end()};
}

constexpr RegisterUse vector(OperandSlot slot, std::uint8_t number, std::uint8_t count = 1) {
    return {RegisterFile::kVector, slot, slot == OperandSlot::kDestination, number, count, 0};
}

// Texts are nvdisasm's.
TEST(RegisterUse, FfmaReadsThreeRegistersAndWritesOne) {
    // @P2 FFMA R5, R9, R10, R11
    EXPECT_THAT(uses_of({0x0000000a09052223, 0x000fe2000000000b}),
                UnorderedElementsAre(
                    vector(OperandSlot::kDestination, 5), vector(OperandSlot::kA, 9),
                    vector(OperandSlot::kB, 10), vector(OperandSlot::kC, 11),
                    RegisterUse{RegisterFile::kPredicate, OperandSlot::kOther, false, 2, 1, 0}));
}

TEST(RegisterUse, RzIsNoRegister) {
    // IMAD.MOV.U32 R4, RZ, RZ, R17: a product with RZ is a move.
    EXPECT_THAT(
        uses_of({0x000000ffff047224, 0x000fe200078e0011}),
        UnorderedElementsAre(vector(OperandSlot::kDestination, 4), vector(OperandSlot::kC, 17)));
}

TEST(RegisterUse, WideOperandsAreRuns) {
    // DFMA R14, R24, R12, R20
    EXPECT_THAT(uses_of({0x0000000c180e722b, 0x000fe20000000014}),
                UnorderedElementsAre(vector(OperandSlot::kDestination, 14, 2),
                                     vector(OperandSlot::kA, 24, 2), vector(OperandSlot::kB, 12, 2),
                                     vector(OperandSlot::kC, 20, 2)));
}

TEST(RegisterUse, TensorFragments) {
    // HMMA.16816.F32 R8, R12, R16, R20
    EXPECT_THAT(uses_of({0x000000100c08723c, 0x000fe20000001814}),
                UnorderedElementsAre(vector(OperandSlot::kDestination, 8, 4),
                                     vector(OperandSlot::kA, 12, 4), vector(OperandSlot::kB, 16, 2),
                                     vector(OperandSlot::kC, 20, 4)));
}

TEST(RegisterUse, LoadsAndStores) {
    // STG.E [R2.64], R7 with desc[UR4]
    const auto store = uses_of({0x0000000702007986, 0x001fe2000c101904});
    EXPECT_THAT(store, Contains(vector(OperandSlot::kA, 2, 2)));
    EXPECT_THAT(store, Contains(vector(OperandSlot::kB, 7)));
    // LDG.E.128 R8, [R4.64] with desc[UR8]
    const auto load = uses_of({0x0000000804087981, 0x000ea8000c1e1d00});
    EXPECT_THAT(load, Contains(vector(OperandSlot::kDestination, 8, 4)));
    EXPECT_THAT(load, Contains(vector(OperandSlot::kA, 4, 2)));
}

TEST(RegisterUse, ConstantOperandsHaveBankAndOffset) {
    // IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]
    EXPECT_THAT(uses_of({0x00000a00ff017624, 0x000fe200078e00ff}, 80),
                UnorderedElementsAre(
                    vector(OperandSlot::kDestination, 1),
                    RegisterUse{RegisterFile::kConstant, OperandSlot::kB, false, 0, 1, 0x28}));
}

// A row of the table says where registers stand and which reuse bit each has. In what a row makes
// of a word, every register gets a number of its own, 8 apart since operands are up to 8 long; a
// source that the row does not have is RZ, as ptxas writes it.
struct Filled {
    Word word;
    std::map<unsigned, unsigned> slot_of;  ///< by number: its reuse bit less 122, or kNoReuse
};
constexpr unsigned kNoReuse = 3;

Filled fill_registers(const table::Row& row) {
    Filled filled{row.value, {}};
    Word used = row.mask;
    unsigned number = 8;
    for (const table::Operand& operand : table::operands(row)) {
        for (const table::Piece& piece : table::pieces(operand)) {
            const unsigned bit = piece.field.run[0].first;
            piece.field.set(used, ~0ull);
            if (piece.kind == table::PieceKind::kRegister) {
                piece.field.set(filled.word, number);
                filled.slot_of[number] = kNoReuse;
                number += 8;
            } else if (piece.kind == table::PieceKind::kChoice && bit >= 122 && bit <= 124) {
                filled.slot_of[number - 8] = bit - 122;
            } else if (piece.kind == table::PieceKind::kPredicate) {
                piece.field.set(filled.word, 7);
            }
        }
    }
    for (const unsigned bit : {24u, 64u})
        if (used.bits(bit, 8) == 0) filled.word.set_bits(bit, 8, 0xff);
    filled.word.set_bits(12, 3, 7);
    return filled;
}

TEST(RegisterUse, SlotsAreThoseOfTheReuseBitsAndNothingElseIsRead) {
    constexpr std::array<Arch, 6> kArchs = {70, 75, 80, 86, 89, 90};
    unsigned checked = 0;
    for (const table::Row& row : table::rows()) {
        const auto arch = kArchs[static_cast<unsigned>(std::bit_width(row.archs)) - 1];
        const Filled filled = fill_registers(row);
        for (const RegisterUse& use : uses_of(filled.word, arch)) {
            if (use.file != RegisterFile::kVector) continue;
            const auto found = filled.slot_of.find(use.number);
            if (found == filled.slot_of.end()) {
                ADD_FAILURE() << "line " << row.line << " of sass.table uses R"
                              << unsigned{use.number};
                continue;
            }
            if (use.is_write || found->second == kNoReuse) continue;
            EXPECT_EQ(static_cast<unsigned>(use.slot), found->second)
                << "line " << row.line << " of sass.table, R" << unsigned{use.number};
            ++checked;
        }
    }
    EXPECT_GT(checked, 300u);
}

}  // namespace
}  // namespace lockstep::sass
