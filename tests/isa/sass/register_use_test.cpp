// SPDX-License-Identifier: Apache-2.0
// Operand roles of words that ptxas emits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "isa/sass/program.h"

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

}  // namespace
}  // namespace lockstep::sass
