// SPDX-License-Identifier: Apache-2.0
// The relocations of linked programs, applied by hand; nvdisasm 11.8 read the results given here as
// `MOV R20, 0x567910c0`, `MOV R21, 0x1234`, `CALL.ABS.NOINC 0x123456792000` and so on.
#include <array>
#include <cstring>

#include "isa/cubin/cubin.h"
#include "isa/cubin/relocation.h"
#include "sim/error/error.h"
#include "tests/isa/cubin/test_data.h"

namespace lockstep::cubin {
namespace {

/// Bits of a patched instruction of which all bits were 1, or 0.
uint64_t bits(const std::vector<uint8_t>& bytes, int bit, int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; ++i)
        value |= uint64_t{bytes[static_cast<size_t>((bit + i) / 8)] >> ((bit + i) % 8) & 1u} << i;
    return value;
}

struct Case {
    RelocationKind kind;
    std::vector<std::array<int, 3>> fields;  ///< bit, width, shift of the value
};

const std::vector<Case> kCases = {
    {RelocationKind::k32, {{0, 32, 0}}},
    {RelocationKind::k64, {{0, 64, 0}}},
    {RelocationKind::kG32, {{0, 32, 0}}},
    {RelocationKind::kG64, {{0, 64, 0}}},
    {RelocationKind::kFuncDesc64, {{0, 64, 0}}},
    {RelocationKind::kUnified, {{0, 64, 0}}},
    {RelocationKind::kAbs32_32, {{32, 32, 0}}},
    {RelocationKind::kAbs32Lo32, {{32, 32, 0}}},
    {RelocationKind::kAbs32Hi32, {{32, 32, 32}}},
    {RelocationKind::kAbs16_32, {{32, 16, 0}}},
    {RelocationKind::kAbs24_40, {{40, 24, 0}}},
    {RelocationKind::kAbs47_34, {{34, 47, 2}}},
    {RelocationKind::kAbs55_16_34, {{16, 8, 2}, {34, 47, 10}}},
    {RelocationKind::kAbs56_16_34, {{16, 8, 2}, {34, 48, 10}}},
    {RelocationKind::kConstField19_40, {{40, 14, 2}}},
};

TEST(Relocation, ChangesItsFieldsAndNothingElse) {
    const uint64_t value = 0x9234567812345674;
    for (const Case& c : kCases) {
        for (const uint8_t fill : {0x00, 0xff}) {
            std::vector<uint8_t> bytes(16, fill);
            apply(c.kind, bytes, 0, value);
            std::vector<bool> touched(128);
            for (const auto& [bit, width, shift] : c.fields) {
                const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
                EXPECT_EQ(bits(bytes, bit, width), value >> shift & mask) << name(c.kind);
                for (int i = 0; i < width; ++i) touched[static_cast<size_t>(bit + i)] = true;
            }
            if (c.kind == RelocationKind::kConstField19_40)
                for (size_t i = 54; i < 59; ++i) touched[i] = true;
            for (int bit = 0; bit < 128; ++bit)
                if (!touched[static_cast<size_t>(bit)]) {
                    EXPECT_EQ(bits(bytes, bit, 1), fill & 1u) << name(c.kind) << " bit " << bit;
                }
        }
    }
}

TEST(Relocation, ConstantFieldHoldsOffsetAndBank) {
    std::vector<uint8_t> bytes(16, 0);
    apply(RelocationKind::kConstField19_40, bytes, 0, 0x28, 3);  // c[0x3][0x28]
    EXPECT_EQ(bits(bytes, 40, 14), 0x28u / 4);
    EXPECT_EQ(bits(bytes, 54, 5), 3u);
    EXPECT_EQ(value_kind(RelocationKind::kConstField19_40), RelocationValue::kConstantField);
    EXPECT_EQ(value_kind(RelocationKind::k64), RelocationValue::kAddress);
    EXPECT_EQ(value_kind(RelocationKind::kG64), RelocationValue::kGenericAddress);
    EXPECT_EQ(value_kind(RelocationKind::kUnified), RelocationValue::kFunctionDescriptor);
}

TEST(Relocation, Names) {
    EXPECT_EQ(name(RelocationKind::k64), "R_CUDA_64");
    EXPECT_EQ(name(RelocationKind::kAbs32Hi32), "R_CUDA_ABS32_HI_32");
    EXPECT_EQ(name(RelocationKind::kAbs47_34), "R_CUDA_ABS47_34");
    EXPECT_EQ(name(RelocationKind::kConstField19_40), "R_CUDA_CONST_FIELD19_40");
    EXPECT_EQ(name(RelocationKind::kAbs24_40), "R_CUDA_ABS24_40");
    EXPECT_EQ(name(RelocationKind::kUnified), "R_CUDA_UNIFIED");
    EXPECT_EQ(name(RelocationKind::kConstField22_37), "R_CUDA_CONST_FIELD22_37");
    EXPECT_EQ(name(static_cast<RelocationKind>(0x1234)), "relocation 0x1234");
}

TEST(Relocation, RefusesWhatItCannotDo) {
    std::vector<uint8_t> bytes(16);
    EXPECT_THROW(apply(RelocationKind::k64, bytes, 9, 0), InputError);
    EXPECT_THROW(apply(RelocationKind::k64, bytes, ~uint64_t{0}, 0), InputError);
    EXPECT_THROW(apply(static_cast<RelocationKind>(0x1234), bytes, 0, 0), InputError);
    EXPECT_THROW(apply(static_cast<RelocationKind>(0x06), bytes, 0, 0), InputError);  // texture
}

// Calls and addresses of linked_sm80.cubin and linked_sm90.cubin, with functions at
// 0x123456780000 + 0x1000 * symbol index.
void expect_call(const std::string& file, uint64_t offset, const std::array<uint64_t, 2>& code) {
    Cubin cubin = parse(read_data(file), file);
    for (Function& function : cubin.functions) {
        if (function.name != "caller") continue;
        for (const Relocation& r : cubin.relocations) {
            if (r.section != function.section || r.offset != offset) continue;
            const uint64_t address = 0x123456780000 + (uint64_t{r.symbol} << 12);
            apply(r.kind, function.code, r.offset, address + static_cast<uint64_t>(r.addend));
        }
        std::array<uint64_t, 2> patched;
        std::memcpy(patched.data(), function.code.data() + offset, 16);
        EXPECT_EQ(patched, code) << file;
    }
}

TEST(Relocation, CallsOfLinkedPrograms) {
    using Code = std::array<uint64_t, 2>;
    // MOV R20, 0x567910c0 and CALL.ABS.NOINC 0x123456792000
    expect_call("linked_sm80.cubin", 0x90, Code{0x567910c000147802, 0x000fe40000000f00});
    expect_call("linked_sm80.cubin", 0xb0, Code{0x5679200000007943, 0x001fea0003c01234});
    expect_call("linked_sm90.cubin", 0x180, Code{0x567911b000147802, 0x000fe40000000f00});
    expect_call("linked_sm90.cubin", 0x1a0, Code{0x3456792000007943, 0x001fea0003c00012});
}

}  // namespace
}  // namespace lockstep::cubin
