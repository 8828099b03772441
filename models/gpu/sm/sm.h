// SPDX-License-Identifier: Apache-2.0
// A streaming multiprocessor: sub-cores, their queues to the shared memory unit, resident CTAs.
// Here the units are put together and driven; each has a file of its own (README.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/sm/cta_host.h"
#include "models/gpu/sm/held_warps.h"
#include "models/gpu/sm/issue.h"
#include "models/gpu/sm/stage_share.h"
#include "models/gpu/sm/sub_core.h"
#include "sim/engine/tile.h"

namespace lockstep::gpu {

class Sm final : public engine::Tile, public CtaHost, public ClusterListener {
  public:
    Sm(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
       std::uint16_t index, const config::Machine& machine, const SmParameters& parameters);

    /// Joins the crossbar; before the first kernel.
    void connect(MemoryPort& port) { port_ = &port; }
    /// Its way to code and constants; to be connected as well.
    FetchUnit& fetch_unit() { return fetch_; }
    /// Has its data stage in common with another SM of its TPC. Before the first kernel.
    void share_data_stage(const Sm& other) { stage_.connect(other.stage_); }
    /// Joins the network of its GPC; without one it runs no clusters. Before the first kernel.
    void connect(ClusterNetwork& network, const ClusterParameters& parameters);

    /// The chip was idle and is to run kernels from now on: counters are zero, and caches empty
    /// when the first CTA comes. Costs nothing without a CTA.
    void begin_kernels();
    /// Completes the counters when all CTAs of all kernels have ended.
    void end_kernels();
    // CtaHost
    bool fits(const KernelRun& run) const override;
    std::uint32_t room(const KernelRun& run) const override {
        return fits(run) ? ctas_.room(run) : 0;
    }
    std::uint32_t load() const override { return grids_.warps(); }
    void start_cta(const KernelRun& run, std::uint64_t linear_index, engine::Cycle at,
                   sass::ClusterMember* member) override;
    ResidentGrids& grids() { return grids_; }
    CtaSlots& ctas() { return ctas_; }
    const CtaSlots& ctas() const { return ctas_; }
    const Warps& warps() const { return warps_; }
    /// Traces, profiles and samples.
    SmWatch& watch() { return watch_; }
    const SmWatch& watch() const { return watch_; }
    engine::Cycle now() const { return warps_.now(); }

    const SmCounters& counters() const { return counters_; }
    const MemoryCounters& memory_counters() const { return memory_counters_; }
    /// Of the last kernel's carve-out; nothing where none has run.
    L1Queues l1_queues() const;
    ClusterCounters cluster_counters() const {
        return cluster_ == nullptr ? ClusterCounters{} : cluster_->counters();
    }
    /// How often memory has been written. Whether a write has changed anything is known to watch()
    /// while changes are observed.
    std::uint64_t writes() const {
        return counters_.global_store + counters_.shared_store + counters_.local_store +
               counters_.atomics;
    }

    // engine::Tile
    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override {
        return ctas_.empty() && (memory_ == nullptr || memory_->idle()) &&
               (cluster_ == nullptr || cluster_->idle());
    }
    void at_window_end() override;
    std::string explain_wait() const override;

    // At a window's end, when all SMs' stores are committed.
    sass::DeferredQueue& deferred() { return deferred_; }
    /// Does what has waited. Throws LocatedFault.
    void perform(const sass::Deferred& deferred);
    /// A copy by another SM has written shared memory of a CTA here.
    void copy_came(const sass::AsyncCopy& copy, engine::Cycle at);
    /// All that waited has been performed: the warps that were held back go on.
    void end_waiting();
    /// What the kernel's threads have waited for by griddepcontrol.wait has ended.
    void end_grid_wait(const KernelRun& run);

  private:
    // ClusterListener: what other CTAs of clusters do here
    engine::Cycle serve_remote(engine::Cycle now, const sass::RemoteOperation& operation) override;
    void remote_done(engine::Cycle now, const MemoryInstructionHeader& instruction) override;
    void cluster_released(engine::Cycle now, sass::Cta& cta) override;

    void prepare(const KernelRun& run, engine::Cycle now);
    bool can_change_carve_out() const;
    void divide_l1(std::uint64_t carve_out);
    void process(engine::Cycle now);
    engine::Cycle next_event();
    void handle(const Event& event);
    void take_fetched(engine::Cycle now);
    void advance_memory(engine::Cycle now);

    const config::Machine& machine_;
    const std::uint16_t index_;
    SmCounters counters_;
    MemoryCounters memory_counters_;
    SmWatch watch_;
    Warps warps_;
    ResidentGrids grids_;
    CtaSlots ctas_;

    // Of the current window.
    sass::StoreBuffer stores_;      ///< global stores
    sass::DeferredQueue deferred_;  ///< atomics and system calls
    engine::Cycle window_end_ = 0;
    sass::GlobalMemory* global_ = nullptr;

    FetchUnit fetch_;
    L1InstructionCache l1_instructions_;
    ConstantLoads constants_;
    MemoryPort* port_ = nullptr;
    StageShare stage_;
    std::unique_ptr<MemoryUnit> memory_;    ///< null: no kernel has been here
    engine::Cycle memory_next_ = 0;         ///< its next event, as next_event() found it
    std::uint64_t memory_carve_out_ = 0;    ///< that it was made for
    std::unique_ptr<ClusterUnit> cluster_;  ///< null: no clusters
    MemoryArbiter arbiter_;
    CopyGroups copies_;
    MbarrierWaits mbarriers_;
    BulkCopies bulk_copies_;
    WarpgroupProducts products_;
    MemoryIssue memory_issue_;
    HeldWarps held_;
    Issue issue_;
    SharedPipe fp64_;
    std::vector<SubCore> sub_cores_;
    bool is_prepared_ = false;  ///< since the chip was idle
};

}  // namespace lockstep::gpu
