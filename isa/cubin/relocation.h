// SPDX-License-Identifier: Apache-2.0
// Relocation kinds of cubins and how each one patches bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::cubin {

/// The ELF relocation type; name() gives the vendor's name (R_CUDA_64, R_CUDA_ABS32_LO_32, ...).
enum class RelocationKind : uint32_t {
    kNone = 0x00,
    k32 = 0x01,
    k64 = 0x02,
    kG32 = 0x03,
    kG64 = 0x04,
    kAbs32Lo32 = 0x38,
    kAbs32Hi32 = 0x39,
    kAbs47_34 = 0x3a,
};

/// The vendor's name, or empty where the code is unknown.
std::string_view name(RelocationKind kind);

/// What the relocation wants to know of the symbol.
enum class RelocationValue {
    kNone,                ///< nothing is patched
    kAddress,             ///< address of symbol (code: address of the instruction) + addend
    kPcRelative,          ///< the same minus the address after the patched instruction
    kFunctionDescriptor,  ///< what a function pointer to the symbol holds
    kConstantField,       ///< constant bank in `bank`, byte offset of the symbol in the bank
    kUnsupported,
};
RelocationValue value_kind(RelocationKind kind);

/// Patches bytes[offset...] with `value` (symbol value + addend; for kConstantField the byte offset
/// in the bank, with its bank). Throws InputError where the kind is not supported, the place is
/// outside of bytes, or the value does not fit.
void apply(RelocationKind kind, std::span<uint8_t> bytes, uint64_t offset, uint64_t value,
           uint32_t bank = 0);

}  // namespace lockstep::cubin
