// SPDX-License-Identifier: Apache-2.0
// What the cycle model counts: plain sums, one struct per kind of unit. Metrics under Nsight
// Compute's names are derived from them in one place (metrics/).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lockstep::gpu {

/// Why a resident warp does not issue in a cycle, as Nsight Compute names the states of warps.
enum class WarpState : std::uint8_t {
    kSelected,         ///< issues
    kNotSelected,      ///< could, but another warp of the sub-core does
    kWait,             ///< fixed latency: the stall count of its last instruction
    kLongScoreboard,   ///< a dependence counter held by global, local or texture memory
    kShortScoreboard,  ///< ... by shared memory, MUFU and other variable-latency units
    kBarrier,
    kMembar,
    kBranchResolving,
    kNoInstruction,     ///< instruction cache
    kMathPipeThrottle,  ///< its pipe is busy
    kMioThrottle,       ///< the memory input/output queue is full
    kLgThrottle,        ///< the queue for global and local memory is full
    kTexThrottle,
    kImcMiss,  ///< constant cache
    kDispatchStall,
    kDrain,  ///< exited, stores under way
    kSleeping,
    kMisc,
    kGmma,  ///< results of a warpgroup's products
    kCount
};
inline constexpr unsigned kWarpStates = static_cast<unsigned>(WarpState::kCount);

/// Execution pipes, as Nsight Compute counts instructions by pipe.
enum class Pipe : std::uint8_t {
    kAlu,
    kFma,       ///< FP32 and integer multiply
    kFmaHeavy,  ///< the half of FMA that also multiplies integers, where the chip has two
    kFp16,
    kFp64,
    kXu,  ///< transcendental and conversion
    kTensor,
    kUniform,
    kLsu,
    kAdu,  ///< address divergence: branches with registers, indexed constants
    kCbu,  ///< convergence barrier unit: branches
    kTma,
    kDispatch,  ///< no pipe: NOP, DEPBAR, ...
    kCount
};
inline constexpr unsigned kPipes = static_cast<unsigned>(Pipe::kCount);

/// What a lane's instruction does, as Nsight Compute's smsp__sass_thread_inst_executed_op_* tell
/// instructions apart: PLOP3, the uniform datapath and Tensor Cores are in none of them.
enum class LaneWork : std::uint8_t {
    kNone,
    kFp16,
    kFp32,
    kFp64,
    kInteger,
    kConversion,
    kControl,
    kMemory,
    kMisc,
    kCount
};
inline constexpr unsigned kLaneWorks = static_cast<unsigned>(LaneWork::kCount);

/// Bits that were compared from one operation of a datapath to the next (sampled), and those that
/// differed.
struct ToggleCounters {
    std::uint64_t bits = 0, flipped = 0;
    void add(std::uint32_t difference) {
        bits += 32;
        flipped += static_cast<unsigned>(std::popcount(difference));
    }
};

/// Of one SM (all sub-cores together unless said otherwise).
struct SmCounters {
    std::uint64_t cycles_active = 0;  ///< with a resident warp
    std::uint64_t ctas = 0;
    std::uint64_t warps = 0;
    std::uint64_t instructions = 0;            ///< warp instructions executed
    std::uint64_t thread_instructions = 0;     ///< predicated-on lanes of them
    std::uint64_t active_lanes = 0;            ///< active lanes of them, predicated off or not
    std::uint64_t issue_active = 0;            ///< sub-core cycles in which an instruction issued
    std::uint64_t sub_core_cycles_active = 0;  ///< sub-core cycles with a resident warp
    std::array<std::uint64_t, kWarpStates> warp_cycles{};  ///< warp-cycles in each state
    std::array<std::uint64_t, kPipes> pipe_instructions{};
    std::array<std::uint64_t, kPipes> pipe_busy{};  ///< sub-core cycles in which the pipe was held
    // Thread-level, predicated on.
    std::array<std::uint64_t, kLaneWorks> lanes{};  ///< of thread_instructions, those of each kind
    std::uint64_t fadd = 0, fmul = 0, ffma = 0, dadd = 0, dmul = 0, dfma = 0, hadd = 0, hmul = 0,
                  hfma = 0;
    // Tensor instructions by kind, warp level.
    std::uint64_t hmma = 0, imma = 0, dmma = 0, bmma = 0, gmma = 0;
    std::uint64_t tensor_operations = 0;  ///< multiply-adds
    // Memory instructions, warp level.
    std::uint64_t global_load = 0, global_store = 0, shared_load = 0, shared_store = 0,
                  local_load = 0, local_store = 0, atomics = 0, texture = 0;
    std::uint64_t branches = 0, divergent_branches = 0;
    std::uint64_t register_bank_conflicts = 0;  ///< bubbles, in cycles
    ToggleCounters arithmetic_toggles, tensor_toggles, memory_toggles;
    std::uint64_t l0_instruction_hits = 0, l0_instruction_misses = 0;
};

/// Accesses that pass L1's tags, as Nsight Compute tells them apart.
enum class CachedAccess : std::uint8_t {
    kGlobalLoad,
    kGlobalStore,
    kCopy,  ///< LDGSTS
    kLocalLoad,
    kLocalStore,
    kAtomic,     ///< those that return a value
    kReduction,  ///< those that do not
    kTexture,    ///< texture fetches, surface loads
    kNone,       ///< past the tags: shared memory, constants, TMA
};
inline constexpr unsigned kCachedAccesses = static_cast<unsigned>(CachedAccess::kNone);

/// Of one kind of them.
struct AccessCounters {
    std::uint64_t requests = 0;  ///< instructions that reached the tags
    std::uint64_t sectors = 0;
    /// Of these, found: a store hits where its sector is there and is written in L1 as well;
    /// atomics are not looked up.
    std::uint64_t sectors_hit = 0;

    AccessCounters& operator+=(const AccessCounters& other) {
        requests += other.requests;
        sectors += other.sectors;
        sectors_hit += other.sectors_hit;
        return *this;
    }
};

/// Of one SM's memory pipeline.
struct MemoryCounters {
    std::array<AccessCounters, kCachedAccesses> accesses{};  ///< by CachedAccess
    std::uint64_t tag_wavefronts = 0;                        ///< passes through the tag stage
    std::uint64_t shared_wavefronts_load = 0, shared_wavefronts_store = 0;
    std::uint64_t bank_conflicts_load = 0, bank_conflicts_store = 0;  ///< wavefronts beyond ideal
    std::uint64_t data_busy = 0;                                      ///< cycles of the data stage
    std::uint64_t shared_way_busy = 0;  ///< cycles of the way back from shared memory
    std::uint64_t tag_busy = 0;         ///< cycles of the tag stage
    std::uint64_t sectors_to_l2_read = 0, sectors_to_l2_write = 0;
    std::uint64_t requests_to_l2_read = 0;
    std::uint64_t mshr_full = 0;  ///< cycles that the tag stage stood still for want of entries
    std::uint64_t tlb_hits = 0, tlb_misses = 0;
    std::uint64_t tma_copies = 0;                    ///< boxes and blocks, prefetches included
    std::uint64_t tma_sectors = 0;                   ///< that TMA has asked for or written
    std::uint64_t tma_maps = 0, tma_map_misses = 0;  ///< look-ups of tensor maps

    const AccessCounters& of(CachedAccess access) const {
        return accesses[static_cast<std::size_t>(access)];
    }
    AccessCounters& of(CachedAccess access) { return accesses[static_cast<std::size_t>(access)]; }
    AccessCounters loads() const {
        AccessCounters sum = of(CachedAccess::kGlobalLoad);
        sum += of(CachedAccess::kCopy);
        sum += of(CachedAccess::kTexture);
        return sum += of(CachedAccess::kLocalLoad);
    }
    AccessCounters all() const {
        AccessCounters sum;
        for (const AccessCounters& access : accesses) sum += access;
        return sum;
    }
    /// Sectors of atomics, which are no lookups.
    std::uint64_t atomic_sectors() const {
        return of(CachedAccess::kAtomic).sectors + of(CachedAccess::kReduction).sectors;
    }
};

/// Of one memory partition: its L2 slices, its channels of DRAM.
struct PartitionCounters {
    std::uint64_t requests = 0;
    std::uint64_t sectors_read_hit = 0, sectors_read_miss = 0;
    std::uint64_t sectors_write_hit = 0, sectors_write_miss = 0;
    std::uint64_t atomics = 0;       ///< sectors
    std::uint64_t atomics_miss = 0;  ///< those that were not there
    std::uint64_t slice_busy = 0;    ///< slice cycles in which the busier stage was used
    std::uint64_t write_backs = 0;
    std::uint64_t dram_bytes_read = 0, dram_bytes_written = 0;
    std::uint64_t dram_bus_busy = 0;  ///< command clocks in which data moved, all channels
    std::uint64_t tlb_hits = 0, tlb_misses = 0;
    std::uint64_t sectors_from_far = 0;      ///< that were asked of the other L2 partition
    std::uint64_t sectors_from_far_hit = 0;  ///< of these, found there
    std::uint64_t sectors_to_far = 0;        ///< writes and atomics performed there
    std::uint64_t sectors_to_gpcs = 0;       ///< that reads of SMs brought
    std::uint64_t sectors_coalesced = 0;     ///< of these, what other reads brought from the slices

    bool operator==(const PartitionCounters&) const = default;
};

/// Of one GPC's cache for code and constants.
struct GccCounters {
    std::uint64_t hits = 0, misses = 0;  ///< lines that SMs asked for
};

/// Adds counters of one kind; all of them are plain 64-bit sums.
template <typename Counters>
void add(Counters& sum, const Counters& part) {
    using Words = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;
    Words words = std::bit_cast<Words>(sum);
    const Words others = std::bit_cast<Words>(part);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] += others[i];
    sum = std::bit_cast<Counters>(words);
}

/// What was counted since an earlier moment.
template <typename Counters>
Counters since(const Counters& now, const Counters& before) {
    using Words = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;
    Words words = std::bit_cast<Words>(now);
    const Words others = std::bit_cast<Words>(before);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] -= others[i];
    return std::bit_cast<Counters>(words);
}

}  // namespace lockstep::gpu
