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

// nvdisasm 11.8 prints nothing for these, so the listings do not have them. The words are ptxas
// 13.0's for CUDA's __vi* functions, __hmax and the like; the texts are CUDA 12's and 13's style.
TEST(Disassembler, PrintsTheMinimaAndMaximaOfSm90) {
    const std::pair<Word, std::string> cases[] = {
        {{.lo = 0x00000001000d7836, .hi = 0x004fca0000000000}, "VIADD R13, R0, 0x1"},
        {{.lo = 0x0000000b000b7236, .hi = 0x004fca0000000200}, "VIADD.16x2 R11, R0, R11"},
        {{.lo = 0x00000006000f7c48, .hi = 0x008fca000bfe1100}, "VIMNMX.RELU R15, R0, UR6, PT"},
        {{.lo = 0x0000000d000d7248, .hi = 0x010fc80003900200},
         "VIMNMX.U16x2 R13, P0, P1, R0, R13, PT"},
        {{.lo = 0x0000000b000b720f, .hi = 0x004fca0007800008}, "VIMNMX3.U32 R11, R0, R11, R8, !PT"},
        {{.lo = 0x000000090009720f, .hi = 0x008fca0007801308},
         "VIMNMX3.S16x2.RELU R9, R0, R9, R8, !PT"},
        {{.lo = 0x8000000600097c46, .hi = 0x004fca000f800109}, "VIADDMNMX R9, R0, -UR6, R9, !PT"},
        {{.lo = 0x0000000500077446, .hi = 0x004fca0007800907}, "VIADDMNMX R7, R0, -R7, 0x5, !PT"},
        {{.lo = 0x6000000700007247, .hi = 0x004fca0003902806},
         "VHMNMX R0, R0.H0_H0, |R7|.H0_H0, -R6.H0_H0, PT"},
        {{.lo = 0x2000000700007247, .hi = 0x004fca0007a02806},
         "VHMNMX.BF16_V2 R0, R0.H0_H0, R7.H0_H0, R6.H0_H0, !PT"},
        {{.lo = 0x400040000b0b7847, .hi = 0x010fca000380000c}, "VHMNMX R11, R11, 2, 2, R12, PT"}};
    for (const auto& [word, text] : cases) {
        EXPECT_TRUE(is_known(word, 90)) << text;
        EXPECT_FALSE(is_known(word, 89)) << text;
        EXPECT_EQ(disassemble(word, 90, 0), text);
    }
}

// nvdisasm 11.8 prints nothing for QGMMA either. The words are ptxas 13.0's for wgmma; the texts
// are those of its kin.
TEST(Disassembler, PrintsTheFp8ProductsOfAWarpgroup) {
    const std::pair<Word, std::string> cases[] = {
        {{.lo = 0x00000000081879f3, .hi = 0x000fe60008000818},
         "QGMMA.64x8x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24, gsb0"},
        {{.lo = 0x00000000081879f3, .hi = 0x000fe60008001818},
         "QGMMA.64x8x32.F32.E5M2.E4M3 R24, gdesc[UR8], R24, gsb0"},
        {{.lo = 0x00000000081879f3, .hi = 0x000fe60008002818},
         "QGMMA.64x8x32.F32.E4M3.E5M2 R24, gdesc[UR8], R24, gsb0"},
        {{.lo = 0x00000000081879f3, .hi = 0x000fe60008003818},
         "QGMMA.64x8x32.F32.E5M2.E5M2 R24, gdesc[UR8], R24, gsb0"},
        {{.lo = 0x00000000081879f3, .hi = 0x000fe60008000118},
         "QGMMA.64x8x32.F16.E4M3.E4M3 R24, gdesc[UR8].negA, R24, gsb0"},
        {{.lo = 0x03e00000081879f3, .hi = 0x000fe60008000818},
         "QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24, gsb0"},
        {{.lo = 0x04001c00081879f3, .hi = 0x000fe60008000a18},
         "QGMMA.SP.64x8x64.F32.E4M3.E4M3 R24, gdesc[UR8], R24, R28, gsb0"}};
    for (const auto& [word, text] : cases) {
        EXPECT_TRUE(is_known(word, 90)) << text;
        EXPECT_FALSE(is_known(word, 89)) << text;
        EXPECT_EQ(disassemble(word, 90, 0), text);
    }
}

// Nor for QMMA. The words are ptxas 13.0's for mma.sync of sm_89.
TEST(Disassembler, PrintsTheFp8ProductsOfAWarp) {
    const std::pair<Word, std::string> cases[] = {
        {{.lo = 0x000000100c08727a, .hi = 0x004ff6000000ac08},
         "QMMA.16832.F32.E4M3.E5M2 R8, R12, R16, R8"},
        {{.lo = 0x000000001208727a, .hi = 0x008ff60000002408},
         "QMMA.16816.F32.E4M3.E4M3 R8, R18, R0, R8"}};
    for (const auto& [word, text] : cases) {
        EXPECT_TRUE(is_known(word, 89)) << text;
        EXPECT_FALSE(is_known(word, 86)) << text;
        EXPECT_EQ(disassemble(word, 89, 0), text);
    }
}

// The table's rows from nvdisasm 11.8 lack texture instructions with handles in constants and
// uniform registers. The words are ptxas 13.0's for texture objects; the texts are those of SULD.
TEST(Disassembler, PrintsTextureFetchesOfObjects) {
    EXPECT_EQ(disassemble({.lo = 0x3000580704057b60, .hi = 0x000f4200019e01ff}, 75, 0),
              "TEX.SCR.LL RZ, R5, R4, R7, 0x0, 0x58, 2D, 0x1");
    EXPECT_EQ(disassemble({.lo = 0x100058ff00047b66, .hi = 0x001f4200009e0f06}, 86, 0),
              "TLD.SCR.LZ R6, R4, R0, 0x0, 0x58, 1D");
    EXPECT_EQ(disassemble({.lo = 0x3800000204007361, .hi = 0x000f4200019e01ff}, 75, 0),
              "TEX.SCR.B.LL RZ, R0, R4, R2, 2D, 0x1");
    EXPECT_EQ(disassemble({.lo = 0xa000040904057f60, .hi = 0x000f6200099e01ff}, 90, 0),
              "TEX.LL RZ, R5, R4, R9, UR4, 0x0, ARRAY_2D, 0x1");
    EXPECT_EQ(disassemble({.lo = 0x200004ff04047f63, .hi = 0x000f6200089e0f06}, 90, 0),
              "TLD4.G R6, R4, R4, UR4, 0x0, 2D");
    EXPECT_EQ(disassemble({.lo = 0x2000040804057f6c, .hi = 0x000f6200081e01ff}, 90, 0),
              "TXD RZ, R5, R4, R8, UR4, 0x0, 2D, 0x1");
}

// nvdisasm 11.8's texts of what ptxas 13.0 makes of wgmma.
TEST(Disassembler, PrintsTheProductsOfAWarpgroup) {
    const std::pair<Word, std::string> cases[] = {
        {{.lo = 0x00000000041879f0, .hi = 0x000fe2000c0008ff},
         "HGMMA.64x8x16.F32 R24, gdesc [UR4], RZ, !UPT, gsb0"},
        {{.lo = 0x00000000041879f0, .hi = 0x000fe20008700818},
         "HGMMA.64x8x16.F32 R24, gdesc [UR4], R24"},
        {{.lo = 0x00000000081879f0, .hi = 0x000fe6000b800818},
         "HGMMA.64x8x16.F32 R24, gdesc [UR8], R24, UP0, gsb0"},
        {{.lo = 0x400000081c187df0, .hi = 0x000fe60008000918},
         "HGMMA.64x8x16.F32 R24, -R28, gdesc [UR8].tnspB, R24, gsb0"},
        {{.lo = 0x20000000081879f0, .hi = 0x000fe60008000818},
         "HGMMA.64x8x16.F32 R24, gdesc [UR8].tnspA, R24, gsb0"},
        {{.lo = 0x07e00000081879f0, .hi = 0x000fe60008002818},
         "HGMMA.64x256x8.F32.TF32 R24, gdesc [UR8], R24, gsb0"},
        {{.lo = 0x08011c00041879f0, .hi = 0x000fe60008000a18},
         "HGMMA.SP.64x8x32.F32 R24, gdesc [UR4], R24, R28, 0x1, gsb0"},
        {{.lo = 0x06600000081879f1, .hi = 0x000fe60008041018},
         "IGMMA.64x256x32.S8.S8 R24, gdesc[UR8], R24, gsb0"},
        {{.lo = 0x00000000081879f1, .hi = 0x000fe60008041818},
         "IGMMA.64x8x32.S8.S8.SAT R24, gdesc[UR8], R24, gsb0"},
        {{.lo = 0x00201c00081879f1, .hi = 0x000fe60008041218},
         "IGMMA.SP.64x8x64.S8.S8 R24, gdesc[UR8], R24, R28, gsb0"},
        {{.lo = 0x02200000081879f2, .hi = 0x000fe60008014018},
         "BGMMA.64x256x256.AND.POPC R24, gdesc[UR8], R24, gsb0"},
        {{.lo = 0x00000000000079c5, .hi = 0x000fe20000000000}, "WARPGROUP.ARRIVE"},
        {{.lo = 0x00008000000079c5, .hi = 0x000fe40000010500}, "WARPGROUP.DEPBAR.LE gsb0, 0x5"}};
    for (const auto& [word, text] : cases) EXPECT_EQ(disassemble(word, 90, 0), text);
}

// Forms that the listings lack; nvdisasm 11.8's texts.
TEST(Disassembler, PrintsFormsThatOnlyLibrariesHave) {
    EXPECT_EQ(disassemble({.lo = 0x000000746a1e7236, .hi = 0x040fe4000001d01e}, 75, 0),
              "HMMA.884.F32.F32.STEP3 R30, R106.reuse.ROW, R116.ROW, R30");
    EXPECT_EQ(disassemble({.lo = 0x000000c0ac327236, .hi = 0x040fe40000008432}, 70, 0),
              "HMMA.884.F16.F16.STEP1 R50, R172.reuse.ROW, R192.COL, R50");
    EXPECT_EQ(disassemble({.lo = 0x00000000ece33381, .hi = 0x008ea400001e4920}, 75, 0),
              "@P3 LDG.E.LTC128B.CONSTANT.GPU R227, [R236]");
    EXPECT_EQ(disassemble({.lo = 0x000000040c0c7981, .hi = 0x000ea2200c1e1b00}, 80, 0),
              "LDG.E.64 R12, desc[UR4][R12.64]");
    EXPECT_EQ(disassemble({.lo = 0x0000000aff057981, .hi = 0x000ea800081e0900}, 90, 0),
              "LDG.E R5, [RZ.U32+UR10]");
}

// Conversions to bf16, as nvcc 13 makes them of __floats2bfloat162_rn and __double2bfloat16.
TEST(Disassembler, PrintsConversionsToBf16) {
    const std::pair<Word, std::string> cases[] = {
        {{.lo = 0x0000000d000b723e, .hi = 0x002fe400000010ff},
         "F2FP.BF16.F32.PACK_AB R11, R0, R13"},
        {{.lo = 0x3fc000000d0d783e, .hi = 0x000fe200000010ff},
         "F2FP.BF16.F32.PACK_AB R13, R13, 1.5"},
        {{.lo = 0x0000000200097310, .hi = 0x004e240000302000}, "F2F.BF16.F64 R9, R2"}};
    for (const auto& [word, text] : cases) EXPECT_EQ(disassemble(word, 90, 0), text);
}

TEST(Disassembler, PrintsAnUnknownWordAsBytes) {
    EXPECT_FALSE(is_known({.lo = 0xfff, .hi = 0}, 90));
    EXPECT_EQ(disassemble({.lo = 0xfff, .hi = 1}, 90, 0),
              ".word 0x0000000000000fff, 0x0000000000000001");
}

}  // namespace
}  // namespace lockstep::sass
