// SPDX-License-Identifier: Apache-2.0
// One of an SM's sub-cores: chooses a warp each cycle and issues its next instruction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/gpu/sm/constant_cache.h"
#include "models/gpu/sm/instruction_cache.h"
#include "models/gpu/sm/register_file.h"
#include "models/gpu/sm/shared_pipe.h"
#include "models/gpu/sm/warp_scheduler/warp_scheduler.h"
#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

class HeldWarps;
class Issue;
class MemoryArbiter;

/// What the sub-cores of an SM share.
struct SubCoreSurroundings {
    Warps& warps;
    SmCounters& counters;
    SmWatch& watch;
    L1InstructionCache& instructions;
    FetchUnit& fetch;
    MemoryArbiter& memory;
    HeldWarps& held;
    Issue& issue;
    SharedPipe& fp64;  ///< where they share it
};

/// Compiler-guided issue. A warp is looked at when something that it waits for
/// happens, never in between: stall counts run out on a wheel of 64 cycles, everything else comes
/// as an event of the SM.
class SubCore {
  public:
    SubCore(unsigned index, const SmParameters& parameters, const SubCoreSurroundings& sm);

    /// A warp's next instruction is to be looked at in cycle `at`, now or later.
    void wake(unsigned local, engine::Cycle at);
    /// A place in the queue of memory instructions is free again.
    void note_memory_slot(engine::Cycle now);

    /// Brings the warps that will issue into the host's caches: since the last window all other SMs
    /// have passed through them.
    void prefetch_due() const;
    /// The next cycle in which there is something to do; kNever: not before wake().
    engine::Cycle next() const { return next_; }
    void tick(engine::Cycle now);

    /// Forgets what is cached of the code and the constants of the last kernel.
    void begin_kernel(engine::Cycle now, std::uint64_t constants);
    void hold_constants(engine::Cycle at, std::uint32_t bytes) { constants_.hold(at, bytes); }
    /// A line has come to the SM.
    void instructions_arrived(std::uint32_t line, engine::Cycle now);
    void constants_arrived(std::uint32_t line, engine::Cycle now);
    unsigned index() const { return index_; }

  private:
    static constexpr unsigned kWheel = 64;

    /// Cycles for which an instruction holds its pipe.
    engine::Cycle hold(const StaticInstruction& in);
    void look_at(unsigned local, engine::Cycle now);
    unsigned choose(std::uint32_t eligible) const;
    std::uint32_t eligible(engine::Cycle now) const;
    /// Cycles in which warps that want to issue did not: who was able to, for the reason `rest`.
    void charge(std::uint32_t able, WarpState rest, engine::Cycle cycles);
    /// False where the SM holds the instruction back.
    bool issue(unsigned local, engine::Cycle now);
    engine::Cycle next_cycle(engine::Cycle now) const;
    WarpContext& context(unsigned local) const { return warps_.of(index_, local); }
    std::uint32_t have_room() const;
    engine::Cycle pipe_free(unsigned pipe) const;

    const SubCoreSurroundings sm_;
    Warps& warps_;
    const unsigned index_;
    const SmParameters& parameters_;
    const WarpScheduler& scheduler_;
    L0InstructionCache instructions_;
    ConstantCache constants_;
    RegisterFile registers_;

    std::array<std::uint32_t, kWheel> ready_{};       ///< warps to be looked at, by cycle
    std::uint64_t occupied_ = 0;                      ///< cycles of the wheel that have some
    std::array<std::uint32_t, kPipes> candidates_{};  ///< warps that lack nothing but their pipe
    std::uint32_t candidate_pipes_ = 0;
    std::uint32_t long_candidates_ = 0;  ///< those of them that want global memory
    std::array<engine::Cycle, kPipes> pipe_free_{};
    std::array<std::uint32_t, kPipes> pipe_late_{};  ///< parts of a cycle that a pipe owes
    engine::Cycle issue_free_ = 0;  ///< the pipeline's first stages are held until then
    unsigned last_ = 0;             ///< warp that issued last
    engine::Cycle next_ = engine::kNever;
    engine::Cycle accounted_ = 0;  ///< until when waits of warps that want to issue are counted
};

}  // namespace lockstep::gpu
