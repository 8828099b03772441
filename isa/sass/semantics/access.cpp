// SPDX-License-Identifier: Apache-2.0
// Checks of memory accesses and their faults. A GPU's MMU checks pages; here every byte is checked
// against the allocation, the CTA's shared memory or the thread's local memory, and the first lane
// at fault is reported.
#include "isa/sass/semantics/access.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "isa/sass/cluster.h"
#include "isa/sass/program.h"
#include "isa/sass/store_buffer.h"

namespace lockstep::sass {

namespace {

std::string_view name_of(Direction direction) {
    switch (direction) {
        case Direction::kLoad:
            return "load from";
        case Direction::kStore:
            return "store to";
        default:
            return "atomic on";
    }
}

std::string_view name_of(Space space) {
    switch (space) {
        case Space::kShared:
            return "shared";
        case Space::kLocal:
            return "local";
        case Space::kConstant:
            return "constant";
        default:
            return "global";
    }
}

void check_alignment(const Warp& warp, unsigned lane, unsigned width, Direction direction,
                     Space space) {
    if (warp.access.address[lane] % width != 0)
        throw_access_fault(FaultKind::kMisalignedAddress, warp, lane, width, direction, space,
                           fmt::format("the address is not a multiple of {}", width));
}

/// True where a word may be accessed of which the program has but the first bytes: 16-bit atomics
/// work on the word that holds them (ptxas: a load of it, then CAS in a loop).
bool may_be_cut(const Warp& warp, unsigned width, Direction direction) {
    const Program* const program = warp.cta->launch->program;
    return width == 4 && direction != Direction::kStore && program != nullptr &&
           program->swaps_words();
}

}  // namespace

void throw_access_fault(FaultKind kind, const Warp& warp, unsigned lane, unsigned width,
                        Direction direction, Space space, std::string_view why) {
    const std::uint64_t address = warp.access.address[lane];
    throw Fault{.kind = kind,
                .what = fmt::format("{}-byte {} {:#x} in {} memory: {}", width, name_of(direction),
                                    address, name_of(space), why),
                .lane = lane,
                .address = address,
                .bytes = width,
                .space = space};
}

void strip_own_rank(Warp& warp) {
    const Cta& cta = *warp.cta;
    for (std::uint64_t& address : warp.access.address)
        address = own_shared_offset(cta, static_cast<std::uint32_t>(address));
}

void refill_extent(Extent& extent, const Warp& warp, std::uint64_t address) {
    ExtentCache& cache = warp.cta->extents;
    for (const Extent& known : cache.recent) {
        if (!known.contains(address, 1)) continue;
        extent = known;
        return;
    }
    extent = warp.cta->launch->memory->find(address);
    if (extent.begin != extent.end) cache.recent[cache.oldest++ % cache.recent.size()] = extent;
}

std::byte* global_host(const Warp& warp, unsigned lane) {
    const std::uint64_t address = warp.access.address[lane];
    return warp.cta->launch->memory->find(address).at(address);
}

bool may_be_buffered(const Warp& warp, const Target& target, unsigned width) {
    const StoreBuffer& stores = *warp.cta->stores;
    const std::uint64_t* const address = warp.access.address;
    const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
    if (target.pattern == Pattern::kScattered) return stores.may_hold(address, warp.mask);
    if (target.pattern == Pattern::kUniform) return stores.may_hold(address[first], width);
    const auto lanes = kWarpSize - first - static_cast<unsigned>(std::countl_zero(warp.mask));
    return stores.may_hold(address[first], std::size_t{lanes} * width);
}

void gather_global(const Warp& warp, const Target& target, unsigned width, std::byte* block) {
    const StoreBuffer* const stores = warp.cta->stores;
    for_each_lane(warp.mask, [&](unsigned l) {
        const std::uint64_t address = warp.access.address[l];
        const std::byte* const from =
            target.in_several_extents ? global_host(warp, l) : host_at(target.base, address);
        std::memcpy(block + l * width, from, width);
        if (stores != nullptr) stores->overlay(address, block + l * width, width);
    });
}

void scatter_global(const Warp& warp, const Target& target, unsigned width,
                    const std::byte* block) {
    const std::uint64_t* const address = warp.access.address;
    StoreBuffer* const stores = warp.cta->stores;
    if (stores == nullptr) {
        for_each_lane(warp.mask, [&](unsigned l) {
            std::byte* const to =
                target.in_several_extents ? global_host(warp, l) : host_at(target.base, address[l]);
            std::memcpy(to, block + l * width, width);
        });
        return;
    }
    for (std::uint32_t left = warp.mask; left != 0;) {
        // Lanes side by side in block and in memory go together.
        const auto first = static_cast<unsigned>(std::countr_zero(left));
        unsigned end = first;
        do {
            left &= left - 1;
            ++end;
        } while (end < kWarpSize && (left >> end & 1) && address[end] == address[end - 1] + width);
        stores->write(address[first], block + first * width, std::size_t{end - first} * width);
    }
}

void check_global(const Warp& warp, unsigned width, Direction direction) {
    const GlobalMemory& memory = *warp.cta->launch->memory;
    for_each_lane(warp.mask, [&](unsigned l) {
        const std::uint64_t address = warp.access.address[l];
        check_alignment(warp, l, width, direction, Space::kGlobal);
        const Extent extent = memory.find(address);
        if (!extent.contains(address, may_be_cut(warp, width, direction) ? 1 : width))
            throw_access_fault(FaultKind::kIllegalAddress, warp, l, width, direction,
                               Space::kGlobal, "no allocation holds all of it");
        if (!extent.writable && direction != Direction::kLoad)
            throw_access_fault(FaultKind::kIllegalAddress, warp, l, width, direction,
                               Space::kGlobal, "the allocation is read-only");
    });
}

void check_bounded(const Warp& warp, unsigned width, Direction direction, Space space,
                   std::uint64_t bytes) {
    for_each_lane(warp.mask, [&](unsigned l) {
        const std::uint64_t address = warp.access.address[l];
        check_alignment(warp, l, width, direction, space);
        const bool is_cut = space == Space::kShared && may_be_cut(warp, width, direction);
        if (address + (is_cut ? 1 : width) > bytes)
            throw_access_fault(FaultKind::kIllegalAddress, warp, l, width, direction, space,
                               fmt::format("{} has {} bytes of it",
                                           space == Space::kShared  ? "the CTA"
                                           : space == Space::kLocal ? "the thread"
                                                                    : "the bank",
                                           bytes));
    });
}

}  // namespace lockstep::sass
