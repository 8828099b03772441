// SPDX-License-Identifier: Apache-2.0
// A relocation puts bits of a resolved value into one or two bit fields of its place; for code the
// place is the whole 128-bit instruction. The vendor's names say most of it: KIND{width}_{lowest
// bit}; code addresses in CALL lack their two low bits; from sm_90 on their next eight bits stand
// apart, at bit 16; a constant field holds the offset in the bank and the bank.
// Texture kinds and those that rewrite opcodes are not supported: ordinary programs have none.
// Source: names and fields from the linker's own table, confirmed on linked objects.
#include "isa/cubin/relocation.h"

#include <algorithm>

#include "sim/error/error.h"

namespace lockstep::cubin {

namespace {

using enum RelocationValue;

constexpr int kBank = -1;

/// Bits [bit, bit + width) of the place hold the value shifted right, or the bank.
struct Field {
    int bit, width, shift;
};
struct Row {
    std::string_view name;  // without R_CUDA_
    RelocationValue value;
    Field fields[2];  // unused: width 0
};

// In the order of their codes.
constexpr Row kRows[] = {
    {"NONE", kNone, {}},
    {"32", kAddress, {{0, 32, 0}}},
    {"64", kAddress, {{0, 64, 0}}},
    {"G32", kGenericAddress, {{0, 32, 0}}},
    {"G64", kGenericAddress, {{0, 64, 0}}},
    {"ABS32_26", kAddress, {{26, 32, 0}}},
    {"TEX_HEADER_INDEX", kUnsupported, {}},
    {"SAMP_HEADER_INDEX", kUnsupported, {}},
    {"SURF_HW_DESC", kUnsupported, {}},
    {"SURF_HW_SW_DESC", kUnsupported, {}},
    {"ABS32_LO_26", kAddress, {{26, 32, 0}}},
    {"ABS32_HI_26", kAddress, {{26, 32, 32}}},
    {"ABS32_23", kAddress, {{23, 32, 0}}},
    {"ABS32_LO_23", kAddress, {{23, 32, 0}}},
    {"ABS32_HI_23", kAddress, {{23, 32, 32}}},
    {"ABS24_26", kAddress, {{26, 24, 0}}},
    {"ABS24_23", kAddress, {{23, 24, 0}}},
    {"ABS16_26", kAddress, {{26, 16, 0}}},
    {"ABS16_23", kAddress, {{23, 16, 0}}},
    {"TEX_SLOT", kUnsupported, {}},
    {"SAMP_SLOT", kUnsupported, {}},
    {"SURF_SLOT", kUnsupported, {}},
    {"TEX_BINDLESSOFF13_32", kUnsupported, {}},
    {"TEX_BINDLESSOFF13_47", kUnsupported, {}},
    {"CONST_FIELD19_28", kUnsupported, {}},
    {"CONST_FIELD19_23", kConstantField, {{23, 14, 2}, {37, 5, kBank}}},
    {"TEX_SLOT9_49", kUnsupported, {}},
    {"6_31", kAddress, {{31, 6, 0}}},
    {"2_47", kAddress, {{47, 2, 0}}},
    {"TEX_BINDLESSOFF13_41", kUnsupported, {}},
    {"TEX_BINDLESSOFF13_45", kUnsupported, {}},
    {"FUNC_DESC32_23", kFunctionDescriptor, {{23, 32, 0}}},
    {"FUNC_DESC32_LO_23", kFunctionDescriptor, {{23, 32, 0}}},
    {"FUNC_DESC32_HI_23", kFunctionDescriptor, {{23, 32, 32}}},
    {"FUNC_DESC_32", kFunctionDescriptor, {{0, 32, 0}}},
    {"FUNC_DESC_64", kFunctionDescriptor, {{0, 64, 0}}},
    {"CONST_FIELD21_26", kConstantField, {{26, 16, 0}, {42, 5, kBank}}},
    {"QUERY_DESC21_37", kConstantField, {{37, 16, 0}, {53, 5, kBank}}},
    {"CONST_FIELD19_26", kConstantField, {{26, 14, 2}, {40, 5, kBank}}},
    {"CONST_FIELD21_23", kConstantField, {{23, 16, 0}, {39, 5, kBank}}},
    {"PCREL_IMM24_26", kUnsupported, {}},
    {"PCREL_IMM24_23", kUnsupported, {}},
    {"ABS32_20", kAddress, {{20, 32, 0}}},
    {"ABS32_LO_20", kAddress, {{20, 32, 0}}},
    {"ABS32_HI_20", kAddress, {{20, 32, 32}}},
    {"ABS24_20", kAddress, {{20, 24, 0}}},
    {"ABS16_20", kAddress, {{20, 16, 0}}},
    {"FUNC_DESC32_20", kFunctionDescriptor, {{20, 32, 0}}},
    {"FUNC_DESC32_LO_20", kFunctionDescriptor, {{20, 32, 0}}},
    {"FUNC_DESC32_HI_20", kFunctionDescriptor, {{20, 32, 32}}},
    {"CONST_FIELD19_20", kConstantField, {{20, 14, 2}, {34, 5, kBank}}},
    {"BINDLESSOFF13_36", kUnsupported, {}},
    {"SURF_HEADER_INDEX", kUnsupported, {}},
    {"INSTRUCTION64", kUnsupported, {}},
    {"CONST_FIELD21_20", kConstantField, {{20, 16, 0}, {36, 5, kBank}}},
    {"ABS32_32", kAddress, {{32, 32, 0}}},
    {"ABS32_LO_32", kAddress, {{32, 32, 0}}},
    {"ABS32_HI_32", kAddress, {{32, 32, 32}}},
    {"ABS47_34", kAddress, {{34, 47, 2}}},
    {"ABS16_32", kAddress, {{32, 16, 0}}},
    {"ABS24_32", kAddress, {{32, 24, 0}}},
    {"FUNC_DESC32_32", kFunctionDescriptor, {{32, 32, 0}}},
    {"FUNC_DESC32_LO_32", kFunctionDescriptor, {{32, 32, 0}}},
    {"FUNC_DESC32_HI_32", kFunctionDescriptor, {{32, 32, 32}}},
    {"CONST_FIELD19_40", kConstantField, {{40, 14, 2}, {54, 5, kBank}}},
    {"BINDLESSOFF14_40", kUnsupported, {}},
    {"CONST_FIELD21_38", kConstantField, {{38, 16, 0}, {54, 5, kBank}}},
    {"INSTRUCTION128", kUnsupported, {}},
    {"YIELD_OPCODE9_0", kUnsupported, {}},
    {"YIELD_CLEAR_PRED4_87", kUnsupported, {}},
    {"32_LO", kAddress, {{0, 32, 0}}},
    {"32_HI", kAddress, {{0, 32, 32}}},
    {"UNUSED_CLEAR32", kNone, {}},
    {"UNUSED_CLEAR64", kNone, {}},
    {"ABS24_40", kAddress, {{40, 24, 0}}},
    {"ABS55_16_34", kAddress, {{16, 8, 2}, {34, 47, 10}}},
    {"8_0", kAddress, {{0, 8, 0}}},
    {"8_8", kAddress, {{0, 8, 8}}},
    {"8_16", kAddress, {{0, 8, 16}}},
    {"8_24", kAddress, {{0, 8, 24}}},
    {"8_32", kAddress, {{0, 8, 32}}},
    {"8_40", kAddress, {{0, 8, 40}}},
    {"8_48", kAddress, {{0, 8, 48}}},
    {"8_56", kAddress, {{0, 8, 56}}},
    {"G8_0", kGenericAddress, {{0, 8, 0}}},
    {"G8_8", kGenericAddress, {{0, 8, 8}}},
    {"G8_16", kGenericAddress, {{0, 8, 16}}},
    {"G8_24", kGenericAddress, {{0, 8, 24}}},
    {"G8_32", kGenericAddress, {{0, 8, 32}}},
    {"G8_40", kGenericAddress, {{0, 8, 40}}},
    {"G8_48", kGenericAddress, {{0, 8, 48}}},
    {"G8_56", kGenericAddress, {{0, 8, 56}}},
    {"FUNC_DESC_8_0", kFunctionDescriptor, {{0, 8, 0}}},
    {"FUNC_DESC_8_8", kFunctionDescriptor, {{0, 8, 8}}},
    {"FUNC_DESC_8_16", kFunctionDescriptor, {{0, 8, 16}}},
    {"FUNC_DESC_8_24", kFunctionDescriptor, {{0, 8, 24}}},
    {"FUNC_DESC_8_32", kFunctionDescriptor, {{0, 8, 32}}},
    {"FUNC_DESC_8_40", kFunctionDescriptor, {{0, 8, 40}}},
    {"FUNC_DESC_8_48", kFunctionDescriptor, {{0, 8, 48}}},
    {"FUNC_DESC_8_56", kFunctionDescriptor, {{0, 8, 56}}},
    {"ABS20_44", kAddress, {{44, 20, 0}}},
    {"SAMP_HEADER_INDEX_0", kUnsupported, {}},
    {"UNIFIED", kFunctionDescriptor, {{0, 64, 0}}},
    {"UNIFIED_32", kFunctionDescriptor, {{0, 32, 0}}},
    {"UNIFIED_8_0", kFunctionDescriptor, {{0, 8, 0}}},
    {"UNIFIED_8_8", kFunctionDescriptor, {{0, 8, 8}}},
    {"UNIFIED_8_16", kFunctionDescriptor, {{0, 8, 16}}},
    {"UNIFIED_8_24", kFunctionDescriptor, {{0, 8, 24}}},
    {"UNIFIED_8_32", kFunctionDescriptor, {{0, 8, 32}}},
    {"UNIFIED_8_40", kFunctionDescriptor, {{0, 8, 40}}},
    {"UNIFIED_8_48", kFunctionDescriptor, {{0, 8, 48}}},
    {"UNIFIED_8_56", kFunctionDescriptor, {{0, 8, 56}}},
    {"UNIFIED32_LO_32", kFunctionDescriptor, {{32, 32, 0}}},
    {"UNIFIED32_HI_32", kFunctionDescriptor, {{32, 32, 32}}},
    {"ABS56_16_34", kAddress, {{16, 8, 2}, {34, 48, 10}}},
    {"CONST_FIELD22_37", kConstantField, {{37, 17, 0}, {54, 5, kBank}}},
};

const Row* find(RelocationKind kind) {
    const auto code = static_cast<uint32_t>(kind);
    return code < std::size(kRows) ? &kRows[code] : nullptr;
}

void set_bits(std::span<uint8_t> bytes, int bit, int width, uint64_t value) {
    for (int i = 0; i < width; ++i, ++bit) {
        const auto mask = static_cast<uint8_t>(1 << (bit & 7));
        uint8_t& byte = bytes[static_cast<size_t>(bit >> 3)];
        byte = static_cast<uint8_t>(value >> i & 1 ? byte | mask : byte & ~mask);
    }
}

}  // namespace

std::string name(RelocationKind kind) {
    const Row* row = find(kind);
    if (row == nullptr) return fmt::format("relocation {:#x}", static_cast<uint32_t>(kind));
    return fmt::format("R_CUDA_{}", row->name);
}

RelocationValue value_kind(RelocationKind kind) {
    const Row* row = find(kind);
    return row == nullptr ? kUnsupported : row->value;
}

uint64_t patched_bytes(RelocationKind kind) {
    const Row* row = find(kind);
    if (row == nullptr) return 0;
    int bits = 0;
    for (const Field& field : row->fields)
        if (field.width > 0) bits = std::max(bits, field.bit + field.width);
    return static_cast<uint64_t>(bits + 7) / 8;
}

int64_t addend_in_place(RelocationKind kind, std::span<const uint8_t> bytes, uint64_t offset) {
    const Row* row = find(kind);
    if (row == nullptr || offset > bytes.size() || patched_bytes(kind) > bytes.size() - offset)
        return 0;
    // Only a data word can hold an addend; where an instruction needs one, ptxas writes RELA.
    const Field& field = row->fields[0];
    if (field.bit != 0 || field.shift != 0 || field.width < 32) return 0;
    uint64_t word = 0;
    for (int i = field.width / 8; i-- > 0;)
        word = word << 8 | bytes[offset + static_cast<size_t>(i)];
    return static_cast<int64_t>(word);
}

void apply(RelocationKind kind, std::span<uint8_t> bytes, uint64_t offset, uint64_t value,
           uint32_t bank) {
    const Row* row = find(kind);
    if (row == nullptr || row->value == kUnsupported)
        throw InputError(fmt::format("{} at {:#x} is not supported", name(kind), offset));
    const uint64_t size = patched_bytes(kind);
    if (offset > bytes.size() || size > bytes.size() - offset)
        throw InputError(fmt::format("{} at {:#x} lies outside of the {} bytes of its section",
                                     name(kind), offset, bytes.size()));
    for (const Field& field : row->fields)
        if (field.width > 0)
            set_bits(bytes.subspan(offset), field.bit, field.width,
                     field.shift == kBank ? bank : value >> field.shift);
}

}  // namespace lockstep::cubin
