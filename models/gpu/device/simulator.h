// SPDX-License-Identifier: Apache-2.0
// The cycle model of a GPU: the emulator's answers, in time. Launches that are not selected are
// emulated in the same memory.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "models/gpu/chip/chip_system.h"
#include "models/gpu/device/launch_selection.h"
#include "models/gpu/emulator/emulator.h"
#include "models/gpu/emulator/progress.h"
#include "models/gpu/execution/cta_runner.h"
#include "models/gpu/memory/device_transfers.h"
#include "models/gpu/sampling/residency.h"
#include "models/gpu/sampling/samples.h"
#include "models/launch_ranges.h"
#include "models/system/scheduler.h"

namespace lockstep::gpu {

class Simulator : public Emulator, public system::Processor, public LaunchRanges {
  public:
    Simulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options)
        : Simulator(std::move(machine), options, std::make_shared<ChipSystem>()) {}
    /// Beside others, on one Simulation.
    Simulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options,
              std::shared_ptr<ChipSystem> chips);
    ~Simulator() override;

    void unload_module(ModuleHandle module) override;
    LaunchResult launch(const LaunchRequest& request) override;
    Timeline* timeline() override;
    void sample_on_parts() override { on_parts_ = true; }
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
    SimulatedTime left(WorkId transfer, SimulatedTime now) override;
    std::vector<std::pair<WorkId, SimulatedTime>> take_triggered() override;
    bool spins() const override {
        return made() != nullptr && !running_.empty() && made()->spins();
    }
    void trace(const std::string& track, const std::string& name, SimulatedTime begin,
               SimulatedTime end) override;
    bool is_traced() const override { return !options_.trace.file.empty(); }
    std::string explain_wait() const override;

  private:
    struct DescribedModule {
        explicit DescribedModule(const SmParameters& parameters) : table(parameters) {}
        StaticTable table;
        std::set<std::uint32_t> functions;  ///< code indices of those that it holds
        std::uint64_t code_address = 0, constant_address = 0;
    };
    struct Running;
    /// A part of the chip, or all of it, with what it belongs to.
    struct Part;

    /// What timing needs of the code that the kernel may run.
    const DescribedModule& described(const LaunchRequest& request, const sass::Launch& launch);
    LaunchResult simulate(const LaunchRequest& request);
    LaunchResult simulate(Running& running);
    /// As much in time as it takes, the rest emulated.
    LaunchResult sample(const LaunchRequest& request);
    LaunchResult emulate(const LaunchRequest& request);
    LaunchResult sample_first(const LaunchRequest& request);
    LaunchResult sample_waves(const LaunchRequest& request, Part* on,
                              const std::vector<std::uint64_t>& ctas, std::vector<bool>& done);
    LaunchResult completed(const LaunchRequest& request, const LaunchResult& result,
                           std::uint64_t ctas, const std::vector<bool>& done, double error);
    LaunchResult simulate_whole(const LaunchRequest& request);
    /// The part of the chip that sampled launches run on, made by the first one; null: all of it,
    /// as where nobody has allowed for parts.
    Part* part();
    std::unique_ptr<Running> set_up(const LaunchRequest& request, Part* part = nullptr);
    LaunchResult result_of(const Running& running, const Grid& grid);
    /// What a copy engine does with the memory: from `begin` to `end` while nothing runs, `bytes`
    /// of it; beside kernels as its traffic on the chip goes.
    struct Copy {
        WorkId transfer = 0;
        bool writes = false;
        std::uint64_t bytes = 0;
        SimulatedTime begin = 0, end = 0;
        std::optional<std::uint64_t> traffic;  ///< on the chip: of MemorySystem::left
    };
    /// What is left of a copy from a time on meets the kernels that run.
    void put_on_chip(Copy& copy, SimulatedTime from);
    /// No kernels are left: copies go on by themselves.
    void take_off_chip(SimulatedTime now);
    SimulatedTime left(const Copy& copy, SimulatedTime now) const;
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
    Samples samples_;
    Residency residency_;
    std::vector<MemoryRange> ranges_;  ///< of the next launch
    ResidentLines resident_;
    bool on_parts_ = false;
    std::unique_ptr<Part> part_;
    SimulatedTime sampled_until_ = 0;  ///< launches whose time is sampled run one after the other
    std::unique_ptr<system::Scheduler> scheduler_;  ///< made when the program's host shows up
    std::shared_ptr<ChipSystem> chips_;  ///< made by the first launch; given up after a fault
    std::size_t number_ = 0;             ///< of its chip there
    std::map<ModuleHandle, DescribedModule> described_;
    std::uint64_t loaded_ = 0;  ///< bytes of code and constants, from the end of memory down
    std::vector<std::unique_ptr<Running>> running_;
    std::vector<Copy> copies_;               ///< that may not have ended
    std::vector<system::GridEnd> emulated_;  ///< kernels that the scheduler has yet to hear of
};

}  // namespace lockstep::gpu
