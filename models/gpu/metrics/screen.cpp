// SPDX-License-Identifier: Apache-2.0
// What a run on the cycle model shows first. Labels and order are those of Nsight Compute's section
// "GPU Speed Of Light Throughput"; what follows (hit rates, occupancy, why warps waited) is the
// head of its other sections. Everything is read back from the metrics by name.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/device.h"
#include "models/gpu/metrics/groups.h"
#include "models/gpu/sampling/samples.h"
#include "sim/stats/find.h"
#include "sim/stats/statistics.h"

namespace lockstep {
namespace {

constexpr std::size_t kNameWidth = 90;
constexpr std::size_t kKernelRows = 15;
constexpr std::size_t kStallRows = 6;
/// From here on Nsight Compute calls a unit well used.
constexpr double kBusyPercent = 60;
/// Below this a grid leaves half of what the chip could hold empty.
constexpr double kFewWaves = 0.5;

constexpr const char* kCycles = "sm__cycles_elapsed.max";
constexpr const char* kTime = "gpu__time_duration.sum";
constexpr const char* kCompute = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kMemory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kL1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";
constexpr const char* kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kWarpCycles = "smsp__average_warp_latency_per_inst_issued.ratio";
constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kStallSuffix = "_per_issue_active.ratio";

double value(const stats::Step& step, std::string_view name) {
    return stats::number(step.metrics, name);
}

std::string shortened(const std::string& name, std::size_t width) {
    return name.size() <= width ? name : fmt::format("{}...", name.substr(0, width - 3));
}

std::string with_commas(double whole) {
    std::string digits = fmt::format("{:.0f}", whole);
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
    return digits;
}

std::string in_unit(double number, std::initializer_list<const char*> units, double step) {
    auto unit = units.begin();
    while (std::abs(number) >= step && unit + 1 != units.end()) {
        number /= step;
        ++unit;
    }
    return fmt::format("{:.2f} {}", number, *unit);
}
std::string time_text(double nanoseconds) {
    return in_unit(nanoseconds, {"ns", "us", "ms", "s"}, 1000);
}
std::string rate_text(double per_second, const char* unit) {
    return in_unit(per_second, {"", "k", "M", "G", "T"}, 1000) + unit;
}
std::string percent_text(double number) {
    return fmt::format("{:.2f} %", number);
}

/// Two labelled values on a line.
void row(std::string& text, const char* left, const std::string& left_value, const char* right,
         const std::string& right_value) {
    text += fmt::format("  {:<26}{:>14}    {:<26}{:>14}\n", left, left_value, right, right_value);
}

struct Stall {
    std::string state;
    double warps;
};

/// States of warps by the time spent in them, longest first.
std::vector<Stall> stalls_of(const stats::Step& step) {
    std::vector<Stall> stalls;
    for (const auto& [name, metric] : step.metrics) {
        if (!name.starts_with(kStallPrefix) || !name.ends_with(kStallSuffix)) continue;
        stalls.push_back({name.substr(kStallPrefix.size(),
                                      name.size() - kStallPrefix.size() - kStallSuffix.size()),
                          metric.as_double()});
    }
    std::stable_sort(stalls.begin(), stalls.end(),
                     [](const Stall& a, const Stall& b) { return a.warps > b.warps; });
    return stalls;
}

std::string spaced(std::string state) {
    std::replace(state.begin(), state.end(), '_', ' ');
    return state;
}

void add_stalls(std::string& text, const stats::Step& step) {
    const double total = value(step, kWarpCycles);
    if (total <= 0) return;
    text +=
        fmt::format("  Where the warps' time went ({:.2f} cycles per issued instruction)\n", total);
    std::size_t rows = 0;
    for (const Stall& stall : stalls_of(step)) {
        const double share = 100 * stall.warps / total;
        if (rows++ == kStallRows || share < 0.5) break;
        constexpr double kPercentPerMark = 5;
        text += fmt::format("    {:<19}{:>6.1f} %  {:<20} {}\n", spaced(stall.state), share,
                            std::string(static_cast<std::size_t>(share / kPercentPerMark), '#'),
                            gpu::state_meaning(stall.state));
    }
}

/// One sentence: the unit that limits the kernel, or what its warps wait for.
std::string verdict(const stats::Step& step) {
    if (value(step, "lockstep__shared_the_chip") != 0)
        return "It shared the chip with other kernels: units' counters are not its own.";
    const double waves = value(step, "launch__waves_per_multiprocessor");
    if (waves < kFewWaves)
        return fmt::format("The grid is too small to fill the chip ({:.2f} waves).", waves);
    const std::pair<const char*, double> units[] = {
        {"DRAM bandwidth", value(step, kDram)},
        {"the L2 cache", value(step, kL2)},
        {"L1 and shared memory", value(step, kL1)},
        {"the SMs' pipes and issue slots", value(step, kCompute)}};
    const auto* const most =
        std::max_element(std::begin(units), std::end(units),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most->second >= kBusyPercent)
        return fmt::format("Bound by {}, {:.0f}% of the peak.", most->first, most->second);
    std::string text = fmt::format("Bound by latency: no unit is used above {:.0f}%", most->second);
    for (const Stall& stall : stalls_of(step))
        if (stall.state != "selected" && stall.state != "not_selected" && stall.warps > 0)
            return text + fmt::format("; warps wait most in {}.", spaced(stall.state));
    return text + ".";
}

std::string limiter(const stats::Step& step) {
    const std::pair<const char*, const char*> limits[] = {
        {"warps", "launch__occupancy_limit_warps"},
        {"registers", "launch__occupancy_limit_registers"},
        {"shared memory", "launch__occupancy_limit_shared_mem"},
        {"blocks", "launch__occupancy_limit_blocks"}};
    const auto* const least =
        std::min_element(std::begin(limits), std::end(limits), [&](const auto& a, const auto& b) {
            return value(step, a.second) < value(step, b.second);
        });
    return fmt::format("{} ({:.0f})", least->first, value(step, least->second));
}

std::string one_launch(const stats::Step& step, const std::string& machine) {
    std::string text = fmt::format(
        "{}  ({}, {}, {})x({}, {}, {})  on {}\n", shortened(step.name, kNameWidth), step.grid[0],
        step.grid[1], step.grid[2], step.block[0], step.block[1], step.block[2], machine);
    const auto percentage = [&](const char* name) { return percent_text(value(step, name)); };
    const auto ratio = [&](const char* name) { return fmt::format("{:.2f}", value(step, name)); };
    row(text, "Elapsed Cycles", with_commas(value(step, kCycles)), "Duration",
        time_text(value(step, kTime)));
    row(text, "SM Active Cycles", with_commas(value(step, "sm__cycles_active.avg")), "SM Frequency",
        rate_text(value(step, "sm__cycles_elapsed.avg.per_second"), "Hz"));
    row(text, "Compute (SM) Throughput", percentage(kCompute), "Memory Throughput",
        percentage(kMemory));
    row(text, "L1/TEX Cache Throughput", percentage(kL1), "L2 Cache Throughput", percentage(kL2));
    row(text, "DRAM Throughput", percentage(kDram), "DRAM Bandwidth",
        rate_text(value(step, "dram__bytes.sum.per_second"), "B/s"));
    row(text, "L1/TEX Hit Rate", percentage("l1tex__t_sector_hit_rate.pct"), "L2 Hit Rate",
        percentage("lts__t_sector_hit_rate.pct"));
    row(text, "Executed Instructions", with_commas(value(step, "smsp__inst_executed.sum")),
        "Executed Ipc Active", ratio("sm__inst_executed.avg.per_cycle_active"));
    row(text, "Issue Slots Busy",
        percent_text(100 * value(step, "smsp__issue_active.avg.per_cycle_active")),
        "Eligible Warps", ratio("smsp__warps_eligible.avg.per_cycle_active"));
    row(text, "Theoretical Occupancy", percentage("sm__maximum_warps_per_active_cycle_pct"),
        "Achieved Occupancy", percentage(kOccupancy));
    row(text, "Blocks per SM limited by", limiter(step), "Waves Per SM",
        ratio("launch__waves_per_multiprocessor"));
    add_stalls(text, step);
    return text + "  " + verdict(step) + "\n";
}

struct Kernel {
    std::string name;
    std::size_t launches = 0;
    double cycles = 0, time = 0, compute = 0, memory = 0, occupancy = 0;  ///< weighted by time
    double longest = 0;
    const stats::Step* typical = nullptr;  ///< the longest launch
};

std::string by_kernel(const stats::Statistics& statistics,
                      const std::vector<const stats::Step*>& steps) {
    std::vector<Kernel> kernels;
    double time = 0, cycles = 0;
    for (const stats::Step* const each : steps) {
        const stats::Step& step = *each;
        auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                   [&](const Kernel& k) { return k.name == step.name; });
        if (kernel == kernels.end()) kernel = kernels.insert(kernel, Kernel{.name = step.name});
        const double duration = value(step, kTime);
        ++kernel->launches;
        kernel->cycles += value(step, kCycles);
        kernel->time += duration;
        kernel->compute += duration * value(step, kCompute);
        kernel->memory += duration * value(step, kMemory);
        kernel->occupancy += duration * value(step, kOccupancy);
        if (kernel->typical == nullptr || duration > kernel->longest) {
            kernel->longest = duration;
            kernel->typical = &step;
        }
        time += duration;
        cycles += value(step, kCycles);
    }
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const Kernel& a, const Kernel& b) { return a.time > b.time; });
    std::string text = fmt::format("{} launches of {} kernels on {}\n", steps.size(),
                                   kernels.size(), statistics.machine());
    text += fmt::format("  {:<36}{:>8}{:>7}{:>14}{:>11}{:>9}{:>9}{:>11}\n", "Kernel", "Launches",
                        "Time", "Cycles", "Duration", "Compute", "Memory", "Occupancy");
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };
    const std::size_t shown = std::min(kernels.size(), kKernelRows);
    for (std::size_t i = 0; i < shown; ++i) {
        const Kernel& k = kernels[i];
        text += fmt::format("  {:<36}{:>8}{:>6.1f}%{:>14}{:>11}{:>8.1f}%{:>8.1f}%{:>10.1f}%\n",
                            shortened(k.name, 35), k.launches, 100 * share(k.time, time),
                            with_commas(k.cycles), time_text(k.time), share(k.compute, k.time),
                            share(k.memory, k.time), share(k.occupancy, k.time));
    }
    if (shown < kernels.size())
        text += fmt::format("  and {} kernels more; --stats FILE has them all\n",
                            kernels.size() - shown);
    text += fmt::format("  {:<36}{:>8}{:>7}{:>14}{:>11}\n", "Total", steps.size(), "",
                        with_commas(cycles), time_text(time));
    if (kernels.front().typical != nullptr)
        text += fmt::format("  Most of the time, {}: {}\n", shortened(kernels.front().name, 35),
                            verdict(*kernels.front().typical));
    return text;
}

/// How launches whose time was sampled came to it; empty: none was.
std::string sampling(const std::vector<const stats::Step*>& steps) {
    std::size_t sampled = 0, reused = 0, parts = 0;
    double cycles = 0, uncertain = 0;
    for (const stats::Step* step : steps) {
        const auto has = [&](std::string_view name) {
            return stats::find(step->metrics, name) != nullptr;
        };
        if (!has(gpu::kSampledCtas)) continue;
        ++sampled;
        cycles += value(*step, kCycles);
        uncertain += value(*step, kCycles) * value(*step, gpu::kSampleError) / 100;
        if (value(*step, gpu::kSampledCtas) == 0)
            ++reused;
        else if (has(gpu::kSampleError))
            ++parts;
    }
    if (sampled == 0) return "";
    return fmt::format(
        "  Sampled: {} of {} launches in time as a whole, {} in part, {} as one like them before; "
        "by how waves and launches differ, the time is off by {:.2f}%\n",
        sampled - reused - parts, sampled, parts, reused,
        cycles > 0 ? 100 * uncertain / cycles : 0.0);
}

}  // namespace

std::string speed_of_light(const stats::Statistics& statistics) {
    std::vector<const stats::Step*> steps;
    for (const stats::Step& step : statistics.steps())
        if (step.mode != "emulate") steps.push_back(&step);
    const std::size_t emulated = statistics.steps().size() - steps.size();
    if (emulated == 0 && steps.empty()) return "no kernel was launched\n";
    std::string text;
    if (emulated != 0)
        text = fmt::format("{} of {} launches were emulated: no time is known of them\n", emulated,
                           statistics.steps().size());
    if (steps.empty()) return text;
    text += steps.size() == 1 ? one_launch(*steps.front(), statistics.machine())
                              : by_kernel(statistics, steps);
    return text + sampling(steps);
}

}  // namespace lockstep
