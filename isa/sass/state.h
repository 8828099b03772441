// SPDX-License-Identifier: Apache-2.0
// Architectural state of a launch, a CTA and a warp: plain data that the emulator and the
// cycle-level model share. Semantics read and change it; machines decide when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/sass/fault.h"
#include "isa/sass/global_memory.h"
#include "isa/sass/instruction.h"
#include "isa/sass/row.h"

namespace lockstep::sass {

class AsyncEngine;
class BarrierObserver;
class DeferredQueue;
class Program;
class StoreBuffer;
class TextureTable;
struct ClusterMember;
struct Cta;
struct TexelFootprint;
struct Warp;

/// Generic addresses with these upper halves are windows onto shared and local memory. Global
/// allocations never lie there.
constexpr std::uint64_t kSharedWindow = 0x0000'1001'0000'0000ull;
constexpr std::uint64_t kLocalWindow = 0x0000'1002'0000'0000ull;
constexpr std::uint64_t kWindowBytes = 0x1'0000'0000ull;

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
    constexpr std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
    friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

/// What semantics ask of the machine: everything that is not a pure function of warp state.
class Environment {
  public:
    virtual ~Environment() = default;
    /// CUDA's device-side library calls (vprintf, malloc, free, __assertfail, ...) for the lanes of
    /// warp.mask; arguments and results as in the CUDA ABI (R4.. in, R4.. out).
    virtual void system_call(unsigned number, Warp& warp) = 0;
    /// SM clock in cycles, and nanoseconds of the global timer.
    virtual std::uint64_t clock(const Warp& warp) = 0;
    virtual std::uint64_t global_timer(const Warp& warp) = 0;
    virtual std::uint32_t sm_id(const Warp& warp) = 0;
    virtual std::uint32_t sm_count() = 0;
};

/// One kernel launch: what all its CTAs share.
struct Launch {
    const Program* program = nullptr;
    Environment* environment = nullptr;
    GlobalMemory* memory = nullptr;
    const TextureTable* textures = nullptr;
    int arch = 90;
    Dim3 grid, block, cluster;
    bool is_clustered = false;       ///< CTAs are members of clusters, be they of one CTA
    std::uint32_t registers = 0;     ///< of a thread at its start
    std::uint32_t shared_bytes = 0;  ///< static + dynamic (+ reserved) of one CTA
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t local_bytes = 0;  ///< of one thread
    std::uint32_t rows = 0;         ///< rows a warp needs, kRegisterRow included
    std::uint32_t entry = 0;        ///< code index of the kernel's first instruction
    /// Constant banks; reads past the end of a bank return zero or fault, see ldc.
    std::array<std::span<const std::byte>, 32> constant;
    const std::byte* literals = nullptr;  ///< rows of the program's literal table
    bool parallel = false;  ///< CTAs run on several host threads: atomics must be atomic
    std::uint64_t id = 0;
};

/// What BAR.RED computes over the threads' predicates.
enum class BarrierReduction : std::uint8_t { kPopc, kAnd, kOr };

/// State of one CTA-wide barrier (BAR.*) between two completions.
struct CtaBarrier {
    bool is_awaited = false;             ///< somebody has arrived
    std::uint32_t expected_threads = 0;  ///< 0: all threads of the CTA
    std::uint32_t arrived_warps = 0;     ///< warps all of whose live threads have arrived
    std::vector<std::uint32_t> arrived;  ///< lanes that have arrived, by warp
    BarrierReduction reduction = BarrierReduction::kPopc;
    std::uint32_t popc = 0;
    bool all = true, any = false;
};

/// Global allocations that a CTA has accessed. To be emptied before another launch, for memory may
/// have been freed since.
struct ExtentCache {
    /// By instruction: those of a loop touch different arrays, and each keeps to its own.
    std::array<Extent, 32> of_instruction;
    /// For instructions that meet in one entry above, and those that touch several arrays.
    std::array<Extent, 8> recent;
    std::uint32_t oldest = 0;  ///< of the recent ones
};

struct Cta {
    Launch* launch = nullptr;
    Dim3 index;
    std::uint64_t linear_index = 0;
    std::uint32_t sm = 0;         ///< the SM it runs on
    std::uint32_t slot = 0;       ///< which of the CTAs of that SM
    std::byte* shared = nullptr;  ///< launch->shared_bytes bytes
    /// Where global stores of its SM go; nullptr: to memory at once.
    StoreBuffer* stores = nullptr;
    /// Where global atomics of its SM wait; nullptr: they are performed at once.
    DeferredQueue* deferred = nullptr;
    /// Who performs its asynchronous copies; nullptr: they are performed at once.
    AsyncEngine* async = nullptr;
    /// Where texture instructions note what they read; nullptr: nobody times them.
    TexelFootprint* texels = nullptr;
    std::array<CtaBarrier, 16> barrier;
    std::vector<Warp*> warps;
    std::uint32_t live_warps = 0;
    std::uint32_t releases = 0;     ///< how often a barrier has let warps go
    std::uint64_t clock_reads = 0;  ///< how often its threads read a clock (emulation)
    /// Hears of barriers where a run is checked; nullptr: nobody does.
    BarrierObserver* observer = nullptr;
    ExtentCache extents;
    ClusterMember* member = nullptr;   ///< its part in a cluster, see cluster.h; nullptr: in none
    std::uint32_t cluster_rank = 0;    ///< 0 where it is in none
    std::uint32_t free_registers = 0;  ///< by thread of a warp: what setmaxnreg has released
};

/// Why a path of a warp does not run.
enum class PathStatus : std::uint8_t {
    kReady,
    kConvergence,  ///< at BSYNC of barrier `detail`
    kWarpSync,     ///< at WARPSYNC for the lanes `wanted`
    kCtaBarrier,   ///< at BAR number `detail`
    kCluster,      ///< at UCGABAR_WAIT
    kRegisters,    ///< at USETMAXREG.TRY_ALLOC for `detail` registers, which it executes again
    kCollective,   ///< its lanes run in another path's collective region, then from pc on
};

/// Threads of one warp that share a pc. A warp has one running path and any number of parked ones.
struct Path {
    std::uint32_t pc = 0;
    std::uint32_t lanes = 0;
    PathStatus status = PathStatus::kReady;
    std::uint8_t detail = 0;
    std::uint32_t wanted = 0;
    std::uint32_t after = 0;  ///< at WARPSYNC.COLLECTIVE: where its region ends; else 0
};

/// What the last memory instruction touched, for the machine that times it.
struct Access {
    Space space = Space::kGlobal;
    bool is_store = false;
    bool is_atomic = false;
    std::uint8_t width = 0;  ///< bytes a lane
    std::uint32_t lanes = 0;
    std::uint64_t address[kWarpSize] = {};  ///< shared and local: offset in their space
    std::uint32_t copy_to[kWarpSize] = {};  ///< LDGSTS: where in shared memory; UBLKCP: [0]
};

struct Warp {
    std::byte* bases[2] = {};  ///< this warp's rows; the launch's literal rows
    std::uint32_t mask = 0;    ///< lanes that the current instruction executes for
    std::uint32_t active = 0;  ///< lanes of the running path; 0: no path runs
    std::uint32_t pc = 0;      ///< code index of the running path's next instruction
    /// Instructions the running path may still execute before the machine looks at the warp; a
    /// semantic that ends or parks the path sets it to 0.
    std::uint32_t budget = 0;
    std::uint32_t predicate[kPredicateCount] = {};
    std::uint32_t live = 0;            ///< lanes that have not exited
    std::uint32_t lanes = 0;           ///< lanes that exist (the last warp of a CTA may be short)
    std::uint32_t index = 0;           ///< within the CTA
    bool has_yielded = false;          ///< the path gave way (YIELD, NANOSLEEP) in its last slice
    bool has_polled = false;           ///< ... for less than its turn
    std::uint32_t yields = 0;          ///< since a thread came to a barrier or ended
    std::uint32_t barrier_result = 0;  ///< reduction of the barrier that it passed last
    std::uint32_t registers = 0;       ///< of a thread, as setmaxnreg has left them
    // Emulation: how a warp takes turns with the others of its CTA, see cta_runner.cpp.
    static constexpr std::uint8_t kTurns = 4;
    std::uint8_t turns = kTurns;  ///< still to be taken since the start or the last barrier
    std::uint8_t awaited = 0;     ///< effects at which the next turn is, as there
    std::uint32_t progress = 0;   ///< instructions since the start or the last barrier
    std::vector<Path> parked;     ///< paths that do not run now, ready ones in order of waiting
    Cta* cta = nullptr;
    std::byte* local = nullptr;  ///< word w of lane l at (w * 32 + l) * 4
    bool has_written_local = false;
    Access access;

    Row& row(Operand operand) {
        return *reinterpret_cast<Row*>(bases[operand.is_literal()] + operand.offset());
    }
    const Row& row(Operand operand) const {
        return *reinterpret_cast<const Row*>(bases[operand.is_literal()] + operand.offset());
    }
    Row& register_row(unsigned number) {
        return reinterpret_cast<Row*>(bases[0])[kRegisterRow + number];
    }
    Row& uniform_row(unsigned number) {
        return reinterpret_cast<Row*>(bases[0])[kUniformRow + number];
    }
    Row& barrier_row(unsigned number) {
        return reinterpret_cast<Row*>(bases[0])[kBarrierRow + number];
    }
    std::uint32_t read(PredicateSource source) const {
        return predicate[source.index] ^ (source.negate ? kAllLanes : 0u);
    }
    /// Writes the lanes of mask; PT cannot be written because binding maps it to the sink.
    void write(std::uint8_t destination, std::uint32_t value) {
        predicate[destination] = (predicate[destination] & ~mask) | (value & mask);
    }
    /// x, y, z of a lane's thread index.
    Dim3 thread_index(unsigned lane) const;
};

inline Dim3 Warp::thread_index(unsigned lane) const {
    const Dim3& block = cta->launch->block;
    const std::uint32_t linear = index * kWarpSize + lane;
    return {linear % block.x, linear / block.x % block.y, linear / (block.x * block.y)};
}

}  // namespace lockstep::sass
