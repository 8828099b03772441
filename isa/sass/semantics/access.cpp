// SPDX-License-Identifier: Apache-2.0
// Checks of memory accesses and their faults. A GPU's MMU checks pages; here every byte is checked
// against the allocation, the CTA's shared memory or the thread's local memory, and the first lane
// at fault is reported.
#include "isa/sass/semantics/access.h"

#include <fmt/format.h>

#include <string>

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

void refill_extent(Extent& extent, const Warp& warp, std::uint64_t address) {
    extent = warp.cta->launch->memory->find(address);
}

std::byte* global_host(const Warp& warp, unsigned lane) {
    const std::uint64_t address = warp.access.address[lane];
    return warp.cta->launch->memory->find(address).at(address);
}

void check_global(const Warp& warp, unsigned width, Direction direction) {
    const GlobalMemory& memory = *warp.cta->launch->memory;
    for_each_lane(warp.mask, [&](unsigned l) {
        const std::uint64_t address = warp.access.address[l];
        check_alignment(warp, l, width, direction, Space::kGlobal);
        const Extent extent = memory.find(address);
        if (!extent.contains(address, width))
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
        if (address + width > bytes)
            throw_access_fault(FaultKind::kIllegalAddress, warp, l, width, direction, space,
                               fmt::format("{} has {} bytes of it",
                                           space == Space::kShared  ? "the CTA"
                                           : space == Space::kLocal ? "the thread"
                                                                    : "the bank",
                                           bytes));
    });
}

}  // namespace lockstep::sass
