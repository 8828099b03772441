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
#include "models/gpu/chip/gpu_trace.h"
#include "models/gpu/chip/spin_watch.h"
#include "models/gpu/chip/units.h"
#include "models/gpu/execution/byte_probe.h"

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
    engine::Time advance(engine::Time limit);
    /// Its link to others; null: it has none.
    PeerUnit* peers() const { return units_.peers(); }
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
    MemorySystem& memory() const { return units_.memory(); }

    /// Null: no trace is asked for.
    GpuTrace* trace() { return trace_.get(); }
    /// Every warp on the chip goes round in circles, without effect and since a while: only
    /// somebody else can release them, by writing memory.
    bool spins() const { return watch_.spins(); }

    /// A transfer has passed these bytes on, beside kernels or before: what L2 holds.
    void pass(std::uint64_t address, std::uint64_t bytes, Transfer transfer);
    /// The next kernel finds an empty L2 even where L2 is to stay warm.
    void forget_l2() { l2_is_known_ = false; }

    /// To be called when a running kernel has freed memory.
    void forget_extents();

    std::uint64_t now(std::uint32_t sm) const { return units_.sms()[sm]->now(); }
    std::size_t sm_count() const { return units_.sms().size(); }
    const engine::ClockDomain& clock() const { return clock_; }
    engine::Time time() const { return simulation_.now(); }
    /// Since the chip was idle.
    std::uint64_t instructions() const;
    std::uint64_t ctas_ended() const { return distributor_.ended(); }
    /// What CTAs that are on the chip wait for, of SM 0's first.
    std::string explain_wait() const;

    // For advance().
    bool has_finished() const { return !finished_.empty(); }
    bool is_at_rest() const { return units_.is_at_rest(); }
    /// Those that may have CTAs.
    std::span<const std::unique_ptr<Sm>> used_sms() const { return used_sms_; }
    /// To be called now and then while kernels run. Throws where they may not go on.
    void prepare_to_advance();
    void look_for_spins(engine::Time interval) {
        watch_.look(units_.sms(), simulation_.now(), interval);
    }
    /// Up to where it has been simulated.
    engine::Time reached() const { return reached_; }
    void set_reached(engine::Time time) { reached_ = time; }

  private:
    void begin_period(engine::Cycle begin, std::uint64_t ctas);
    bool may_clear_l2() const;
    void prefetch_to_sms(KernelRun& run);
    void prefetch(const Grid& grid);
    void look_at_waves(Grid& grid);
    void distribute(engine::Time window_end);
    void finish_grids();
    bool has_performed_stores(const Grid& grid) const;
    void finish(Grid& grid);
    void count_triggers();
    void trace_window(engine::Cycle end);
    /// Atomics and system calls of the window, in one order for all SMs.
    void perform_deferred(engine::Cycle end);

    const SmParameters& parameters_;
    const DeviceOptions options_;
    const engine::ClockDomain clock_;
    engine::Simulation& simulation_;
    ChipUnits units_;
    Distributor distributor_;
    /// Those that may get CTAs.
    std::span<const std::unique_ptr<Sm>> used_sms_;
    std::unique_ptr<GpuTrace> trace_;  ///< null: no trace is asked for
    SpinWatch watch_;
    ByteProbe probe_;
    engine::Time reached_ = 0;

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
