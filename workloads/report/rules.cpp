// SPDX-License-Identifier: Apache-2.0
// A rule looks at the metrics of one launch and says what could be gained if what it is about went
// away and all else stayed. Such gains do not add up. Definitions follow Nsight Compute's rules
// (Profiling Guide, "Rules"; its sections/*.py say how each estimates), restated for what the
// model counts.
#include "workloads/report/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep::report {

namespace {

struct Launch {
    const Step& step;
    const config::Machine& machine;

    double operator[](std::string_view name) const { return step.metrics[name]; }
    /// Warps stalled for this reason, on average over the cycles between two issues.
    double stalled(std::string_view state) const {
        return step.metrics[fmt::format(
            "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", state)];
    }
    double latency() const { return (*this)["smsp__average_warp_latency_per_inst_issued.ratio"]; }
    /// Share of cycles in which a sub-core with warps issued nothing: what hiding a stall can win.
    double idle_issue() const { return 1 - (*this)["smsp__issue_active.avg.per_cycle_active"]; }
    double sms() const { return static_cast<double>(machine.integer("sm.count")); }
    /// Shares of their peaks.
    double memory() const {
        return (*this)["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"] / 100;
    }
    double compute() const {
        return (*this)["sm__throughput.avg.pct_of_peak_sustained_elapsed"] / 100;
    }
    double resident_ctas() const {
        return std::min({(*this)["launch__occupancy_limit_blocks"],
                         (*this)["launch__occupancy_limit_registers"],
                         (*this)["launch__occupancy_limit_shared_mem"],
                         (*this)["launch__occupancy_limit_warps"]});
    }
};

using Found = std::optional<Advice>;

/// Below this nobody would act.
constexpr double kLeastGain = 0.02;

Found small_grid(const Launch& launch) {
    const double ctas = launch["launch__grid_size"], sms = launch.sms();
    if (ctas >= sms) return {};
    return Advice{"", 1 - ctas / sms,
                  fmt::format("The grid has {:.0f} CTAs for {:.0f} SMs: {:.0f} of them do nothing. "
                              "Make CTAs smaller, split the work along another dimension (split-K "
                              "for a product), or run kernels side by side in streams.",
                              ctas, sms, sms - ctas)};
}

Found tail(const Launch& launch) {
    const double waves = launch["launch__waves_per_multiprocessor"];
    if (waves <= 1 || waves > 10) return {};
    const double gain = 1 - waves / std::ceil(waves);
    return Advice{"", gain,
                  fmt::format("The grid is {:.2f} waves of CTAs: in the last one {:.0f} % of the "
                              "places are empty. Choose a size of CTA that makes the waves whole, "
                              "or as many CTAs as fit at once, which go through the work in a loop "
                              "(a grid-stride loop).",
                              waves, 100 * (std::ceil(waves) - waves))};
}

Found imbalance(const Launch& launch) {
    const double longest = launch["sm__cycles_elapsed.max"], mean = launch["sm__cycles_active.avg"];
    // What the launch itself leaves empty is another rule's.
    if (launch["launch__waves_per_multiprocessor"] < 2 || longest <= 0) return {};
    return Advice{"", 1 - mean / longest,
                  fmt::format("SMs have warps in {:.0f} % of the kernel's cycles on average: CTAs "
                              "take different times. Give long ones lower indices, so that they "
                              "start first, or divide them.",
                              100 * mean / longest)};
}

Found occupancy(const Launch& launch) {
    const double limit = launch["sm__maximum_warps_per_active_cycle_pct"] / 100;
    const double waits = launch.idle_issue();
    if (limit >= 0.99 || waits < 0.4 || launch["launch__waves_per_multiprocessor"] <= 1) return {};
    const std::pair<double, const char*> limits[] = {
        {launch["launch__occupancy_limit_registers"],
         "registers: use fewer of them (__launch_bounds__, -maxrregcount)"},
        {launch["launch__occupancy_limit_shared_mem"], "shared memory: let a CTA take less of it"},
        {launch["launch__occupancy_limit_blocks"], "the number of CTAs: make them larger"},
        {launch["launch__occupancy_limit_warps"],
         "the number of warps: choose CTAs whose warps divide it"}};
    const auto least = std::min_element(std::begin(limits), std::end(limits));
    return Advice{"", std::min(1 - limit, waits),
                  fmt::format("An SM holds {:.0f} % of the warps that it could, and its sub-cores "
                              "issue nothing in {:.0f} % of their cycles. It is limited by {}.",
                              100 * limit, 100 * waits, least->second)};
}

struct StallAdvice {
    std::string_view state, what;
};
constexpr StallAdvice kStallAdvice[] = {
    {"long_scoreboard",
     "data from global or local memory. Ask for it earlier, ask for more at a time, keep what is "
     "used again in shared memory, or hold more warps"},
    {"short_scoreboard",
     "shared memory or the transcendental unit. Do more between asking and using, or use fewer "
     "such instructions"},
    {"barrier",
     "other warps of the CTA at a barrier. Let warps do equal work between barriers, or make CTAs "
     "smaller"},
    {"membar", "memory fences. Use fewer of them, or of a smaller scope"},
    {"wait",
     "the fixed latency of the instruction before. More independent instructions in a row, or more "
     "warps, fill it"},
    {"branch_resolving", "targets of branches. Unroll, or use predicates"},
    {"no_instruction", "the instruction cache. Unroll less, and keep hot loops below its size"},
    {"math_pipe_throttle",
     "a busy arithmetic pipe. That is what a kernel at its limit does; another mix of instructions "
     "or Tensor Cores go beyond"},
    {"mio_throttle",
     "a full queue for shared memory and special instructions. Fewer, wider shared-memory "
     "accesses"},
    {"lg_throttle",
     "a full queue for global and local memory. Fewer, wider accesses (float4), and no spills"},
    {"imc_miss", "the constant cache. Let all lanes read the same few constants"},
    {"dispatch_stall", "conflicts of register ports"},
    {"drain", "stores to memory at the end. Write less, or together"},
    {"sleeping", "nanosleep"}};

Found main_stall(const Launch& launch) {
    const double latency = launch.latency();
    if (latency <= 0) return {};
    const auto most = std::ranges::max_element(
        kStallAdvice, {}, [&](const StallAdvice& advice) { return launch.stalled(advice.state); });
    const double share = launch.stalled(most->state) / latency;
    constexpr double kWorthMention = 0.3;
    if (share < kWorthMention) return {};
    return Advice{"", std::min(share, launch.idle_issue()),
                  fmt::format("Of {:.1f} cycles between two instructions a warp spends {:.1f} "
                              "({:.0f} %) waiting for {}.",
                              latency, launch.stalled(most->state), 100 * share, most->what)};
}

/// Bytes a lane that a memory instruction moves, by its listing.
unsigned width_of(std::string_view sass) {
    if (sass.starts_with('@')) sass.remove_prefix(std::min(sass.find(' ') + 1, sass.size()));
    sass = sass.substr(0, sass.find(' '));  // [R2.64] is an address
    if (sass.find(".128") != sass.npos) return 16;
    if (sass.find(".64") != sass.npos) return 8;
    if (sass.find(".U8") != sass.npos || sass.find(".S8") != sass.npos) return 1;
    if (sass.find(".U16") != sass.npos || sass.find(".S16") != sass.npos) return 2;
    return 4;
}

Found uncoalesced(const Launch& launch) {
    constexpr double kSectorBytes = 32;
    const stats::Profile& profile = launch.step.profile;
    double wanted = 0, moved = 0;
    const stats::Profile::Row* worst = nullptr;
    double worst_excess = 0;
    for (const stats::Profile::Row& row : profile.rows) {
        const auto sectors = static_cast<double>(profile.value(row, "l1_sectors"));
        const bool is_atomic =
            row.sass.find("ATOM") != row.sass.npos || row.sass.find("RED") != row.sass.npos;
        if (sectors == 0 || is_atomic) continue;
        // Lanes that read the same bytes need fewer still.
        const double ideal = std::min(
            sectors, std::ceil(static_cast<double>(profile.value(row, "thread_inst_executed")) *
                               width_of(row.sass) / kSectorBytes));
        wanted += ideal;
        moved += sectors;
        if (sectors - ideal > worst_excess) {
            worst = &row;
            worst_excess = sectors - ideal;
        }
    }
    if (worst == nullptr || moved <= 0) return {};
    const double excess = (moved - wanted) / moved;
    return Advice{"", excess * launch.memory(),
                  fmt::format("{:.0f} % of the sectors that L1 is asked for hold nothing that was "
                              "wanted: lanes of a warp access memory far apart. Most of it at "
                              "{:#06x} ({}{}). Let neighbouring threads access neighbouring "
                              "elements, or bring a tile through shared memory.",
                              100 * excess, worst->pc, worst->sass,
                              worst->source.empty() ? "" : ", " + worst->source)};
}

/// Without counters by instruction the average tells most of it.
Found many_sectors(const Launch& launch) {
    if (!launch.step.profile.rows.empty()) return {};
    const double requests = launch["lockstep__l1_requests.sum"];
    constexpr double kOfFloat4 = 16;  // the most that well ordered lanes need
    if (requests <= 0) return {};
    const double sectors = launch["l1tex__t_sectors.sum"] / requests;
    if (sectors <= kOfFloat4) return {};
    return Advice{"", (1 - kOfFloat4 / sectors) * launch.memory(),
                  fmt::format("A global or local access touches {:.1f} sectors on average; ordered "
                              "lanes need 4 for words of 32 bits, 16 for float4. --source says "
                              "which instruction it is.",
                              sectors)};
}

Found bank_conflicts(const Launch& launch) {
    const double conflicts = launch["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] +
                             launch["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"];
    const double wavefronts = launch["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] +
                              launch["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"];
    if (conflicts <= 0 || wavefronts <= 0) return {};
    const double share = conflicts / wavefronts;
    const double busy = launch["l1tex__throughput.avg.pct_of_peak_sustained_active"] / 100;
    return Advice{
        "", share * busy,
        fmt::format("{:.0f} % of shared memory's wavefronts are there for bank conflicts. "
                    "Pad rows by one element, or permute their addresses (a swizzle), so "
                    "that lanes fall into different banks.",
                    100 * share)};
}

Found divergence(const Launch& launch) {
    constexpr double kLanes = 32;
    const double lanes = launch["smsp__thread_inst_executed_per_inst_executed.ratio"];
    if (lanes <= 0) return {};
    return Advice{"", (1 - lanes / kLanes) * std::max(launch.compute(), 1 - launch.idle_issue()),
                  fmt::format("An instruction has {:.1f} of 32 threads active: paths of a warp "
                              "diverge, or CTAs are no multiple of 32 threads. Let the threads of "
                              "a warp take the same way.",
                              lanes)};
}

Found unfused(const Launch& launch) {
    const auto count = [&](const char* op) {
        return launch[fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum", op)];
    };
    Found best;
    for (const auto& [add, multiply, fused, name, pipe] :
         {std::array{"fadd", "fmul", "ffma", "FP32", "fma"},
          std::array{"dadd", "dmul", "dfma", "FP64", "fp64"}}) {
        const double apart = std::min(count(add), count(multiply)),
                     all = count(add) + count(multiply) + count(fused);
        if (apart <= 0) continue;
        const double busy =
            launch[fmt::format("sm__inst_executed_pipe_{}.avg.pct_of_peak_sustained_active",
                               pipe)] /
            100;
        const double gain = apart / all * busy;
        if (best && best->gain >= gain) continue;
        best =
            Advice{"", gain,
                   fmt::format("{:.0f} % of the {} instructions are sums and products apart that "
                               "could be fused multiply-adds (-fmad=true, which is the default, "
                               "or fmaf()).",
                               100 * 2 * apart / all, name)};
    }
    return best;
}

Found at_the_limit(const Launch& launch) {
    constexpr double kNear = 0.8;
    const double dram = launch["dram__throughput.avg.pct_of_peak_sustained_elapsed"] / 100;
    if (dram < kNear) return {};
    // Half of the traffic gone is half of the time gone, as long as nothing else is in the way.
    return Advice{"", dram - std::max(launch.compute(), 0.0),
                  fmt::format("DRAM moves {:.0f} % of what it can: the kernel is as fast as its "
                              "traffic allows. Fuse it with its neighbours, keep data in L2 or in "
                              "registers, or make data smaller.",
                              100 * dram)};
}

Found latency_bound(const Launch& launch) {
    constexpr double kLow = 0.6;
    if (launch.compute() > kLow || launch.memory() > kLow) return {};
    if (launch["launch__waves_per_multiprocessor"] <= 1) return {};
    return Advice{"", 1 - std::max(launch.compute(), launch.memory()) / kLow,
                  fmt::format("Neither arithmetic ({:.0f} %) nor memory ({:.0f} %) is near its "
                              "limit: time goes into latency. Look at what warps wait for.",
                              100 * launch.compute(), 100 * launch.memory())};
}

struct Rule {
    std::string_view name;
    Found (*ask)(const Launch&);
};
constexpr Rule kRules[] = {{"small grid", small_grid},
                           {"tail", tail},
                           {"imbalance", imbalance},
                           {"occupancy", occupancy},
                           {"main stall", main_stall},
                           {"uncoalesced accesses", uncoalesced},
                           {"many sectors", many_sectors},
                           {"bank conflicts", bank_conflicts},
                           {"divergence", divergence},
                           {"unfused arithmetic", unfused},
                           {"DRAM at its limit", at_the_limit},
                           {"latency", latency_bound}};

}  // namespace

std::vector<Advice> advice_on(const Step& step, const config::Machine& machine) {
    std::vector<Advice> list;
    if (!step.is_launch() || machine.kind() != "gpu" || !step.metrics.has("launch__grid_size") ||
        !step.metrics.has("smsp__issue_active.avg.per_cycle_active"))
        return list;
    const Launch launch{step, machine};
    for (const Rule& rule : kRules) {
        Found found = rule.ask(launch);
        if (!found || found->gain < kLeastGain) continue;
        found->rule = rule.name;
        found->gain = std::min(found->gain, 1.0);
        list.push_back(std::move(*found));
    }
    std::ranges::stable_sort(list, std::greater<>(), &Advice::gain);
    return list;
}

std::vector<std::string_view> rule_names() {
    std::vector<std::string_view> names;
    for (const Rule& rule : kRules) names.push_back(rule.name);
    return names;
}

}  // namespace lockstep::report
