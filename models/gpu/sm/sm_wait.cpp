// SPDX-License-Identifier: Apache-2.0
// Where execution at issue is not the whole truth. Instructions wait for the window's end that
// touch what an atomic has yet to change, and calls of the system's functions; the hardware knows
// no such wait, but what it does takes longer than a window anyway. And threads that ask an
// mbarrier wait until the copies that it counts as done have come in time.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "isa/sass/cluster.h"
#include "isa/sass/semantics/address.h"
#include "isa/sass/semantics/mbarrier.h"
#include "isa/sass/system_call.h"
#include "models/gpu/execution/mbarrier_watch.h"
#include "models/gpu/execution/warp_state.h"
#include "models/gpu/sm/sm.h"

namespace lockstep::gpu {

using engine::Cycle;

namespace {

constexpr std::uint32_t kMbarrierBytes = 8;

bool phase_of(const sass::Cta& cta, std::uint32_t mbarrier) {
    std::uint64_t bits;
    std::memcpy(&bits, cta.shared + mbarrier, sizeof bits);
    return sass::Mbarrier(bits).phase();
}

}  // namespace

bool Sm::must_wait(unsigned sub_core, unsigned local, const StaticInstruction& in) {
    const bool is_memory = in.kind == InstructionKind::kMemory && !deferred_.empty();
    const bool asks_copies = in.reads_mbarrier && !copy_barriers_.empty();
    const bool is_product = in.kind == InstructionKind::kWarpgroupProduct;
    const bool awaits_grid = in.waits_for_grid;
    if (!is_memory && !asks_copies && !in.is_phase_check && !in.may_call_system && !is_product &&
        !awaits_grid) [[likely]]
        return false;
    const auto slot = static_cast<std::uint16_t>(local * parameters_.sub_cores + sub_core);
    WarpContext& context = contexts_[slot];
    sass::Warp& warp = *context.warp;
    const sass::Instruction& code = context.code[warp.pc];
    warp.mask = warp.active & (warp.predicate[code.guard] ^ code.guard_invert);
    if (warp.mask == 0) return false;
    if (in.is_phase_check) {
        context.has_asked = true;
        context.asked_at = now_;
        context.asked_pc = warp.pc;
    }
    if (is_product) {
        if (warpgroups_.accepts(first_of_warpgroup(context, slot), context.products)) return false;
        warpgroups_.wait_for_room(slot);
        context.waits_for_room = true;
        enter(context, WarpState::kMathPipeThrottle, now_);
        return true;
    }
    if (awaits_grid) {
        if (!context.grid->run->awaits_grid) return false;
        context.waits_for_grid = true;
        grid_waiters_.push_back(slot);
        enter(context, WarpState::kMembar, now_);
        return true;
    }
    if (asks_copies) {
        sass::compute_addresses(code, warp);
        for (std::uint32_t lanes = warp.mask; lanes != 0; lanes &= lanes - 1) {
            const std::uint64_t address = warp.access.address[std::countr_zero(lanes)];
            const std::uint32_t offset =
                sass::own_shared_offset(*warp.cta, static_cast<std::uint32_t>(address));
            const std::uint16_t barrier =
                copy_barriers_.find(context.cta_slot, offset / kMbarrierBytes * kMbarrierBytes);
            if (barrier == CopyBarriers::kNone) continue;
            copy_barriers_.wait(barrier, slot);
            context.waits_for_copies = true;
            enter(context, WarpState::kLongScoreboard, now_);
            return true;
        }
    }
    if (in.is_try_wait) return awaits_phase(slot, context, code);
    if (is_memory) {
        if (!deferred_.overlaps(*context.grid->run->launch->program, warp.pc, warp)) return false;
        enter(context, WarpState::kLongScoreboard, now_);
    } else {
        if (!in.may_call_system) return false;
        if (!sass::calls_system(code, warp)) return false;
        deferred_.set_cycle(now_);
        deferred_.defer(code, warp);
        enter(context, WarpState::kMisc, now_);
    }
    context.waits_for_window = true;
    held_back_.push_back(slot);
    return true;
}

void Sm::perform(const sass::Deferred& deferred) {
    if (!deferred.holds_warp()) return deferred.perform();
    const sass::Warp& warp = *deferred.warp;
    const std::uint32_t slot = ctas_[warp.cta->slot].first_warp + warp.index;
    contexts_[slot].waits_for_window = false;
    ++counters_.issue_active;
    execute(slot % parameters_.sub_cores, slot / parameters_.sub_cores,
            contexts_[slot].info[warp.pc], window_end_);
}

void Sm::end_waiting() {
    if (held_back_.empty()) return;
    for (const std::uint16_t slot : held_back_) {
        WarpContext& context = contexts_[slot];
        if (!context.waits_for_window) continue;
        context.waits_for_window = false;
        wake_slot(slot, window_end_);
    }
    held_back_.clear();
    wake(window_end_);
}

void Sm::trigger_dependents(CtaSlot& cta, Cycle now) {
    if (std::exchange(cta.has_triggered, true)) return;
    triggered_.push_back({now, cta.grid->run});
}

void Sm::end_grid_wait(const KernelRun& run) {
    const std::size_t before = grid_waiters_.size();
    std::erase_if(grid_waiters_, [&](std::uint16_t slot) {
        WarpContext& context = contexts_[slot];
        if (context.grid == nullptr || context.grid->run != &run) return false;
        context.waits_for_grid = false;
        wake_slot(slot, window_end_);
        return true;
    });
    if (grid_waiters_.size() != before) wake(window_end_);
}

void Sm::append_warp_states(std::vector<std::uint64_t>& states) const {
    for (const WarpContext& context : contexts_) {
        if (context.warp == nullptr) {
            states.push_back(0);
            continue;
        }
        states.push_back(state_of(*context.warp));
    }
}

bool Sm::waits_in_vain() const {
    return std::all_of(contexts_.begin(), contexts_.end(), [](const WarpContext& context) {
        return context.warp == nullptr || context.try_wait_end == 0 ||
               gpu::never_goes_on(*context.warp);
    });
}

bool Sm::never_goes_on() const {
    return std::all_of(contexts_.begin(), contexts_.end(), [](const WarpContext& context) {
        if (context.warp == nullptr || context.is_done || context.waits_for_path) return true;
        return context.has_asked && gpu::never_goes_on(*context.warp);
    });
}

void Sm::forget_extents() {
    for (const CtaSlot& slot : ctas_)
        if (slot.storage != nullptr) slot.storage->cta().extents = {};
}

/// The warps of a warpgroup lie side by side, in its CTA and in the SM. A product's registers are
/// read for as long as it holds the pipe.
void Sm::issue_product(WarpContext& context, std::uint16_t slot, const StaticInstruction& in,
                       Cycle now) {
    if (in.product.closes_group) ++context.product_groups;
    // The sub-core has counted the pipe as busy for as long as it is held at issue.
    counters_.pipe_busy[static_cast<unsigned>(Pipe::kTensor)] += in.product.cycles - in.interval;
    warpgroups_.arrive(now + in.interval, first_of_warpgroup(context, slot), context.products++,
                       in.product);
}

void Sm::end_product(const Event& event) {
    for (const std::uint16_t slot : warpgroups_.end()) {
        WarpContext& context = contexts_[slot];
        if (context.warp == nullptr || !std::exchange(context.waits_for_room, false)) continue;
        wake_slot(slot, now_);
    }
    if (!event.closes_group || contexts_[event.warp].age != event.age) return;
    for (unsigned i = 0; i < WarpgroupUnit::kWarps; ++i) {
        const auto slot = static_cast<std::uint16_t>(event.warp + i);
        WarpContext& context = contexts_[slot];
        if (context.warp == nullptr) continue;
        --context.product_groups;
        if (std::exchange(context.waits_for_products, false)) wake_slot(slot, now_);
    }
}

void Sm::close_copy_group(std::uint16_t slot, WarpContext& context, std::uint16_t barrier,
                          Cycle now) {
    LOCKSTEP_CHECK(!context.copy_groups_full(), "{}: more than {} groups of asynchronous copies",
                   name(), WarpContext::kCopyGroups);
    context.group_barrier[context.open_group % WarpContext::kCopyGroups] = barrier;
    ++context.open_group;
    finish_copies(slot, context, now);
}

void Sm::end_copy(std::uint16_t barrier, Cycle now) {
    copy_barriers_.end(barrier, [&](std::uint16_t slot) {
        contexts_[slot].waits_for_copies = false;
        wake_slot(slot, now + 1);
    });
}

/// A try_wait waits in the SM until the phase is over for one lane at least, or for as long as the
/// hardware lets it.
bool Sm::awaits_phase(std::uint16_t slot, WarpContext& context, const sass::Instruction& code) {
    sass::Warp& warp = *context.warp;
    sass::compute_addresses(code, warp);
    const sass::Row& phase = warp.row(code.b);
    const auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
    const std::uint32_t offset =
        sass::own_shared_offset(*warp.cta, static_cast<std::uint32_t>(warp.access.address[lane]));
    const bool is_valid = offset % kMbarrierBytes == 0 &&
                          offset + std::uint64_t{kMbarrierBytes} <= warp.cta->launch->shared_bytes;
    const bool awaited = phase.lane[lane] >> 31;
    const bool gives_up = context.try_wait_end != 0 && context.try_wait_end <= now_;
    if (!is_valid || phase_of(*warp.cta, offset) != awaited || gives_up) {
        if (context.try_wait_end != 0) mbarrier_waits_.remove(slot);
        context.try_wait_end = 0;
        return false;
    }
    mbarrier_waits_.add(slot, context.cta_slot, offset, awaited);
    if (context.try_wait_end == 0) {
        context.try_wait_end = now_ + parameters_.try_wait_limit;
        wake_later(slot % parameters_.sub_cores, slot / parameters_.sub_cores,
                   context.try_wait_end);
    }
    enter(context, WarpState::kLongScoreboard, now_);
    return true;
}

void Sm::check_mbarriers(std::uint32_t cta_slot, Cycle at) {
    if (mbarrier_waits_.empty()) return;
    const sass::Cta& cta = ctas_[cta_slot].storage->cta();
    mbarrier_waits_.check(
        cta_slot, [&](std::uint32_t offset) { return phase_of(cta, offset); },
        [&](std::uint16_t slot) { wake_slot(slot, at); });
}

void Sm::end_bulk_copy(std::uint16_t slot, std::uint16_t number, Cycle now) {
    deferred_.set_cycle(now);
    copies_.end(number, [&](const sass::AsyncCopy& copy) {
        // Another SM's memory is written at the window's end, as nobody may see it before.
        if (copy.target->sm != index_)
            return deferred_.defer_copy(*copy.source->warps[copy.warp], copy);
        perform_copy(copy);
        report_copy(copy);
        if (copy.writes_shared()) check_mbarriers(copy.target->slot, now + 1);
    });
    end_bulk_groups(slot, now + 1);
}

void Sm::copy_came(const sass::AsyncCopy& copy, Cycle at) {
    check_mbarriers(copy.target->slot, at);
    wake(at);
}

void Sm::end_bulk_groups(std::uint16_t slot, Cycle at) {
    copies_.end_groups(slot, [&](std::uint8_t counter) { release_later(slot, counter, at); });
}

void Sm::finish_copies(std::uint16_t slot, WarpContext& context, Cycle now) {
    const bool was_full = context.copy_groups_full();
    while (context.oldest_group != context.open_group &&
           context.group_pending[context.oldest_group % WarpContext::kCopyGroups] == 0) {
        const std::uint16_t barrier =
            context.group_barrier[context.oldest_group++ % WarpContext::kCopyGroups];
        if (barrier != CopyBarriers::kNone) {
            end_copy(barrier, now);
            continue;
        }
        release_later(slot, context.group_counter, now + 1);
    }
    if (was_full && context.waits_for_counter) {
        context.waits_for_counter = false;
        wake_slot(slot, now + 1);
    }
}

}  // namespace lockstep::gpu
