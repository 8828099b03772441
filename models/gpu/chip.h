// SPDX-License-Identifier: Apache-2.0
// The modelled chip: SMs, crossbar, memory partitions on one time line, and the distributor that
// hands CTAs to SMs. Lives as long as its device, so that L2 and the clocks go on between kernels.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/device.h"
#include "models/gpu/gcc.h"
#include "models/gpu/gpu_trace.h"
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
    std::uint64_t active_sms = 0;
};

class Chip {
  public:
    Chip(const config::Machine& machine, const SmParameters& parameters,
         const DeviceOptions& options);

    /// How far a launch is; called now and then while it runs. May throw to end it.
    using Report = std::function<void(std::uint64_t ctas_ended, std::uint64_t instructions,
                                      std::uint64_t cycles)>;

    /// Runs a kernel to its end. Throws LocatedFault.
    KernelCounters run(const KernelRun& run, std::uint64_t shared_carve_out, const Report& report);

    /// The next kernel finds an empty L2 even where L2 is to stay warm.
    void forget_l2() { l2_is_known_ = false; }

    /// To be called when a running kernel has freed memory.
    void forget_extents();

    std::uint64_t now(std::uint32_t sm) const { return sms_[sm]->now(); }
    std::size_t sm_count() const { return sms_.size(); }

  private:
    void distribute(engine::Time window_end);
    void trace_window(engine::Cycle end);
    /// Atomics and system calls of the window, in one order for all SMs.
    void perform_deferred();
    void check_limit(std::uint64_t instructions) const;
    [[noreturn]] void report_deadlock(const std::string& what) const;
    KernelCounters collect() const;

    const SmParameters& parameters_;
    const DeviceOptions options_;
    const engine::ClockDomain clock_;
    engine::Simulation simulation_;
    std::vector<std::unique_ptr<CrossbarPort>> ports_;
    std::vector<std::unique_ptr<Sm>> sms_;
    /// Those that get CTAs of the running kernel: CTAs beyond the first go where one has ended.
    std::span<const std::unique_ptr<Sm>> used_sms_;
    const GccParameters gcc_parameters_;
    std::vector<std::unique_ptr<Gcc>> gccs_;  ///< by GPC
    std::unique_ptr<MemorySystem> memory_;
    std::unique_ptr<GpuTrace> trace_;  ///< null: no trace is asked for

    std::vector<sass::DeferredQueue*> queues_;  ///< those of a window that are not empty

    std::vector<std::pair<engine::Cycle, Sm*>> ends_;  ///< of CTAs in the window

    bool l2_is_known_ = true;  ///< false: something else than this model has run meanwhile

    // Of the running kernel.
    std::uint64_t total_ctas_ = 0, next_cta_ = 0, ended_ctas_ = 0;
    engine::Cycle begin_ = 0;
    engine::Cycle distributor_free_ = 0;
};

}  // namespace lockstep::gpu
