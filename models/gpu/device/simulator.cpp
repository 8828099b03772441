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
#include "models/gpu/chip/profile.h"
#include "models/gpu/device/launch_check.h"
#include "models/gpu/device/occupancy.h"
#include "models/gpu/emulator/progress.h"
#include "models/gpu/execution/fault_report.h"
#include "models/gpu/metrics/metrics.h"
#include "models/gpu/sampling/part.h"
#include "models/gpu/sampling/waves.h"
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
    SimulatedEnvironment(SystemCalls& calls, Chip& chip, std::uint32_t sms,
                         const std::int64_t& ahead)
        : calls_(calls), chip_(chip), sms_(sms), ahead_(ahead) {}
    void system_call(unsigned number, sass::Warp& warp) override {
        const std::uint64_t frees = calls_.frees();
        calls_.call(number, warp);
        if (calls_.frees() != frees) chip_.forget_extents();
    }
    std::uint64_t clock(const sass::Warp& warp) override { return chip_.now(warp.cta->sm); }
    std::uint64_t global_timer(const sass::Warp& warp) override {
        constexpr std::int64_t kNanosecond = 1000;
        const auto time = static_cast<std::int64_t>(chip_.clock().start_of(clock(warp)));
        return static_cast<std::uint64_t>((time + ahead_) / kNanosecond);
    }
    std::uint32_t sm_id(const sass::Warp& warp) override { return warp.cta->sm; }
    std::uint32_t sm_count() override { return sms_; }

  private:
    SystemCalls& calls_;
    Chip& chip_;
    const std::uint32_t sms_;  ///< of the whole chip
    const std::int64_t& ahead_;
};

/// CTAs on the part of a chip, at least; fewer are little work on the whole.
constexpr std::uint64_t kLeastCtas = 4;

/// Cycles of an average slice of L2 behind each of the chip's partitions.
std::vector<double> busy_cycles(const MemorySystem& memory) {
    const std::size_t tiles = memory.parameters().tiles_per_l2_partition;
    std::vector<double> slices(tiles, 0), busy;
    for (std::uint32_t i = 0; i < memory.map().slices(); ++i)
        ++slices[memory.map().tile_of_slice(i)];
    for (std::size_t i = 0; i < memory.partitions(); ++i)
        busy.push_back(static_cast<double>(memory.partition(i).counters().slice_busy) /
                       slices[i % tiles]);
    return busy;
}

/// Whether partitions have worked about as much since then.
bool is_even(const std::vector<double>& before, const std::vector<double>& now) {
    constexpr double kEven = 1.5;
    double most = 0, sum = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
        most = std::max(most, now[i] - before[i]);
        sum += now[i] - before[i];
    }
    return most * static_cast<double>(now.size()) <= kEven * sum;
}

/// What is a kernel's own where others shared the chip with it: what it executed, how long it was
/// there, and what its launch says. Units count for all kernels alike, and are left out.
bool is_own_metric(const std::string& name) {
    return name.starts_with("launch__") || name == "gpu__time_duration.sum" ||
           name == "sm__cycles_elapsed.max" || name == "sm__cycles_elapsed.avg.per_second" ||
           name == "smsp__inst_executed.sum" || name == "smsp__thread_inst_executed_pred_on.sum" ||
           name == "sm__maximum_warps_per_active_cycle_pct";
}

}  // namespace

struct Simulator::Part {
    Part(std::shared_ptr<const config::Machine> given, const DeviceOptions& options)
        : machine(std::move(given)),
          parameters(*machine),
          system({.name = machine->name() + "_part",
                  .threads = options.threads,
                  .shuffle = options.shuffle,
                  .slowest_cycle =
                      engine::ClockDomain::from_megahertz(parameters.clock_mhz).start_of(1)}),
          chip(system.simulation(), *machine, parameters, options) {}
    const std::shared_ptr<const config::Machine> machine;
    const SmParameters parameters;
    system::System system;
    Chip chip;
};

/// A launch from its preparation to its end.
struct Simulator::Running {
    Chip* chip = nullptr;
    const config::Machine* machine = nullptr;  ///< that the chip is
    WorkId work = 0;
    LaunchRequest request;
    const cubin::Function* kernel = nullptr;
    sass::Launch launch;
    LaunchSpace* space = nullptr;
    KernelRun run;
    Grid* grid = nullptr;
    std::unique_ptr<SimulatedEnvironment> environment;
    std::unique_ptr<Progress> progress;
    bool is_beside_copies = false;
};

Simulator::Simulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options,
                     std::shared_ptr<ChipSystem> chips)
    : Emulator(std::move(machine), options),
      parameters_(*machine_),
      memory_parameters_(MemoryParameters::of(*machine_)),
      max_grids_(static_cast<std::size_t>(machine_->integer("launch.max_grids"))),
      selection_(options.simulate),
      transfers_(memory_parameters_),
      // Of two parts of an L2 both may hold what is read.
      residency_(static_cast<std::uint64_t>(machine_->integer("l2.size")) /
                 memory_parameters_.l2_partitions),
      chips_(std::move(chips)) {
    number_ = chips_->add({.machine = machine_.get(),
                           .parameters = &parameters_,
                           .options = options_,
                           .region = memory_.region(),
                           .ended = [this] { end_all(); }});
}

Simulator::~Simulator() = default;

void Simulator::unload_module(ModuleHandle module) {
    samples_.forget(module);
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

Chip& Simulator::chip() {
    return chips_->chip(number_);
}

std::unique_ptr<Simulator::Running> Simulator::set_up(const LaunchRequest& request, Part* part) {
    auto running = std::make_unique<Running>();
    running->chip = part != nullptr ? &part->chip : &chip();
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
    const DescribedModule& module = described(request, launch);
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

LaunchResult Simulator::result_of(const Running& running, const Grid& grid) {
    const KernelCounters counters = running.chip->collect(grid);
    LaunchResult result{
        .warp_instructions = counters.sm.instructions,
        .thread_instructions = counters.sm.thread_instructions,
        .cycles = counters.cycles,
        .seconds = static_cast<double>(counters.cycles) / (parameters_.clock_mhz * 1e6)};
    result.metrics = derive_metrics(Peaks(*running.machine),
                                    LaunchShape(*machine_, *running.kernel, running.request),
                                    {.cycles = counters.cycles,
                                     .seconds = result.seconds,
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
    for (const std::unique_ptr<Running>& running : running_) running->space->is_used = false;
    part_.reset();
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
    return Emulator::launch(request);
}

LaunchResult Simulator::simulate(const LaunchRequest& request) {
    LOCKSTEP_CHECK(running_.empty(), "a launch by itself while {} others run", running_.size());
    return simulate(*set_up(request));
}

LaunchResult Simulator::simulate(Running& running) {
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

LaunchResult Simulator::sample(const LaunchRequest& request) {
    const std::vector<MemoryRange> ranges = std::exchange(ranges_, {});
    const bool is_warm = options_.l2 == L2Start::kWarm;
    check(request);
    const std::string key =
        Samples::key_of(request, memory_) + (is_warm ? residency_.text_of(ranges) : std::string());
    LaunchResult result;
    if (const LaunchResult* const known = samples_.find(key)) {
        result = Samples::like(*known, emulate(request));
    } else {
        resident_ = is_warm ? residency_.lines() : ResidentLines();
        const bool is_one = request.cooperative ||
                            is_clustered(*find_kernel(request.module, request.kernel), request);
        result = is_one ? simulate_whole(request) : sample_first(request);
        samples_.add(key, result);
    }
    residency_.use(ranges);
    return result;
}

/// The first launch of its kind, on a part of the chip if that gets enough CTAs.
LaunchResult Simulator::sample_first(const LaunchRequest& request) {
    Part* const on = part();
    const std::uint64_t ctas = request.grid.volume();
    const auto sms = static_cast<std::uint64_t>(machine_->integer("sm.count"));
    const std::uint64_t share = on == nullptr ? 0 : share_of(ctas, sms, on->chip.sm_count());
    std::vector<std::uint64_t> block = block_of(request.grid, share < kLeastCtas ? ctas : share);
    std::vector<bool> done(ctas, false);
    if (share < kLeastCtas) {
        const LaunchResult result = sample_waves(request, nullptr, block, done);
        return completed(request, result, ctas, done, 0);
    }
    const MemorySystem& memory = on->chip.memory();
    const std::vector<double> before = busy_cycles(memory);
    LaunchResult result = sample_waves(request, on, block, done);
    if (is_even(before, busy_cycles(memory)))
        return completed(request, result, share, done, kPartError / 100);
    // The block goes to few of the part's channels, as the whole grid may or may not.
    const std::uint64_t instructions = result.warp_instructions,
                        threads = result.thread_instructions;
    block.clear();
    for (std::uint64_t i = 0; i < ctas; ++i)
        if (!done[i]) block.push_back(i);
    result = sample_waves(request, nullptr, block, done);
    result.warp_instructions += instructions;
    result.thread_instructions += threads;
    const double missing =
        static_cast<double>(ctas - block.size()) / static_cast<double>(block.size());
    stretch(result, 1 + missing, 1);
    return completed(request, result, block.size(), done, missing);
}

/// The rest of the launch is emulated; `result` is of so many of its CTAs, and takes as long as all
/// of them. `error`: what is not known of that, as a share of it.
LaunchResult Simulator::completed(const LaunchRequest& request, const LaunchResult& result,
                                  std::uint64_t ctas, const std::vector<bool>& done, double error) {
    const auto simulated = static_cast<std::uint64_t>(std::ranges::count(done, true));
    const double all = error + sample_error(result) / 100;
    LaunchResult whole = result;
    if (simulated != done.size() || error != 0)
        whole = extrapolated(result, launch_rest(request, done), ctas, done.size(), 0,
                             all * static_cast<double>(result.cycles));
    set_sampled(whole, simulated);
    return whole;
}

/// The time of these CTAs, by as many waves of them as it takes, which are marked as done.
LaunchResult Simulator::sample_waves(const LaunchRequest& request, Part* on,
                                     const std::vector<std::uint64_t>& ctas,
                                     std::vector<bool>& done) {
    const std::unique_ptr<Running> running = set_up(request, on);
    Chip& chip = *running->chip;
    running->run.ctas = &ctas;
    SampledWaves waves(ctas.size(), std::uint64_t{running->run.resident_ctas} * chip.sm_count(),
                       static_cast<std::uint64_t>(running->machine->integer("l2.size")));
    if (!waves.is_whole()) running->run.waves = &waves;
    chip.forget_l2();
    chip.memory().set_resident(&resident_);
    LaunchResult result = simulate(*running);
    chip.memory().set_resident(nullptr);
    const double share = static_cast<double>(chip.sm_count()) / machine_->number("sm.count");
    for (auto& [name, value] : result.metrics)
        if (name == "launch__waves_per_multiprocessor") value = value.as_double() * share;
    for (std::uint64_t i = 0; i < waves.simulated(); ++i) done[ctas[i]] = true;
    if (waves.is_whole()) return result;
    return extrapolated(result, {}, waves.simulated(), ctas.size(), waves.missing_cycles(),
                        waves.uncertainty());
}

/// CTAs of a cluster are placed together, those of a cooperative launch wait for each other.
LaunchResult Simulator::simulate_whole(const LaunchRequest& request) {
    const std::unique_ptr<Running> running = set_up(request);
    running->chip->forget_l2();
    running->chip->memory().set_resident(&resident_);
    LaunchResult result = simulate(*running);
    running->chip->memory().set_resident(nullptr);
    set_sampled(result, request.grid.volume());
    return result;
}

Simulator::Part* Simulator::part() {
    if (!on_parts_) return nullptr;
    const auto sms = static_cast<std::uint32_t>(machine_->integer("sm.count"));
    // A trace shows the whole chip, and only that has links to others.
    if (part_ == nullptr && part_sms(sms) != 0 && has_parts(*machine_) &&
        options_.trace.file.empty() && chips_->is_alone())
        part_ = std::make_unique<Part>(part_of(*machine_, part_sms(sms)), options_);
    return part_.get();
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
    std::unique_ptr<Running> running = set_up(kernel.request);
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
    for (Copy& copy : copies_) {
        if (left(copy, at) == 0) continue;
        if (!copy.traffic) put_on_chip(copy, at);
        running_.back()->is_beside_copies = true;
    }
}

void Simulator::carry(WorkId transfer, bool writes, std::uint64_t bytes, SimulatedTime begin,
                      SimulatedTime end) {
    std::erase_if(copies_, [&](const Copy& copy) { return left(copy, begin) == 0; });
    copies_.push_back({transfer, writes, bytes, begin, end, {}});
    if (!running_.empty()) put_on_chip(copies_.back(), begin);
}

SimulatedTime Simulator::left(const Copy& copy, SimulatedTime now) const {
    if (!copy.traffic) return copy.end > now ? copy.end - now : 0;
    const double share = made()->memory().left(*copy.traffic);
    if (share == 0) return 0;
    return std::max<SimulatedTime>(
        1, static_cast<SimulatedTime>(share * static_cast<double>(copy.end - copy.begin)));
}

SimulatedTime Simulator::left(WorkId transfer, SimulatedTime now) {
    SimulatedTime most = 0;
    for (const Copy& copy : copies_)
        if (copy.transfer == transfer) most = std::max(most, left(copy, now));
    return most;
}

void Simulator::put_on_chip(Copy& copy, SimulatedTime from) {
    from = std::max(from, copy.begin);
    const double share = static_cast<double>(copy.end - from) /
                         static_cast<double>(std::max<SimulatedTime>(copy.end - copy.begin, 1));
    copy.bytes = static_cast<std::uint64_t>(share * static_cast<double>(copy.bytes));
    copy.begin = from;
    const auto cycle = [&](SimulatedTime time) {
        const auto on_chip = static_cast<std::int64_t>(time) - chips_->ahead;
        return made()->clock().first_cycle_from(std::max(
            made()->time(), static_cast<engine::Time>(std::max<std::int64_t>(on_chip, 0))));
    };
    copy.traffic = made()->memory().carry(
        copy.writes ? memory::dram::Direction::kWrite : memory::dram::Direction::kRead, copy.bytes,
        cycle(from), cycle(copy.end));
    for (const std::unique_ptr<Running>& running : running_) running->is_beside_copies = true;
}

void Simulator::take_off_chip(SimulatedTime now) {
    for (Copy& copy : copies_) {
        if (!copy.traffic) continue;
        const double share = made()->memory().left(*copy.traffic);
        copy.end = now + left(copy, now);
        copy.begin = now;
        copy.bytes = static_cast<std::uint64_t>(share * static_cast<double>(copy.bytes));
        copy.traffic.reset();
    }
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
        if (running_.empty()) take_off_chip(end);
    }
}

std::vector<std::pair<WorkId, SimulatedTime>> Simulator::take_triggered() {
    std::vector<std::pair<WorkId, SimulatedTime>> triggered;
    if (made() == nullptr) return triggered;
    for (const auto& [grid, at] : made()->take_triggered())
        for (const std::unique_ptr<Running>& running : running_)
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
