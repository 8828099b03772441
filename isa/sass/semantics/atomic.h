// SPDX-License-Identifier: Apache-2.0
// What the atomic operations share: where a lane's bytes are and how they are changed.
#pragma once

#include <atomic>
#include <cstring>

#include "isa/sass/deferred_queue.h"
#include "isa/sass/semantics/access.h"

namespace lockstep::sass {

/// Where the lanes of an atomic access lie (checked), and whether other host threads may change the
/// same bytes at the same time.
struct AtomicTarget {
    const std::uint64_t* address = nullptr;  ///< by lane
    std::uintptr_t base = 0;                 ///< lane l is at base + address[l]
    const GlobalMemory* memory = nullptr;    ///< set: no common base, each lane is looked up
    std::byte* local = nullptr;              ///< set: addresses are offsets in local memory
    bool is_parallel = false;

    std::byte* host(unsigned lane, unsigned offset) const {
        if (local != nullptr || memory != nullptr) [[unlikely]]
            return host_without_base(lane, offset);
        return host_at(base, address[lane]) + offset;
    }
    std::byte* host_without_base(unsigned lane, unsigned offset) const;

    /// Replaces a lane's value, `offset` bytes on, by change(value); returns the old one.
    template <typename Value, typename F>
    Value update(unsigned lane, unsigned offset, F&& change) const {
        std::byte* const p = host(lane, offset);
        if (is_parallel) {
            std::atomic_ref<Value> shared(*reinterpret_cast<Value*>(p));
            Value old = shared.load(std::memory_order_relaxed);
            while (!shared.compare_exchange_weak(old, change(old), std::memory_order_acq_rel,
                                                 std::memory_order_relaxed)) {
            }
            return old;
        }
        Value old;
        if (sizeof(Value) == 8 && local != nullptr) [[unlikely]] {
            // The words of a lane's 64-bit value lie a row apart.
            std::memcpy(&old, p, 4);
            std::memcpy(reinterpret_cast<std::byte*>(&old) + 4, p + sizeof(Row), 4);
            const Value changed = change(old);
            std::memcpy(p, &changed, 4);
            std::memcpy(p + sizeof(Row), reinterpret_cast<const std::byte*>(&changed) + 4, 4);
            return old;
        }
        std::memcpy(&old, p, sizeof old);
        const Value changed = change(old);
        std::memcpy(p, &changed, sizeof changed);
        return old;
    }
};

/// What an atomic operation works on: the warp's rows, or, where it is performed later than it was
/// issued, copies of the sources.
struct AtomicOperands {
    AtomicTarget target;
    std::uint32_t lanes = 0;
    const Row* b = nullptr;
    const Row* c = nullptr;
    Row* d = nullptr;
};

/// Notes and checks the access of warp.mask's lanes. Throws Fault.
inline AtomicTarget atomic_target(const Instruction& in, Warp& warp, Space space, unsigned width) {
    note_access(warp, space, Direction::kAtomic, width);
    const std::uint64_t* const address = warp.access.address;
    if (space == Space::kGlobal) {
        const Target target = global_target(in, warp, width, Direction::kAtomic);
        return {.address = address,
                .base = target.base,
                .memory = target.in_several_extents ? warp.cta->launch->memory : nullptr,
                .is_parallel = warp.cta->launch->parallel};
    }
    if (space == Space::kShared)
        return {.address = address, .base = shared_target(warp, width, Direction::kAtomic).base};
    check_bounded(warp, width, Direction::kAtomic, Space::kLocal, warp.cta->launch->local_bytes);
    return {.address = address, .local = warp.local};
}

/// Performs an operation in the shared memory of other CTAs of the cluster.
void perform_in_cluster(const Instruction& in, Warp& warp, unsigned width, PerformAtomic perform);

/// Performs an operation on `width` bytes a lane in one space, or lets it wait where the machine
/// wants global atomics to.
template <PerformAtomic kPerform>
inline void perform_or_defer(const Instruction& in, Warp& warp, Space space, unsigned width) {
    if (space == Space::kCluster) [[unlikely]]
        return perform_in_cluster(in, warp, width, kPerform);
    const AtomicTarget target = atomic_target(in, warp, space, width);
    if (warp.cta->deferred != nullptr && space == Space::kGlobal) [[unlikely]] {
        warp.cta->deferred->defer_atomic(in, warp, target, width, kPerform);
        return;
    }
    kPerform(in, {.target = target,
                  .lanes = warp.mask,
                  .b = &warp.row(in.b),
                  .c = &warp.row(in.c),
                  .d = &warp.row(in.d)});
}

/// 128-bit exchange (sm_90): operands and function; the address is the caller's.
void set_exchange128(Binder& binder, bool in_shared = false);
bool bind_atom_cas(Binder& binder);
bool bind_atomg_cas(Binder& binder);
bool bind_atoms_cas(Binder& binder);

}  // namespace lockstep::sass
