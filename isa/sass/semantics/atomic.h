// SPDX-License-Identifier: Apache-2.0
// What the atomic operations share: where a lane's bytes are and how they are changed.
#pragma once

#include <atomic>
#include <cstring>

#include "isa/sass/semantics/access.h"

namespace lockstep::sass {

/// Where the lanes of an atomic access lie (checked), and whether other host threads may change the
/// same bytes at the same time.
struct AtomicTarget {
    Target target;
    bool is_local = false;
    bool is_parallel = false;

    std::byte* host(const Warp& warp, unsigned lane, unsigned offset) const {
        const std::uint64_t address = warp.access.address[lane];
        if (is_local) [[unlikely]] {
            const std::uint64_t at = address + offset;
            return warp.local + at / 4 * sizeof(Row) + lane * 4;
        }
        if (target.in_several_extents) [[unlikely]]
            return global_host(warp, lane) + offset;
        return host_at(target.base, address) + offset;
    }

    /// Replaces a lane's value, `offset` bytes on, by change(value); returns the old one.
    template <typename Value, typename F>
    Value update(const Warp& warp, unsigned lane, unsigned offset, F&& change) const {
        std::byte* const p = host(warp, lane, offset);
        if (is_parallel) {
            std::atomic_ref<Value> shared(*reinterpret_cast<Value*>(p));
            Value old = shared.load(std::memory_order_relaxed);
            while (!shared.compare_exchange_weak(old, change(old), std::memory_order_acq_rel,
                                                 std::memory_order_relaxed)) {
            }
            return old;
        }
        Value old;
        if (sizeof(Value) == 8 && is_local) [[unlikely]] {
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

/// Notes and checks the access of warp.mask's lanes. Throws Fault.
inline AtomicTarget atomic_target(const Instruction& in, Warp& warp, Space space, unsigned width) {
    note_access(warp, space, Direction::kAtomic, width);
    if (space == Space::kGlobal)
        return {global_target(in, warp, width, Direction::kAtomic), false,
                warp.cta->launch->parallel};
    if (space == Space::kShared) return {shared_target(warp, width, Direction::kAtomic)};
    check_bounded(warp, width, Direction::kAtomic, Space::kLocal, warp.cta->launch->local_bytes);
    return {{}, true};
}

/// 128-bit exchange (sm_90): operands and function; the address is the caller's.
void set_exchange128(Binder& binder);
bool bind_atom_cas(Binder& binder);
bool bind_atomg_cas(Binder& binder);
bool bind_atoms_cas(Binder& binder);

}  // namespace lockstep::sass
