// SPDX-License-Identifier: Apache-2.0
// A memory instruction as the core sees it: issued into its sub-core's queue, sources read, written
// back, done. Counters, groups and fences that wait for it are held and released here.
#pragma once

#include "models/gpu/sm/bulk_copies.h"
#include "models/gpu/sm/constant_loads.h"
#include "models/gpu/sm/copy_groups.h"
#include "models/gpu/sm/memory_arbiter.h"
#include "models/gpu/sm/texel_footprints.h"
#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

class MemoryIssue final : public MemoryListener {
  public:
    MemoryIssue(const SmParameters& parameters, Warps& warps, SmCounters& counters, SmWatch& watch,
                MemoryArbiter& arbiter, ConstantLoads& constants, CopyGroups& copies,
                BulkCopies& bulk_copies)
        : parameters_(parameters),
          warps_(warps),
          counters_(counters),
          watch_(watch),
          arbiter_(arbiter),
          constants_(constants),
          copies_(copies),
          bulk_copies_(bulk_copies) {}
    /// The way to other CTAs of clusters.
    void connect(ClusterUnit& cluster) { cluster_ = &cluster; }

    /// Where execution notes what texture fetches read.
    sass::TexelFootprint& noted_texels() { return texels_.noted(); }

    /// The warp has issued the instruction at `pc`, and execution has noted its access.
    void issue(WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
               engine::Cycle now);
    /// Likewise, for no lane: its predicate is false. It passes the queue and the memory unit as
    /// others do, without an address.
    void issue_for_none(WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
                        engine::Cycle now);
    /// It has been written back.
    void done(WarpContext& context, const Event& event);

    // MemoryListener
    void sources_read(engine::Cycle at, const MemoryInstructionHeader& instruction) override;
    void written_back(engine::Cycle at, const MemoryInstructionHeader& instruction) override;
    void sent(engine::Cycle at, const MemoryInstructionHeader& instruction) override;
    void performed(engine::Cycle at, const MemoryInstructionHeader& instruction) override;
    void remote_accepted(engine::Cycle at, const MemoryInstructionHeader& instruction) override;

  private:
    MemoryInstruction& queue(WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
                             const MemoryInstructionInfo& info, engine::Cycle now);
    void await(WarpContext& context, const StaticInstruction& in, const MemoryInstruction& entry,
               engine::Cycle now);
    void end(engine::Cycle at, const MemoryInstructionHeader& instruction, bool was_sent);
    void note_remote(const StaticInstruction& in, const sass::Access& access,
                     MemoryInstruction& entry);

    const SmParameters& parameters_;
    Warps& warps_;
    SmCounters& counters_;
    SmWatch& watch_;
    MemoryArbiter& arbiter_;
    ConstantLoads& constants_;
    CopyGroups& copies_;
    BulkCopies& bulk_copies_;
    TexelFootprints texels_;
    ClusterUnit* cluster_ = nullptr;  ///< null: no clusters
};

}  // namespace lockstep::gpu
