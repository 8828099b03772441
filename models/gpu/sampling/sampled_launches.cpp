// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/sampled_launches.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "isa/sass/program.h"
#include "models/gpu/device/described_modules.h"
#include "models/gpu/memory/memory_parameters.h"
#include "models/gpu/sampling/part.h"
#include "models/gpu/sampling/waves.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

/// CTAs on the part of a chip, at least; fewer are little work on the whole.
constexpr std::uint64_t kLeastCtas = 3;

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

}  // namespace

SampledLaunches::SampledLaunches(const config::Machine& machine, const DeviceOptions& options,
                                 const memory::DeviceMemory& memory, const ChipSystem& chips,
                                 LaunchRunner& runner)
    : machine_(machine),
      options_(options),
      memory_(memory),
      chips_(chips),
      runner_(runner),
      // Of two parts of an L2 both may hold what is read.
      residency_(static_cast<std::uint64_t>(machine.integer("l2.size")) /
                 MemoryParameters::of(machine).l2_partitions) {}

LaunchResult SampledLaunches::run(const LaunchRequest& request, bool is_one,
                                  const std::vector<MemoryRange>& ranges) {
    is_warm_ = options_.l2 == L2Start::kWarm;
    is_code_warm_ = is_warm_ && !launched_.emplace(request.module, request.kernel).second;
    std::string key = Samples::key_of(request, memory_);
    if (is_warm_) key += (is_code_warm_ ? 'w' : 'c') + residency_.text_of(ranges);
    LaunchResult result;
    if (const LaunchResult* const known = samples_.find(key)) {
        result = Samples::like(*known, runner_.emulate(request));
    } else {
        result = is_one ? run_whole(request) : run_first(request);
        samples_.add(key, result);
    }
    residency_.use(ranges);
    return result;
}

void SampledLaunches::forget(ModuleHandle module) {
    samples_.forget(module);
    std::erase_if(launched_, [&](const auto& kernel) { return kernel.first == module; });
}

/// In time, on an L2 that holds what earlier launches used: their data, the kernel's code and what
/// it reads of constants.
LaunchResult SampledLaunches::simulate(RunningLaunch& running) {
    std::vector<ResidentLines::Range> code;
    if (const DeviceRange kernel = code_of(running.run); is_code_warm_ && kernel.bytes != 0) {
        const auto add = [&](std::uint64_t begin, std::uint64_t bytes) {
            code.emplace_back(begin / kLineBytes, (begin + bytes) / kLineBytes + 1);
        };
        add(kernel.begin, kernel.bytes);
        add(running.run.constant_address, DescribedModules::kConstantBytes);
    }
    const ResidentLines resident = is_warm_ ? residency_.lines(std::move(code)) : ResidentLines();
    running.chip->forget_l2();
    running.chip->memory().set_resident(&resident);
    LaunchResult result = runner_.simulate(running);
    running.chip->memory().set_resident(nullptr);
    return result;
}

/// The first launch of its kind, on a part of the chip if that gets enough CTAs.
LaunchResult SampledLaunches::run_first(const LaunchRequest& request) {
    const std::uint64_t ctas = request.grid.volume();
    if (can_use_parts() && share_of(ctas, sms(), part_sms(sms())) >= kLeastCtas)
        return run_on_parts(request);
    std::vector<bool> done(ctas, false);
    const LaunchResult result = run_waves(request, nullptr, block_of(request.grid, ctas), done);
    // Where things lie in the exact run's caches is no more known here than on a part.
    return completed(request, result, ctas, done, can_use_parts() ? part_error_.error() : 0);
}

/// A trace shows the whole chip, and only that has links to others.
bool SampledLaunches::can_use_parts() const {
    return uses_parts_ && part_sms(sms()) != 0 && has_parts(machine_) &&
           options_.trace.file.empty() && chips_.is_alone();
}

/// The time of a block of the grid on a part; of some launches the mean of two, on two parts.
LaunchResult SampledLaunches::run_on_parts(const LaunchRequest& request) {
    std::vector<bool> done(request.grid.volume(), false);
    std::optional<Block> one = run_block(request, part_sms(sms()), 0, done), other;
    LOCKSTEP_CHECK(one, "a grid of {} CTAs has no block", done.size());
    if (!one->is_even) return run_rest(request, *one, done);
    if (part_error_.compares()) other = run_block(request, second_part_sms(sms()), 1, done);
    LaunchResult& result = one->result;
    if (other && other->is_even) {
        const auto a = static_cast<double>(result.cycles),
                   b = static_cast<double>(other->result.cycles);
        part_error_.add(a, b);
        stretch(result, (a + b) / 2 / a, 1);
    } else {
        part_error_.add();
    }
    if (other) {
        result.warp_instructions += other->result.warp_instructions;
        result.thread_instructions += other->result.thread_instructions;
    }
    return completed(request, result, one->ctas, done, part_error_.error());
}

/// Nothing where the grid has no room for the block beside what is done.
std::optional<SampledLaunches::Block> SampledLaunches::run_block(const LaunchRequest& request,
                                                                 std::uint32_t part_sms,
                                                                 std::uint64_t number,
                                                                 std::vector<bool>& done) {
    ChipPart& on = part(part_sms);
    Block made;
    made.ctas = share_of(done.size(), sms(), part_sms);
    const std::vector<std::uint64_t> block = block_of(request.grid, made.ctas, number);
    if (block.size() < made.ctas || std::ranges::any_of(block, [&](auto cta) { return done[cta]; }))
        return std::nullopt;
    const std::vector<double> before = busy_cycles(on.chip.memory());
    made.result = run_waves(request, &on, block, done);
    made.is_even = is_even(before, busy_cycles(on.chip.memory()));
    return made;
}

/// The block went to few of the part's channels, as the whole grid may or may not.
LaunchResult SampledLaunches::run_rest(const LaunchRequest& request, const Block& block,
                                       std::vector<bool>& done) {
    std::vector<std::uint64_t> rest;
    for (std::uint64_t i = 0; i < done.size(); ++i)
        if (!done[i]) rest.push_back(i);
    LaunchResult result = run_waves(request, nullptr, rest, done);
    result.warp_instructions += block.result.warp_instructions;
    result.thread_instructions += block.result.thread_instructions;
    const double missing =
        static_cast<double>(done.size() - rest.size()) / static_cast<double>(rest.size());
    stretch(result, 1 + missing, 1);
    return completed(request, result, rest.size(), done, missing);
}

/// The rest of the launch is emulated; `result` is of so many of its CTAs, and takes as long as all
/// of them. `error`: what is not known of that, as a share of it.
LaunchResult SampledLaunches::completed(const LaunchRequest& request, const LaunchResult& result,
                                        std::uint64_t ctas, const std::vector<bool>& done,
                                        double error) {
    const auto simulated = static_cast<std::uint64_t>(std::ranges::count(done, true));
    const double all = error + sample_error(result) / 100;
    LaunchResult whole = result;
    if (simulated != done.size() || error != 0)
        whole = extrapolated(result, runner_.emulate_rest(request, done), ctas, done.size(), 0,
                             all * static_cast<double>(result.cycles));
    set_sampled(whole, simulated);
    return whole;
}

/// The time of these CTAs, by as many waves of them as it takes, which are marked as done.
LaunchResult SampledLaunches::run_waves(const LaunchRequest& request, ChipPart* on,
                                        const std::vector<std::uint64_t>& ctas,
                                        std::vector<bool>& done) {
    const std::unique_ptr<RunningLaunch> running = runner_.set_up(request, on);
    Chip& chip = *running->chip;
    running->run.ctas = &ctas;
    SampledWaves waves(ctas.size(), std::uint64_t{running->run.resident_ctas} * chip.sm_count(),
                       static_cast<std::uint64_t>(running->machine->integer("l2.size")));
    if (!waves.is_whole()) running->run.waves = &waves;
    LaunchResult result = simulate(*running);
    const double share = static_cast<double>(chip.sm_count()) / machine_.number("sm.count");
    for (auto& [name, value] : result.metrics)
        if (name == "launch__waves_per_multiprocessor") value = value.as_double() * share;
    for (std::uint64_t i = 0; i < waves.simulated(); ++i) done[ctas[i]] = true;
    if (waves.is_whole()) return result;
    return extrapolated(result, {}, waves.simulated(), ctas.size(), waves.missing_cycles(),
                        waves.uncertainty());
}

/// CTAs of a cluster are placed together, those of a cooperative launch wait for each other.
LaunchResult SampledLaunches::run_whole(const LaunchRequest& request) {
    const std::unique_ptr<RunningLaunch> running = runner_.set_up(request, nullptr);
    LaunchResult result = simulate(*running);
    set_sampled(result, request.grid.volume());
    return result;
}

/// Made by the first launch on it.
ChipPart& SampledLaunches::part(std::uint32_t sms) {
    std::unique_ptr<ChipPart>& made = parts_[sms];
    if (made == nullptr) made = std::make_unique<ChipPart>(part_of(machine_, sms), options_);
    return *made;
}

}  // namespace lockstep::gpu
