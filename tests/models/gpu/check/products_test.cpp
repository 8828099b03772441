// SPDX-License-Identifier: Apache-2.0
// What a program may do with the registers of a wgmma before it has waited for it.
#include "models/gpu/check/products.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace lockstep::gpu::check {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr sass::Word kNext = {.lo = 0x00000000081879f0, .hi = 0x000fe20008700818};  // R24, more
constexpr sass::Word kLast = {.lo = 0x00000000081879f0, .hi = 0x000fe60008000818};  // R24, gsb0
/// HGMMA.64x8x16.F32 R32, R28, gdesc [UR8], R32, gsb0
constexpr sass::Word kRegisters = {.lo = 0x000000081c207df0, .hi = 0x000fe60008000820};

sass::Word wait_for(unsigned groups) {
    sass::Word word{.lo = 0x00008000000079c5, .hi = 0x000fe40000010000};
    word.set_bits(72, 3, groups);
    return word;
}
/// FADD Rd, Ra, Ra
sass::Word fadd(unsigned d, unsigned a) {
    sass::Word word{.lo = 0x7221, .hi = 0x000fe20000000000};
    word.set_bits(16, 8, d);
    word.set_bits(24, 8, a);
    word.set_bits(32, 8, a);
    return word;
}

/// FADD Rd, Ra, Ra in the registers.
void execute_fadd(sass::Word word, sass::Warp& warp) {
    const auto number = [&](unsigned bit) { return static_cast<unsigned>(word.bits(bit, 8)); };
    const sass::Row& a = warp.register_row(number(24));
    for (unsigned lane = 0; lane < sass::kWarpSize; ++lane)
        warp.register_row(number(16)).lane[lane] =
            std::bit_cast<std::uint32_t>(2 * std::bit_cast<float>(a.lane[lane]));
}

/// What is found where a warp executes these instructions one after the other: "pc: what". R0 is 1
/// at first, the others are 0.
std::vector<std::string> found(std::vector<sass::Word> code) {
    code.push_back(fadd(200, 200));  // a change is seen before the next instruction
    sass::Program program(90);
    program.bind(program.add_function("test", true, std::as_bytes(std::span(code))));
    std::vector<std::string> reports;
    const ProductCheck check([&](const Misuse& misuse) {
        const std::string text = std::to_string(misuse.pc) + ": " + misuse.what + ", " +
                                 misuse.other_what + " at " + std::to_string(misuse.other_pc);
        if (reports.empty() || reports.back() != text) reports.push_back(text);
    });
    std::vector<sass::Row> rows(sass::kRegisterRow + sass::kRegisterRZ);
    sass::Warp warp;
    warp.bases[0] = reinterpret_cast<std::byte*>(rows.data());
    std::ranges::fill(warp.register_row(0).lane, std::bit_cast<std::uint32_t>(1.0f));
    WarpProducts products;
    for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
        check.before(program, warp, pc, products);
        if (sass::op_of(code[pc]) == sass::Op::kFadd) execute_fadd(code[pc], warp);
    }
    return reports;
}

TEST(Products, ResultsAreThereAfterTheWait) {
    EXPECT_THAT(found({kNext, kLast, wait_for(0), fadd(0, 24), fadd(24, 0)}), IsEmpty());
    EXPECT_THAT(found({kLast, fadd(0, 24)}),
                ElementsAre("1: reads R24, a result of a wgmma that has not been waited for, "
                            "wgmma by at 0"));
    EXPECT_THAT(found({kLast, fadd(27, 0), wait_for(0)}),
                ElementsAre("1: overwrites R27, a result of a wgmma that has not been waited for, "
                            "wgmma by at 0"));
    EXPECT_THAT(found({kLast, fadd(28, 0), fadd(0, 23)}), IsEmpty()) << "others are free";
}

TEST(Products, MayFollowEachOther) {
    EXPECT_THAT(found({kNext, kNext, kLast, kLast, wait_for(0)}), IsEmpty());
}

TEST(Products, AWaitMayLeaveTheLastGroups) {
    EXPECT_THAT(found({kLast, kRegisters, wait_for(1), fadd(0, 24)}), IsEmpty());
    EXPECT_THAT(found({kLast, kRegisters, wait_for(1), fadd(0, 32)}),
                ElementsAre("3: reads R32, a result of a wgmma that has not been waited for, "
                            "wgmma by at 1"));
    // What has not been committed is not waited for.
    EXPECT_THAT(found({kNext, wait_for(0), fadd(0, 24)}),
                ElementsAre("2: reads R24, a result of a wgmma that has not been waited for, "
                            "wgmma by at 0"));
}

TEST(Products, KeepTheirOperandsUntilTheWait) {
    EXPECT_THAT(found({kRegisters, fadd(0, 28)}), IsEmpty()) << "reading is free";
    EXPECT_THAT(
        found({kRegisters, fadd(31, 0)}),
        ElementsAre("1: overwrites R31, an operand of a wgmma that has not been waited for, "
                    "wgmma by at 0"));
    EXPECT_THAT(found({kRegisters, wait_for(0), fadd(31, 0)}), IsEmpty());
    EXPECT_THAT(found({kRegisters, fadd(31, 40)}), IsEmpty()) << "its value stays";
    // A result is no operand of the next product before it has been waited for.
    sass::Word reads = kRegisters;
    reads.set_bits(24, 8, 24);
    EXPECT_THAT(found({kLast, reads}),
                ElementsAre("1: reads R24, a result of a wgmma that has not been waited for, "
                            "wgmma by at 0"));
}

}  // namespace
}  // namespace lockstep::gpu::check
