// SPDX-License-Identifier: Apache-2.0
// What the files of the memory family share.
#pragma once

#include "isa/sass/binder.h"
#include "isa/sass/cluster.h"
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

/// Lanes among `shared` whose address in the shared window is of another CTA of the cluster.
inline std::uint32_t lanes_of_others(const Warp& warp, std::uint32_t shared) {
    constexpr int kFirstArch = 90;
    const Cta& cta = *warp.cta;
    if (shared == 0 || cta.launch->arch < kFirstArch) return 0;
    const std::uint64_t* const address = warp.access.address;
    return shared & lane_mask([&](unsigned l) {
               return cluster_rank_of(static_cast<std::uint32_t>(address[l])) != cta.cluster_rank;
           });
}

/// Splits a generic access: calls access(space) once for each space that lanes of warp.mask
/// address, with warp.mask and warp.access.address set for those lanes. A warp that addresses one
/// space is noted as an access to that space, others as generic, or as one to the cluster where
/// they address other CTAs.
template <typename F>
inline void for_each_space(Warp& warp, F&& access) {
    const std::uint32_t mask = warp.mask;
    const std::uint32_t window = lanes_in_window(warp, kSharedWindow);
    const std::uint32_t local = lanes_in_window(warp, kLocalWindow);
    const std::uint32_t global = mask & ~window & ~local;
    if (global == mask) [[likely]]
        return access(Space::kGlobal);
    const std::uint32_t remote = lanes_of_others(warp, window);
    const std::uint32_t shared = window & ~remote;
    std::uint64_t* const address = warp.access.address;
    std::uint64_t generic[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) {
        generic[l] = address[l];
        if ((window | local) >> l & 1) address[l] = static_cast<std::uint32_t>(address[l]);
    }
    const auto part = [&](std::uint32_t lanes, Space space) {
        if (lanes == 0) return;
        warp.mask = lanes;
        access(space);
    };
    part(global, Space::kGlobal);
    part(shared, Space::kShared);
    part(local, Space::kLocal);
    part(remote, Space::kCluster);
    warp.mask = mask;
    if (remote == mask) return;
    if (shared == mask || local == mask) return;
    for (unsigned l = 0; l < kWarpSize; ++l) address[l] = generic[l];
    warp.access.space = remote == 0 ? Space::kGeneric : Space::kCluster;
    warp.access.lanes = mask;
}

}  // namespace lockstep::sass
