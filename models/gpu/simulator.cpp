// SPDX-License-Identifier: Apache-2.0
// A launch is prepared as the emulator's is and then run by the chip. The carve-out of shared
// memory is the smallest that holds the CTAs which fit by everything else, as the driver chooses
// where the program states no preference.
#include "models/gpu/simulator.h"

#include <algorithm>
#include <sstream>

#include "isa/cubin/demangle.h"
#include "models/gpu/emulator/fault_report.h"
#include "models/gpu/emulator/progress.h"
#include "models/gpu/metrics.h"
#include "sim/engine/host_memory.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

/// Shared memory that an SM sets aside for the CTAs it holds: the smallest of the machine's
/// carve-outs that suffices.
std::uint64_t carve_out(const config::Machine& machine, std::uint64_t needed) {
    const std::string& text = machine.text("shared_memory.carve_outs");
    const auto most = static_cast<std::uint64_t>(machine.integer("shared_memory.size"));
    std::istringstream sizes(text);
    std::uint64_t kib = 0, last = 0, chosen = 0;
    char comma = ',';
    bool ascends = true;
    while (comma == ',' && sizes >> kib) {
        ascends = ascends && kib >= last && kib * 1024 <= most;
        if (chosen < needed) chosen = kib * 1024;
        last = kib;
        comma = 0;
        sizes >> comma;
    }
    if (!ascends || comma != 0 || last * 1024 != most)
        throw InputError(fmt::format(
            "{}: shared_memory.carve_outs: '{}' is no ascending list of sizes in KiB, as 0,8,16, "
            "up to shared_memory.size ({} KiB)",
            machine.name(), text, static_cast<double>(most) / 1024));
    return chosen;
}

class SimulatedEnvironment : public sass::Environment {
  public:
    SimulatedEnvironment(SystemCalls& calls, Chip& chip, double clock_mhz)
        : calls_(calls), chip_(chip), clock_mhz_(clock_mhz) {}
    void system_call(unsigned number, sass::Warp& warp) override {
        const std::uint64_t frees = calls_.frees();
        calls_.call(number, warp);
        if (calls_.frees() != frees) chip_.forget_extents();
    }
    std::uint64_t clock(const sass::Warp& warp) override { return chip_.now(warp.cta->sm); }
    std::uint64_t global_timer(const sass::Warp& warp) override {
        return static_cast<std::uint64_t>(static_cast<double>(clock(warp)) * 1e3 / clock_mhz_);
    }
    std::uint32_t sm_id(const sass::Warp& warp) override { return warp.cta->sm; }
    std::uint32_t sm_count() override { return static_cast<std::uint32_t>(chip_.sm_count()); }

  private:
    SystemCalls& calls_;
    Chip& chip_;
    double clock_mhz_;
};

}  // namespace

Simulator::Simulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options)
    : Emulator(std::move(machine), options), parameters_(*machine_), selection_(options.simulate) {}

Simulator::~Simulator() = default;

void Simulator::unload_module(ModuleHandle module) {
    described_.erase(module);
    GpuDevice::unload_module(module);
}

const Simulator::DescribedModule& Simulator::described(const LaunchRequest& request,
                                                       const sass::Launch& launch) {
    const auto [at, is_new] = described_.try_emplace(request.module, parameters_);
    DescribedModule& module = at->second;
    if (is_new) {
        // The driver puts code and constants into device memory; where, does not matter here, but
        // that modules do not share lines. Their bytes live elsewhere.
        constexpr std::uint64_t kConstants = 8 * 65536, kAlignment = 65536;
        const std::uint64_t code =
            (launch.program->code().size() * sass::Word::kBytes / kAlignment + 1) * kAlignment;
        const auto memory = static_cast<std::uint64_t>(machine_->integer("dram.size"));
        loaded_ = (loaded_ + code + kConstants) % (memory / 2);
        module.code_address = (memory - loaded_) / kAlignment * kAlignment;
        module.constant_address = module.code_address + code;
    }
    for (const sass::Program::Function& function : launch.program->functions()) {
        const bool may_run = !function.is_kernel || function.first == launch.entry;
        if (!function.bound || !may_run || !module.functions.insert(function.first).second)
            continue;
        module.table.describe(*launch.program, function.first, function.count);
    }
    return module;
}

LaunchResult Simulator::launch(const LaunchRequest& request) {
    if (selection_.takes(request.kernel)) return simulate(request);
    // What an emulated kernel would have left in L2 is not known.
    if (chip_ != nullptr) chip_->forget_l2();
    return Emulator::launch(request);
}

LaunchResult Simulator::simulate(const LaunchRequest& request) {
    sass::Launch launch;
    const cubin::Function& kernel = prepare(request, launch);
    if (chip_ == nullptr) {
        engine::grow_in_huge_pages();
        chip_ = std::make_unique<Chip>(*machine_, parameters_, options_);
    }
    SimulatedEnvironment environment(system_calls_, *chip_, parameters_.clock_mhz);
    launch.environment = &environment;

    KernelRun run;
    run.launch = &launch;
    const DescribedModule& module = described(request, launch);
    run.table = &module.table;
    run.code_address = module.code_address;
    run.constant_address = module.constant_address;
    run.warps_per_cta = static_cast<std::uint32_t>((request.block.volume() + sass::kWarpSize - 1) /
                                                   sass::kWarpSize);
    run.resident_ctas = resident_by_sm(kernel, request);
    // From sm_90 on a CTA's shared memory includes what the system keeps.
    const std::uint64_t of_cta =
        launch.arch >= 90
            ? launch.shared_bytes
            : std::uint64_t{kernel.shared_bytes} + request.dynamic_shared_bytes +
                  static_cast<std::uint64_t>(machine_->integer("shared_memory.reserved_per_cta"));
    const std::uint64_t shared = carve_out(*machine_, run.resident_ctas * of_cta);

    Progress progress(cubin::demangled(request.kernel), request.grid.volume(), options_.progress);
    const auto report = [&](std::uint64_t ctas, std::uint64_t instructions, std::uint64_t cycles) {
        progress.finished(ctas, instructions, cycles);
    };
    KernelCounters counters;
    try {
        counters = chip_->run(run, shared, report);
    } catch (const LocatedFault& fault) {
        chip_.reset();  // Tiles stopped in the middle of a window
        throw DeviceFault(fault.fault.kind, fault_report(fault, launch, memory_));
    }
    LaunchResult result{
        .warp_instructions = counters.sm.instructions,
        .thread_instructions = counters.sm.thread_instructions,
        .cycles = counters.cycles,
        .seconds = static_cast<double>(counters.cycles) / (parameters_.clock_mhz * 1e6)};
    result.metrics = derive_metrics(Peaks(*machine_), LaunchShape(*machine_, kernel, request),
                                    {.cycles = counters.cycles,
                                     .seconds = result.seconds,
                                     .sm = counters.sm,
                                     .memory = counters.memory,
                                     .partition = counters.partition,
                                     .gcc = counters.gcc});
    return result;
}

}  // namespace lockstep::gpu

namespace lockstep {

std::unique_ptr<Device> make_simulator(std::shared_ptr<const config::Machine> machine,
                                       const DeviceOptions& options) {
    return std::make_unique<gpu::Simulator>(std::move(machine), options);
}

}  // namespace lockstep
