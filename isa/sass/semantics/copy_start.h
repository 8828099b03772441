// SPDX-License-Identifier: Apache-2.0
// What the instructions that start asynchronous copies have in common.
#pragma once

#include "isa/sass/binder.h"
#include "isa/sass/tma/copy.h"

namespace lockstep::sass {

/// A copy by the instruction, which the warp is executing: who starts it, and its cache hint.
AsyncCopy begin_copy(const Instruction& in, Warp& warp, CopyKind kind);

/// Checks the copy and hands it to the CTA's engine.
void start_copy(const AsyncCopy& copy);
/// The same for a copy to the shared address `to` of the cluster, which reports to the mbarrier;
/// `multicast`: of which CTAs the memory is written, at the same offset; 0: of the one addressed.
void start_to_shared(AsyncCopy& copy, std::uint32_t to, std::uint32_t mbarrier,
                     std::uint32_t multicast);
/// ... for one from the CTA's shared memory to global memory.
void start_from_shared(AsyncCopy& copy, std::uint32_t from);

/// The CTA and the offset in its shared memory that an address of the cluster names.
struct SharedPlace {
    Cta* cta = nullptr;
    std::uint32_t offset = 0;
};
SharedPlace shared_place(const AsyncCopy& copy, std::uint32_t address);

/// The uniform register of the cache policy, where there is one (bit 76, register at 40).
void bind_hint(Binder& binder);

}  // namespace lockstep::sass
