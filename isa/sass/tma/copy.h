// SPDX-License-Identifier: Apache-2.0
// An asynchronous copy as its instruction has started it: what TMA does by itself from then on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "isa/sass/state.h"
#include "isa/sass/tma/box.h"
#include "isa/sass/tma/reduction.h"

namespace lockstep::sass {

enum class CopyKind : std::uint8_t {
    kLoad,          ///< global to shared memory, then bytes to an mbarrier
    kStore,         ///< shared to global memory, member of a bulk group
    kReduce,        ///< likewise, by an operation on what is there
    kPrefetch,      ///< global memory to L2
    kPrefetchMap,   ///< a tensor map to TMA's cache
    kForgetMap,     ///< out of it
    kShared,        ///< shared to (another CTA's) shared memory, then bytes to an mbarrier
    kSharedReduce,  ///< likewise, by an operation
};

/// What a cache policy (createpolicy) says of the lines that a copy touches.
enum class CopyHint : std::uint8_t { kNone, kNormal, kFirst, kLast };

struct AsyncCopy {
    CopyKind kind = CopyKind::kLoad;
    bool is_tensor = false;
    bool is_multicast = false;  ///< to CTAs of the cluster by mask
    CopyHint hint = CopyHint::kNone;
    // A box of a tensor ...
    std::uint64_t map_address = 0;
    TensorMap map;
    std::array<std::int32_t, kMaxTensorRank> coordinate{};
    std::array<std::int32_t, 3> offset{};  ///< im2col
    // ... or a block.
    std::uint64_t global = 0;
    std::uint32_t bytes = 0;  ///< of either, in shared memory
    /// Whose shared memory is read (stores, kShared) and whose is written (loads, kShared).
    Cta* source = nullptr;
    Cta* target = nullptr;
    std::uint32_t from = 0, to = 0;  ///< offsets there
    std::uint32_t mbarrier = 0;      ///< of the target
    ReduceElements reduce = nullptr;
    // Who started it.
    std::uint32_t pc = 0;  ///< code index
    std::uint32_t warp = 0;
    unsigned lane = 0;

    bool writes_shared() const {
        return kind == CopyKind::kLoad || kind == CopyKind::kShared ||
               kind == CopyKind::kSharedReduce;
    }
    bool writes_global() const { return kind == CopyKind::kStore || kind == CopyKind::kReduce; }
    bool reads_shared() const {
        return writes_global() || kind == CopyKind::kShared || kind == CopyKind::kSharedReduce;
    }
    /// Does more than to prepare for others.
    bool moves() const { return writes_shared() || writes_global(); }
};

/// Throws the Fault of a copy that breaks a rule of alignment, of its operation, or of what it
/// reads and writes; its map breaks none. A copy that has been checked performs without faults.
void check_copy(const AsyncCopy& copy, const GlobalMemory& memory);

/// Calls f(address, bytes) for each run of global memory that the copy reads or writes.
void for_each_run(const AsyncCopy& copy,
                  const std::function<void(std::uint64_t address, std::uint32_t bytes)>& f);

/// Moves the bytes; the mbarrier is report_copy()'s. Global stores and reductions go where those
/// of the source's SM go (Cta::stores, Cta::deferred).
void perform_copy(const AsyncCopy& copy);

/// Tells the target's mbarrier that the bytes have come (complete_tx), where the copy has one.
void report_copy(const AsyncCopy& copy);

}  // namespace lockstep::sass
