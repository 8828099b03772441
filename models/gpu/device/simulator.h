// SPDX-License-Identifier: Apache-2.0
// The cycle model of a GPU: the emulator's answers, in time. Launches that are not selected are
// emulated in the same memory.
#pragma once

#include <memory>
#include <vector>

#include "models/gpu/chip/chip_system.h"
#include "models/gpu/device/copies_beside.h"
#include "models/gpu/device/described_modules.h"
#include "models/gpu/device/launch_selection.h"
#include "models/gpu/device/running_launch.h"
#include "models/gpu/emulator/emulator.h"
#include "models/gpu/execution/cta_runner.h"
#include "models/gpu/memory/device_transfers.h"
#include "models/gpu/memory/transferred.h"
#include "models/gpu/sampling/sampled_launches.h"
#include "models/launch_ranges.h"
#include "models/system/scheduler.h"

namespace lockstep::gpu {

class Simulator : public Emulator,
                  public system::Processor,
                  public LaunchRanges,
                  private LaunchRunner {
  public:
    Simulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options)
        : Simulator(std::move(machine), options, std::make_shared<ChipSystem>()) {}
    /// Beside others, on one Simulation.
    Simulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options,
              std::shared_ptr<ChipSystem> chips);
    ~Simulator() override;

    void note_transfer(DevicePointer pointer, std::uint64_t bytes, Transfer transfer) override;
    void unload_module(ModuleHandle module) override;
    LaunchResult launch(const LaunchRequest& request) override;
    Timeline* timeline() override;
    void sample_on_parts() override { sampled_.use_parts(); }
    void next_launch_uses(std::vector<MemoryRange> ranges) override { ranges_ = std::move(ranges); }

    /// Made where there is none yet.
    Chip& chip();

    // system::Processor
    void check(const LaunchRequest& request) override;
    std::size_t grids() const override { return running_.size() + emulated_.size(); }
    std::size_t max_grids() const override { return max_grids_; }
    void start(WorkId work, const KernelWork& kernel, int priority, SimulatedTime at) override;
    SimulatedTime run(SimulatedTime until, std::vector<system::GridEnd>& ended) override;
    void collect(std::vector<system::GridEnd>& ended) override;
    SimulatedTime copy_time(std::uint64_t bytes) override { return transfers_.copy_time(bytes); }
    SimulatedTime fill_time(std::uint64_t bytes) override { return transfers_.fill_time(bytes); }
    void carry(WorkId transfer, bool writes, std::uint64_t bytes, SimulatedTime begin,
               SimulatedTime end) override;
    SimulatedTime left(WorkId transfer, SimulatedTime now) override {
        return copies_.left(transfer, now);
    }
    std::vector<std::pair<WorkId, SimulatedTime>> take_triggered() override;
    bool spins() const override {
        return made() != nullptr && !running_.empty() && made()->spins();
    }
    void trace(const std::string& track, const std::string& name, SimulatedTime begin,
               SimulatedTime end) override;
    bool is_traced() const override { return !options_.trace.file.empty(); }
    std::string explain_wait() const override;

  private:
    LaunchResult simulate(const LaunchRequest& request);
    /// As much in time as it takes, the rest emulated.
    LaunchResult sample(const LaunchRequest& request);
    LaunchResult result_of(const RunningLaunch& running, const Grid& grid);
    // LaunchRunner
    std::unique_ptr<RunningLaunch> set_up(const LaunchRequest& request, ChipPart* part) override;
    LaunchResult simulate(RunningLaunch& running) override;
    LaunchResult emulate(const LaunchRequest& request) override;
    LaunchResult emulate_rest(const LaunchRequest& request,
                              const std::vector<bool>& done) override {
        return launch_rest(request, done);
    }
    [[noreturn]] void fail(const LocatedFault& fault, const sass::Launch& launch);
    /// All chips are gone, and what ran on this one.
    void end_all();
    /// Null: it has not been made yet.
    Chip* made() const { return chips_->find(number_); }
    SimulatedTime system_time(engine::Time chip_time) const {
        return static_cast<SimulatedTime>(static_cast<std::int64_t>(chip_time) + chips_->ahead);
    }

    const SmParameters parameters_;
    const MemoryParameters memory_parameters_;
    const std::size_t max_grids_;
    LaunchSelection selection_;
    DeviceTransfers transfers_;
    DescribedModules described_;
    std::vector<MemoryRange> ranges_;    ///< of the next launch
    SimulatedTime sampled_until_ = 0;    ///< launches whose time is sampled run one after the other
    std::shared_ptr<ChipSystem> chips_;  ///< made by the first launch; given up after a fault
    const std::size_t number_;           ///< of its chip there
    SampledLaunches sampled_;
    Transferred transferred_;
    CopiesBeside copies_;
    std::unique_ptr<system::Scheduler> scheduler_;  ///< made when the program's host shows up
    std::vector<std::unique_ptr<RunningLaunch>> running_;
    std::vector<system::GridEnd> emulated_;  ///< kernels that the scheduler has yet to hear of
};

}  // namespace lockstep::gpu
