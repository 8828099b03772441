// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/sampled_launches.h"

#include <algorithm>
#include <utility>

#include "models/gpu/memory/memory_parameters.h"
#include "models/gpu/sampling/part.h"
#include "models/gpu/sampling/waves.h"

namespace lockstep::gpu {

namespace {

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
    const bool is_warm = options_.l2 == L2Start::kWarm;
    const std::string key =
        Samples::key_of(request, memory_) + (is_warm ? residency_.text_of(ranges) : std::string());
    LaunchResult result;
    if (const LaunchResult* const known = samples_.find(key)) {
        result = Samples::like(*known, runner_.emulate(request));
    } else {
        resident_ = is_warm ? residency_.lines() : ResidentLines();
        result = is_one ? run_whole(request) : run_first(request);
        samples_.add(key, result);
    }
    residency_.use(ranges);
    return result;
}

/// The first launch of its kind, on a part of the chip if that gets enough CTAs.
LaunchResult SampledLaunches::run_first(const LaunchRequest& request) {
    ChipPart* const on = part();
    const std::uint64_t ctas = request.grid.volume();
    const auto sms = static_cast<std::uint64_t>(machine_.integer("sm.count"));
    const std::uint64_t share = on == nullptr ? 0 : share_of(ctas, sms, on->chip.sm_count());
    std::vector<std::uint64_t> block = block_of(request.grid, share < kLeastCtas ? ctas : share);
    std::vector<bool> done(ctas, false);
    if (share < kLeastCtas) {
        const LaunchResult result = run_waves(request, nullptr, block, done);
        return completed(request, result, ctas, done, 0);
    }
    const MemorySystem& memory = on->chip.memory();
    const std::vector<double> before = busy_cycles(memory);
    LaunchResult result = run_waves(request, on, block, done);
    if (is_even(before, busy_cycles(memory)))
        return completed(request, result, share, done, kPartError / 100);
    // The block goes to few of the part's channels, as the whole grid may or may not.
    const std::uint64_t instructions = result.warp_instructions,
                        threads = result.thread_instructions;
    block.clear();
    for (std::uint64_t i = 0; i < ctas; ++i)
        if (!done[i]) block.push_back(i);
    result = run_waves(request, nullptr, block, done);
    result.warp_instructions += instructions;
    result.thread_instructions += threads;
    const double missing =
        static_cast<double>(ctas - block.size()) / static_cast<double>(block.size());
    stretch(result, 1 + missing, 1);
    return completed(request, result, block.size(), done, missing);
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
    chip.forget_l2();
    chip.memory().set_resident(&resident_);
    LaunchResult result = runner_.simulate(*running);
    chip.memory().set_resident(nullptr);
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
    running->chip->forget_l2();
    running->chip->memory().set_resident(&resident_);
    LaunchResult result = runner_.simulate(*running);
    running->chip->memory().set_resident(nullptr);
    set_sampled(result, request.grid.volume());
    return result;
}

/// The part of the chip that launches run on, made by the first one; null: all of it, as where
/// nobody has allowed for parts.
ChipPart* SampledLaunches::part() {
    if (!uses_parts_) return nullptr;
    const auto sms = static_cast<std::uint32_t>(machine_.integer("sm.count"));
    // A trace shows the whole chip, and only that has links to others.
    if (part_ == nullptr && part_sms(sms) != 0 && has_parts(machine_) &&
        options_.trace.file.empty() && chips_.is_alone())
        part_ = std::make_unique<ChipPart>(part_of(machine_, part_sms(sms)), options_);
    return part_.get();
}

}  // namespace lockstep::gpu
