// SPDX-License-Identifier: Apache-2.0
// What nvdisasm prints, instruction by instruction.
#include "isa/sass/disassembler/disassembler.h"

#include <gtest/gtest.h>

namespace lockstep::sass {
namespace {

TEST(Disassembler, PrintsGuardModifiersAndOperands) {
    EXPECT_EQ(disassemble({.lo = 0xff7fffffffff7421, .hi = 0x000fe23be7b00f00}, 90, 0).substr(0, 4),
              "FADD");
    EXPECT_EQ(disassemble({.lo = 0x3f80000000007421, .hi = 0x000fe20000000000}, 90, 0),
              "FADD R0, R0, 1");
    EXPECT_EQ(disassemble({.lo = 0x000000101a0b7824, .hi = 0x000fe23b110000ff}, 90, 0),
              "IMAD.SHL.U32 R11, R26, 0x10, RZ");
}

TEST(Disassembler, PrintsAnUnknownWordAsBytes) {
    EXPECT_FALSE(is_known({.lo = 0xfff, .hi = 0}, 90));
    EXPECT_EQ(disassemble({.lo = 0xfff, .hi = 1}, 90, 0),
              ".word 0x0000000000000fff, 0x0000000000000001");
}

}  // namespace
}  // namespace lockstep::sass
