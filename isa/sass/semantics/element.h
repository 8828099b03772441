// SPDX-License-Identifier: Apache-2.0
// What one lane loads or stores: 1 to 16 bytes between memory and one to four rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "isa/sass/semantics/address.h"
#include "isa/sass/semantics/interleave.h"

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
        if constexpr (kRows == 4) {
            load_interleaved4(d, p);
        } else if constexpr (kRows == 2) {
            load_interleaved2(d, p);
        } else {
#pragma GCC ivdep
            for (unsigned l = 0; l < kWarpSize; ++l) load(d, l, p + l * kBytes);
        }
    }
    static void store_block(const Row* b, std::byte* p) {
        if constexpr (kRows == 4) {
            store_interleaved4(b, p);
        } else if constexpr (kRows == 2) {
            store_interleaved2(b, p);
        } else {
#pragma GCC ivdep
            for (unsigned l = 0; l < kWarpSize; ++l) store(b, l, p + l * kBytes);
        }
    }
    /// Loads 32 lanes from base + address[lane].
    static void load_scattered(Row* d, std::uintptr_t base, const std::uint64_t* address) {
        if constexpr (kRows == 1) {
            for (unsigned l = 0; l < kWarpSize; ++l)
                load(d, l, reinterpret_cast<const std::byte*>(base + address[l]));
        } else {
            alignas(64) std::byte block[kWarpSize * kBytes];
            for (unsigned l = 0; l < kWarpSize; ++l)
                std::memcpy(block + l * kBytes,
                            reinterpret_cast<const std::byte*>(base + address[l]), kBytes);
            load_block(d, block);
        }
    }
    static void store_scattered(const Row* b, std::uintptr_t base, const std::uint64_t* address) {
        if constexpr (kRows == 1) {
            for (unsigned l = 0; l < kWarpSize; ++l)
                store(b, l, reinterpret_cast<std::byte*>(base + address[l]));
        } else {
            alignas(64) std::byte block[kWarpSize * kBytes];
            store_block(b, block);
            for (unsigned l = 0; l < kWarpSize; ++l)
                std::memcpy(reinterpret_cast<std::byte*>(base + address[l]), block + l * kBytes,
                            kBytes);
        }
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
            E::load_scattered(d, base, address);
        }
#if defined(__AVX512F__)
    } else if (S == Size::k32 && pattern == Pattern::kConsecutive) {
        // Masked loads touch no byte of inactive lanes.
        const std::byte* const p = host_at(base, address[first] - first * E::kBytes);
        const auto half = [&](unsigned begin) {
            const auto mask = static_cast<__mmask16>(warp.mask >> begin);
            _mm512_mask_storeu_epi32(d->lane + begin, mask,
                                     _mm512_maskz_loadu_epi32(mask, p + 4 * begin));
        };
        half(0);
        half(16);
#endif
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
    if (warp.mask == kAllLanes) [[likely]] {
        if (pattern == Pattern::kConsecutive)
            E::store_block(b, host_at(base, address[0]));
        else
            E::store_scattered(b, base, address);
        return;
    }
#if defined(__AVX512F__)
    if (S == Size::k32 && pattern == Pattern::kConsecutive) {
        const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
        std::byte* const p = host_at(base, address[first] - first * E::kBytes);
        const auto half = [&](unsigned begin) {
            _mm512_mask_storeu_epi32(p + 4 * begin, static_cast<__mmask16>(warp.mask >> begin),
                                     _mm512_loadu_si512(b->lane + begin));
        };
        half(0);
        half(16);
        return;
    }
#endif
    for_each_lane(warp.mask, [&](unsigned l) { E::store(b, l, host_at(base, address[l])); });
}

}  // namespace lockstep::sass
