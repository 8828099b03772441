// SPDX-License-Identifier: Apache-2.0
// The SM's clockwork: jumps from one cycle with work to the next; within a cycle CTAs start, the
// memory unit works, counters are released, the arbiter hands one memory instruction on, and the
// sub-cores issue, in this order.
#include "models/gpu/sm/sm.h"

#include <algorithm>
#include <bit>

#include "models/gpu/sm/wait_report.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

Sm::Sm(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
       std::uint16_t index, const config::Machine& machine, const SmParameters& parameters)
    : Tile(simulation, std::move(name), clock),
      machine_(machine),
      index_(index),
      watch_(parameters, counters_),
      warps_(this->name(), parameters, counters_, watch_),
      grids_(parameters, counters_),
      ctas_(this->name(), parameters, grids_, warps_, counters_, watch_),
      fetch_(*this),
      l1_instructions_(parameters, fetch_),
      constants_(parameters, fetch_),
      arbiter_(parameters, warps_, memory_counters_, watch_),
      copies_(this->name(), warps_),
      mbarriers_(parameters, warps_),
      bulk_copies_(index, warps_, mbarriers_, deferred_),
      products_(parameters, warps_, counters_),
      memory_issue_(parameters, warps_, counters_, watch_, arbiter_, constants_, copies_,
                    bulk_copies_),
      held_(parameters, warps_, copies_, mbarriers_, products_, deferred_),
      issue_(parameters, counters_, watch_,
             {warps_, grids_, ctas_, memory_issue_, copies_, bulk_copies_, mbarriers_, products_,
              deferred_}) {
    sub_cores_.reserve(parameters.sub_cores);
    for (unsigned i = 0; i < parameters.sub_cores; ++i)
        sub_cores_.emplace_back(i, parameters,
                                SubCoreSurroundings{warps_, counters_, watch_, l1_instructions_,
                                                    fetch_, arbiter_, held_, issue_, fp64_});
    warps_.connect(sub_cores_);
}

void Sm::connect(ClusterNetwork& network, const ClusterParameters& parameters) {
    cluster_ = std::make_unique<ClusterUnit>(*this, index_, parameters, *this);
    network.connect(*cluster_, index_);
    memory_issue_.connect(*cluster_);
    issue_.connect(*cluster_);
}

void Sm::begin_kernels() {
    is_prepared_ = false;
    counters_ = {};
    memory_counters_ = {};
    watch_.begin_kernels();
    if (cluster_ != nullptr) cluster_->begin_kernels();
    grids_.clear();
    LOCKSTEP_CHECK(ctas_.empty(), "{}: still has CTAs at a kernel's start", name());
}

void Sm::prepare(const KernelRun& run, Cycle now) {
    is_prepared_ = true;
    warps_.begin_kernel(now);
    fetch_.reset();
    global_ = run.launch->memory;
    watch_.begin_kernel(run.launch->program->code().size());
    l1_instructions_.begin_kernel(run.code_address);
    constants_.begin_kernel(run.constant_address);
    for (SubCore& sub_core : sub_cores_) sub_core.begin_kernel(now, run.constant_address);
    l1_instructions_.hold(now, run.prefetched_offset, run.prefetched_bytes);
    constants_.hold(now, run.prefetched_parameters);
    for (SubCore& sub_core : sub_cores_) sub_core.hold_constants(now, run.prefetched_parameters);
    if (memory_ == nullptr || memory_carve_out_ != run.shared_carve_out)
        divide_l1(run.shared_carve_out);
    else
        memory_->invalidate_l1();
    arbiter_.connect(*memory_, cluster_.get());
    copies_.clear();
    products_.clear();
    bulk_copies_.clear();
    mbarriers_.clear();
    held_.clear();
    grids_.number_from(run);
    ctas_.prepare(run);
}

void Sm::divide_l1(std::uint64_t carve_out) {
    memory_ = std::make_unique<MemoryUnit>(machine_, index_, carve_out, *port_, memory_issue_,
                                           memory_counters_, stage_);
    memory_carve_out_ = carve_out;
    arbiter_.connect(*memory_, cluster_.get());
    constants_.connect(*memory_);
    issue_.connect(*memory_);
}

void Sm::end_kernels() {
    // What was a candidate's time has been told apart tick by tick; an issue is one cycle of it.
    counters_.warp_cycles[static_cast<unsigned>(WarpState::kSelected)] = counters_.issue_active;
    ctas_.clear();
    grids_.clear();
}

/// As the driver does it: only an SM on which nothing runs divides its L1 anew.
bool Sm::can_change_carve_out() const {
    return ctas_.empty() && memory_->idle();
}

bool Sm::fits(const KernelRun& run) const {
    if (!ctas_.has_room(run)) return false;
    return grids_.is_alone(run) ||
           grids_.shared_bytes() + run.shared_per_cta <= memory_carve_out_ ||
           can_change_carve_out();
}

void Sm::start_cta(const KernelRun& run, std::uint64_t linear_index, Cycle at,
                   sass::ClusterMember* member) {
    if (!is_prepared_) prepare(run, at);
    if (grids_.ctas(run) == 0 && !grids_.is_alone(run)) {
        if (!grids_.has_others(run) && memory_carve_out_ < run.shared_carve_out &&
            can_change_carve_out())
            divide_l1(run.shared_carve_out);
        else
            memory_->invalidate_l1();
    }
    ctas_.announce(run, linear_index, at, member);
    wake(at);
}

void Sm::handle(const Event& event) {
    if (event.kind == EventKind::kProductEnd) return products_.end(event);  // may outlive its warps
    WarpContext& context = warps_[event.warp];
    if (context.age != event.age || context.warp == nullptr) return;
    if (event.kind == EventKind::kWake) return warps_.wake(context, now());
    if (event.kind == EventKind::kWaitEnd) {
        if (context.try_wait_end == now()) warps_.wake(context, now());
        return;
    }
    if (event.kind == EventKind::kRelease) return warps_.release(context, event.counter);
    if (event.kind == EventKind::kStoreSent)
        --context.in_flight;
    else
        memory_issue_.done(context, event);
    if (context.is_done) ctas_.retire_if_done(context, now());
}

/// Lines of code and constants that have come from the GPC's cache.
void Sm::take_fetched(Cycle now) {
    FetchLine line;
    while (fetch_.take(now, line)) {
        if (line.kind == FetchKind::kInstructions) {
            l1_instructions_.arrived(now, line.number);
            for (SubCore& sub_core : sub_cores_) sub_core.instructions_arrived(line.number, now);
            continue;
        }
        for (SubCore& sub_core : sub_cores_) sub_core.constants_arrived(line.number, now);
        constants_.arrived(line.number, now);
    }
}

void Sm::advance_memory(Cycle now) {
    SmProfile* const profile = watch_.profile();
    const MemoryCounters before = profile != nullptr ? memory_counters_ : MemoryCounters{};
    memory_->advance(now);
    if (profile != nullptr) profile->went_on(since(memory_counters_, before));
    arbiter_.update(now);
}

Cycle Sm::next_event() {
    memory_next_ = memory_->next_event();
    Cycle next = std::min({warps_.events.next(), memory_next_, fetch_.next_event()});
    if (cluster_ != nullptr) next = std::min(next, cluster_->next_event());
    next = std::min({next, arbiter_.next(), products_.next(), ctas_.next_start()});
    for (const SubCore& sub_core : sub_cores_) next = std::min(next, sub_core.next());
    return next;
}

void Sm::process(Cycle now) {
    warps_.set_now(now);
    if (ctas_.next_start() <= now)
        ctas_.start_due({index_, &stores_, &deferred_, &bulk_copies_.engine(),
                         &memory_issue_.noted_texels(), cluster_.get()});
    if (fetch_.next_event() <= now) take_fetched(now);
    if (cluster_ != nullptr && cluster_->next_event() <= now) {
        cluster_->advance(now);
        memory_next_ = memory_->next_event();
        arbiter_.update(now);  // requests have left
    }
    if (memory_next_ <= now) advance_memory(now);
    warps_.events.advance(now, [this](const Event& event) { handle(event); });
    if (arbiter_.next() <= now)
        for (unsigned served = arbiter_.arbitrate(now); served != 0; served &= served - 1)
            sub_cores_[static_cast<unsigned>(std::countr_zero(served))].note_memory_slot(now);
    if (products_.next() <= now) {
        products_.advance(now, *memory_);
        arbiter_.update(now + 1);
    }
    for (SubCore& sub_core : sub_cores_)
        if (sub_core.next() <= now) sub_core.tick(now);
    fetch_.send(now);
}

Cycle Sm::advance(Cycle from, Cycle until) {
    if (memory_ == nullptr) return kNever;
    window_end_ = until;
    stage_.begin_window(from, until);
    if (cluster_ != nullptr) cluster_->begin_window(from);
    for (const SubCore& sub_core : sub_cores_) sub_core.prefetch_due();
    while (true) {
        const Cycle next = next_event();
        if (next == kNever) return kNever;
        const Cycle now = std::max({next, from, warps_.now()});
        if (now >= until) return now;
        process(now);
        if (issue_.take_progress()) report_progress();
        from = now + 1;
    }
}

void Sm::at_window_end() {
    stage_.end_window();
    memory_counters_.data_busy += stage_.take_waited();
    if (stores_.empty()) return;
    if (watch_.observes_changes() && stores_.changes(*global_)) watch_.note_change();
    stores_.commit(*global_);
}

void Sm::perform(const sass::Deferred& deferred) {
    if (!deferred.holds_warp()) return deferred.perform();
    WarpContext& context = warps_[ctas_.slot_of(*deferred.warp)];
    held_.end_wait(context);
    ++counters_.issue_active;
    issue_.execute(context, context.info[deferred.warp->pc], window_end_, window_end_);
}

void Sm::copy_came(const sass::AsyncCopy& copy, Cycle at) {
    mbarriers_.check(*copy.target, at);
    wake(at);
}

void Sm::end_waiting() {
    if (held_.end_window(window_end_)) wake(window_end_);
}

void Sm::end_grid_wait(const KernelRun& run) {
    if (held_.end_grid_wait(run, window_end_)) wake(window_end_);
}

Cycle Sm::serve_remote(Cycle now, const sass::RemoteOperation& operation) {
    // It may have arrived at an mbarrier, or reported to one.
    const sass::ClusterMember* const member =
        operation.warp->cta->member->cluster->member[operation.rank];
    mbarriers_.check(*member->cta, now + 1);
    return memory_->serve_remote(now, operation);
}

void Sm::remote_done(Cycle now, const MemoryInstructionHeader& instruction) {
    const bool returns = instruction.info->operation != MemoryOperation::kStoreShared;
    memory_issue_.written_back(returns ? memory_->return_remote(now, instruction) : now,
                               instruction);
}

void Sm::cluster_released(Cycle now, sass::Cta& cta) {
    ctas_.wake_waiting(cta.slot, now);
}

L1Queues Sm::l1_queues() const {
    return memory_ == nullptr ? L1Queues{} : memory_->queues();
}

std::string Sm::explain_wait() const {
    return explain_waits(warps_);
}

}  // namespace lockstep::gpu
