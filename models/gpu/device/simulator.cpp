// SPDX-License-Identifier: Apache-2.0
// A launch is prepared as the emulator's is and then run by the chip. The carve-out of shared
// memory is the smallest that holds the CTAs which fit by everything else, as the driver chooses
// where the program states no preference.
#include "models/gpu/device/simulator.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

#include "isa/cubin/demangle.h"
#include "isa/cubin/warp_registers.h"
#include "models/gpu/chip/profile.h"
#include "models/gpu/device/carve_out.h"
#include "models/gpu/device/launch_check.h"
#include "models/gpu/device/occupancy.h"
#include "models/gpu/emulator/progress.h"
#include "models/gpu/execution/fault_report.h"
#include "models/gpu/metrics/metrics.h"
#include "sim/engine/host_memory.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

/// What is a kernel's own where others shared the chip with it: what it executed, how long it was
/// there, and what its launch says. Units count for all kernels alike, and are left out.
bool is_own_metric(const std::string& name) {
    return name.starts_with("launch__") || name == "gpu__time_duration.sum" ||
           name == "sm__cycles_elapsed.max" || name == "sm__cycles_elapsed.avg.per_second" ||
           name == "smsp__inst_executed.sum" || name == "smsp__thread_inst_executed_pred_on.sum" ||
           name == "sm__maximum_warps_per_active_cycle_pct";
}

}  // namespace

Simulator::Simulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options,
                     std::shared_ptr<ChipSystem> chips)
    : Emulator(std::move(machine), options),
      parameters_(*machine_),
      memory_parameters_(MemoryParameters::of(*machine_)),
      max_grids_(static_cast<std::size_t>(machine_->integer("launch.max_grids"))),
      selection_(options.simulate),
      transfers_(memory_parameters_),
      described_(parameters_, static_cast<std::uint64_t>(machine_->integer("dram.size"))),
      chips_(std::move(chips)),
      number_(chips_->add({.machine = machine_.get(),
                           .parameters = &parameters_,
                           .options = options_,
                           .region = memory_.region(),
                           .ended = [this] { end_all(); }})),
      sampled_(*machine_, options_, memory_, *chips_, *this),
      transferred_(static_cast<std::uint64_t>(machine_->integer("l2.size"))),
      copies_(*chips_, number_) {}

Simulator::~Simulator() = default;

void Simulator::note_transfer(DevicePointer pointer, std::uint64_t bytes, Transfer transfer) {
    Emulator::note_transfer(pointer, bytes, transfer);
    if (options_.l2 == L2Start::kCold || options_.samples || bytes == 0) return;
    const AllocationInfo allocation = find(pointer);
    if (allocation.bytes != 0 && allocation.kind == MemoryKind::kDevice)
        transferred_.add({pointer, bytes, transfer});
}

void Simulator::unload_module(ModuleHandle module) {
    sampled_.forget(module);
    described_.forget(module);
    GpuDevice::unload_module(module);
}

Chip& Simulator::chip() {
    return chips_->chip(number_);
}

std::unique_ptr<RunningLaunch> Simulator::set_up(const LaunchRequest& request, ChipPart* part) {
    auto running = std::make_unique<RunningLaunch>();
    running->chip = part != nullptr ? &part->chip : &chip();
    if (part == nullptr)
        for (const auto& [begin, bytes, transfer] : transferred_.take())
            running->chip->pass(begin, bytes, transfer);
    running->machine = part != nullptr ? part->machine.get() : machine_.get();
    running->request = request;
    running->space = &free_space();
    sass::Launch& launch = running->launch;
    const cubin::Function& kernel = prepare(request, launch, *running->space);
    running->kernel = &kernel;
    running->environment = std::make_unique<SimulatedEnvironment>(
        system_calls_, *running->chip, static_cast<std::uint32_t>(machine_->integer("sm.count")),
        chips_->ahead);
    launch.environment = running->environment.get();

    KernelRun& run = running->run;
    run.launch = &launch;
    const DescribedModule& module = described_.of(request.module, launch);
    run.table = &module.table;
    run.code_address = module.code_address;
    run.constant_address = module.constant_address;
    run.warps_per_cta = static_cast<std::uint32_t>((request.block.volume() + sass::kWarpSize - 1) /
                                                   sass::kWarpSize);
    run.resident_ctas = resident_by_sm(kernel, request);
    // From sm_90 on a CTA's shared memory includes what the system keeps.
    run.shared_per_cta =
        launch.arch >= 90
            ? launch.shared_bytes
            : std::uint64_t{kernel.shared_bytes} + request.dynamic_shared_bytes +
                  static_cast<std::uint64_t>(machine_->integer("shared_memory.reserved_per_cta"));
    run.shared_carve_out = carve_out(*machine_, run.resident_ctas * run.shared_per_cta);
    run.registers_per_cta = run.warps_per_cta * warp_registers(kernel);
    return running;
}

LaunchResult Simulator::result_of(const RunningLaunch& running, const Grid& grid) {
    const KernelCounters counters = running.chip->collect(grid);
    LaunchResult result{
        .warp_instructions = counters.sm.instructions,
        .thread_instructions = counters.sm.thread_instructions,
        .cycles = counters.cycles,
        .seconds = static_cast<double>(counters.cycles) / (parameters_.clock_mhz * 1e6)};
    const engine::Cycle cycles =
        counters.cycles + (parameters_.has_profiler ? parameters_.launch_profiler : 0);
    result.metrics = derive_metrics(
        Peaks(*running.machine), LaunchShape(*machine_, *running.kernel, running.request),
        {.cycles = cycles,
         .seconds = static_cast<double>(cycles) / (parameters_.clock_mhz * 1e6),
         .sm = counters.sm,
         .memory = counters.memory,
         .partition = counters.partition,
         .gcc = counters.gcc,
         .cluster = counters.cluster});
    if (!counters.instructions.empty())
        result.profile =
            make_profile(*running.launch.program, counters.instructions,
                         [&module = *loaded(running.request.module).module](std::uint32_t index) {
                             return module.source_line(index);
                         });
    if (running.is_beside_copies)
        result.metrics.emplace_back("lockstep__beside_copies", std::uint64_t{1});
    if (grid.was_alone) return result;
    std::erase_if(result.metrics, [](const auto& metric) { return !is_own_metric(metric.first); });
    result.metrics.emplace_back("lockstep__shared_the_chip", std::uint64_t{1});
    return result;
}

void Simulator::end_all() {
    for (const std::unique_ptr<RunningLaunch>& running : running_) running->space->is_used = false;
    sampled_.end_parts();
    running_.clear();
    emulated_.clear();
    copies_.clear();
}

void Simulator::fail(const LocatedFault& fault, const sass::Launch& launch) {
    // Of another chip, maybe; what it points to goes with its launch.
    const std::string report =
        fault_report(fault, fault.launch != nullptr ? *fault.launch : launch, memory_);
    chips_->clear();
    throw DeviceFault(fault.fault.kind, report);
}

LaunchResult Simulator::launch(const LaunchRequest& request) {
    if (!selection_.takes(request.kernel)) return emulate(request);
    return options_.samples ? sample(request) : simulate(request);
}

LaunchResult Simulator::emulate(const LaunchRequest& request) {
    // What an emulated kernel would have left in L2 is not known.
    if (made() != nullptr) made()->forget_l2();
    transferred_.take();
    return Emulator::launch(request);
}

LaunchResult Simulator::sample(const LaunchRequest& request) {
    const std::vector<MemoryRange> ranges = std::exchange(ranges_, {});
    check(request);
    // CTAs of a cluster are placed together, those of a cooperative launch wait for each other.
    const bool is_one =
        request.cooperative || is_clustered(*find_kernel(request.module, request.kernel), request);
    return sampled_.run(request, is_one, ranges);
}

LaunchResult Simulator::simulate(const LaunchRequest& request) {
    LOCKSTEP_CHECK(running_.empty(), "a launch by itself while {} others run", running_.size());
    return simulate(*set_up(request, nullptr));
}

LaunchResult Simulator::simulate(RunningLaunch& running) {
    const LaunchRequest& request = running.request;
    Progress progress(cubin::demangled(request.kernel), request.grid.volume(), options_.progress);
    try {
        const std::unique_ptr<Grid> grid = running.chip->run(
            running.run, [&](std::uint64_t ctas, std::uint64_t instructions, std::uint64_t cycles) {
                progress.finished(ctas, instructions, cycles);
            });
        return result_of(running, *grid);
    } catch (const LocatedFault& fault) {
        fail(fault, running.launch);
    }
}

Timeline* Simulator::timeline() {
    if (scheduler_ == nullptr) scheduler_ = std::make_unique<system::Scheduler>(*machine_, *this);
    return scheduler_.get();
}

void Simulator::check(const LaunchRequest& request) {
    const cubin::Function* kernel = find_kernel(request.module, request.kernel);
    if (kernel == nullptr)
        throw LaunchRefused(LaunchRefused::Reason::kNoKernel,
                            fmt::format("no kernel named {}", request.kernel));
    check_launch(*machine_, *kernel, request);
}

void Simulator::start(WorkId work, const KernelWork& kernel, int priority, SimulatedTime at) {
    if (!selection_.takes(kernel.request.kernel)) {
        emulated_.push_back({work, at, emulate(kernel.request)});
        return;
    }
    if (options_.samples) {
        // Beside others its time would be another: they wait for each other.
        const LaunchResult result = sample(kernel.request);
        constexpr double kPicoseconds = 1e12;
        sampled_until_ = std::max(sampled_until_, at) +
                         static_cast<SimulatedTime>(result.seconds * kPicoseconds);
        emulated_.push_back({work, sampled_until_, result});
        return;
    }
    std::unique_ptr<RunningLaunch> running = set_up(kernel.request, nullptr);
    running->work = work;
    running->progress = std::make_unique<Progress>(cubin::demangled(kernel.request.kernel),
                                                   kernel.request.grid.volume(), options_.progress);
    running->space->is_used = true;
    // The chip's clock stands while nothing runs: that DRAM's refreshes, or whatever else has a
    // rhythm, meet a kernel as they would without a host.
    if (chips_->is_idle())
        chips_->set_ahead(static_cast<std::int64_t>(at) - static_cast<std::int64_t>(chip().time()));
    const std::int64_t chip_time = static_cast<std::int64_t>(at) - chips_->ahead;
    const auto ahead = std::find_if(running_.begin(), running_.end(), [&](const auto& other) {
        return kernel.prerequisite != 0 && other->work == kernel.prerequisite;
    });
    running->grid = &made()->start(running->run, priority,
                                   static_cast<engine::Time>(std::max<std::int64_t>(chip_time, 0)),
                                   ahead == running_.end() ? nullptr : (*ahead)->grid);
    running_.push_back(std::move(running));
    if (copies_.meet_kernel(at)) running_.back()->is_beside_copies = true;
}

void Simulator::carry(WorkId transfer, bool writes, std::uint64_t bytes, SimulatedTime begin,
                      SimulatedTime end) {
    copies_.carry(transfer, writes, bytes, begin, end, !running_.empty());
    for (const std::unique_ptr<RunningLaunch>& running : running_) running->is_beside_copies = true;
}

SimulatedTime Simulator::run(SimulatedTime until, std::vector<system::GridEnd>& ended) {
    if (!emulated_.empty()) {
        ended = std::exchange(emulated_, {});
        return running_.empty() ? until : system_time(made()->time());
    }
    const auto limit = static_cast<std::int64_t>(
        std::min<SimulatedTime>(until, std::numeric_limits<std::int64_t>::max() / 2));
    engine::Time time = 0;
    try {
        time = chips_->advance(
            static_cast<engine::Time>(std::max<std::int64_t>(limit - chips_->ahead, 0)));
    } catch (const LocatedFault& fault) {
        fail(fault, running_.front()->launch);
    }
    const SimulatedTime reached = system_time(time);
    const Chip& chip = *made();
    running_.front()->progress->finished(
        chip.ctas_ended(), chip.instructions(),
        chip.clock().cycle_at(time) - running_.front()->grid->begin);
    collect(ended);
    return reached;
}

void Simulator::collect(std::vector<system::GridEnd>& ended) {
    std::move(emulated_.begin(), emulated_.end(), std::back_inserter(ended));
    emulated_.clear();
    Chip* const chip = made();
    if (chip == nullptr) return;
    for (const std::unique_ptr<Grid>& grid : chip->take_finished()) {
        const auto at = std::find_if(running_.begin(), running_.end(), [&](const auto& running) {
            return running->grid == grid.get();
        });
        ended.push_back(
            {(*at)->work, system_time(chip->time_of_end(*grid)), result_of(**at, *grid)});
        (*at)->space->is_used = false;
        const SimulatedTime end = ended.back().at;
        running_.erase(at);
        if (running_.empty()) copies_.take_off_chip(end);
    }
}

std::vector<std::pair<WorkId, SimulatedTime>> Simulator::take_triggered() {
    std::vector<std::pair<WorkId, SimulatedTime>> triggered;
    if (made() == nullptr) return triggered;
    for (const auto& [grid, at] : made()->take_triggered())
        for (const std::unique_ptr<RunningLaunch>& running : running_)
            if (running->grid == grid) triggered.emplace_back(running->work, system_time(at));
    return triggered;
}

void Simulator::trace(const std::string& track, const std::string& name, SimulatedTime begin,
                      SimulatedTime end) {
    GpuTrace* const trace = chip().trace();
    const engine::ClockDomain& clock = chip().clock();
    if (trace != nullptr) trace->slice(track, name, clock.cycle_at(begin), clock.cycle_at(end));
}

std::string Simulator::explain_wait() const {
    if (made() == nullptr || running_.empty()) return "";
    return fmt::format("  on the chip, {}\n", made()->explain_wait());
}

}  // namespace lockstep::gpu

namespace lockstep {

std::unique_ptr<Device> make_simulator(std::shared_ptr<const config::Machine> machine,
                                       const DeviceOptions& options) {
    return std::make_unique<gpu::Simulator>(std::move(machine), options);
}

}  // namespace lockstep
