// SPDX-License-Identifier: Apache-2.0
// Metrics of the SMs. A pipe's use is the time it was held, which for a pipe that takes one
// instruction every so many cycles is its instructions over the most it can take. FP32 instructions
// and integer multiplies are one pipe to Nsight Compute (fma), two here where the chip has two.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "isa/sass/row.h"
#include "models/gpu/metrics/groups.h"

namespace lockstep::gpu {
namespace {

struct PipeName {
    Pipe pipe;
    const char* name;
    const char* kind;
    bool is_of_sub_core = false;  ///< Nsight Compute counts it by sub-core as well
};
/// Pipes whose use Nsight Compute reports by the same name; fma and tensor are special.
constexpr PipeName kNamedPipes[] = {
    {Pipe::kAlu, "alu", "integer and logic arithmetic, comparisons and selections"},
    {Pipe::kFp16, "fp16", "packed FP16 arithmetic", true},
    {Pipe::kFp64, "fp64", "FP64 arithmetic", true},
    {Pipe::kXu, "xu", "transcendental functions and conversions", true},
    {Pipe::kUniform, "uniform", "the uniform datapath"},
    {Pipe::kLsu, "lsu", "loads, stores, atomics and shuffles"},
    {Pipe::kAdu, "adu", "the address divergence unit: branches by register, indexed constants"},
    {Pipe::kCbu, "cbu", "the convergence barrier unit: branches, convergence barriers"}};

struct StateName {
    const char* name;
    const char* meaning;
};
/// In the order of WarpState.
constexpr StateName kStates[] = {{"selected", "issuing"},
                                 {"not_selected", "ready, but another warp issued"},
                                 {"wait", "fixed latency of the instruction before"},
                                 {"long_scoreboard", "data from global or local memory"},
                                 {"short_scoreboard", "data from shared memory or MUFU"},
                                 {"barrier", "other warps of the CTA at a barrier"},
                                 {"membar", "a memory fence"},
                                 {"branch_resolving", "a branch's target"},
                                 {"no_instruction", "the instruction cache"},
                                 {"math_pipe_throttle", "a busy math pipe"},
                                 {"mio_throttle", "a full queue for shared memory, or a busy XU"},
                                 {"lg_throttle", "a full queue for global memory"},
                                 {"tex_throttle", "a full queue for textures"},
                                 {"imc_miss", "the constant cache"},
                                 {"dispatch_stall", "the dispatcher"},
                                 {"drain", "stores to finish before the exit"},
                                 {"sleeping", "NANOSLEEP"},
                                 {"misc", "something else"},
                                 {"gmma", "a warpgroup's products"}};
static_assert(std::size(kStates) == kWarpStates);

std::uint64_t instructions_of(const SmCounters& sm, Pipe pipe) {
    return sm.pipe_instructions[static_cast<std::size_t>(pipe)];
}
std::uint64_t fma_instructions(const SmCounters& sm) {
    return instructions_of(sm, Pipe::kFma) + instructions_of(sm, Pipe::kFmaHeavy);
}
/// Sub-core cycles in which a pipe was held, of all that the SM has: a pipe that its sub-cores
/// share is held for all of them.
double held(const LaunchView& launch, Pipe pipe) {
    const Peaks& peaks = launch.peaks;
    const SmCounters& counted = launch.measured.sm;
    const auto sub_cores = static_cast<double>(peaks.sub_cores);
    if (pipe == Pipe::kFma)
        return static_cast<double>(fma_instructions(counted)) * peaks.fma_interval;
    if (pipe == Pipe::kLsu)
        return static_cast<double>(instructions_of(counted, pipe)) * peaks.lsu_interval * sub_cores;
    const auto cycles = static_cast<double>(counted.pipe_busy[static_cast<std::size_t>(pipe)]);
    return pipe == Pipe::kFp64 ? cycles * sub_cores / static_cast<double>(peaks.fp64_pipes)
                               : cycles;
}

using S = SmCounters;

constexpr auto kActive = [](const LaunchView& l) { return l.active_sub_core_cycles(); };
constexpr auto kElapsed = [](const LaunchView& l) {
    return l.sm_cycles() * static_cast<double>(l.peaks.sub_cores);
};

void add_issue(MetricTable& table) {
    table.count("smsp__inst_executed.sum", "instruction", "warp instructions executed",
                sm<&S::instructions>);
    table.count("smsp__inst_issued.sum", "instruction", "warp instructions issued",
                sm<&S::issue_active>);
    table.count("smsp__thread_inst_executed.sum", "instruction",
                "active lanes of warp instructions, predicated off or not", sm<&S::active_lanes>);
    table.count("smsp__thread_inst_executed_pred_on.sum", "instruction",
                "lanes of warp instructions whose guard predicate holds",
                sm<&S::thread_instructions>);
    table.ratio("sm__inst_executed.avg.per_cycle_active", "instruction/cycle",
                "warp instructions of an SM over its active cycles", sm<&S::instructions>,
                sm<&S::cycles_active>);
    table.ratio("sm__inst_executed.avg.per_cycle_elapsed", "instruction/cycle",
                "warp instructions of an SM over its elapsed cycles", sm<&S::instructions>,
                [](const LaunchView& l) { return l.sm_cycles(); });
    table.ratio("smsp__inst_executed.avg.per_cycle_active", "instruction/cycle",
                "warp instructions of a sub-core over its active cycles", sm<&S::instructions>,
                sm<&S::sub_core_cycles_active>);
    table.percentage("smsp__cycles_active.avg.pct_of_peak_sustained_elapsed",
                     "elapsed cycles of a sub-core in which it has a warp",
                     sm<&S::sub_core_cycles_active>, kElapsed);
    table.ratio("smsp__issue_active.avg.per_cycle_active", "1",
                "active cycles of a sub-core in which it issues", sm<&S::issue_active>,
                sm<&S::sub_core_cycles_active>);
    table.percentage("smsp__issue_active.avg.pct_of_peak_sustained_active",
                     "active cycles of a sub-core in which it issues", sm<&S::issue_active>,
                     sm<&S::sub_core_cycles_active>);
    table.percentage(
        "smsp__issue_inst0.avg.pct_of_peak_sustained_active",
        "active cycles of a sub-core in which it does not issue",
        [](const LaunchView& l) {
            const S& counted = l.measured.sm;
            return counted.sub_core_cycles_active -
                   std::min(counted.issue_active, counted.sub_core_cycles_active);
        },
        sm<&S::sub_core_cycles_active>);
    table.ratio("smsp__thread_inst_executed_per_inst_executed.ratio", "1",
                "active lanes of an average warp instruction", sm<&S::active_lanes>,
                sm<&S::instructions>);
    table.percentage(
        "smsp__thread_inst_executed_per_inst_executed.pct",
        "active lanes of an average warp instruction, of 32", sm<&S::active_lanes>,
        [](const LaunchView& l) { return l.measured.sm.instructions * sass::kWarpSize; });
    table.ratio("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "1",
                "lanes whose guard predicate holds, of an average warp instruction",
                sm<&S::thread_instructions>, sm<&S::instructions>);
}

std::uint64_t resident(const LaunchView& launch) {
    const auto& cycles = launch.measured.sm.warp_cycles;
    return std::accumulate(cycles.begin(), cycles.end(), std::uint64_t{0});
}

void add_warps(MetricTable& table) {
    table.count("sm__ctas_launched.sum", "CTA", "that SMs took", sm<&S::ctas>);
    table.count("smsp__warps_launched.sum", "warp", "of these CTAs", sm<&S::warps>);
    table.ratio("sm__warps_active.avg.per_cycle_active", "warp",
                "resident in an SM in an average active cycle", resident, sm<&S::cycles_active>);
    table.percentage(
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "achieved occupancy: warps resident in an average active cycle, of `sm.max_warps`",
        resident,
        [](const LaunchView& l) { return l.measured.sm.cycles_active * l.peaks.max_warps; });
    table.ratio("smsp__warps_active.avg.per_cycle_active", "warp",
                "resident in a sub-core in an average active cycle", resident,
                sm<&S::sub_core_cycles_active>);
    table.ratio(
        "smsp__warps_eligible.avg.per_cycle_active", "warp",
        "of a sub-core that could issue: states `selected` and `not_selected`",
        [](const LaunchView& l) {
            const auto& cycles = l.measured.sm.warp_cycles;
            return cycles[static_cast<std::size_t>(WarpState::kSelected)] +
                   cycles[static_cast<std::size_t>(WarpState::kNotSelected)];
        },
        sm<&S::sub_core_cycles_active>);
    table.ratio("smsp__average_warp_latency_per_inst_issued.ratio", "cycle",
                "of a warp between two of its issues: warp-cycles of all states over issues",
                resident, sm<&S::issue_active>);
    for (std::size_t state = 0; state < kWarpStates; ++state) {
        MetricRow& row = table.ratio(
            std::string("smsp__average_warps_issue_stalled_") + kStates[state].name +
                "_per_issue_active.ratio",
            "cycle", std::string("part of it in that state: ") + kStates[state].meaning,
            [state](const LaunchView& l) { return l.measured.sm.warp_cycles[state]; },
            sm<&S::issue_active>);
        if (state == static_cast<std::size_t>(WarpState::kGmma)) {
            row.meaning += "; of chips with wgmma";
            row.only_where([](const LaunchView& l) { return l.peaks.has_warpgroups; });
        }
    }
}

void add_pipes(MetricTable& table) {
    const auto of_pipe = [](const char* name, const char* what) {
        return std::string("sm__inst_executed_pipe_") + name + what;
    };
    const auto pipe_count = [&](const char* name, const char* kind, auto value) {
        table.count(of_pipe(name, ".sum"), "instruction",
                    fmt::format("warp instructions of {}", kind), value);
    };
    const auto sub_core_pipe = [&](const PipeName& named) {
        table.count(fmt::format("smsp__inst_executed_pipe_{}.sum", named.name), "instruction",
                    fmt::format("warp instructions of {}", named.kind),
                    [pipe = named.pipe](const LaunchView& l) {
                        return instructions_of(l.measured.sm, pipe);
                    });
        table.percentage(
            fmt::format("smsp__inst_executed_pipe_{}.avg.pct_of_peak_sustained_active", named.name),
            "time that the sub-core's pipe was held, of active",
            [pipe = named.pipe](const LaunchView& l) { return held(l, pipe); }, kActive);
    };
    const auto pipe_use = [&](const char* name, const char* remark, Pipe pipe) {
        table.percentage(
            of_pipe(name, ".avg.pct_of_peak_sustained_active"),
            fmt::format("time that the pipe was held{}, of active", remark),
            [pipe](const LaunchView& l) { return held(l, pipe); }, kActive);
    };
    for (const PipeName& named : kNamedPipes) {
        pipe_count(named.name, named.kind, [pipe = named.pipe](const LaunchView& l) {
            return instructions_of(l.measured.sm, pipe);
        });
        pipe_use(named.name, named.pipe == Pipe::kLsu ? " at the rate of the SM's arbiter" : "",
                 named.pipe);
        if (named.is_of_sub_core) sub_core_pipe(named);
    }
    pipe_count("fma", "FP32 arithmetic and integer multiplies",
               [](const LaunchView& l) { return fma_instructions(l.measured.sm); });
    pipe_use("fma", " at the rate of FP32", Pipe::kFma);
    table.percentage(
        "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
        "time that the pipe of FP32 and integer multiplies was held, of active",
        [](const LaunchView& l) { return held(l, Pipe::kFma); }, kActive);
    pipe_count("tensor", "the Tensor Cores",
               [](const LaunchView& l) { return instructions_of(l.measured.sm, Pipe::kTensor); });
    const auto tensor = [](const LaunchView& l) { return held(l, Pipe::kTensor); };
    table.percentage("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                     "time that the Tensor Cores were held, of active", tensor, kActive);
    table.percentage("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                     "time that the Tensor Cores were held, of elapsed", tensor, kElapsed);
    struct Kind {
        const char* name;
        const char* what;
        std::uint64_t S::*count;
    };
    constexpr Kind kKinds[] = {{"hmma", "floating-point", &S::hmma},
                               {"imma", "integer", &S::imma},
                               {"dmma", "FP64", &S::dmma},
                               {"bmma", "one-bit", &S::bmma},
                               {"gmma", "warpgroups'", &S::gmma}};
    for (const Kind& kind : kKinds)
        table.count(of_pipe("tensor_op_", kind.name) + ".sum", "instruction",
                    fmt::format("{} products on the Tensor Cores", kind.what),
                    [count = kind.count](const LaunchView& l) { return l.measured.sm.*count; });
    for (const Kind& kind : kKinds)
        table
            .percentage(
                std::string("sm__pipe_tensor_op_") + kind.name +
                    "_cycles_active.avg.pct_of_peak_sustained_active",
                "time that the Tensor Cores were held by this kind, of active; known, and "
                "reported, "
                "where one kind alone ran",
                [count = kind.count](const LaunchView& l) {
                    return l.measured.sm.*count != 0 ? held(l, Pipe::kTensor) : 0.0;
                },
                kActive)
            .only_where([count = kind.count](const LaunchView& l) {
                const std::uint64_t of_kind = l.measured.sm.*count;
                return of_kind == 0 || of_kind == instructions_of(l.measured.sm, Pipe::kTensor);
            });
    table.count("lockstep__tensor_fma.sum", "1", "multiply-adds on the Tensor Cores",
                sm<&S::tensor_operations>);
}

void add_arithmetic(MetricTable& table) {
    struct Operation {
        const char* name;
        const char* what;
        std::uint64_t S::*count;
    };
    constexpr Operation kOperations[] = {{"fadd", "FP32 additions", &S::fadd},
                                         {"fmul", "FP32 products", &S::fmul},
                                         {"ffma", "FP32 multiply-adds", &S::ffma},
                                         {"dadd", "FP64 additions", &S::dadd},
                                         {"dmul", "FP64 products", &S::dmul},
                                         {"dfma", "FP64 multiply-adds", &S::dfma},
                                         {"hadd", "packed FP16 additions", &S::hadd},
                                         {"hmul", "packed FP16 products", &S::hmul},
                                         {"hfma", "packed FP16 multiply-adds", &S::hfma}};
    for (const Operation& operation : kOperations)
        table.count(
            std::string("smsp__sass_thread_inst_executed_op_") + operation.name + "_pred_on.sum",
            "instruction", fmt::format("{} of lanes whose guard predicate holds", operation.what),
            [count = operation.count](const LaunchView& l) { return l.measured.sm.*count; });
    struct Work {
        LaneWork work;
        const char* name;
        const char* what;
    };
    constexpr Work kWorks[] = {
        {LaneWork::kFp16, "fp16", "FP16 instructions"},
        {LaneWork::kFp32, "fp32", "FP32 instructions: arithmetic, comparisons, MUFU"},
        {LaneWork::kFp64, "fp64", "FP64 instructions"},
        {LaneWork::kInteger, "integer", "integer and logic instructions"},
        {LaneWork::kConversion, "conversion", "conversions between types"},
        {LaneWork::kControl, "control", "branches, convergence barriers, exits"},
        {LaneWork::kMemory, "memory", "loads, stores, atomics and fences"},
        {LaneWork::kMisc, "misc", "moves, predicates, barriers, special registers and the rest"}};
    static_assert(std::size(kWorks) == kLaneWorks - 1);
    for (const Work& work : kWorks)
        table.count(fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum", work.name),
                    "instruction",
                    fmt::format("of lanes whose guard predicate holds: {}", work.what),
                    [index = static_cast<std::size_t>(work.work)](const LaunchView& l) {
                        return l.measured.sm.lanes[index];
                    });
    constexpr Operation kAccesses[] = {{"global_ld", "loads of global memory", &S::global_load},
                                       {"global_st", "stores to global memory", &S::global_store},
                                       {"shared_ld", "loads of shared memory", &S::shared_load},
                                       {"shared_st", "stores to shared memory", &S::shared_store},
                                       {"local_ld", "loads of local memory", &S::local_load},
                                       {"local_st", "stores to local memory", &S::local_store}};
    for (const Operation& access : kAccesses)
        table.count(std::string("smsp__sass_inst_executed_op_") + access.name + ".sum",
                    "instruction", fmt::format("warps' {}", access.what),
                    [count = access.count](const LaunchView& l) { return l.measured.sm.*count; });
    table.count("lockstep__inst_executed_op_texture.sum", "instruction",
                "warps' texture fetches and surface loads", sm<&S::texture>);
    table.count("lockstep__inst_executed_op_atomic.sum", "instruction", "warps' atomics",
                sm<&S::atomics>);
    table.count("smsp__inst_executed_op_branch.sum", "instruction", "warps' branches",
                sm<&S::branches>);
    table.count("lockstep__inst_executed_op_branch_divergent.sum", "instruction",
                "branches that not all active lanes of a warp take", sm<&S::divergent_branches>);
}

void add_registers_and_caches(MetricTable& table) {
    table.count("lockstep__register_bank_conflict_cycles.sum", "cycle",
                "that operands waited for a bank of the register file",
                sm<&S::register_bank_conflicts>);
    struct Toggle {
        const char* name;
        const char* path;
        ToggleCounters S::*counters;
    };
    constexpr Toggle kToggles[] = {
        {"lockstep__toggle_rate_arithmetic.pct", "arithmetic", &S::arithmetic_toggles},
        {"lockstep__toggle_rate_tensor.pct", "Tensor Cores", &S::tensor_toggles},
        {"lockstep__toggle_rate_memory.pct", "memory", &S::memory_toggles}};
    for (const Toggle& toggle : kToggles)
        table
            .percentage(
                toggle.name,
                fmt::format("bits that change from one operation to the next in the datapath of {} "
                            "(sampled); where any were compared",
                            toggle.path),
                [counters = toggle.counters](const LaunchView& l) {
                    return (l.measured.sm.*counters).flipped;
                },
                [counters = toggle.counters](const LaunchView& l) {
                    return (l.measured.sm.*counters).bits;
                })
            .only_where([counters = toggle.counters](const LaunchView& l) {
                return (l.measured.sm.*counters).bits != 0;
            });
    table.percentage("lockstep__l0_instruction_cache_hit_rate.pct",
                     "fetches found in the sub-cores' instruction caches",
                     sm<&S::l0_instruction_hits>, [](const LaunchView& l) {
                         return l.measured.sm.l0_instruction_hits +
                                l.measured.sm.l0_instruction_misses;
                     });
}

}  // namespace

const char* state_name(WarpState state) {
    return kStates[static_cast<unsigned>(state)].name;
}

const char* state_meaning(std::string_view name) {
    const auto* state = std::ranges::find(kStates, name, &StateName::name);
    return state == std::end(kStates) ? "" : state->meaning;
}

void add_sm_metrics(MetricTable& table) {
    add_issue(table);
    add_warps(table);
    add_pipes(table);
    add_arithmetic(table);
    add_registers_and_caches(table);
}

double sm_throughput(const LaunchView& launch) {
    auto most = static_cast<double>(launch.measured.sm.issue_active);
    for (const Pipe pipe :
         {Pipe::kAlu, Pipe::kFma, Pipe::kFmaHeavy, Pipe::kFp16, Pipe::kFp64, Pipe::kXu,
          Pipe::kTensor, Pipe::kUniform, Pipe::kLsu, Pipe::kAdu, Pipe::kCbu})
        most = std::max(most, held(launch, pipe));
    return percent(most, launch.sm_cycles() * static_cast<double>(launch.peaks.sub_cores));
}

}  // namespace lockstep::gpu
