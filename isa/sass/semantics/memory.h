// SPDX-License-Identifier: Apache-2.0
// What the files of the memory family share.
#pragma once

#include "isa/sass/binder.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

bool bind_ldc(Binder& binder);
bool bind_fence(Binder& binder);
bool bind_cache_control(Binder& binder);
bool bind_qspc(Binder& binder);

/// Lanes of warp.mask whose generic address (in warp.access) lies in this 4 GiB window.
inline std::uint32_t lanes_in_window(const Warp& warp, std::uint64_t window) {
    const std::uint64_t* const address = warp.access.address;
    return warp.mask & lane_mask([&](unsigned l) { return address[l] >> 32 == window >> 32; });
}

/// Splits a generic access: calls access(space) once for each space that lanes of warp.mask
/// address, with warp.mask and warp.access.address set for those lanes. A warp that addresses one
/// space is noted as an access to that space, others as generic.
template <typename F>
inline void for_each_space(Warp& warp, F&& access) {
    const std::uint32_t mask = warp.mask;
    const std::uint32_t shared = lanes_in_window(warp, kSharedWindow);
    const std::uint32_t local = lanes_in_window(warp, kLocalWindow);
    const std::uint32_t global = mask & ~shared & ~local;
    if (global == mask) [[likely]]
        return access(Space::kGlobal);
    std::uint64_t* const address = warp.access.address;
    std::uint64_t generic[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) {
        generic[l] = address[l];
        if ((shared | local) >> l & 1) address[l] = static_cast<std::uint32_t>(address[l]);
    }
    const auto part = [&](std::uint32_t lanes, Space space) {
        if (lanes == 0) return;
        warp.mask = lanes;
        access(space);
    };
    part(global, Space::kGlobal);
    part(shared, Space::kShared);
    part(local, Space::kLocal);
    warp.mask = mask;
    if (shared == mask || local == mask) return;
    for (unsigned l = 0; l < kWarpSize; ++l) address[l] = generic[l];
    warp.access.space = Space::kGeneric;
    warp.access.lanes = mask;
}

}  // namespace lockstep::sass
