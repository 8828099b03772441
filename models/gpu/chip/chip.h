// SPDX-License-Identifier: Apache-2.0
// The modelled chip: SMs, crossbar, memory partitions on one time line, and the distributor of
// CTAs. Lives as long as its device, so that L2 and the clocks go on between kernels; while nothing
// runs, its clocks stand still.
#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/device.h"
#include "models/gpu/chip/distributor.h"
#include "models/gpu/chip/gcc.h"
#include "models/gpu/chip/gpu_trace.h"
#include "models/gpu/chip/spin_watch.h"
#include "models/gpu/cluster/cluster_network.h"
#include "models/gpu/execution/byte_probe.h"
#include "models/gpu/memory/memory_system.h"
#include "models/gpu/sm/sm.h"
#include "sim/engine/simulation.h"

namespace lockstep::gpu {

/// What one kernel did, as the chip's units counted it.
struct KernelCounters {
    std::uint64_t cycles = 0;  ///< of the SMs' clock, as profilers count a kernel's
    SmCounters sm;             ///< summed over SMs, as the following
    MemoryCounters memory;
    PartitionCounters partition;
    GccCounters gcc;
    ClusterCounters cluster;
    std::uint64_t active_sms = 0;
    std::vector<InstructionCounters> instructions;  ///< by code index; empty: not asked for
};

/// Where a chip stands among others on one Simulation.
struct ChipPlace {
    std::string prefix;                     ///< of its Tiles' names
    const PeerParameters* peers = nullptr;  ///< null: there is one chip
};

class Chip {
  public:
    Chip(engine::Simulation& simulation, const config::Machine& machine,
         const SmParameters& parameters, const DeviceOptions& options, const ChipPlace& place = {});

    /// How far a launch is; called now and then while it runs. May throw to end it.
    using Report = std::function<void(std::uint64_t ctas_ended, std::uint64_t instructions,
                                      std::uint64_t cycles)>;

    /// Runs a kernel to its end; nothing else runs. Throws LocatedFault.
    std::unique_ptr<Grid> run(const KernelRun& run, const Report& report);

    /// Starts a kernel at a time or as soon after as windows allow; beside others, if some run.
    /// Nothing may be in finished() then if none runs. Throws LocatedFault.
    /// With a prerequisite, which runs, its threads can wait for that one's end.
    Grid& start(const KernelRun& run, int priority, engine::Time at,
                const Grid* prerequisite = nullptr);
    /// Goes on until a kernel has ended, until windows that begin before `limit` are done, or for a
    /// bounded number of windows. Returns how far it has come. Throws LocatedFault.
    engine::Time advance(engine::Time limit) {
        Chip* const self = this;
        return advance_all({&self, 1}, limit);
    }
    /// The same of all chips of a Simulation: until any of them has ended a kernel.
    static engine::Time advance_all(std::span<Chip* const> chips, engine::Time limit);
    /// Its link to others; null: it has none.
    PeerUnit* peers() { return peers_.get(); }
    /// Kernels that have not ended.
    std::size_t grids() const { return distributor_.grids().size(); }
    /// Those that have, in the order of their ends; each to be given to collect().
    std::vector<std::unique_ptr<Grid>> take_finished() { return std::exchange(finished_, {}); }
    /// Kernels all of whose CTAs have triggered dependent launches or ended, and when.
    std::vector<std::pair<const Grid*, engine::Time>> take_triggered() {
        return std::exchange(triggered_, {});
    }
    /// What the chip did for a kernel that had it for itself, once everything has come to rest.
    KernelCounters collect(const Grid& grid);
    engine::Cycle duration(const Grid& grid) const {
        return grid.last_end + parameters_.launch_end - grid.begin;
    }
    engine::Time time_of_end(const Grid& grid) const {
        return clock_.start_of(grid.last_end + parameters_.launch_end);
    }

    engine::Simulation& simulation() { return simulation_; }
    MemorySystem& memory() { return *memory_; }

    /// Null: no trace is asked for.
    GpuTrace* trace() { return trace_.get(); }
    /// Every warp on the chip goes round in circles, without effect and since a while: only
    /// somebody else can release them, by writing memory.
    bool spins() const { return watch_.spins(); }

    /// The next kernel finds an empty L2 even where L2 is to stay warm.
    void forget_l2() { l2_is_known_ = false; }

    /// To be called when a running kernel has freed memory.
    void forget_extents();

    std::uint64_t now(std::uint32_t sm) const { return sms_[sm]->now(); }
    std::size_t sm_count() const { return sms_.size(); }
    const engine::ClockDomain& clock() const { return clock_; }
    engine::Time time() const { return simulation_.now(); }
    /// Since the chip was idle.
    std::uint64_t instructions() const;
    std::uint64_t ctas_ended() const { return distributor_.ended(); }
    /// What CTAs that are on the chip wait for, of SM 0's first.
    std::string explain_wait() const;

  private:
    void begin_period(engine::Cycle begin, std::uint64_t ctas);
    void prefetch_code(const Grid& grid);
    void connect_clusters(const config::Machine& machine, const std::string& prefix);
    void look_at_waves(Grid& grid);
    void distribute(engine::Time window_end);
    void finish(Grid& grid);
    void count_triggers();
    void trace_window(engine::Cycle end);
    /// Atomics and system calls of the window, in one order for all SMs.
    void perform_deferred(engine::Cycle end);
    static engine::StopReason simulate(std::span<Chip* const> chips, engine::Time limit);
    void prepare_to_advance();
    bool is_at_rest() const;
    static void come_to_rest(std::span<Chip* const> chips, engine::Time steps);

    const SmParameters& parameters_;
    const DeviceOptions options_;
    const engine::ClockDomain clock_;
    engine::Simulation& simulation_;
    std::vector<std::unique_ptr<CrossbarPort>> ports_;
    std::vector<std::unique_ptr<Sm>> sms_;
    /// Those that may get CTAs.
    std::span<const std::unique_ptr<Sm>> used_sms_;
    const GccParameters gcc_parameters_;
    std::vector<std::unique_ptr<Gcc>> gccs_;  ///< by GPC
    const GpcMap gpc_map_;
    Distributor distributor_;
    std::unique_ptr<ClusterParameters> cluster_parameters_;  ///< null: no clusters
    std::vector<std::unique_ptr<ClusterNetwork>> networks_;  ///< by GPC
    std::unique_ptr<PeerUnit> peers_;                        ///< null: there is one chip
    std::unique_ptr<MemorySystem> memory_;
    std::unique_ptr<GpuTrace> trace_;  ///< null: no trace is asked for
    SpinWatch watch_;
    ByteProbe probe_;
    engine::Time reached_ = 0;  ///< up to where it has been simulated

    std::vector<sass::DeferredQueue*> queues_;  ///< those of a window that are not empty

    std::vector<EndedCta> ends_;  ///< of the window

    bool l2_is_known_ = true;  ///< false: something else than this model has run meanwhile

    // Since the chip was idle.
    std::vector<std::unique_ptr<Grid>> finished_;
    std::vector<std::pair<const Grid*, engine::Time>> triggered_;
    std::uint64_t grids_started_ = 0;
    std::clock_t started_ = 0;  ///< host's
    bool is_long_ = false;
};

}  // namespace lockstep::gpu
