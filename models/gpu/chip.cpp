// SPDX-License-Identifier: Apache-2.0
// CTAs start breadth-first: one on each SM, in the order of the SMs, then a second one; later ones
// go where one has ended, in the order of the ends (observed on hardware; the order of SMs by GPC
// is not published). The distributor acts between windows, which its latency allows.
#include "models/gpu/chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "isa/cubin/demangle.h"
#include "models/gpu/emulator/cta_runner.h"
#include "sim/engine/host_memory.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::Time;

namespace {

/// Seconds of the host's after which a launch is worth huge pages.
constexpr std::clock_t kLongRun = 4;

/// Windows between two reports of a launch's progress.
constexpr Time kReportWindows = 256;

/// Simulated picoseconds in which no instruction issues although units are busy, after which the
/// model is taken to go round in circles: a hundred times the longest NANOSLEEP.
constexpr Time kLivelock = 100'000'000'000;
constexpr Cycle kLivelockCycles = 1'000'000;  // at least, on a slow clock

}  // namespace

Chip::Chip(const config::Machine& machine, const SmParameters& parameters,
           const DeviceOptions& options)
    : parameters_(parameters),
      options_(options),
      clock_(engine::ClockDomain::from_megahertz(machine.number("clock.sm"))),
      simulation_({.name = machine.name(),
                   .threads = options.threads,
                   .shuffle = options.shuffle,
                   .livelock_after = std::max(kLivelock, clock_.start_of(kLivelockCycles))}),
      gcc_parameters_(machine) {
    const auto count = static_cast<std::size_t>(machine.integer("sm.count"));
    std::vector<CrossbarPort*> ports;
    for (std::size_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        sms_.push_back(std::make_unique<Sm>(simulation_, fmt::format("sm{}", i), clock_, index,
                                            machine, parameters));
        ports_.push_back(std::make_unique<CrossbarPort>(*sms_.back(), index));
        sms_.back()->connect(*ports_.back());
        ports.push_back(ports_.back().get());
    }
    // Ports near alternate parts of L2, as the SMs' are.
    const auto first = static_cast<std::uint32_t>(count + count % 2);
    for (std::uint32_t gpc = 0; gpc < gcc_parameters_.gpcs; ++gpc) {
        gccs_.push_back(std::make_unique<Gcc>(simulation_, fmt::format("gcc{}", gpc), clock_,
                                              static_cast<std::uint16_t>(first + 2 * gpc),
                                              gcc_parameters_));
        ports.push_back(&gccs_.back()->port());
    }
    for (std::uint32_t i = 0; i < count; ++i)
        gccs_[gcc_parameters_.gpc_of(i)]->connect(sms_[i]->fetch_unit());
    memory_ = std::make_unique<MemorySystem>(simulation_, machine, ports);
    simulation_.at_window_end([this](Time end) {
        perform_deferred();
        distribute(end);
        if (trace_ != nullptr) trace_window(clock_.cycle_at(end));
    });
    trace_ = GpuTrace::make(machine, parameters, options.trace);
    if (trace_ != nullptr)
        for (unsigned i = 0; i < count; ++i) sms_[i]->trace_to(trace_->sm(i));
}

void Chip::perform_deferred() {
    queues_.clear();
    for (const std::unique_ptr<Sm>& sm : used_sms_)
        if (!sm->deferred().empty()) queues_.push_back(&sm->deferred());
    if (queues_.empty()) return;
    perform_in_order(queues_, [this](const sass::Deferred& deferred) {
        sms_[deferred.warp->cta->sm]->perform(deferred);
    });
    for (const std::unique_ptr<Sm>& sm : used_sms_) sm->end_waiting();
}

void Chip::forget_extents() {
    for (const std::unique_ptr<Sm>& sm : used_sms_) sm->forget_extents();
}

void Chip::distribute(Time window_end) {
    ends_.clear();
    for (const std::unique_ptr<Sm>& sm : used_sms_)
        if (sm->has_ended())
            for (const Cycle end : sm->take_ended()) ends_.emplace_back(end, sm.get());
    ended_ctas_ += ends_.size();
    std::stable_sort(ends_.begin(), ends_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const Cycle earliest = clock_.first_cycle_from(window_end);
    for (const auto& [end, sm] : ends_) {
        if (next_cta_ == total_ctas_) return;
        distributor_free_ = std::max({distributor_free_ + parameters_.cta_interval,
                                      end + parameters_.cta_latency, earliest});
        sm->start_cta(next_cta_++, distributor_free_);
    }
}

void Chip::trace_window(Cycle end) {
    if (trace_->wants_sample(end)) {
        trace_->sample(memory_->counters(), end);
        for (unsigned i = 0; i < sms_.size(); ++i)
            if (SmTrace* const sm = trace_->sm(i); sm != nullptr)
                sm->sample(sms_[i]->counters(), sms_[i]->memory_counters(), end);
    }
    trace_->end_window(end);
}

KernelCounters Chip::run(const KernelRun& run, std::uint64_t shared_carve_out,
                         const Report& report) {
    begin_ = clock_.first_cycle_from(simulation_.now()) + 1;
    memory_->begin_kernel(options_.l2 == L2Start::kCold || !std::exchange(l2_is_known_, true));
    // The front end writes the launch's parameters through L2.
    const std::uint64_t parameters = run.launch->constant[0].size();
    for (std::uint64_t at = 0; at < parameters; at += kLineBytes)
        memory_->place(begin_, (run.constant_address + at) / kLineBytes);
    for (const std::unique_ptr<Gcc>& gcc : gccs_) gcc->begin_kernel();
    total_ctas_ = run.launch->grid.volume();
    // A trace shows the idle ones too.
    used_sms_ = std::span(sms_).first(
        trace_ != nullptr ? sms_.size() : std::min<std::uint64_t>(total_ctas_, sms_.size()));
    next_cta_ = ended_ctas_ = 0;
    distributor_free_ = begin_ + parameters_.launch_begin;
    if (trace_ != nullptr)
        trace_->begin_kernel(
            cubin::demangled(run.launch->program->function_at(run.launch->entry)->name),
            *run.launch->program, begin_);
    for (const std::unique_ptr<Sm>& sm : used_sms_) sm->begin_kernel(run, shared_carve_out, begin_);
    for (std::uint32_t slot = 0; slot < run.resident_ctas; ++slot) {
        for (const std::unique_ptr<Sm>& sm : used_sms_) {
            if (next_cta_ == total_ctas_) break;
            sm->start_cta(next_cta_++, distributor_free_);
            distributor_free_ += parameters_.cta_interval;
        }
    }
    try {
        Time limit = simulation_.now();
        const std::clock_t start = std::clock();
        bool is_long = false;
        do {
            if (!is_long && std::clock() - start > kLongRun * CLOCKS_PER_SEC) {
                is_long = true;
                engine::move_to_huge_pages();
            }
            limit += kReportWindows * std::max<Time>(simulation_.window(), 1'000);
            std::uint64_t instructions = 0;
            for (const std::unique_ptr<Sm>& sm : used_sms_)
                instructions += sm->counters().instructions;
            check_limit(instructions);
            if (report)
                report(ended_ctas_, instructions, clock_.cycle_at(simulation_.now()) - begin_);
        } while (simulation_.run(limit) == engine::StopReason::kTimeLimit);
    } catch (const engine::Deadlock& deadlock) {
        report_deadlock(deadlock.what());
    } catch (const engine::Livelock& livelock) {
        report_deadlock(livelock.what());
    }
    return collect();
}

void Chip::check_limit(std::uint64_t instructions) const {
    if (options_.max_instructions == 0 || instructions <= options_.max_instructions) return;
    for (const std::unique_ptr<Sm>& sm : used_sms_)
        if (const sass::Cta* cta = sm->resident_cta())
            throw instruction_limit_fault(*cta, options_.max_instructions);
}

void Chip::report_deadlock(const std::string& what) const {
    for (const std::unique_ptr<Sm>& sm : used_sms_) {
        const sass::Cta* cta = sm->resident_cta();
        if (cta == nullptr) continue;
        const auto waits = [](const sass::Warp* warp) {
            return warp->live != 0 && warp->active == 0;
        };
        if (std::any_of(cta->warps.begin(), cta->warps.end(), waits)) report_stuck(*cta);
        throw LocatedFault{{.kind = sass::FaultKind::kDeadlock, .what = what},
                           cta->linear_index,
                           0,
                           cta->warps.front()->pc};
    }
    throw InternalError(what);
}

KernelCounters Chip::collect() const {
    KernelCounters result;
    Cycle end = begin_;
    for (const std::unique_ptr<Sm>& sm : used_sms_) {
        sm->end_kernel();
        end = std::max(end, sm->last_end());
        add(result.sm, sm->counters());
        add(result.memory, sm->memory_counters());
        if (sm->counters().ctas != 0) ++result.active_sms;
    }
    for (const std::unique_ptr<Gcc>& gcc : gccs_) add(result.gcc, gcc->counters());
    result.partition = memory_->counters();
    result.cycles = end + parameters_.launch_end - begin_;
    if (trace_ != nullptr) trace_->end_kernel(end);
    return result;
}

}  // namespace lockstep::gpu
