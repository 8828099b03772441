// SPDX-License-Identifier: Apache-2.0
// A kernel from its start to its end: what the front end does before its first CTA, what ends a
// window, what has been counted when everything has come to rest.
#include "models/gpu/chip/chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "isa/cubin/demangle.h"
#include "isa/sass/tma/copy.h"
#include "models/gpu/chip/advance.h"
#include "models/gpu/chip/profile.h"
#include "models/gpu/chip/stuck_report.h"
#include "models/gpu/execution/cta_runner.h"
#include "models/gpu/sampling/waves.h"
#include "sim/engine/host_memory.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::Time;

namespace {

/// Seconds of the host's after which a launch is worth huge pages.
constexpr std::clock_t kLongRun = 4;

}  // namespace

Chip::Chip(engine::Simulation& simulation, const config::Machine& machine,
           const SmParameters& parameters, const DeviceOptions& options, const ChipPlace& place)
    : parameters_(parameters),
      options_(options),
      clock_(engine::ClockDomain::from_megahertz(machine.number("clock.sm"))),
      simulation_(simulation),
      units_(simulation, machine, parameters, clock_, place),
      distributor_(units_.gpcs(), {parameters.cta_interval, parameters.cta_latency}) {
    std::vector<CtaHost*> hosts;
    for (const std::unique_ptr<Sm>& sm : units_.sms()) {
        hosts.push_back(sm.get());
        if (options.count_toggles) sm->watch().count_toggles();
        if (options.counts_instructions) sm->watch().count_by_instruction();
    }
    distributor_.connect(std::move(hosts));
    simulation_.at_window_end([this](Time end) {
        perform_deferred(clock_.cycle_at(end));
        distribute(end);
        if (trace_ != nullptr) trace_window(clock_.cycle_at(end));
    });
    trace_ =
        GpuTrace::make(simulation_, machine, parameters, memory(), options.trace, place.prefix);
    if (trace_ != nullptr)
        for (unsigned i = 0; i < sm_count(); ++i) units_.sms()[i]->watch().trace_to(trace_->sm(i));
}

void Chip::perform_deferred(Cycle end) {
    queues_.clear();
    for (const std::unique_ptr<Sm>& sm : used_sms_)
        if (!sm->deferred().empty()) queues_.push_back(&sm->deferred());
    if (queues_.empty()) return;
    perform_in_order(queues_, [this, end](const sass::Deferred& deferred) {
        Sm& sm = *units_.sms()[deferred.warp->cta->sm];
        const bool observes = watch_.observes() && !deferred.holds_warp();
        const bool is_known = observes && probe_.begin(deferred);
        sm.perform(deferred);
        if (observes && (!is_known || probe_.has_changed())) sm.watch().note_change();
        if (deferred.copy != nullptr)
            units_.sms()[deferred.copy->target->sm]->copy_came(*deferred.copy, end);
    });
    for (const std::unique_ptr<Sm>& sm : used_sms_) sm->end_waiting();
}

void Chip::forget_extents() {
    for (const std::unique_ptr<Sm>& sm : used_sms_) sm->ctas().forget_extents();
}

void Chip::count_triggers() {
    for (const std::unique_ptr<Sm>& sm : used_sms_) {
        if (!sm->ctas().has_triggered()) continue;
        for (const CtaEnd& trigger : sm->ctas().take_triggered()) {
            Grid& grid = distributor_.owner(trigger.run);
            grid.last_trigger = std::max(grid.last_trigger, trigger.at);
            if (++grid.triggered != grid.total) continue;
            triggered_.emplace_back(&grid, clock_.start_of(grid.last_trigger));
            simulation_.stop();
        }
    }
}

/// Before the last CTAs that are simulated are placed, for room that stays free is not asked for
/// again.
void Chip::look_at_waves(Grid& grid) {
    if (grid.run.waves == nullptr || grid.next + ends_.size() < grid.total) return;
    const PartitionCounters counters = memory().counters();
    constexpr std::uint64_t kSectorBytes = 32;
    grid.run.waves->look(kSectorBytes * (counters.sectors_read_miss + counters.sectors_write_hit +
                                         counters.sectors_write_miss + counters.atomics_miss));
    grid.total = grid.run.waves->simulated();
}

void Chip::distribute(Time window_end) {
    count_triggers();
    ends_.clear();
    for (const std::unique_ptr<Sm>& sm : used_sms_)
        if (sm->ctas().has_ended())
            for (const CtaEnd& end : sm->ctas().take_ended()) ends_.push_back({end, sm.get()});
    if (ends_.empty()) return finish_grids();
    distributor_.count(ends_);
    for (const auto& [end, sm] : ends_)
        if (end.run->waves != nullptr) end.run->waves->ended(end.at);
    if (Grid* const head = distributor_.head()) look_at_waves(*head);
    distributor_.refill(ends_, clock_.first_cycle_from(window_end));
    finish_grids();
}

/// A kernel ends with its last CTA and, as warps go when their stores have left, its last store.
void Chip::finish_grids() {
    for (std::size_t i = 0; i < distributor_.grids().size();) {
        Grid& grid = *distributor_.grids()[i];
        if (grid.is_done() && has_performed_stores(grid))
            finish(grid);
        else
            ++i;
    }
}

bool Chip::has_performed_stores(const Grid& grid) const {
    return std::all_of(used_sms_.begin(), used_sms_.end(), [&](const std::unique_ptr<Sm>& sm) {
        const ResidentGrid* const part = sm->grids().find(grid.run);
        return part == nullptr || part->stores_under_way == 0;
    });
}

void Chip::finish(Grid& grid) {
    for (const std::unique_ptr<Grid>& other : distributor_.grids()) {
        if (other->prerequisite != &grid) continue;
        other->prerequisite = nullptr;
        other->run.awaits_grid = false;
        for (const std::unique_ptr<Sm>& sm : used_sms_) sm->end_grid_wait(other->run);
    }
    for (const std::unique_ptr<Sm>& sm : used_sms_) {
        if (const ResidentGrid* const part = sm->grids().find(grid.run)) {
            grid.instructions += part->instructions;
            grid.thread_instructions += part->thread_instructions;
            grid.last_end = std::max(grid.last_end, part->last_store);
        }
        if (!grid.was_alone) sm->grids().forget(grid.run);
    }
    finished_.push_back(distributor_.remove(grid));
    if (distributor_.is_empty()) memory().stop_copies();
    simulation_.stop();
}

void Chip::trace_window(Cycle end) {
    if (trace_->wants_sample(end)) {
        trace_->sample(memory().counters(), end);
        for (unsigned i = 0; i < units_.sms().size(); ++i)
            if (SmTrace* const sm = trace_->sm(i); sm != nullptr)
                sm->sample(units_.sms()[i]->counters(), units_.sms()[i]->memory_counters(), end);
    }
    if (trace_->wants_queues(end)) {
        trace_->queues(memory(), end);
        for (unsigned i = 0; i < units_.sms().size(); ++i)
            if (SmTrace* const sm = trace_->sm(i); sm != nullptr)
                sm->queues(units_.sms()[i]->l1_queues(), units_.port(i).outstanding(), end);
    }
    trace_->end_window(end);
}

void Chip::pass(std::uint64_t address, std::uint64_t bytes, Transfer transfer) {
    if (distributor_.is_empty() && !std::exchange(l2_is_known_, true))
        memory().begin_kernel(may_clear_l2());
    memory().pass(address, bytes, transfer);
}

/// What peers are about to read or write stays.
bool Chip::may_clear_l2() const {
    return peers() == nullptr || memory().is_at_rest();
}

void Chip::begin_period(Cycle begin, std::uint64_t ctas) {
    const bool is_cold = options_.l2 == L2Start::kCold || !std::exchange(l2_is_known_, true);
    memory().begin_kernel(is_cold && may_clear_l2());
    for (const std::unique_ptr<Gcc>& gcc : units_.gccs()) gcc->begin_kernel();
    // A trace shows the idle ones too.
    used_sms_ = std::span(units_.sms())
                    .first(trace_ != nullptr ? units_.sms().size()
                                             : std::min<std::uint64_t>(ctas, units_.sms().size()));
    for (const std::unique_ptr<Sm>& sm : used_sms_) sm->begin_kernels();
    if (trace_ != nullptr) trace_->begin_kernels(begin);
    distributor_.begin(used_sms_.size());
    started_ = std::clock();
    watch_ = {};
    is_long_ = false;
    triggered_.clear();
}

/// Kernels of few CTAs start on an H200 as if no warp of theirs waited for parameters, nor, where
/// L2 is warm, for code; under a profiler, which empties all caches first, warps of the first CTAs
/// wait for both as long as the way from the cache of the GPC takes (measured: events; Nsight
/// Compute, stalls by no_instruction and imc_miss).
void Chip::prefetch_to_sms(KernelRun& run) {
    if (!parameters_.prefetches_to_sms || parameters_.has_profiler) return;
    run.prefetched_parameters = static_cast<std::uint32_t>(run.launch->constant[0].size());
    const DeviceRange code = code_of(run);
    const std::uint64_t bytes = units_.gccs().front()->prefetched(code.bytes);
    if (bytes == 0 || !memory().holds(code.begin, bytes)) return;
    run.prefetched_offset = static_cast<std::uint32_t>(code.begin - run.code_address);
    run.prefetched_bytes = static_cast<std::uint32_t>(bytes);
}

/// To the GPCs that CTAs may come to.
void Chip::prefetch(const Grid& grid) {
    const DeviceRange code = code_of(grid.run);
    for (std::uint32_t gpc = 0; gpc < units_.gccs().size(); ++gpc) {
        const auto sms = units_.gpcs().sms(gpc);
        if (sms.empty() || sms.front() >= used_sms_.size()) continue;
        Gcc& cache = *units_.gccs()[gpc];
        cache.prefetch_constants(grid.begin, grid.run.constant_address,
                                 grid.run.launch->constant[0].size());
        cache.prefetch_code(grid.begin, code.begin, code.bytes);
    }
}

Grid& Chip::start(const KernelRun& run, int priority, Time at, const Grid* prerequisite) {
    auto grid = std::make_unique<Grid>();
    grid->run = run;
    grid->priority = priority;
    grid->order = grids_started_++;
    grid->total = run.waves != nullptr  ? run.waves->simulated()
                  : run.ctas != nullptr ? run.ctas->size()
                                        : run.launch->grid.volume();
    grid->prerequisite = prerequisite;
    grid->run.awaits_grid = prerequisite != nullptr;
    grid->begin = clock_.first_cycle_from(std::max(at, simulation_.now())) + 1;
    grid->last_end = grid->begin;
    grid->first_cta = grid->begin + parameters_.launch_begin;
    if (distributor_.is_empty()) {
        LOCKSTEP_CHECK(finished_.empty(), "a kernel has ended and was not asked for");
        begin_period(grid->begin, grid->is_clustered() ? units_.sms().size() : grid->total);
        prefetch_to_sms(grid->run);
    } else {
        grid->was_alone = false;
        for (const std::unique_ptr<Grid>& other : distributor_.grids()) other->was_alone = false;
        for (std::size_t i = used_sms_.size(); i < units_.sms().size(); ++i)
            units_.sms()[i]->begin_kernels();
        used_sms_ = units_.sms();
        distributor_.use_all();
        for (const std::unique_ptr<Sm>& sm : used_sms_) sm->grids().share();
    }
    // The front end writes the launch's parameters through L2.
    const std::uint64_t parameters = run.launch->constant[0].size();
    for (std::uint64_t offset = 0; offset < parameters; offset += kLineBytes)
        memory().place(grid->begin, (run.constant_address + offset) / kLineBytes);
    prefetch(*grid);
    if (trace_ != nullptr) grid->run.trace_names = trace_->names_of(*run.launch->program);
    const auto is_taken = [this](unsigned lane) {
        const auto others = distributor_.grids();
        return std::any_of(others.begin(), others.end(),
                           [lane](const auto& other) { return other->lane == lane; });
    };
    while (is_taken(grid->lane)) ++grid->lane;
    return distributor_.add(std::move(grid));
}

void Chip::prepare_to_advance() {
    if (!is_long_ && std::clock() - started_ > kLongRun * CLOCKS_PER_SEC) {
        is_long_ = true;
        engine::move_to_huge_pages();
    }
    check_limit(used_sms_, options_.max_instructions, instructions());
}

Time Chip::advance(Time limit) {
    Chip* const self = this;
    return gpu::advance({&self, 1}, limit);
}

std::unique_ptr<Grid> Chip::run(const KernelRun& run, const Report& report) {
    const Cycle begin = start(run, 0, 0).begin;
    while (finished_.empty()) {
        if (report)
            report(ctas_ended(), instructions(), clock_.cycle_at(simulation_.now()) - begin);
        advance(engine::kNever);
        if (options_.max_instructions == 0 && spins()) report_spin(used_sms_);
    }
    return std::move(take_finished().front());
}

std::uint64_t Chip::instructions() const {
    std::uint64_t sum = 0;
    for (const std::unique_ptr<Sm>& sm : used_sms_) sum += sm->counters().instructions;
    return sum;
}

std::string Chip::explain_wait() const {
    return explain_waits(units_.sms());
}

KernelCounters Chip::collect(const Grid& grid) {
    KernelCounters result;
    if (trace_ != nullptr) {
        const sass::Launch& launch = *grid.run.launch;
        trace_->end_kernel(cubin::demangled(launch.program->function_at(launch.entry)->name),
                           grid.lane, grid.begin, grid.last_end);
    }
    result.cycles = duration(grid);
    if (!grid.was_alone) {
        result.sm.instructions = grid.instructions;
        result.sm.thread_instructions = grid.thread_instructions;
        return result;
    }
    for (const std::unique_ptr<Sm>& sm : used_sms_) {
        sm->end_kernels();
        add(result.sm, sm->counters());
        add(result.memory, sm->memory_counters());
        add(result.cluster, sm->cluster_counters());
        if (sm->watch().profile() != nullptr)
            add_rows(result.instructions, sm->watch().profile()->rows());
        if (sm->counters().ctas != 0) ++result.active_sms;
    }
    for (const std::unique_ptr<Gcc>& gcc : units_.gccs()) add(result.gcc, gcc->counters());
    result.partition = memory().counters();
    return result;
}

}  // namespace lockstep::gpu
