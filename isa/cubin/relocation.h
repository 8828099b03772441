// SPDX-License-Identifier: Apache-2.0
// Relocation kinds of cubins and how each one patches bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::cubin {

/// The ELF relocation type. Only those with a meaning of their own are named here; name() knows
/// all.
enum class RelocationKind : uint32_t {
    kNone = 0x00,
    k32 = 0x01,
    k64 = 0x02,
    kG32 = 0x03,
    kG64 = 0x04,
    kFuncDesc32 = 0x22,
    kFuncDesc64 = 0x23,
    kAbs32_32 = 0x37,
    kAbs32Lo32 = 0x38,
    kAbs32Hi32 = 0x39,
    kAbs47_34 = 0x3a,
    kAbs16_32 = 0x3b,
    kConstField19_40 = 0x40,
    kAbs24_40 = 0x4a,
    kAbs55_16_34 = 0x4b,
    kUnified = 0x66,
    kAbs56_16_34 = 0x72,
    kConstField22_37 = 0x73,
};

/// The vendor's name (R_CUDA_64, R_CUDA_ABS32_LO_32, ...); its code where it is unknown.
std::string name(RelocationKind kind);

/// What a relocation puts into its place.
enum class RelocationValue {
    kNone,                ///< nothing: the place is left alone or cleared
    kAddress,             ///< the symbol's address (see below) plus addend
    kGenericAddress,      ///< the same as a generic address
    kFunctionDescriptor,  ///< what a pointer to the function holds: the address of its code
    kConstantField,       ///< the constant's byte offset in its bank, and the bank
    kUnsupported,         ///< textures, surfaces, samplers and machines before sm_70
};
RelocationValue value_kind(RelocationKind kind);

/// Bytes, from the relocation's offset on, that apply() may change: 0 to 16.
uint64_t patched_bytes(RelocationKind kind);

/// The addend that a REL relocation keeps in the place that it patches.
int64_t addend_in_place(RelocationKind kind, std::span<const uint8_t> bytes, uint64_t offset);

/// Patches bytes[offset...] by `value`: the symbol's resolved value plus the addend. The value of a
/// function or a global variable is its 64-bit address, of a shared variable its offset from the
/// start of the CTA's shared memory, of a constant its byte offset in the bank, and `bank` the
/// bank's number. Throws InputError where the kind is not supported or the place is outside of
/// bytes.
void apply(RelocationKind kind, std::span<uint8_t> bytes, uint64_t offset, uint64_t value,
           uint32_t bank = 0);

}  // namespace lockstep::cubin
