// SPDX-License-Identifier: Apache-2.0
// What one lane loads or stores: 1 to 16 bytes between memory and one to four rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "isa/sass/semantics/address.h"

namespace lockstep::sass {

/// The size field of load and store instructions (bits 73-75).
enum class Size : std::uint8_t { kU8, kS8, kU16, kS16, k32, k64, k128 };
constexpr unsigned kSizeCount = 7;
constexpr std::uint8_t kSizeBytes[kSizeCount] = {1, 1, 2, 2, 4, 8, 16};

constexpr unsigned rows_of(Size size) {
    return size == Size::k128 ? 4 : size == Size::k64 ? 2 : 1;
}

template <Size S>
struct Element {
    static constexpr unsigned kBytes = kSizeBytes[static_cast<unsigned>(S)];
    static constexpr unsigned kRows = rows_of(S);
    /// What memory holds, for elements of at most four bytes.
    using Small = std::conditional_t<
        S == Size::kU8, std::uint8_t,
        std::conditional_t<
            S == Size::kS8, std::int8_t,
            std::conditional_t<S == Size::kU16, std::uint16_t,
                               std::conditional_t<S == Size::kS16, std::int16_t, std::uint32_t>>>>;

    /// Loads one lane; small signed elements are sign-extended.
    static void load(Row* d, unsigned l, const std::byte* p) {
        if constexpr (kRows == 1) {
            Small value;
            std::memcpy(&value, p, sizeof value);
            d->lane[l] = static_cast<std::uint32_t>(value);
        } else {
            std::uint32_t words[kRows];
            std::memcpy(words, p, sizeof words);
            for (unsigned i = 0; i < kRows; ++i) d[i].lane[l] = words[i];
        }
    }

    static void store(const Row* b, unsigned l, std::byte* p) {
        if constexpr (kRows == 1) {
            const auto value = static_cast<Small>(b->lane[l]);
            std::memcpy(p, &value, sizeof value);
        } else {
            std::uint32_t words[kRows];
            for (unsigned i = 0; i < kRows; ++i) words[i] = b[i].lane[l];
            std::memcpy(p, words, sizeof words);
        }
    }

    /// Loads 32 lanes that lie one after the other.
    static void load_block(Row* d, const std::byte* p) {
#pragma GCC ivdep
        for (unsigned l = 0; l < kWarpSize; ++l) load(d, l, p + l * kBytes);
    }
    static void store_block(const Row* b, std::byte* p) {
#pragma GCC ivdep
        for (unsigned l = 0; l < kWarpSize; ++l) store(b, l, p + l * kBytes);
    }
    /// Loads one value for all lanes.
    static void load_broadcast(Row* d, const std::byte* p) {
        Row first[kRows];
        load(first, 0, p);
        for (unsigned i = 0; i < kRows; ++i)
            for (unsigned l = 0; l < kWarpSize; ++l) d[i].lane[l] = first[i].lane[0];
    }
};

/// How the addresses of a warp lie.
enum class Pattern : std::uint8_t { kConsecutive, kUniform, kScattered };

inline std::byte* host_at(std::uintptr_t base, std::uint64_t address) {
    return reinterpret_cast<std::byte*>(base + address);
}

/// Loads the lanes of warp.mask from base + address[lane]; all are known to be valid.
template <Size S>
inline void load_lanes(const Instruction& in, Warp& warp, std::uintptr_t base, Pattern pattern) {
    using E = Element<S>;
    const std::uint64_t* const address = warp.access.address;
    Row* const d = &warp.row(in.d);
    const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
    if (warp.mask == kAllLanes) [[likely]] {
        if (pattern == Pattern::kConsecutive) {
            E::load_block(d, host_at(base, address[0]));
        } else if (pattern == Pattern::kUniform) {
            E::load_broadcast(d, host_at(base, address[0]));
        } else {
            for (unsigned l = 0; l < kWarpSize; ++l) E::load(d, l, host_at(base, address[l]));
        }
    } else if (pattern == Pattern::kUniform) {
        Row value[E::kRows];
        E::load_broadcast(value, host_at(base, address[first]));
        for (unsigned i = 0; i < E::kRows; ++i) copy_lanes(d[i], value[i], warp.mask);
    } else {
        for_each_lane(warp.mask, [&](unsigned l) { E::load(d, l, host_at(base, address[l])); });
    }
}

template <Size S>
inline void store_lanes(const Instruction& in, Warp& warp, std::uintptr_t base, Pattern pattern) {
    using E = Element<S>;
    const std::uint64_t* const address = warp.access.address;
    const Row* const b = &warp.row(in.b);
    if (warp.mask == kAllLanes && pattern == Pattern::kConsecutive) [[likely]]
        E::store_block(b, host_at(base, address[0]));
    else
        for_each_lane(warp.mask, [&](unsigned l) { E::store(b, l, host_at(base, address[l])); });
}

}  // namespace lockstep::sass
