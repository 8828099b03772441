// SPDX-License-Identifier: Apache-2.0
// Issue: the instruction is executed at once, by the same semantics as the emulator's; its results
// lie in the registers, and the control bits keep consumers from reading them too early, as they do
// on the hardware. What follows here is when the warp may go on.
#pragma once

#include "models/gpu/sm/cta_slots.h"
#include "models/gpu/sm/memory_issue.h"
#include "models/gpu/sm/warpgroup_products.h"

namespace lockstep::gpu {

/// The units that an instruction's effects go to.
struct IssueUnits {
    Warps& warps;
    const ResidentGrids& grids;
    CtaSlots& ctas;
    MemoryIssue& memory;
    CopyGroups& copies;
    BulkCopies& bulk_copies;
    MbarrierWaits& mbarriers;
    WarpgroupProducts& products;
    sass::DeferredQueue& deferred;
};

class Issue {
  public:
    Issue(const SmParameters& parameters, SmCounters& counters, SmWatch& watch,
          const IssueUnits& units)
        : parameters_(parameters), counters_(counters), watch_(watch), to_(units) {}
    void connect(ClusterUnit& cluster) { cluster_ = &cluster; }
    /// What CCTL.IVALL empties.
    void connect(MemoryUnit& memory) { memory_ = &memory; }

    /// Executes the warp's next instruction, which its unit takes at `begin`, and says what keeps
    /// the warp from its next one. Throws LocatedFault.
    void execute(WarpContext& context, const StaticInstruction& in, engine::Cycle now,
                 engine::Cycle begin);
    /// Passes of its pipe, beyond one, that what was executed last takes by what it found.
    unsigned further_passes() const { return further_passes_; }
    /// Something has issued since this was last asked.
    bool take_progress() { return std::exchange(has_issued_, false); }

  private:
    void run(WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
             std::uint32_t mask, engine::Cycle now);
    engine::Cycle start(WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
                        std::uint32_t mask, engine::Cycle ready, engine::Cycle now);
    void start_variable(WarpContext& context, const StaticInstruction& in, engine::Cycle now);
    void count(const WarpContext& context, const StaticInstruction& in, unsigned lanes);
    void send_to_cluster(engine::Cycle now);
    void end_path(WarpContext& context, const StaticInstruction& in, engine::Cycle ready,
                  engine::Cycle now);
    void prefetch_operands(const WarpContext& context) const;

    const SmParameters& parameters_;
    SmCounters& counters_;
    SmWatch& watch_;
    const IssueUnits to_;
    ClusterUnit* cluster_ = nullptr;  ///< null: no clusters
    MemoryUnit* memory_ = nullptr;
    bool has_issued_ = false;
    unsigned further_passes_ = 0;
    engine::Cycle fence_free_ = 0;  ///< when the next fence beyond the CTA may begin
};

}  // namespace lockstep::gpu
