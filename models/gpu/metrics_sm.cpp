// SPDX-License-Identifier: Apache-2.0
// Metrics of the SMs. A pipe's use is the time it was held, which for a pipe that takes one
// instruction every so many cycles is its instructions over the most it can take. FP32 instructions
// and integer multiplies are one pipe to Nsight Compute (fma), two here where the chip has two.
#include <algorithm>
#include <cstddef>

#include "models/gpu/metric_groups.h"

namespace lockstep::gpu {
namespace {

struct PipeName {
    Pipe pipe;
    const char* name;
};
/// Pipes whose use Nsight Compute reports by the same name; fma and tensor are special.
constexpr PipeName kNamedPipes[] = {
    {Pipe::kAlu, "alu"},         {Pipe::kFp16, "fp16"}, {Pipe::kFp64, "fp64"}, {Pipe::kXu, "xu"},
    {Pipe::kUniform, "uniform"}, {Pipe::kLsu, "lsu"},   {Pipe::kAdu, "adu"},   {Pipe::kCbu, "cbu"}};

/// In the order of WarpState.
constexpr const char* kStates[] = {"selected",
                                   "not_selected",
                                   "wait",
                                   "long_scoreboard",
                                   "short_scoreboard",
                                   "barrier",
                                   "membar",
                                   "branch_resolving",
                                   "no_instruction",
                                   "math_pipe_throttle",
                                   "mio_throttle",
                                   "lg_throttle",
                                   "tex_throttle",
                                   "imc_miss",
                                   "dispatch_stall",
                                   "drain",
                                   "sleeping",
                                   "misc",
                                   "gmma"};
static_assert(std::size(kStates) == kWarpStates);

std::uint64_t instructions_of(const SmCounters& sm, Pipe pipe) {
    return sm.pipe_instructions[static_cast<std::size_t>(pipe)];
}
std::uint64_t fma_instructions(const SmCounters& sm) {
    return instructions_of(sm, Pipe::kFma) + instructions_of(sm, Pipe::kFmaHeavy);
}
/// Sub-core cycles in which a pipe was held, of all that the SM has: a pipe that its sub-cores
/// share is held for all of them.
double held(const Peaks& peaks, const SmCounters& sm, Pipe pipe) {
    const auto sub_cores = static_cast<double>(peaks.sub_cores);
    if (pipe == Pipe::kFma) return static_cast<double>(fma_instructions(sm)) * peaks.fma_interval;
    if (pipe == Pipe::kLsu)
        return static_cast<double>(instructions_of(sm, pipe)) * peaks.lsu_interval * sub_cores;
    const auto cycles = static_cast<double>(sm.pipe_busy[static_cast<std::size_t>(pipe)]);
    return pipe == Pipe::kFp64 ? cycles * sub_cores / static_cast<double>(peaks.fp64_pipes)
                               : cycles;
}

void add_issue(MetricList& list, const SmCounters& sm, double elapsed) {
    list.count("smsp__inst_executed.sum", sm.instructions);
    list.count("smsp__inst_issued.sum", sm.issue_active);
    list.count("smsp__thread_inst_executed.sum", sm.active_lanes);
    list.count("smsp__thread_inst_executed_pred_on.sum", sm.thread_instructions);
    list.ratio("sm__inst_executed.avg.per_cycle_active", sm.instructions, sm.cycles_active);
    list.ratio("sm__inst_executed.avg.per_cycle_elapsed", sm.instructions, elapsed);
    list.ratio("smsp__inst_executed.avg.per_cycle_active", sm.instructions,
               sm.sub_core_cycles_active);
    list.ratio("smsp__issue_active.avg.per_cycle_active", sm.issue_active,
               sm.sub_core_cycles_active);
    list.percentage(
        "smsp__issue_inst0.avg.pct_of_peak_sustained_active",
        sm.sub_core_cycles_active - std::min(sm.issue_active, sm.sub_core_cycles_active),
        sm.sub_core_cycles_active);
    list.ratio("smsp__thread_inst_executed_per_inst_executed.ratio", sm.active_lanes,
               sm.instructions);
    list.ratio("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", sm.thread_instructions,
               sm.instructions);
}

void add_warps(MetricList& list, const Peaks& peaks, const SmCounters& sm) {
    std::uint64_t resident = 0;
    for (const std::uint64_t cycles : sm.warp_cycles) resident += cycles;
    const auto in = [&](WarpState state) {
        return sm.warp_cycles[static_cast<std::size_t>(state)];
    };
    list.count("sm__ctas_launched.sum", sm.ctas);
    list.count("smsp__warps_launched.sum", sm.warps);
    list.ratio("sm__warps_active.avg.per_cycle_active", resident, sm.cycles_active);
    list.percentage("sm__warps_active.avg.pct_of_peak_sustained_active", resident,
                    sm.cycles_active * peaks.max_warps);
    list.ratio("smsp__warps_active.avg.per_cycle_active", resident, sm.sub_core_cycles_active);
    list.ratio("smsp__warps_eligible.avg.per_cycle_active",
               in(WarpState::kSelected) + in(WarpState::kNotSelected), sm.sub_core_cycles_active);
    list.ratio("smsp__average_warp_latency_per_inst_issued.ratio", resident, sm.issue_active);
    for (std::size_t state = 0; state < kWarpStates; ++state) {
        if (state == static_cast<std::size_t>(WarpState::kGmma) && !peaks.has_warpgroups) continue;
        list.ratio(std::string("smsp__average_warps_issue_stalled_") + kStates[state] +
                       "_per_issue_active.ratio",
                   sm.warp_cycles[state], sm.issue_active);
    }
}

void add_pipes(MetricList& list, const Peaks& peaks, const SmCounters& sm, double elapsed) {
    const auto active = static_cast<double>(sm.cycles_active * peaks.sub_cores);
    const auto of_pipe = [](const char* name, const char* what) {
        return std::string("sm__inst_executed_pipe_") + name + what;
    };
    for (const auto& [pipe, name] : kNamedPipes) {
        list.count(of_pipe(name, ".sum"), instructions_of(sm, pipe));
        list.percentage(of_pipe(name, ".avg.pct_of_peak_sustained_active"), held(peaks, sm, pipe),
                        active);
    }
    list.count(of_pipe("fma", ".sum"), fma_instructions(sm));
    list.percentage(of_pipe("fma", ".avg.pct_of_peak_sustained_active"),
                    held(peaks, sm, Pipe::kFma), active);
    const double tensor = held(peaks, sm, Pipe::kTensor);
    list.count(of_pipe("tensor", ".sum"), instructions_of(sm, Pipe::kTensor));
    list.percentage("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", tensor,
                    active);
    list.percentage("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", tensor,
                    elapsed * static_cast<double>(peaks.sub_cores));
    const std::pair<const char*, std::uint64_t> kinds[] = {{"hmma", sm.hmma},
                                                           {"imma", sm.imma},
                                                           {"dmma", sm.dmma},
                                                           {"bmma", sm.bmma},
                                                           {"gmma", sm.gmma}};
    for (const auto& [kind, count] : kinds) list.count(of_pipe("tensor_op_", kind) + ".sum", count);
    // The time is counted for the pipe as a whole: by kind it is known where only one kind ran.
    for (const auto& [kind, count] : kinds)
        if (count == 0 || count == instructions_of(sm, Pipe::kTensor))
            list.percentage(std::string("sm__pipe_tensor_op_") + kind +
                                "_cycles_active.avg.pct_of_peak_sustained_active",
                            count != 0 ? tensor : 0.0, active);
    list.count("lockstep__tensor_fma.sum", sm.tensor_operations);
}

void add_instruction_mix(MetricList& list, const SmCounters& sm) {
    const std::pair<const char*, std::uint64_t> arithmetic[] = {
        {"fadd", sm.fadd}, {"fmul", sm.fmul}, {"ffma", sm.ffma},
        {"dadd", sm.dadd}, {"dmul", sm.dmul}, {"dfma", sm.dfma},
        {"hadd", sm.hadd}, {"hmul", sm.hmul}, {"hfma", sm.hfma}};
    for (const auto& [name, count] : arithmetic)
        list.count(std::string("smsp__sass_thread_inst_executed_op_") + name + "_pred_on.sum",
                   count);
    const std::pair<const char*, std::uint64_t> memory[] = {
        {"global_ld", sm.global_load}, {"global_st", sm.global_store},
        {"shared_ld", sm.shared_load}, {"shared_st", sm.shared_store},
        {"local_ld", sm.local_load},   {"local_st", sm.local_store}};
    for (const auto& [name, count] : memory)
        list.count(std::string("smsp__sass_inst_executed_op_") + name + ".sum", count);
    list.count("lockstep__inst_executed_op_atomic.sum", sm.atomics);
    list.count("smsp__inst_executed_op_branch.sum", sm.branches);
    list.count("lockstep__inst_executed_op_branch_divergent.sum", sm.divergent_branches);
    list.count("lockstep__register_bank_conflict_cycles.sum", sm.register_bank_conflicts);
    const std::pair<const char*, const ToggleCounters&> toggles[] = {
        {"lockstep__toggle_rate_arithmetic.pct", sm.arithmetic_toggles},
        {"lockstep__toggle_rate_tensor.pct", sm.tensor_toggles},
        {"lockstep__toggle_rate_memory.pct", sm.memory_toggles}};
    for (const auto& [name, counters] : toggles)
        if (counters.bits != 0) list.percentage(name, counters.flipped, counters.bits);
    list.percentage("lockstep__l0_instruction_cache_hit_rate.pct", sm.l0_instruction_hits,
                    sm.l0_instruction_hits + sm.l0_instruction_misses);
}

}  // namespace

const char* state_name(WarpState state) {
    return kStates[static_cast<unsigned>(state)];
}

void add_sm_metrics(MetricList& list, const Peaks& peaks, const Measurement& measured) {
    const double elapsed = static_cast<double>(measured.cycles) * static_cast<double>(peaks.sms);
    add_issue(list, measured.sm, elapsed);
    add_warps(list, peaks, measured.sm);
    add_pipes(list, peaks, measured.sm, elapsed);
    add_instruction_mix(list, measured.sm);
}

double sm_throughput(const Peaks& peaks, const Measurement& measured) {
    const SmCounters& sm = measured.sm;
    auto most = static_cast<double>(sm.issue_active);
    for (const Pipe pipe :
         {Pipe::kAlu, Pipe::kFma, Pipe::kFmaHeavy, Pipe::kFp16, Pipe::kFp64, Pipe::kXu,
          Pipe::kTensor, Pipe::kUniform, Pipe::kLsu, Pipe::kAdu, Pipe::kCbu})
        most = std::max(most, held(peaks, sm, pipe));
    return percent(most, static_cast<double>(measured.cycles) *
                             static_cast<double>(peaks.sms * peaks.sub_cores));
}

}  // namespace lockstep::gpu
