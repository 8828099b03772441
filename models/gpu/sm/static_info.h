// SPDX-License-Identifier: Apache-2.0
// What timing needs to know of an instruction before it runs: decoded once per program, typed, so
// that the core never looks at instruction words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/sass/program.h"
#include "models/gpu/sm/memory_instruction.h"
#include "models/gpu/sm/sm_parameters.h"
#include "models/gpu/sm/warpgroup_unit.h"

namespace lockstep::gpu {

/// Dependence counters of a warp, SB0 to SB5; each counts to 63.
inline constexpr unsigned kCounters = 6;
inline constexpr unsigned kCounterMax = 63;

enum class InstructionKind : std::uint8_t {
    kFixed,     ///< fixed latency: the stall counts of its consumers respect it
    kVariable,  ///< result by dependence counter, `latency` cycles after issue
    kMemory,
    kBranch,
    kBarrier,  ///< BAR
    kExit,
    kMembar,
    kDependencyBarrier,  ///< DEPBAR: waits for a counter to fall to `limit`
    kCopyGroup,          ///< LDGDEPBAR: a counter is held until all earlier LDGSTS are done
    kCopyArrive,         ///< ARRIVES.LDGSTSBAR: an mbarrier gets an arrival when they are
    kBulkGroup,          ///< UTMACMDFLUSH: a counter is held until earlier bulk stores are done
    kSleep,              ///< NANOSLEEP
    kInvalidate,         ///< CCTL.IVALL
    kWarpgroupProduct,   ///< HGMMA and its kin
    kWarpgroupWait,      ///< WARPGROUP.DEPBAR: until at most `limit` groups of products are left
    kTrigger,            ///< PREEXIT: dependent launches may begin
};

/// What a thread's work counts as for the roofline.
enum class Arithmetic : std::uint8_t {
    kNone,
    kFadd,
    kFmul,
    kFfma,
    kDadd,
    kDmul,
    kDfma,
    kHadd,
    kHmul,
    kHfma,
    kHmma,
    kImma,
    kDmma,
    kBmma,
    kGmma,
    kCount
};

/// Registers read at one operand position.
struct OperandRead {
    std::uint8_t first = 0;
    std::uint8_t count = 0;
    std::uint8_t slot = 0;  ///< 0 A, 1 B, 2 C
    bool reuse = false;     ///< to be kept in the reuse cache
};

struct StaticInstruction {
    static constexpr std::uint32_t kLateParts = 512;  ///< of a cycle

    InstructionKind kind = InstructionKind::kFixed;
    OperationClass operation = OperationClass::kAlu;
    Pipe pipe = Pipe::kAlu;        ///< that executes it
    bool passes_by_value = false;  ///< MATCH.ANY: passes its pipe once for each distinct value
    std::uint16_t interval = 1;    ///< sub-core cycles for which its pipe is held
    /// Parts of a cycle for which it is held beyond that: of 255 cycles at most half as many.
    std::uint16_t late = 0;
    std::uint16_t latency = 0;  ///< kBranch: beyond its stall count
    std::uint8_t stall = 1;     ///< until the warp may issue again, yield accounted for
    std::uint8_t write_barrier = sass::Control::kNoBarrier;
    std::uint8_t read_barrier = sass::Control::kNoBarrier;
    std::uint8_t wait_mask = 0;
    std::uint8_t counter = 0;  ///< DEPBAR, LDGDEPBAR
    std::uint8_t limit = 0;    ///< DEPBAR
    std::uint8_t operands = 0;
    OperandRead operand[3];
    Arithmetic arithmetic = Arithmetic::kNone;
    LaneWork work = LaneWork::kNone;
    bool reads_constant = false;
    bool may_call_system = false;
    bool waits_for_grid = false;      ///< ACQBULK: for the end of the kernel before it
    bool reads_mbarrier = false;      ///< asks for an mbarrier's phase, or may do so
    bool is_try_wait = false;         ///< ... and may wait for it
    bool is_phase_check = false;      ///< of sm_90: test_wait, try_wait
    bool waits_for_phase = false;     ///< NANOSLEEP.SYNCS: the last try_wait's mbarrier ends it
    bool changes_mbarrier = false;    ///< an arrival, as a rule
    bool closes_copies = false;       ///< ends a group of LDGSTS
    bool is_register = false;         ///< S2R, S2UR: memory's queue, but no memory
    bool is_generic = false;          ///< memory: the space is known after execution
    bool is_long_scoreboard = false;  ///< memory: counts as long scoreboard
    std::uint32_t constant_line = 0;  ///< bank and line of the constant operand
    std::uint32_t tensor_macs = 0;    ///< multiply-adds of a tensor instruction
    std::uint32_t memory = 0;         ///< index of the MemoryInstructionInfo
    ProductTiming product;

    /// What it needs to be issued: the pipe, or a place in the queue of memory instructions.
    Pipe entry() const { return kind == InstructionKind::kMemory ? Pipe::kLsu : pipe; }
};
static_assert(sizeof(StaticInstruction) <= 64);  // a line of the host's cache

class StaticTable {
  public:
    StaticTable(const SmParameters& parameters) : parameters_(parameters) {}

    /// Describes the bound instructions [first, first + count) of the program.
    void describe(const sass::Program& program, std::uint32_t first, std::uint32_t count);

    const StaticInstruction* data() const { return instructions_.data(); }
    const StaticInstruction& operator[](std::uint32_t index) const { return instructions_[index]; }
    const MemoryInstructionInfo& memory(const StaticInstruction& in, sass::Space space) const {
        // Generic instructions have three entries: global, shared, local.
        return memory_[in.memory + (!in.is_generic                   ? 0
                                    : space == sass::Space::kShared  ? 1
                                    : space == sass::Space::kCluster ? 1
                                    : space == sass::Space::kLocal   ? 2
                                                                     : 0)];
    }

  private:
    StaticInstruction describe(const sass::Program& program, std::uint32_t index);
    void describe_operands(StaticInstruction& in, std::span<const sass::RegisterUse> uses,
                           std::uint8_t reuse) const;
    bool describe_memory(StaticInstruction& in, const sass::Word& word, sass::Arch arch,
                         std::span<const sass::RegisterUse> uses);
    void describe_control(StaticInstruction& in, const sass::Word& word, sass::Arch arch) const;
    void describe_tensor(StaticInstruction& in, const sass::Word& word) const;
    void describe_warpgroup(StaticInstruction& in, const sass::Word& word) const;

    const SmParameters& parameters_;
    std::vector<StaticInstruction> instructions_;
    std::vector<MemoryInstructionInfo> memory_;
};

}  // namespace lockstep::gpu
