// SPDX-License-Identifier: Apache-2.0
// The SM's clockwork: jumps from one cycle with work to the next; within a cycle CTAs start, the
// memory unit works, counters are released, the arbiter hands one memory instruction on, and the
// sub-cores issue, in this order. What an instruction does at issue is in sm_execute.cpp.
#include "models/gpu/sm/sm.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "models/gpu/chip/gpu_trace.h"
#include "models/gpu/execution/mbarrier_report.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

Sm::Sm(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
       std::uint16_t index, const config::Machine& machine, const SmParameters& parameters)
    : Tile(simulation, std::move(name), clock),
      machine_(machine),
      parameters_(parameters),
      index_(index),
      fetch_(*this),
      l1_instructions_(parameters, fetch_),
      indexed_constants_(parameters, fetch_),
      contexts_(parameters.max_warps),
      queues_(parameters.sub_cores,
              MemoryQueue(parameters.memory_queue, parameters.address_interval)),
      warpgroups_(parameters),
      presence_(parameters.sub_cores) {
    sub_cores_.reserve(parameters.sub_cores);
    for (unsigned i = 0; i < parameters.sub_cores; ++i)
        sub_cores_.emplace_back(*this, i, parameters, l1_instructions_, fetch_);
}

void Sm::begin_kernels(Cycle now) {
    is_prepared_ = false;
    is_shared_ = false;
    grids_.clear();
    counters_ = {};
    memory_counters_ = {};
    observe_changes(false);
    if (cluster_ != nullptr) cluster_->begin_kernels();
    if (profile_ != nullptr) profile_->clear();
    last_end_ = now;
    LOCKSTEP_CHECK(resident_ == 0 && starts_.empty(), "{}: still has CTAs at a kernel's start",
                   name());
}

void Sm::prepare(const KernelRun& run, Cycle now) {
    is_prepared_ = true;
    now_ = now;
    warp_start_free_ = 0;
    wheel_.reset(now);
    fetch_.reset();
    code_base_ = run.code_address;
    constant_base_ = run.constant_address;
    global_ = run.launch->memory;
    if (profile_ != nullptr) profile_->begin(run.launch->program->code().size());
    l1_instructions_.begin_kernel(code_base_);
    indexed_constants_.begin_kernel(constant_base_);
    awaited_constants_.clear();
    for (SubCore& sub_core : sub_cores_) sub_core.begin_kernel(now, constant_base_);
    if (memory_ == nullptr || memory_carve_out_ != run.shared_carve_out) {
        memory_ = std::make_unique<MemoryUnit>(machine_, index_, run.shared_carve_out, *port_,
                                               *this, memory_counters_);
        memory_carve_out_ = run.shared_carve_out;
    } else {
        memory_->invalidate_l1();
    }
    memory_next_ = kNever;
    copy_barriers_.clear();
    warpgroups_.reset();
    copies_.clear();
    mbarrier_waits_.clear();
    ctas_.clear();
    ctas_.resize(run.resident_ctas);
    warps_used_.assign(parameters_.max_warps, false);
    ended_.clear();
    triggered_.clear();
    grid_waiters_.clear();
}

void Sm::end_kernels() {
    // What was a candidate's time has been told apart tick by tick; an issue is one cycle of it.
    counters_.warp_cycles[static_cast<unsigned>(WarpState::kSelected)] = counters_.issue_active;
    ctas_.clear();
    grids_.clear();
}

void Sm::share() {
    if (std::exchange(is_shared_, true)) return;
    // There was one kernel until now.
    for (const auto& grid : grids_) {
        grid->instructions = counters_.instructions;
        grid->thread_instructions = counters_.thread_instructions;
    }
}

const ResidentGrid* Sm::grid(const KernelRun& run) const {
    for (const auto& grid : grids_)
        if (grid->run == &run) return grid.get();
    return nullptr;
}

ResidentGrid& Sm::resident(const KernelRun& run) {
    for (const auto& grid : grids_)
        if (grid->run == &run) return *grid;
    ResidentGrid& grid = *grids_.emplace_back(std::make_unique<ResidentGrid>());
    grid.run = &run;
    grid.line_offset =
        static_cast<std::uint32_t>((run.code_address - code_base_) / parameters_.instruction_line);
    grid.constant_offset = static_cast<std::uint32_t>((run.constant_address - constant_base_) /
                                                      parameters_.constant_line);
    return grid;
}

void Sm::forget(const KernelRun& run) {
    std::erase_if(grids_, [&](const auto& grid) { return grid->run == &run; });
}

std::uint32_t Sm::warps() const {
    std::uint32_t warps = 0;
    for (const auto& grid : grids_) warps += grid->ctas * grid->run->warps_per_cta;
    return warps;
}

/// As the driver does it: only an SM on which nothing runs divides its L1 anew.
bool Sm::can_change_carve_out() const {
    return resident_ == 0 && starts_.empty() && memory_->idle();
}

bool Sm::fits(const KernelRun& run) const {
    std::uint32_t ctas = 0, warps = 0, registers = 0;
    std::uint64_t shared = 0;
    bool has_others = false;
    for (const auto& grid : grids_) {
        if (grid->run == &run && grid->ctas >= run.resident_ctas) return false;
        has_others = has_others || (grid->run != &run && grid->ctas != 0);
        ctas += grid->ctas;
        warps += grid->ctas * grid->run->warps_per_cta;
        registers += grid->ctas * grid->run->registers_per_cta;
        shared += grid->ctas * grid->run->shared_per_cta;
    }
    if (grids_.empty() || (grids_.size() == 1 && grids_.front()->run == &run)) return true;
    if (shared + run.shared_per_cta > memory_carve_out_ && !can_change_carve_out()) return false;
    if (!has_others) return true;
    return ctas < parameters_.max_ctas && warps + run.warps_per_cta <= parameters_.max_warps &&
           registers + run.registers_per_cta <= parameters_.registers &&
           find_warps(run.warps_per_cta) != kAnyWarps;
}

std::uint32_t Sm::room(const KernelRun& run) const {
    if (!fits(run)) return 0;
    const bool is_alone = std::all_of(grids_.begin(), grids_.end(), [&](const auto& grid) {
        return grid->run == &run || grid->ctas == 0;
    });
    if (!is_alone) return 1;
    const ResidentGrid* const here = grid(run);
    return run.resident_ctas - (here == nullptr ? 0 : here->ctas);
}

/// A run of slots that neither hold a warp nor are reserved; kAnyWarps: there is none. A kernel by
/// itself finds them where its CTAs would lie side by side.
std::uint32_t Sm::find_warps(std::uint32_t count) const {
    for (const std::uint32_t step : {count, 1u})
        for (std::uint32_t first = 0; first + count <= parameters_.max_warps; first += step)
            if (std::none_of(warps_used_.begin() + first, warps_used_.begin() + first + count,
                             [](bool used) { return used; }))
                return first;
    return kAnyWarps;
}

void Sm::reserve_warps(std::uint32_t first, std::uint32_t count, bool is_used) {
    std::fill_n(warps_used_.begin() + first, count, is_used);
}

void Sm::start_cta(const KernelRun& run, std::uint64_t linear_index, Cycle at,
                   sass::ClusterMember* member) {
    if (!is_prepared_) prepare(run, at);
    ResidentGrid& grid = resident(run);
    const bool is_mixed = std::any_of(grids_.begin(), grids_.end(), [&](const auto& other) {
        return other.get() != &grid && other->ctas != 0;
    });
    if (grid.ctas == 0 && grids_.size() > 1) {
        if (!is_mixed && memory_carve_out_ < run.shared_carve_out && can_change_carve_out()) {
            memory_ = std::make_unique<MemoryUnit>(machine_, index_, run.shared_carve_out, *port_,
                                                   *this, memory_counters_);
            memory_carve_out_ = run.shared_carve_out;
        } else {
            memory_->invalidate_l1();
        }
    }
    ++grid.ctas;
    std::uint32_t first_warp = kAnyWarps;
    if (is_mixed) {
        // Others' CTAs may leave no room side by side later: each takes its slots now.
        ctas_.resize(std::max<std::size_t>(ctas_.size(), parameters_.max_ctas));
        for (Start& start : starts_) {
            if (start.first_warp != kAnyWarps) continue;
            start.first_warp = find_warps(start.grid->run->warps_per_cta);
            LOCKSTEP_CHECK(start.first_warp != kAnyWarps, "{}: no slots for a CTA's warps", name());
            reserve_warps(start.first_warp, start.grid->run->warps_per_cta, true);
        }
        first_warp = find_warps(run.warps_per_cta);
        LOCKSTEP_CHECK(first_warp != kAnyWarps, "{}: no slots for a CTA's warps", name());
        reserve_warps(first_warp, run.warps_per_cta, true);
    } else if (ctas_.size() < run.resident_ctas) {
        ctas_.resize(run.resident_ctas);
    }
    const auto later = [](const Start& a, const Start& b) { return a.at > b.at; };
    const Start start{at, linear_index, &grid, first_warp, member};
    starts_.insert(std::lower_bound(starts_.begin(), starts_.end(), start, later), start);
    wake(at);
}

void Sm::begin_cta(const Start& start) {
    const auto free =
        std::find_if(ctas_.begin(), ctas_.end(), [](const CtaSlot& slot) { return !slot.is_used; });
    LOCKSTEP_CHECK(free != ctas_.end(), "{}: no slot for CTA {}", name(), start.linear_index);
    const KernelRun& run = *start.grid->run;
    storages_.resize(std::max(storages_.size(), ctas_.size()));
    std::unique_ptr<CtaStorage>& storage =
        storages_[static_cast<std::size_t>(free - ctas_.begin())];
    if (storage == nullptr) storage = std::make_unique<CtaStorage>();
    if (free->storage == nullptr || free->launch != run.launch->id) {
        storage->prepare(*run.launch);
        free->launch = run.launch->id;
    }
    free->storage = storage.get();
    free->storage->start(start.linear_index);
    free->is_used = true;
    free->has_triggered = false;
    free->grid = start.grid;
    free->first_warp = start.first_warp;
    if (free->first_warp == kAnyWarps) {
        free->first_warp = find_warps(run.warps_per_cta);
        LOCKSTEP_CHECK(free->first_warp != kAnyWarps, "{}: no slots for a CTA's warps", name());
        reserve_warps(free->first_warp, run.warps_per_cta, true);
    }
    free->warps_left = run.warps_per_cta;
    sass::Cta& cta = free->storage->cta();
    cta.sm = index_;
    cta.stores = &stores_;
    cta.deferred = &deferred_;
    cta.async = &copies_;
    cta.slot = static_cast<std::uint32_t>(free - ctas_.begin());
    if (start.member != nullptr)
        sass::begin_member(*start.member, cta, *start.member->cluster, start.member->rank,
                           cluster_.get());
    if (resident_++ == 0) active_since_ = now_;
    ++counters_.ctas;
    if (trace_ != nullptr) trace_->cta_begins(cta.slot, start.linear_index, now_);
    warp_start_free_ = std::max(warp_start_free_, now_);
    for (std::uint32_t w = 0; w < run.warps_per_cta; ++w) {
        const std::uint32_t slot = free->first_warp + w;
        WarpContext& context = contexts_[slot];
        context = WarpContext{};
        context.warp = cta.warps[w];
        context.info = run.table->data();
        context.code = run.launch->program->code().data();
        context.grid = start.grid;
        context.line_offset = start.grid->line_offset;
        context.constant_offset = start.grid->constant_offset;
        context.cta_slot = cta.slot;
        context.age = ++ages_;
        context.since = now_;
        context.state = WarpState::kNoInstruction;
        if (trace_ != nullptr) trace_->state(slot, context.state, now_);
        ++counters_.warps;
        Presence& sub_core = presence_[slot % parameters_.sub_cores];
        if (sub_core.warps++ == 0) sub_core.since = now_;
        wake_slot(static_cast<std::uint16_t>(slot), warp_start_free_);
        warp_start_free_ += parameters_.warp_interval;
    }
}

void Sm::count_by_instruction() {
    profile_ = std::make_unique<SmProfile>(parameters_.sub_cores, parameters_.max_warps);
    is_watched_ = true;
}

void Sm::watch_state(const WarpContext& context, WarpState state, Cycle now) {
    const auto slot = static_cast<std::uint32_t>(&context - contexts_.data());
    if (profile_ != nullptr)
        profile_->waited(slot, context.warp->pc, context.state, now - context.since);
    if (trace_ != nullptr) trace_->state(slot, state, now);
}

void Sm::watch_issue(std::uint16_t slot, const WarpContext& context, const StaticInstruction& in,
                     std::uint32_t pc, std::uint32_t mask, Cycle now) {
    if (profile_ != nullptr) profile_->issued(slot, pc, static_cast<unsigned>(std::popcount(mask)));
    if (trace_ != nullptr)
        traced_ = trace_->issued(slot, context.grid->run->trace_names[pc], in, mask, now);
}

void Sm::wake_later(unsigned sub_core, unsigned local, Cycle at) {
    wheel_.schedule(at,
                    {.kind = EventKind::kWake,
                     .warp = static_cast<std::uint16_t>(local * parameters_.sub_cores + sub_core),
                     .age = context(sub_core, local).age});
}

void Sm::wake_slot(std::uint16_t slot, Cycle at) {
    sub_cores_[slot % parameters_.sub_cores].wake(slot / parameters_.sub_cores, at);
}

void Sm::hold(WarpContext& context, unsigned counter, bool is_long) {
    LOCKSTEP_CHECK(context.counter[counter] < kCounterMax,
                   "{}: dependence counter SB{} of a warp overflows", name(), counter);
    ++context.counter[counter];
    if (is_long) context.long_mask |= static_cast<std::uint8_t>(1u << counter);
}

void Sm::release(std::uint16_t slot, unsigned counter, Cycle now) {
    WarpContext& context = contexts_[slot];
    if (--context.counter[counter] == 0)
        context.long_mask &= static_cast<std::uint8_t>(~(1u << counter));
    if (context.waits_for_counter) {
        context.waits_for_counter = false;
        wake_slot(slot, now);
    }
}

void Sm::release_later(std::uint16_t slot, std::uint8_t counter, Cycle at) {
    wheel_.schedule(at, {.kind = EventKind::kRelease,
                         .counter = counter,
                         .warp = slot,
                         .age = contexts_[slot].age});
}

void Sm::sources_read(Cycle at, const MemoryInstructionHeader& instruction) {
    if (instruction.read_barrier != sass::Control::kNoBarrier)
        release_later(instruction.warp, instruction.read_barrier, at);
}

void Sm::written_back(Cycle at, const MemoryInstructionHeader& instruction) {
    const MemoryOperation operation = instruction.info->operation;
    if (trace_ != nullptr) trace_->written_back(instruction.trace, at);
    wheel_.schedule(at, {.kind = EventKind::kMemoryDone,
                         .counter = instruction.write_barrier,
                         .warp = instruction.warp,
                         .copy_group = instruction.copy_group,
                         .is_store = changes_global(operation) || instruction.is_remote_store,
                         .is_copy = operation == MemoryOperation::kCopyAsync,
                         .is_bulk_copy = operation == MemoryOperation::kBulkCopy,
                         .age = contexts_[instruction.warp].age});
}

void Sm::handle(const Event& event) {
    if (event.kind == EventKind::kProductEnd) return end_product(event);
    WarpContext& context = contexts_[event.warp];
    if (context.age != event.age || context.warp == nullptr) return;
    switch (event.kind) {
        case EventKind::kWake:
            wake_slot(event.warp, now_);
            return;
        case EventKind::kRelease:
            return release(event.warp, event.counter, now_);
        case EventKind::kMemoryDone:
            if (event.counter != sass::Control::kNoBarrier)
                release(event.warp, event.counter, now_);
            --context.in_flight;
            if (event.is_store && --context.stores_in_flight == 0 && context.waits_for_stores) {
                context.waits_for_stores = false;
                wake_slot(event.warp, std::max(now_, context.not_before));
            }
            if (event.is_copy) {
                --context.group_pending[event.copy_group % WarpContext::kCopyGroups];
                finish_copies(event.warp, context, now_);
            }
            if (event.is_bulk_copy) end_bulk_copy(event.warp, event.copy_group, now_);
            if (context.is_done) retire_if_done(context, now_);
            return;
        case EventKind::kProductEnd:  // above: it may outlive its warps
            return;
    }
}

void Sm::update_memory_next(Cycle now) {
    memory_next_ = kNever;
    if (cluster_ != nullptr && cluster_->is_full()) return;
    const MemoryQueue* first = nullptr;
    Cycle head = kNever;
    for (const MemoryQueue& queue : queues_) {
        if (queue.next() >= head) continue;
        head = queue.next();
        first = &queue;
    }
    if (head == kNever) return;
    head = std::max({head, arbiter_free_, now});
    const Cycle accept = memory_->next_accept(head, first->front().info->operation);
    if (accept != kNever) memory_next_ = std::max(head, accept);
}

void Sm::arbitrate(Cycle now) {
    // The sub-core whose oldest instruction has waited longest.
    unsigned best = 0;
    Cycle ready = kNever;
    for (unsigned i = 0; i < queues_.size(); ++i) {
        if (queues_[i].next() < ready) {
            ready = queues_[i].next();
            best = i;
        }
    }
    const bool is_blocked = cluster_ != nullptr && cluster_->is_full();
    if (!is_blocked && ready <= now && arbiter_free_ <= now &&
        memory_->next_accept(now, queues_[best].front().info->operation) <= now) {
        if (trace_ != nullptr) trace_->accepted(queues_[best].front().trace, now);
        const std::uint32_t pc = queues_[best].front().code_index;
        const MemoryCounters before = profile_ != nullptr ? memory_counters_ : MemoryCounters{};
        memory_->accept(now, queues_[best].front());
        if (profile_ != nullptr) profile_->accessed(pc, since(memory_counters_, before));
        queues_[best].pop(now);
        if (trace_ != nullptr) trace_->queued(best, queues_[best].size(), now);
        arbiter_free_ = now + 1;  // next_accept() knows how long the instruction takes
        sub_cores_[best].note_memory_slot(now);
    }
    update_memory_next(now + 1);
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
        indexed_constants_.arrived(now, line.number);
        std::erase_if(awaited_constants_, [&](const auto& awaited) {
            if (awaited.first != line.number) return false;
            memory_->constants_arrived(now, awaited.second);
            return true;
        });
    }
}

Cycle Sm::next_event() const {
    Cycle next = std::min({wheel_.next(), memory_->next_event(), fetch_.next_event()});
    if (cluster_ != nullptr) next = std::min(next, cluster_->next_event());
    next = std::min({next, memory_next_, warpgroups_.next()});
    for (const SubCore& sub_core : sub_cores_) next = std::min(next, sub_core.next());
    return starts_.empty() ? next : std::min(next, starts_.back().at);
}

void Sm::process(Cycle now) {
    now_ = now;
    while (!starts_.empty() && starts_.back().at <= now) {
        begin_cta(starts_.back());
        starts_.pop_back();
    }
    if (fetch_.next_event() <= now) take_fetched(now);
    if (cluster_ != nullptr && cluster_->next_event() <= now) {
        cluster_->advance(now);
        update_memory_next(now);  // requests have left
    }
    if (memory_->next_event() <= now) {
        const MemoryCounters before = profile_ != nullptr ? memory_counters_ : MemoryCounters{};
        memory_->advance(now);
        if (profile_ != nullptr) profile_->went_on(since(memory_counters_, before));
        update_memory_next(now);
    }
    wheel_.advance(now, [this](const Event& event) { handle(event); });
    if (memory_next_ <= now) arbitrate(now);
    if (warpgroups_.next() <= now) {
        warpgroups_.advance(now, *memory_, [this](const WarpgroupUnit::End& end) {
            wheel_.schedule(end.at, {.kind = EventKind::kProductEnd,
                                     .warp = end.first,
                                     .closes_group = end.closes_group,
                                     .age = contexts_[end.first].age});
        });
        update_memory_next(now + 1);
    }
    for (SubCore& sub_core : sub_cores_)
        if (sub_core.next() <= now) sub_core.tick(now);
    fetch_.send(now);
}

/// Since the last window all other SMs have passed through the host's caches.
void Sm::prefetch_warps() const {
    constexpr unsigned kLine = 64;
    for (const WarpContext& context : contexts_) {
        __builtin_prefetch(&context, 1);
        __builtin_prefetch(reinterpret_cast<const std::byte*>(&context) + kLine, 1);
    }
    for (const CtaSlot& cta : ctas_) {
        if (!cta.is_used) continue;
        for (const sass::Warp* warp : cta.storage->cta().warps) {
            __builtin_prefetch(warp, 1);
            __builtin_prefetch(reinterpret_cast<const std::byte*>(warp) + kLine, 1);
        }
    }
}

Cycle Sm::advance(Cycle from, Cycle until) {
    if (memory_ == nullptr) return kNever;
    window_end_ = until;
    if (cluster_ != nullptr) cluster_->begin_window(from);
    prefetch_warps();
    while (true) {
        const Cycle next = next_event();
        if (next == kNever) return kNever;
        const Cycle now = std::max({next, from, now_});
        if (now >= until) return now;
        process(now);
        if (has_issued_) report_progress();
        has_issued_ = false;
        from = now + 1;
    }
}

void Sm::at_window_end() {
    if (stores_.empty()) return;
    if (observes_changes_ && stores_.changes(*global_)) ++changes_;
    stores_.commit(*global_);
}

const sass::Cta* Sm::resident_cta() const {
    for (const CtaSlot& slot : ctas_)
        if (slot.is_used) return &slot.storage->cta();
    return nullptr;
}

L1Queues Sm::l1_queues() const {
    return memory_ == nullptr ? L1Queues{} : memory_->queues();
}

std::string Sm::explain_wait() const {
    constexpr Cycle kRecently = 50'000'000;  // loops that sleep between their questions included
    std::string text;
    for (std::size_t slot = 0; slot < contexts_.size() && text.size() < 1200; ++slot) {
        const WarpContext& context = contexts_[slot];
        if (context.warp == nullptr || context.is_done) continue;
        std::string why;
        if (context.has_asked && context.asked_at + kRecently >= now_ && !context.waits_for_path)
            why = describe_phase_check(*context.warp, context.asked_pc);
        else if (context.waits_for_counter)
            why = fmt::format("dependence counters ({})",
                              fmt::join(std::span(context.counter).first(kCounters), ","));
        else if (context.waits_for_line)
            why = fmt::format("line {} of its code", context.line);
        else if (context.waits_for_constant)
            why = fmt::format("line {} of its constants", context.constant_line);
        else if (context.waits_for_path)
            why = "threads at a barrier";
        else if (context.waits_for_grid)
            why = "the end of the kernel before it (griddepcontrol.wait)";
        else if (context.waits_for_copies)
            why = "asynchronous copies";
        else if (context.waits_for_products || context.waits_for_room)
            why = "the products of its warpgroup";
        else if (context.waits_for_stores)
            why = fmt::format("{} stores", context.stores_in_flight);
        if (why.empty()) why = "an event that never comes";
        text += fmt::format("{}CTA {} warp {} at {:#x} waits for {}", text.empty() ? "" : "; ",
                            context.warp->cta->linear_index, context.warp->index,
                            context.warp->pc * sass::Word::kBytes, why);
    }
    return text.empty() ? "a CTA's memory accesses are under way" : text;
}

}  // namespace lockstep::gpu
