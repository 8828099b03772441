// SPDX-License-Identifier: Apache-2.0
// Addresses of memory instructions: which operands make them up, and computing all 32 at once into
// Warp::access, where the access itself and later the timing read them.
#pragma once

#include <bit>
#include <cstdint>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

/// What is added up. A memory instruction keeps: a = register, d2 = uniform register (it has no
/// second destination), immediate = sign-extended offset, modifiers bits 0-2 = form, bits 3-5 =
/// left shift of the register.
enum class AddressForm : std::uint8_t {
    k32,             ///< R + offset, 32 bits
    k32PlusUniform,  ///< (R << shift) + UR + offset, 32 bits: shared and local memory
    k64,             ///< R.64 + offset
    k64PlusUniform,  ///< R.64 + UR.64 + offset
    kIndexed,        ///< R.U32 + UR.64 + offset
};
constexpr unsigned kAddressFormBits = 3;
constexpr unsigned kAddressBits = 6;  ///< of Instruction::modifiers; the rest is the family's

/// Where an opcode keeps the parts of its address.
struct AddressFields {
    std::uint8_t uniform;     ///< first bit of the UR field
    std::uint8_t wide;        ///< bit: R is 64 bits wide
    std::uint8_t descriptor;  ///< bit: UR is a memory descriptor, no part of the address
};
constexpr AddressFields kLoadAddress{32, 90, 76};
constexpr AddressFields kStoreAddress{64, 90, 76};
constexpr AddressFields kAtomicAddress{64, 70, 71};
constexpr AddressFields kReductionAddress{64, 90, 71};

inline bool has_uniform_address(const Binder& binder) {
    return binder.word.uniform() && binder.arch >= 75;  // sm_70 ignores bit 91
}

inline void set_address(Binder& binder, AddressForm form, std::int64_t offset, unsigned shift = 0) {
    binder.out.modifiers |= static_cast<std::uint32_t>(form) | shift << kAddressFormBits;
    binder.out.immediate = static_cast<std::uint64_t>(offset);
}

/// Binds the address of a global or generic access with a 24-bit offset at bit 40, or, for the
/// generic opcodes without uniform register, 32 bits at 32. False: not an address that exists.
inline bool bind_global_address(Binder& binder, const AddressFields& fields,
                                bool long_offset = false) {
    const Word& word = binder.word;
    const bool extended = word.bit(72);  // .E: 64-bit addresses
    if (!has_uniform_address(binder)) {
        binder.out.a = binder.source_register(24, extended ? 2 : 1);
        set_address(binder, extended ? AddressForm::k64 : AddressForm::k32,
                    long_offset ? word.signed_bits(32, 32) : word.signed_bits(40, 24));
        return true;
    }
    if (!extended) return false;
    const bool wide = word.bit(fields.wide);
    binder.out.a = binder.source_register(24, wide ? 2 : 1);
    const std::int64_t offset = word.signed_bits(40, 24);
    if (word.bit(fields.descriptor) && binder.arch >= 80) {
        if (!wide) return false;
        set_address(binder, AddressForm::k64, offset);
        return true;
    }
    binder.out.d2 = binder.source_uniform(fields.uniform, 2);
    set_address(binder, wide ? AddressForm::k64PlusUniform : AddressForm::kIndexed, offset);
    return true;
}

/// Binds the address of a shared memory access: [R.X4 + UR + offset].
inline void bind_shared_address(Binder& binder, unsigned uniform_bit) {
    constexpr unsigned kShift[] = {0, 2, 3, 4};
    const unsigned shift = kShift[binder.word.bits(78, 2)];
    binder.out.a = binder.source_register(24);
    const bool uniform = has_uniform_address(binder);
    if (uniform) binder.out.d2 = binder.source_uniform(uniform_bit);
    set_address(binder, uniform || shift != 0 ? AddressForm::k32PlusUniform : AddressForm::k32,
                binder.word.signed_bits(40, 24), shift);
}

/// Binds the address of a local memory access: [R + UR + offset].
inline void bind_local_address(Binder& binder, unsigned uniform_bit) {
    binder.out.a = binder.source_register(24);
    const bool uniform = has_uniform_address(binder) && !binder.word.bit(76);
    if (uniform) binder.out.d2 = binder.source_uniform(uniform_bit);
    set_address(binder, uniform ? AddressForm::k32PlusUniform : AddressForm::k32,
                binder.word.signed_bits(40, 24));
}

/// Fills warp.access.address for all lanes.
inline void compute_addresses(const Instruction& in, Warp& warp) {
    std::uint64_t* const address = warp.access.address;
    const Row* const a = &warp.row(in.a);
    const std::uint64_t offset = in.immediate;
    const auto low_offset = static_cast<std::uint32_t>(offset);
    constexpr unsigned kFormMask = (1u << kAddressFormBits) - 1;
    switch (static_cast<AddressForm>(in.modifiers & kFormMask)) {
        case AddressForm::k32:
#pragma GCC ivdep
            for (unsigned l = 0; l < kWarpSize; ++l) address[l] = a->lane[l] + low_offset;
            break;
        case AddressForm::k32PlusUniform: {
            const unsigned shift = in.modifiers >> kAddressFormBits & 7;
            const std::uint32_t base = warp.row(in.d2).lane[0] + low_offset;
#pragma GCC ivdep
            for (unsigned l = 0; l < kWarpSize; ++l) address[l] = (a->lane[l] << shift) + base;
            break;
        }
        case AddressForm::k64:
#pragma GCC ivdep
            for (unsigned l = 0; l < kWarpSize; ++l) address[l] = lane64(a, l) + offset;
            break;
        case AddressForm::k64PlusUniform: {
            const std::uint64_t base = lane64(&warp.row(in.d2), 0) + offset;
#pragma GCC ivdep
            for (unsigned l = 0; l < kWarpSize; ++l) address[l] = lane64(a, l) + base;
            break;
        }
        case AddressForm::kIndexed: {
            const std::uint64_t base = lane64(&warp.row(in.d2), 0) + offset;
#pragma GCC ivdep
            for (unsigned l = 0; l < kWarpSize; ++l) address[l] = a->lane[l] + base;
            break;
        }
    }
}

/// True where the address of each lane of mask is base + lane * stride (base: of lane 0).
inline bool is_consecutive(const std::uint64_t* address, std::uint64_t base, std::uint64_t stride,
                           std::uint32_t mask) {
#if defined(__AVX512F__)
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i expected = _mm512_add_epi64(
        _mm512_set1_epi64(static_cast<long long>(base)),
        _mm512_mullo_epi64(lane, _mm512_set1_epi64(static_cast<long long>(stride))));
    const __m512i step = _mm512_set1_epi64(static_cast<long long>(8 * stride));
    unsigned differ = 0;
    for (unsigned i = 0; i < 4; ++i) {
        differ |= _mm512_mask_cmpneq_epi64_mask(static_cast<__mmask8>(mask >> (8 * i)), expected,
                                                _mm512_loadu_si512(address + 8 * i));
        expected = _mm512_add_epi64(expected, step);
    }
    return differ == 0;
#else
    std::uint64_t differ = 0;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint64_t take = 0ull - (mask >> l & 1u);
        differ |= (address[l] ^ (base + l * stride)) & take;
    }
    return differ == 0;
#endif
}

/// Over the lanes of mask: the largest address - begin (unsigned), and all address bits together.
struct AddressRange {
    std::uint64_t largest = 0;
    std::uint64_t bits = 0;
};
inline AddressRange range_of(const std::uint64_t* address, std::uint64_t begin,
                             std::uint32_t mask) {
    AddressRange range;
    if (mask == kAllLanes) {
        for (unsigned l = 0; l < kWarpSize; ++l) {
            const std::uint64_t offset = address[l] - begin;
            range.largest = offset > range.largest ? offset : range.largest;
            range.bits |= address[l];
        }
        return range;
    }
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint64_t take = 0ull - (mask >> l & 1u);
        const std::uint64_t offset = (address[l] - begin) & take;
        range.largest = offset > range.largest ? offset : range.largest;
        range.bits |= address[l] & take;
    }
    return range;
}

}  // namespace lockstep::sass
