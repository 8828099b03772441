// SPDX-License-Identifier: Apache-2.0
// How instructions reach the shared memory of other CTAs of a cluster.
#pragma once

#include "isa/sass/cluster.h"
#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/atomic.h"

namespace lockstep::sass {

/// What a remote access does besides its operation.
struct RemoteAccess {
    unsigned width = 0;  ///< bytes a lane
    Direction direction = Direction::kLoad;
    PerformAtomic perform = nullptr;
    bool returns = false;                    ///< to the warp's rows in.d
    const std::uint32_t* barrier = nullptr;  ///< by lane: shared::cluster address of an mbarrier
};

/// Sends operations for the lanes of warp.mask, whose shared::cluster addresses are in
/// warp.access.address, one for each CTA that they address. Throws Fault.
void access_cluster(const Instruction& in, Warp& warp, const RemoteAccess& access);

bool bind_redas(Binder& binder);

/// The addresses of st.async and red.async: data at R + UR + offset, mbarrier in the next register.
void bind_async_address(Binder& binder, unsigned wide_bit);
/// Fills warp.access.address; returns the mbarriers' addresses.
const std::uint32_t* compute_async_addresses(const Instruction& in, Warp& warp);

}  // namespace lockstep::sass
