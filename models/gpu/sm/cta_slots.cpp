// SPDX-License-Identifier: Apache-2.0
// A kernel by itself fills slots side by side. Where CTAs of several kernels lie beside each other,
// each takes its warps' slots when it is announced, for others may leave no room side by side
// later.
#include "models/gpu/sm/cta_slots.h"

#include <algorithm>

#include "isa/sass/convergence.h"
#include "models/gpu/sm/sm_trace.h"

namespace lockstep::gpu {

using engine::Cycle;

CtaSlots::CtaSlots(const std::string& sm, const SmParameters& parameters, ResidentGrids& grids,
                   Warps& warps, SmCounters& counters, SmWatch& watch)
    : sm_(sm),
      parameters_(parameters),
      grids_(grids),
      warps_(warps),
      counters_(counters),
      watch_(watch),
      presence_(parameters.sub_cores) {}

void CtaSlots::prepare(const KernelRun& run) {
    warp_start_free_ = 0;
    slots_.clear();
    slots_.resize(run.resident_ctas);
    warps_used_.assign(parameters_.max_warps, false);
    ended_.clear();
    triggered_.clear();
}

bool CtaSlots::has_room(const KernelRun& run) const {
    if (grids_.ctas(run) >= run.resident_ctas) return false;
    if (!grids_.has_others(run)) return true;
    return grids_.ctas() < parameters_.max_ctas &&
           grids_.warps() + run.warps_per_cta <= parameters_.max_warps &&
           grids_.registers() + run.registers_per_cta <= parameters_.registers &&
           find_warps(run.warps_per_cta) != kAnyWarps;
}

std::uint32_t CtaSlots::room(const KernelRun& run) const {
    return grids_.has_others(run) ? 1 : run.resident_ctas - grids_.ctas(run);
}

/// A run of slots that neither hold a warp nor are reserved; kAnyWarps: there is none. A kernel by
/// itself finds them where its CTAs would lie side by side.
std::uint32_t CtaSlots::find_warps(std::uint32_t count) const {
    for (const std::uint32_t step : {count, 1u})
        for (std::uint32_t first = 0; first + count <= parameters_.max_warps; first += step)
            if (std::none_of(warps_used_.begin() + first, warps_used_.begin() + first + count,
                             [](bool used) { return used; }))
                return first;
    return kAnyWarps;
}

std::uint32_t CtaSlots::reserve_warps(std::uint32_t count) {
    const std::uint32_t first = find_warps(count);
    LOCKSTEP_CHECK(first != kAnyWarps, "{}: no slots for a CTA's warps", sm_);
    std::fill_n(warps_used_.begin() + first, count, true);
    return first;
}

void CtaSlots::announce(const KernelRun& run, std::uint64_t linear_index, Cycle at,
                        sass::ClusterMember* member) {
    ResidentGrid& grid = grids_.find_or_add(run);
    ++grid.ctas;
    std::uint32_t first_warp = kAnyWarps;
    if (grids_.has_others(run)) {
        slots_.resize(std::max<std::size_t>(slots_.size(), parameters_.max_ctas));
        for (Start& start : starts_)
            if (start.first_warp == kAnyWarps)
                start.first_warp = reserve_warps(start.grid->run->warps_per_cta);
        first_warp = reserve_warps(run.warps_per_cta);
    } else if (slots_.size() < run.resident_ctas) {
        slots_.resize(run.resident_ctas);
    }
    const auto later = [](const Start& a, const Start& b) { return a.at > b.at; };
    const Start start{at, linear_index, &grid, first_warp, member};
    starts_.insert(std::lower_bound(starts_.begin(), starts_.end(), start, later), start);
}

void CtaSlots::start_due(const CtaSurroundings& surroundings) {
    while (!starts_.empty() && starts_.back().at <= warps_.now()) {
        start(starts_.back(), surroundings);
        starts_.pop_back();
    }
}

void CtaSlots::start(const Start& start, const CtaSurroundings& surroundings) {
    const auto free =
        std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.is_used; });
    LOCKSTEP_CHECK(free != slots_.end(), "{}: no slot for CTA {}", sm_, start.linear_index);
    const KernelRun& run = *start.grid->run;
    const auto number = static_cast<std::uint32_t>(free - slots_.begin());
    storages_.resize(std::max(storages_.size(), slots_.size()));
    std::unique_ptr<CtaStorage>& storage = storages_[number];
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
    free->first_warp =
        start.first_warp == kAnyWarps ? reserve_warps(run.warps_per_cta) : start.first_warp;
    free->warps_left = run.warps_per_cta;
    sass::Cta& cta = free->storage->cta();
    cta.sm = surroundings.sm;
    cta.stores = surroundings.stores;
    cta.deferred = surroundings.deferred;
    cta.async = surroundings.async;
    cta.texels = surroundings.texels;
    cta.slot = number;
    if (start.member != nullptr)
        sass::begin_member(*start.member, cta, *start.member->cluster, start.member->rank,
                           surroundings.cluster);
    if (resident_++ == 0) active_since_ = warps_.now();
    ++counters_.ctas;
    if (watch_.trace() != nullptr)
        watch_.trace()->cta_begins(number, start.linear_index, warps_.now());
    start_warps(*free, cta);
}

void CtaSlots::start_warps(const Slot& slot, sass::Cta& cta) {
    const KernelRun& run = *slot.grid->run;
    warp_start_free_ = std::max(warp_start_free_, warps_.now());
    for (std::uint32_t w = 0; w < run.warps_per_cta; ++w) {
        WarpContext& context = warps_.begin(static_cast<std::uint16_t>(slot.first_warp + w));
        context.warp = cta.warps[w];
        context.info = run.table->data();
        context.code = run.launch->program->code().data();
        context.grid = slot.grid;
        context.line_offset = slot.grid->line_offset;
        context.constant_offset = slot.grid->constant_offset;
        context.cta_slot = cta.slot;
        Presence& sub_core = presence_[warps_.sub_core_of(context)];
        if (sub_core.warps++ == 0) sub_core.since = warps_.now();
        warps_.wake(context, warp_start_free_);
        warp_start_free_ += parameters_.warp_interval;
    }
}

void CtaSlots::wake_waiting(std::uint32_t slot, Cycle at) {
    const Slot& cta = slots_[slot];
    for (std::uint32_t w = 0; w < cta.grid->run->warps_per_cta; ++w) {
        WarpContext& context = warps_[cta.first_warp + w];
        if (!context.waits_for_path || !sass::resume(*context.warp)) continue;
        context.waits_for_path = false;
        warps_.wake(context, at);
    }
}

void CtaSlots::retire_if_done(WarpContext& context, Cycle now) {
    if (context.in_flight != 0) return;
    if (parameters_.exit_awaits_stores && context.stores_in_flight != 0) return;
    warps_.enter(context, WarpState::kDrain, now + 1);
    if (watch_.trace() != nullptr) watch_.trace()->warp_ends(context.slot, now + 1);
    Presence& sub_core = presence_[warps_.sub_core_of(context)];
    if (--sub_core.warps == 0) counters_.sub_core_cycles_active += now + 1 - sub_core.since;
    ++ended_warps_;
    Slot& cta = slots_[context.cta_slot];
    context.warp = nullptr;
    context.is_done = false;
    if (--cta.warps_left != 0) return;
    if (watch_.trace() != nullptr) watch_.trace()->cta_ends(context.cta_slot, now + 1);
    trigger_dependents(context.cta_slot, now + 1);
    cta.is_used = false;
    std::fill_n(warps_used_.begin() + cta.first_warp, cta.grid->run->warps_per_cta, false);
    --cta.grid->ctas;
    ended_.push_back({now + 1, cta.grid->run});
    if (--resident_ == 0) counters_.cycles_active += now + 1 - active_since_;
}

void CtaSlots::trigger_dependents(std::uint32_t slot, Cycle now) {
    Slot& cta = slots_[slot];
    if (std::exchange(cta.has_triggered, true)) return;
    triggered_.push_back({now, cta.grid->run});
}

const sass::Cta* CtaSlots::resident_cta() const {
    for (const Slot& slot : slots_)
        if (slot.is_used) return &slot.storage->cta();
    return nullptr;
}

void CtaSlots::forget_extents() {
    for (const Slot& slot : slots_)
        if (slot.storage != nullptr) slot.storage->cta().extents = {};
}

}  // namespace lockstep::gpu
