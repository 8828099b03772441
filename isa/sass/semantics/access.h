// SPDX-License-Identifier: Apache-2.0
// From addresses to host memory: bounds, alignment, read-only ranges, and the faults they raise.
#pragma once

#include <cstdint>
#include <string_view>

#include "isa/sass/semantics/element.h"

namespace lockstep::sass {

/// What an access does, for checks and for the wording of faults.
enum class Direction : std::uint8_t { kLoad, kStore, kAtomic };

/// Where the lanes of warp.mask access: host address of lane l is base + access.address[l].
/// scattered_over: the lanes are in several allocations, so that there is no common base.
struct Target {
    std::uintptr_t base = 0;
    Pattern pattern = Pattern::kScattered;
    bool in_several_extents = false;
};

/// Notes the access in warp.access; the addresses are there already.
inline void note_access(Warp& warp, Space space, Direction direction, unsigned width) {
    Access& access = warp.access;
    access.space = space;
    access.is_store = direction == Direction::kStore;
    access.is_atomic = direction == Direction::kAtomic;
    access.width = static_cast<std::uint8_t>(width);
    access.lanes = warp.mask;
    if (space == Space::kLocal && direction != Direction::kLoad) warp.has_written_local = true;
}

/// Throws the fault of the first lane of warp.mask that is at fault; returns if none is.
void check_global(const Warp& warp, unsigned width, Direction direction);
void check_bounded(const Warp& warp, unsigned width, Direction direction, Space space,
                   std::uint64_t bytes);
[[noreturn]] void throw_access_fault(FaultKind kind, const Warp& warp, unsigned lane,
                                     unsigned width, Direction direction, Space space,
                                     std::string_view why);

/// The cached extent for an instruction.
inline Extent& cached_extent(const Instruction& in, const Warp& warp) {
    auto& extents = warp.cta->extents.of_instruction;
    return extents[reinterpret_cast<std::uintptr_t>(&in) / sizeof(Instruction) % extents.size()];
}

/// Makes the cached extent the one that holds the address.
void refill_extent(Extent& extent, const Warp& warp, std::uint64_t address);

/// Global memory. Throws Fault.
inline Target global_target(const Instruction& in, Warp& warp, unsigned width,
                            Direction direction) {
    const std::uint64_t* const address = warp.access.address;
    const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
    const auto last = kWarpSize - 1 - static_cast<unsigned>(std::countl_zero(warp.mask));
    const bool writes = direction != Direction::kLoad;
    Extent& extent = cached_extent(in, warp);

    const auto base_of = [&] {
        return reinterpret_cast<std::uintptr_t>(extent.host) - extent.begin;
    };
    const auto fits = [&](std::uint64_t begin, std::uint64_t bytes) {
        if (!extent.contains(begin, bytes)) [[unlikely]] {
            refill_extent(extent, warp, begin);
            if (!extent.contains(begin, bytes)) return false;
        }
        return begin % width == 0 && (extent.writable || !writes);
    };
    const std::uint64_t begin = address[first];
    if (is_consecutive(address, begin - first * width, width, warp.mask)) {
        if (fits(begin, std::uint64_t{last - first + 1} * width)) [[likely]]
            return {base_of(), Pattern::kConsecutive};
    } else if (is_consecutive(address, begin, 0, warp.mask)) {
        if (fits(begin, width)) [[likely]]
            return {base_of(), Pattern::kUniform};
    } else if (fits(begin, width)) {
        const AddressRange range = range_of(address, extent.begin, warp.mask);
        if (range.largest <= extent.end - extent.begin - width && range.bits % width == 0)
            [[likely]]
            return {base_of(), Pattern::kScattered};
    }
    check_global(warp, width, direction);
    return {0, Pattern::kScattered, true};
}

/// Takes the own CTA's rank out of the addresses, see cluster.h.
void strip_own_rank(Warp& warp);

/// Shared memory of the CTA; leaves offsets there in warp.access. Throws Fault.
inline Target shared_target(Warp& warp, unsigned width, Direction direction) {
    if (warp.cta->cluster_rank != 0) [[unlikely]]
        strip_own_rank(warp);
    const std::uint64_t* const address = warp.access.address;
    const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
    const auto last = kWarpSize - 1 - static_cast<unsigned>(std::countl_zero(warp.mask));
    const std::uint64_t bytes = warp.cta->launch->shared_bytes;
    const auto base = reinterpret_cast<std::uintptr_t>(warp.cta->shared);
    const std::uint64_t begin = address[first];
    if (is_consecutive(address, begin - first * width, width, warp.mask)) {
        if (begin + std::uint64_t{last - first + 1} * width <= bytes && begin % width == 0)
            [[likely]]
            return {base, Pattern::kConsecutive};
    } else if (is_consecutive(address, begin, 0, warp.mask)) {
        if (begin + width <= bytes && begin % width == 0) [[likely]]
            return {base, Pattern::kUniform};
    } else {
        const AddressRange range = range_of(address, 0, warp.mask);
        if (range.largest + width <= bytes && range.bits % width == 0) [[likely]]
            return {base, Pattern::kScattered};
    }
    check_bounded(warp, width, direction, Space::kShared, bytes);
    return {base, Pattern::kScattered};
}

/// Host address of one lane of a global access that check_global has accepted.
std::byte* global_host(const Warp& warp, unsigned lane);

bool may_be_buffered(const Warp& warp, const Target& target, unsigned width);

/// True where the bytes of a global load do not simply lie at the target: the lanes are in several
/// allocations, or the SM's store buffer may hold some of them.
inline bool needs_gathering(const Warp& warp, const Target& target, unsigned width) {
    return target.in_several_extents ||
           (warp.cta->stores != nullptr && may_be_buffered(warp, target, width));
}

/// Collects each lane's element, as its SM sees it, at block + lane * width; lanes of warp.mask.
void gather_global(const Warp& warp, const Target& target, unsigned width, std::byte* block);
/// The other way round: to the SM's store buffer, or to memory where there is none.
void scatter_global(const Warp& warp, const Target& target, unsigned width, const std::byte* block);

// Whole accesses; the addresses are in warp.access already.
template <Size S>
inline void load_global(const Instruction& in, Warp& warp) {
    using E = Element<S>;
    note_access(warp, Space::kGlobal, Direction::kLoad, E::kBytes);
    const Target target = global_target(in, warp, E::kBytes, Direction::kLoad);
    if (needs_gathering(warp, target, E::kBytes)) [[unlikely]] {
        alignas(64) std::byte block[kWarpSize * E::kBytes];
        gather_global(warp, target, E::kBytes, block);
        Row* const d = &warp.row(in.d);
        for_each_lane(warp.mask, [&](unsigned l) { E::load(d, l, block + l * E::kBytes); });
        return;
    }
    load_lanes<S>(in, warp, target.base, target.pattern);
}

template <Size S>
inline void store_global(const Instruction& in, Warp& warp) {
    using E = Element<S>;
    note_access(warp, Space::kGlobal, Direction::kStore, E::kBytes);
    const Target target = global_target(in, warp, E::kBytes, Direction::kStore);
    if (warp.cta->stores != nullptr || target.in_several_extents) [[unlikely]] {
        alignas(64) std::byte block[kWarpSize * E::kBytes];
        E::store_block(&warp.row(in.b), block);
        scatter_global(warp, target, E::kBytes, block);
        return;
    }
    store_lanes<S>(in, warp, target.base, target.pattern);
}

template <Size S>
inline void load_shared(const Instruction& in, Warp& warp) {
    note_access(warp, Space::kShared, Direction::kLoad, Element<S>::kBytes);
    const Target target = shared_target(warp, Element<S>::kBytes, Direction::kLoad);
    load_lanes<S>(in, warp, target.base, target.pattern);
}

template <Size S>
inline void store_shared(const Instruction& in, Warp& warp) {
    note_access(warp, Space::kShared, Direction::kStore, Element<S>::kBytes);
    const Target target = shared_target(warp, Element<S>::kBytes, Direction::kStore);
    store_lanes<S>(in, warp, target.base, target.pattern);
}

/// Local memory: word w of lane l lies at (w * 32 + l) * 4.
void load_local(const Instruction& in, Warp& warp, Size size);
void store_local(const Instruction& in, Warp& warp, Size size);

}  // namespace lockstep::sass
