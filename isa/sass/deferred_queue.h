// SPDX-License-Identifier: Apache-2.0
// What one SM has issued in the current window of the cycle model but must not do before the
// window's end, because all SMs' effects have to come in one order: global atomics and reductions
// (performed at the L2, in hardware), and calls of system functions.
//
// Atomics wait by themselves where Cta::deferred is set: at issue their addresses are computed and
// checked, the access is noted and result predicates are written as always; memory and the
// destination registers change when the operation is performed. Until then the machine
//   - keeps the destination registers from being read or written (the dependence barrier does) and
//     the CTA from being replaced by another,
//   - does not execute instructions for which overlaps() is true: their threads would read or
//     overwrite what an earlier atomic of theirs has yet to change,
//   - does not let a fence pass, which hardware holds back till atomics and stores are performed.
// An instruction for which calls_system() (system_call.h) is true is not executed by the machine
// but given to defer(); its warp waits till it is performed.
//
// At the window's end: commit the StoreBuffers of all SMs in a fixed order, then perform_in_order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "isa/sass/line_index.h"
#include "isa/sass/row.h"
#include "isa/sass/state.h"

namespace lockstep::sass {

struct AsyncCopy;
struct AtomicOperands;
struct AtomicTarget;

/// Performs an atomic operation for the lanes of its operands; see semantics/atomic.h.
using PerformAtomic = void (*)(const Instruction&, const AtomicOperands&);

/// Part of a reducing copy that waits, which TMA performs by itself (isa/sass/tma).
struct WaitingReduction {
    std::byte* host = nullptr;
    void (*reduce)(std::byte* to, const std::byte* from, std::size_t bytes) = nullptr;
    std::vector<std::byte> operand;
};

/// An instruction that waits.
struct Deferred {
    std::uint64_t cycle = 0;  ///< of issue
    const Instruction* instruction = nullptr;
    Warp* warp = nullptr;
    std::uint32_t lanes = 0;
    PerformAtomic perform_atomic = nullptr;  ///< nullptr: the whole instruction waits
    WaitingReduction reduction;              ///< ... or this does, where it has a function
    std::shared_ptr<const AsyncCopy> copy;   ///< ... or this, to another SM's shared memory
    Row b[4], c[4];                          ///< an atomic's operands
    std::uint64_t host[kWarpSize] = {};      ///< where its lanes' bytes are

    /// The whole instruction waits, and with it its warp.
    bool holds_warp() const {
        return perform_atomic == nullptr && reduction.reduce == nullptr && copy == nullptr;
    }
    /// Does it. Throws Fault, but not for atomics.
    void perform() const;
};

class DeferredQueue {
  public:
    /// The SM's cycle, which the instructions that are issued from now on bear.
    void set_cycle(std::uint64_t cycle) { cycle_ = cycle; }

    bool empty() const { return size_ == 0; }
    /// In the order of issue.
    std::span<const Deferred> waiting() const { return std::span(waiting_).first(size_); }

    /// True where the instruction, executed now for the lanes of warp.mask, would load or store a
    /// byte that a waiting atomic changes. Atomics themselves never do: they wait in order. Uses
    /// warp.access as scratch. Cheap while no atomic waits.
    bool overlaps(const Program& program, std::uint32_t index, Warp& warp) const;

    /// Lets a whole instruction wait, for the lanes of warp.mask. The warp must not change before.
    void defer(const Instruction& in, Warp& warp);

    /// Called by the semantics of atomics, with the access of warp.mask's lanes checked.
    void defer_atomic(const Instruction& in, Warp& warp, const AtomicTarget& target, unsigned width,
                      PerformAtomic perform);

    /// Lets a part of a copy wait that a thread of the warp has started. It may come at any time,
    /// so that overlaps() does not know of it.
    void defer_reduction(Warp& warp, WaitingReduction reduction);
    /// Likewise a copy whose target is in another SM.
    void defer_copy(Warp& warp, const AsyncCopy& copy);

    void clear();

  private:
    Deferred& add(const Instruction& in, Warp& warp);
    bool is_changed(std::uint64_t address, std::uint64_t bytes) const;

    std::uint64_t cycle_ = 0;
    std::size_t size_ = 0;
    std::vector<Deferred> waiting_;  // those beyond size_ are spare
    LineIndex index_;
    std::vector<ByteMask> changed_;  // by place in index_: bytes that waiting atomics change
};

/// Performs what waits in all queues, by cycle, then by place in `queues`, then in the order of
/// issue, by calling `perform` for each (which calls Deferred::perform, reports its faults and lets
/// the warp go on). Then empties the queues.
void perform_in_order(std::span<DeferredQueue* const> queues,
                      const std::function<void(const Deferred&)>& perform);

}  // namespace lockstep::sass
