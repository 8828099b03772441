// SPDX-License-Identifier: Apache-2.0
// A memory instruction on its way through the SM's memory pipeline, and what the pipeline tells
// the core about it.
#pragma once

#include <cstdint>

#include "isa/sass/state.h"
#include "models/gpu/memory/message.h"
#include "models/gpu/sm/memory_operation.h"
#include "sim/engine/time.h"

namespace lockstep::sass {
struct AsyncCopy;
struct TexelFootprint;
}  // namespace lockstep::sass

namespace lockstep::gpu {

struct ResidentGrid;

/// What decoding knows about a memory instruction; one per instruction of the program.
struct MemoryInstructionInfo {
    MemoryOperation operation = MemoryOperation::kLoadGlobal;
    std::uint8_t width = 4;             ///< bytes a lane
    std::uint8_t matrices = 0;          ///< LDSM, STSM: 1, 2 or 4
    bool is_uniform_address = false;    ///< the address is an immediate or uniform register alone
    bool is_strong = false;             ///< scope GPU or SYS: bypasses (and invalidates) L1
    bool skips_l1 = false;              ///< LDGSTS.BYPASS and the like
    bool is_constant = false;           ///< LDG.CONSTANT: read-only data
    bool is_float = false;              ///< atomics: of floating-point numbers
    bool is_swap = false;               ///< ATOMS.CAS: compares and swaps
    bool counts_lanes = false;          ///< ATOMS.POPC.INC: lanes of one word are one access
    std::uint8_t prefetch_sectors = 0;  ///< L2 prefetch hint: 2 (64 B), 4 (128 B), 8 (256 B)
    std::uint8_t constant_bank = 0;
    EvictionPriority priority = EvictionPriority::kNormal;
};

/// Of one executed instance: what stays known until it is done.
struct MemoryInstructionHeader {
    const MemoryInstructionInfo* info = nullptr;
    std::uint32_t code_index = 0;
    std::uint16_t warp = 0;  ///< warp slot of the SM, 0 to max_warps - 1
    std::uint8_t sub_core = 0;
    std::uint8_t write_barrier = 7;  ///< dependence counter released at write-back; 7: none
    std::uint8_t read_barrier = 7;   ///< ... when the sources have been read; 7: none
    std::uint64_t age = 0;           ///< of the warp, whose slot a store may outlive
    ResidentGrid* grid = nullptr;    ///< the kernel's part of the SM; of global stores
    std::uint64_t trace = 0;         ///< its number in the trace; 0: it has none
    std::uint16_t copy_group = 0;    ///< LDGSTS: the core's number of its group
    bool is_remote = false;          ///< works on shared memory of other CTAs of the cluster
    bool is_remote_store = false;    ///< changes it, and fences wait for that
    bool waits_for_remote = false;
    std::uint32_t remote = 0;  ///< ClusterUnit's number of its operations
    static constexpr std::uint16_t kNoConstants = 0xffff;
    std::uint16_t constants = kNoConstants;  ///< LDC: MemoryUnit's number of what it waits for
    const sass::TexelFootprint* texels = nullptr;  ///< kTexture: as `copy`; null: access has all
    const sass::AsyncCopy* copy = nullptr;         ///< kBulkCopy: stays until it is written_back()
};

/// `access` is what execution noted (addresses by lane, active lanes).
struct MemoryInstruction : MemoryInstructionHeader {
    sass::Access access;
};

/// The core's ears. Cycles may lie ahead of the current one. Of the instruction's access only
/// space, lanes and width are kept until written_back().
class MemoryListener {
  public:
    virtual ~MemoryListener() = default;
    /// The source registers have been read: they may be overwritten from `at` on.
    virtual void sources_read(engine::Cycle at, const MemoryInstructionHeader& instruction) = 0;
    /// Results are in the registers (loads, atomics) or in shared memory (LDGSTS).
    virtual void written_back(engine::Cycle at, const MemoryInstructionHeader& instruction) = 0;
    /// A store or a reduction of global memory is on its way: its warp may end.
    virtual void sent(engine::Cycle at, const MemoryInstructionHeader& instruction) = 0;
    /// ... and has been performed, which MEMBAR and the kernel's end wait for.
    virtual void performed(engine::Cycle at, const MemoryInstructionHeader& instruction) = 0;
    /// The operations of an instruction that works on other CTAs may leave.
    virtual void remote_accepted(engine::Cycle, const MemoryInstructionHeader&) {}
};

}  // namespace lockstep::gpu
