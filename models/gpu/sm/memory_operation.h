// SPDX-License-Identifier: Apache-2.0
// The memory operations as data: what each is to the SM's memory pipeline. Which opcodes have it,
// static_memory.cpp says.
#pragma once

#include <cstdint>
#include <iterator>

#include "models/gpu/metrics/counters.h"

namespace lockstep::gpu {

enum class MemoryOperation : std::uint8_t {
    kLoadGlobal,
    kStoreGlobal,
    kAtomicGlobal,     ///< ATOMG, ATOM: returns old values
    kReductionGlobal,  ///< RED: does not
    kLoadShared,
    kStoreShared,
    kAtomicShared,
    kLoadMatrix,  ///< LDSM: `matrices` 8x8 matrices of 16-bit elements
    kStoreMatrix,
    kLoadLocal,
    kStoreLocal,
    kCopyAsync,     ///< LDGSTS: global to shared memory, past the register file
    kLoadConstant,  ///< LDC with a register index: access.space is kConstant, `constant_bank` set
    kShuffle,       ///< SHFL and other crossbar-of-lanes users of the shared-memory data path
    kSpecialRegister,  ///< S2R, S2UR: no memory, but the same queue
    kTexture,          ///< TEX and its kin, SULD: passes the texture units
    kBulkCopy,         ///< UTMALDG, UBLKCP and their kin: what MemoryInstruction::copy says, by TMA
};

/// The operation's way through the memory unit.
enum class MemoryWay : std::uint8_t {
    kLoad,      ///< L1's tags, then the data stage
    kStore,     ///< L1's tags, to L2
    kAtomic,    ///< past L1, to L2
    kBulkCopy,  ///< TMA
    kAdu,       ///< the address divergence unit: the cache of indexed constants
    kRegister,  ///< special registers: no data path
    kShared,    ///< shared memory or its data path alone: no translation, no tags
};

/// Keys in memory_unit of the machine file; "" stands for none. Where the latency for uniform
/// addresses has a key of its own, that is "..._uniform".
struct MemoryLatency {
    const char* key;
    bool has_uniform;
};

/// What else is true of an operation; flags.
enum MemoryTrait : unsigned {
    kReadsData = 1,       ///< reads registers with data, not addresses alone
    kChangesGlobal = 2,   ///< changes global memory at L2: what fences wait for
    kReturnsByQueue = 4,  ///< has a queue of its own before the data stage
    kNotesNoAccess = 8,   ///< works on registers alone
};

struct MemoryOperationRow {
    MemoryOperation operation;
    MemoryWay way;
    unsigned traits;
    std::uint64_t SmCounters::*counter;  ///< null: none counts it
    CachedAccess access;                 ///< as which L1's tags count it
    MemoryLatency result, sources;       ///< until a consumer may issue, sources be overwritten
};

inline constexpr MemoryOperationRow kMemoryOperations[] = {
    {MemoryOperation::kLoadGlobal,
     MemoryWay::kLoad,
     kReturnsByQueue,
     &SmCounters::global_load,
     CachedAccess::kGlobalLoad,
     {"l1_hit_latency", true},
     {"load_read", true}},
    {MemoryOperation::kStoreGlobal,
     MemoryWay::kStore,
     kReadsData | kChangesGlobal,
     &SmCounters::global_store,
     CachedAccess::kGlobalStore,
     {"", false},
     {"store_read", true}},
    {MemoryOperation::kAtomicGlobal,
     MemoryWay::kAtomic,
     kReadsData | kChangesGlobal | kReturnsByQueue,
     &SmCounters::atomics,
     CachedAccess::kAtomic,
     {"l1_hit_latency", true},
     {"store_read", true}},
    {MemoryOperation::kReductionGlobal,
     MemoryWay::kAtomic,
     kReadsData | kChangesGlobal,
     &SmCounters::atomics,
     CachedAccess::kReduction,
     {"", false},
     {"store_read", true}},
    {MemoryOperation::kLoadShared,
     MemoryWay::kShared,
     0,
     &SmCounters::shared_load,
     CachedAccess::kNone,
     {"shared_latency", true},
     {"shared_load_read", false}},
    {MemoryOperation::kStoreShared,
     MemoryWay::kShared,
     kReadsData,
     &SmCounters::shared_store,
     CachedAccess::kNone,
     {"shared_latency", true},
     {"shared_store_read", true}},
    {MemoryOperation::kAtomicShared,
     MemoryWay::kShared,
     kReadsData,
     &SmCounters::shared_store,
     CachedAccess::kNone,
     {"shared_atomic_latency", false},
     {"shared_store_read", true}},
    {MemoryOperation::kLoadMatrix,
     MemoryWay::kShared,
     0,
     &SmCounters::shared_load,
     CachedAccess::kNone,
     {"shared_latency", true},
     {"shared_load_read", false}},
    {MemoryOperation::kStoreMatrix,
     MemoryWay::kShared,
     kReadsData,
     &SmCounters::shared_store,
     CachedAccess::kNone,
     {"shared_latency", true},
     {"shared_store_read", true}},
    {MemoryOperation::kLoadLocal,
     MemoryWay::kLoad,
     kReturnsByQueue,
     &SmCounters::local_load,
     CachedAccess::kLocalLoad,
     {"l1_hit_latency", true},
     {"load_read", true}},
    {MemoryOperation::kStoreLocal,
     MemoryWay::kStore,
     kReadsData,
     &SmCounters::local_store,
     CachedAccess::kLocalStore,
     {"", false},
     {"store_read", true}},
    {MemoryOperation::kCopyAsync,
     MemoryWay::kLoad,
     kReturnsByQueue,
     &SmCounters::global_load,
     CachedAccess::kCopy,
     {"async_copy_latency", false},
     {"async_copy_read", false}},
    {MemoryOperation::kLoadConstant,
     MemoryWay::kAdu,
     0,
     nullptr,
     CachedAccess::kNone,
     {"constant_latency", true},
     {"constant_read", true}},
    {MemoryOperation::kShuffle,
     MemoryWay::kShared,
     kNotesNoAccess,
     nullptr,
     CachedAccess::kNone,
     {"shuffle_latency", false},
     {"shared_load_read", false}},
    {MemoryOperation::kSpecialRegister,
     MemoryWay::kRegister,
     kNotesNoAccess,
     nullptr,
     CachedAccess::kNone,
     {"special_register_latency", false},
     {"", false}},
    {MemoryOperation::kTexture,
     MemoryWay::kLoad,
     kReturnsByQueue,
     &SmCounters::texture,
     CachedAccess::kTexture,
     {"texture_latency", false},
     {"load_read", false}},
    {MemoryOperation::kBulkCopy,
     MemoryWay::kBulkCopy,
     0,
     nullptr,
     CachedAccess::kNone,
     {"l1_hit_latency", false},
     {"load_read", false}},
};
inline constexpr std::size_t kMemoryOperationCount = std::size(kMemoryOperations);

constexpr const MemoryOperationRow& row(MemoryOperation operation) {
    return kMemoryOperations[static_cast<std::size_t>(operation)];
}

namespace detail {
consteval bool rows_are_in_order() {
    for (std::size_t i = 0; i < kMemoryOperationCount; ++i)
        if (static_cast<std::size_t>(kMemoryOperations[i].operation) != i) return false;
    return true;
}
static_assert(rows_are_in_order());

/// The operations of which something is true, a bit each.
template <typename Predicate>
consteval std::uint32_t operations_where(Predicate predicate) {
    std::uint32_t set = 0;
    for (const MemoryOperationRow& row : kMemoryOperations)
        if (predicate(row)) set |= 1u << static_cast<unsigned>(row.operation);
    return set;
}
constexpr bool contains(std::uint32_t set, MemoryOperation operation) {
    return (set >> static_cast<unsigned>(operation) & 1) != 0;
}
}  // namespace detail

/// Works on shared memory or its data path alone: no translation, no tags.
constexpr bool is_shared(MemoryOperation operation) {
    constexpr std::uint32_t kSet =
        detail::operations_where([](const auto& row) { return row.way == MemoryWay::kShared; });
    return detail::contains(kSet, operation);
}

template <MemoryTrait kTrait>
constexpr bool has(MemoryOperation operation) {
    constexpr std::uint32_t kSet =
        detail::operations_where([](const auto& row) { return (row.traits & kTrait) != 0; });
    return detail::contains(kSet, operation);
}

/// Passes the address divergence unit.
constexpr bool passes_adu(MemoryOperation operation) {
    return row(operation).way == MemoryWay::kAdu;
}

/// Its dependence counters are those of Nsight Compute's "long scoreboard".
constexpr bool is_long_scoreboard(MemoryOperation operation) {
    return !is_shared(operation) && !passes_adu(operation) &&
           row(operation).way != MemoryWay::kRegister;
}

}  // namespace lockstep::gpu
