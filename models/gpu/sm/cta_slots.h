// SPDX-License-Identifier: Apache-2.0
// Where an SM's CTAs live: whether one more has room, slots of CTAs and of their warps from a CTA's
// start to the end of its last warp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isa/sass/deferred_queue.h"
#include "isa/sass/store_buffer.h"
#include "models/gpu/cluster/cluster_unit.h"
#include "models/gpu/execution/cta_storage.h"
#include "models/gpu/sm/resident_grids.h"
#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

/// What the SM's CTAs have in common while they run.
struct CtaSurroundings {
    std::uint16_t sm = 0;
    sass::StoreBuffer* stores = nullptr;
    sass::DeferredQueue* deferred = nullptr;
    sass::AsyncEngine* async = nullptr;
    sass::TexelFootprint* texels = nullptr;
    ClusterUnit* cluster = nullptr;  ///< null: no clusters
};

/// Registers, warps and slots are counted here; shared memory is the SM's to divide.
class CtaSlots {
  public:
    CtaSlots(const std::string& sm, const SmParameters& parameters, ResidentGrids& grids,
             Warps& warps, SmCounters& counters, SmWatch& watch);

    /// The chip was idle, and the first of its kernels comes to the SM.
    void prepare(const KernelRun& run);
    /// All CTAs have ended.
    void clear() { slots_.clear(); }

    /// Whether one more CTA of the kernel has registers, warps and a slot.
    bool has_room(const KernelRun& run) const;
    /// How many of a kernel with room for one have it, at least.
    std::uint32_t room(const KernelRun& run) const;
    /// No CTA is here or announced.
    bool empty() const { return resident_ == 0 && starts_.empty(); }

    // From a CTA's start to its end
    /// A CTA that has room is to start at a cycle, as a member of a cluster where there is one.
    void announce(const KernelRun& run, std::uint64_t linear_index, engine::Cycle at,
                  sass::ClusterMember* member);
    /// The next cycle in which one starts; kNever: none.
    engine::Cycle next_start() const {
        return starts_.empty() ? engine::kNever : starts_.back().at;
    }
    /// Starts those that are due at the SM's cycle.
    void start_due(const CtaSurroundings& surroundings);
    /// All threads of the warp have ended; when its memory instructions have too, it goes, and
    /// with the last one its CTA.
    void retire_if_done(WarpContext& context, engine::Cycle now);
    /// Warps of the CTA that wait at barriers are looked at.
    void wake_waiting(std::uint32_t slot, engine::Cycle at);
    /// griddepcontrol.launch_dependents, or the CTA's end.
    void trigger_dependents(std::uint32_t slot, engine::Cycle now);

    // For the distributor
    bool has_ended() const { return !ended_.empty(); }
    bool has_triggered() const { return !triggered_.empty(); }
    /// CTAs that ended, and that let dependent launches begin, since this was last asked.
    std::vector<CtaEnd> take_ended() { return std::exchange(ended_, {}); }
    std::vector<CtaEnd> take_triggered() { return std::exchange(triggered_, {}); }
    /// How often a warp has come or gone.
    std::uint64_t arrivals() const { return counters_.warps + ended_warps_; }
    /// One of the CTAs, for the report of a fault; null: there is none.
    const sass::Cta* resident_cta() const;

    /// The slot of a CTA's warp.
    std::uint16_t slot_of(const sass::Warp& warp) const {
        return static_cast<std::uint16_t>(slots_[warp.cta->slot].first_warp + warp.index);
    }
    /// Allocations may have gone.
    void forget_extents();

  private:
    static constexpr std::uint32_t kAnyWarps = ~0u;
    struct Start {
        engine::Cycle at;
        std::uint64_t linear_index;
        ResidentGrid* grid;
        std::uint32_t first_warp;  ///< reserved, or kAnyWarps: to be found when it starts
        sass::ClusterMember* member;
    };
    struct Slot {
        CtaStorage* storage = nullptr;  ///< null: no CTA has been here since the chip was idle
        std::uint64_t launch = 0;       ///< that the storage was last prepared for
        ResidentGrid* grid = nullptr;
        std::uint32_t first_warp = 0;
        std::uint32_t warps_left = 0;  ///< with threads or memory instructions under way
        bool is_used = false;
        bool has_triggered = false;  ///< dependent launches
    };
    /// Warps that a sub-core holds, and since when it has had some.
    struct Presence {
        std::uint32_t warps = 0;
        engine::Cycle since = 0;
    };

    std::uint32_t find_warps(std::uint32_t count) const;
    std::uint32_t reserve_warps(std::uint32_t count);
    void start(const Start& start, const CtaSurroundings& surroundings);
    void start_warps(const Slot& slot, sass::Cta& cta);

    const std::string& sm_;
    const SmParameters& parameters_;
    ResidentGrids& grids_;
    Warps& warps_;
    SmCounters& counters_;
    SmWatch& watch_;
    std::vector<Slot> slots_;
    std::vector<std::unique_ptr<CtaStorage>> storages_;  ///< by slot, from kernel to kernel
    std::vector<bool> warps_used_;                       ///< by slot
    std::vector<Start> starts_;                          ///< the next one last
    std::vector<CtaEnd> ended_, triggered_;
    std::uint32_t resident_ = 0;
    std::uint64_t ended_warps_ = 0;
    engine::Cycle active_since_ = 0;
    engine::Cycle warp_start_free_ = 0;
    std::vector<Presence> presence_;  ///< by sub-core
};

}  // namespace lockstep::gpu
