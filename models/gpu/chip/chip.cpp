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

/// Windows between two reports of a launch's progress.
constexpr Time kReportWindows = 256;

}  // namespace

Chip::Chip(engine::Simulation& simulation, const config::Machine& machine,
           const SmParameters& parameters, const DeviceOptions& options, const ChipPlace& place)
    : parameters_(parameters),
      options_(options),
      clock_(engine::ClockDomain::from_megahertz(machine.number("clock.sm"))),
      simulation_(simulation),
      gcc_parameters_(machine),
      gpc_map_(machine),
      distributor_(gpc_map_, {parameters.cta_interval, parameters.cta_latency}) {
    const auto count = static_cast<std::size_t>(machine.integer("sm.count"));
    std::vector<CrossbarPort*> ports;
    for (std::size_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        sms_.push_back(std::make_unique<Sm>(simulation_, fmt::format("{}sm{}", place.prefix, i),
                                            clock_, index, machine, parameters));
        if (options.count_toggles) sms_.back()->watch().count_toggles();
        ports_.push_back(std::make_unique<CrossbarPort>(
            *sms_.back(), index, static_cast<std::uint8_t>(gpc_map_.gpc_of(index))));
        sms_.back()->connect(*ports_.back());
        ports.push_back(ports_.back().get());
    }
    // Ports near alternate parts of L2, as the SMs' are.
    const auto first = static_cast<std::uint32_t>(count + count % 2);
    for (std::uint32_t gpc = 0; gpc < gpc_map_.gpcs(); ++gpc) {
        gccs_.push_back(
            std::make_unique<Gcc>(simulation_, fmt::format("{}gcc{}", place.prefix, gpc), clock_,
                                  static_cast<std::uint16_t>(first + 2 * gpc), gcc_parameters_));
        ports.push_back(&gccs_.back()->port());
    }
    for (std::uint32_t i = 0; i < count; ++i)
        gccs_[gpc_map_.gpc_of(i)]->connect(sms_[i]->fetch_unit());
    if (place.peers != nullptr) {
        peers_ = std::make_unique<PeerUnit>(simulation_, place.prefix + "peers", clock_,
                                            static_cast<std::uint16_t>(first + 2 * gpc_map_.gpcs()),
                                            *place.peers);
        ports.push_back(&peers_->port());
    }
    memory_ =
        std::make_unique<MemorySystem>(simulation_, machine, ports, place.prefix, peers_.get());
    connect_clusters(machine, place.prefix);
    std::vector<CtaHost*> hosts;
    for (const std::unique_ptr<Sm>& sm : sms_) hosts.push_back(sm.get());
    distributor_.connect(std::move(hosts));
    simulation_.at_window_end([this](Time end) {
        perform_deferred(clock_.cycle_at(end));
        distribute(end);
        if (trace_ != nullptr) trace_window(clock_.cycle_at(end));
    });
    trace_ =
        GpuTrace::make(simulation_, machine, parameters, *memory_, options.trace, place.prefix);
    if (trace_ != nullptr)
        for (unsigned i = 0; i < count; ++i) sms_[i]->watch().trace_to(trace_->sm(i));
    if (options.counts_instructions)
        for (const std::unique_ptr<Sm>& sm : sms_) sm->watch().count_by_instruction();
}

void Chip::connect_clusters(const config::Machine& machine, const std::string& prefix) {
    constexpr std::int64_t kFirstArch = 90;
    if (machine.integer("arch") < kFirstArch) return;
    cluster_parameters_ = std::make_unique<ClusterParameters>(machine);
    for (std::uint32_t gpc = 0; gpc < gpc_map_.gpcs(); ++gpc) {
        networks_.push_back(std::make_unique<ClusterNetwork>(
            simulation_, fmt::format("{}cluster_network{}", prefix, gpc), clock_,
            *cluster_parameters_));
        for (const std::uint16_t sm : gpc_map_.sms(gpc))
            sms_[sm]->connect(*networks_.back(), *cluster_parameters_);
    }
}

void Chip::perform_deferred(Cycle end) {
    queues_.clear();
    for (const std::unique_ptr<Sm>& sm : used_sms_)
        if (!sm->deferred().empty()) queues_.push_back(&sm->deferred());
    if (queues_.empty()) return;
    perform_in_order(queues_, [this, end](const sass::Deferred& deferred) {
        Sm& sm = *sms_[deferred.warp->cta->sm];
        const bool observes = watch_.observes() && !deferred.holds_warp();
        const bool is_known = observes && probe_.begin(deferred);
        sm.perform(deferred);
        if (observes && (!is_known || probe_.has_changed())) sm.watch().note_change();
        if (deferred.copy != nullptr)
            sms_[deferred.copy->target->sm]->copy_came(*deferred.copy, end);
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
    const PartitionCounters counters = memory_->counters();
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
    if (ends_.empty()) return;
    distributor_.count(ends_);
    for (const auto& [end, sm] : ends_)
        if (end.run->waves != nullptr) end.run->waves->ended(end.at);
    if (Grid* const head = distributor_.head()) look_at_waves(*head);
    distributor_.refill(ends_, clock_.first_cycle_from(window_end));
    for (std::size_t i = 0; i < distributor_.grids().size();) {
        if (distributor_.grids()[i]->is_done())
            finish(*distributor_.grids()[i]);
        else
            ++i;
    }
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
        }
        if (!grid.was_alone) sm->grids().forget(grid.run);
    }
    finished_.push_back(distributor_.remove(grid));
    if (distributor_.is_empty()) memory_->stop_copies();
    simulation_.stop();
}

void Chip::trace_window(Cycle end) {
    if (trace_->wants_sample(end)) {
        trace_->sample(memory_->counters(), end);
        for (unsigned i = 0; i < sms_.size(); ++i)
            if (SmTrace* const sm = trace_->sm(i); sm != nullptr)
                sm->sample(sms_[i]->counters(), sms_[i]->memory_counters(), end);
    }
    if (trace_->wants_queues(end)) {
        trace_->queues(*memory_, end);
        for (unsigned i = 0; i < sms_.size(); ++i)
            if (SmTrace* const sm = trace_->sm(i); sm != nullptr)
                sm->queues(sms_[i]->l1_queues(), ports_[i]->outstanding(), end);
    }
    trace_->end_window(end);
}

void Chip::begin_period(Cycle begin, std::uint64_t ctas) {
    const bool is_cold = options_.l2 == L2Start::kCold || !std::exchange(l2_is_known_, true);
    // What peers are about to read or write stays.
    memory_->begin_kernel(is_cold && (peers_ == nullptr || memory_->is_at_rest()));
    for (const std::unique_ptr<Gcc>& gcc : gccs_) gcc->begin_kernel();
    // A trace shows the idle ones too.
    used_sms_ = std::span(sms_).first(
        trace_ != nullptr ? sms_.size() : std::min<std::uint64_t>(ctas, sms_.size()));
    for (const std::unique_ptr<Sm>& sm : used_sms_) sm->begin_kernels();
    if (trace_ != nullptr) trace_->begin_kernels(begin);
    distributor_.begin(used_sms_.size());
    started_ = std::clock();
    watch_ = {};
    is_long_ = false;
    triggered_.clear();
}

/// To the GPCs that CTAs may come to.
void Chip::prefetch_code(const Grid& grid) {
    const sass::Launch& launch = *grid.run.launch;
    const sass::Program::Function* const kernel = launch.program->function_at(launch.entry);
    if (kernel == nullptr) return;
    for (std::uint32_t gpc = 0; gpc < gccs_.size(); ++gpc)
        if (const auto sms = gpc_map_.sms(gpc); !sms.empty() && sms.front() < used_sms_.size())
            gccs_[gpc]->prefetch(
                grid.begin,
                grid.run.code_address + std::uint64_t{kernel->first} * sass::Word::kBytes,
                std::uint64_t{kernel->count} * sass::Word::kBytes);
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
        begin_period(grid->begin, grid->is_clustered() ? sms_.size() : grid->total);
    } else {
        grid->was_alone = false;
        for (const std::unique_ptr<Grid>& other : distributor_.grids()) other->was_alone = false;
        for (std::size_t i = used_sms_.size(); i < sms_.size(); ++i) sms_[i]->begin_kernels();
        used_sms_ = sms_;
        distributor_.use_all();
        for (const std::unique_ptr<Sm>& sm : used_sms_) sm->grids().share();
    }
    prefetch_code(*grid);
    // The front end writes the launch's parameters through L2.
    const std::uint64_t parameters = run.launch->constant[0].size();
    for (std::uint64_t offset = 0; offset < parameters; offset += kLineBytes)
        memory_->place(grid->begin, (run.constant_address + offset) / kLineBytes);
    if (trace_ != nullptr) grid->run.trace_names = trace_->names_of(*run.launch->program);
    const auto is_taken = [this](unsigned lane) {
        const auto others = distributor_.grids();
        return std::any_of(others.begin(), others.end(),
                           [lane](const auto& other) { return other->lane == lane; });
    };
    while (is_taken(grid->lane)) ++grid->lane;
    return distributor_.add(std::move(grid));
}

engine::StopReason Chip::simulate(std::span<Chip* const> chips, Time limit) {
    // Who has CTAs is to blame.
    const auto report = [&](const std::string& what) {
        for (const Chip* const chip : chips)
            if (!chip->distributor_.is_empty()) report_deadlock(chip->used_sms_, what);
        report_deadlock(chips.front()->used_sms_, what);
    };
    try {
        return chips.front()->simulation_.run(limit);
    } catch (const engine::Deadlock& deadlock) {
        report(deadlock.what());
    } catch (const engine::Livelock& livelock) {
        report(livelock.what());
    }
    return engine::StopReason::kFinished;
}

void Chip::prepare_to_advance() {
    if (!is_long_ && std::clock() - started_ > kLongRun * CLOCKS_PER_SEC) {
        is_long_ = true;
        engine::move_to_huge_pages();
    }
    check_limit(used_sms_, options_.max_instructions, instructions());
}

bool Chip::is_at_rest() const {
    const auto is_finished = [](const auto& tile) { return tile->finished(); };
    return std::all_of(sms_.begin(), sms_.end(), is_finished) &&
           std::all_of(gccs_.begin(), gccs_.end(), is_finished) && memory_->is_at_rest();
}

/// A kernel that had its chip for itself leaves it when everything has come to rest; where other
/// chips are busy and use its memory, that may never be, and some windows have to do.
void Chip::come_to_rest(std::span<Chip* const> chips, Time steps) {
    engine::Simulation& simulation = chips.front()->simulation_;
    const auto is_empty = [](const Chip* chip) { return chip->distributor_.is_empty(); };
    if (std::all_of(chips.begin(), chips.end(), is_empty)) {
        while (simulate(chips, simulation.now() + steps) == engine::StopReason::kTimeLimit) {
        }
        return;
    }
    const auto leaves = [](const Chip* chip) {
        return chip->distributor_.is_empty() && !chip->finished_.empty() && !chip->is_at_rest();
    };
    for (Time i = 0; i < kReportWindows && std::any_of(chips.begin(), chips.end(), leaves); ++i)
        simulate(chips, simulation.now() + simulation.window());
}

Time Chip::advance_all(std::span<Chip* const> chips, Time limit) {
    engine::Simulation& simulation = chips.front()->simulation_;
    const Time steps = kReportWindows * std::max<Time>(simulation.window(), 1'000);
    Time reached = simulation.now();
    for (Chip* const chip : chips) {
        if (!chip->distributor_.is_empty()) chip->prepare_to_advance();
        reached = std::max(reached, chip->reached_);
    }
    // Where all units sleep beyond the target, time stands still: the next target lies further on.
    const Time target = std::min(limit, reached + steps);
    simulate(chips, target);
    bool has_finished = false;
    for (Chip* const chip : chips) {
        if (!chip->distributor_.is_empty()) chip->watch_.look(chip->sms_, simulation.now(), steps);
        has_finished |= !chip->finished_.empty();
    }
    reached = has_finished ? simulation.now() : std::max(simulation.now(), target);
    for (Chip* const chip : chips) chip->reached_ = reached;
    if (has_finished) come_to_rest(chips, steps);
    return reached;
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
    return explain_waits(sms_);
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
    for (const std::unique_ptr<Gcc>& gcc : gccs_) add(result.gcc, gcc->counters());
    result.partition = memory_->counters();
    return result;
}

}  // namespace lockstep::gpu
