// SPDX-License-Identifier: Apache-2.0
// Fences, cache control and address space queries. A warp's accesses take effect in program order
// and caches hold no values of their own, so fences and cache control have no effect on results;
// between CTAs that run on different host threads a fence is a host fence.
#include <atomic>

#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/memory.h"

namespace lockstep::sass {

namespace {

void execute_nothing(const Instruction&, Warp&) {}

void execute_fence(const Instruction&, Warp& warp) {
    if (warp.cta->launch->parallel) std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Which space a generic address lies in: predicate, and its offset in that space in Rd.
void execute_qspc(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    const std::uint32_t shared = lanes_in_window(warp, kSharedWindow);
    const std::uint32_t local = lanes_in_window(warp, kLocalWindow);
    // .D (shared::cluster) holds the shared memory of all CTAs of the cluster, the own one
    // included.
    const std::uint32_t own = shared & ~lanes_of_others(warp, shared);
    const std::uint32_t lanes[] = {warp.mask & ~shared & ~local, local, own, shared};
    const std::uint64_t* const address = warp.access.address;
    write_lanes(warp, in.d, [&](unsigned l) { return static_cast<std::uint32_t>(address[l]); });
    warp.write(in.pd[0], lanes[in.modifiers >> kAddressBits & 3]);
}

}  // namespace

bool bind_fence(Binder& binder) {
    binder.out.execute = execute_fence;
    return true;
}

bool bind_cache_control(Binder& binder) {
    binder.out.execute = execute_nothing;
    return true;
}

bool bind_qspc(Binder& binder) {
    binder.out.d = binder.dest_register(16);
    binder.out.pd[0] = binder.dest_predicate(81);
    binder.out.modifiers = static_cast<std::uint32_t>(binder.word.bits(73, 2)) << kAddressBits;
    binder.out.execute = execute_qspc;
    return bind_global_address(binder, kLoadAddress);
}

}  // namespace lockstep::sass
