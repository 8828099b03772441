// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/mbarrier_waits.h"

#include <bit>
#include <cstring>

#include "isa/sass/cluster.h"
#include "isa/sass/semantics/address.h"
#include "isa/sass/semantics/mbarrier.h"

namespace lockstep::gpu {

namespace {

bool phase_of(const sass::Cta& cta, std::uint32_t mbarrier) {
    std::uint64_t bits;
    std::memcpy(&bits, cta.shared + mbarrier, sizeof bits);
    return sass::Mbarrier(bits).phase();
}

}  // namespace

void MbarrierWaits::remove(std::uint16_t slot) {
    std::erase_if(waits_, [&](const Wait& wait) { return wait.slot == slot; });
}

bool MbarrierWaits::holds(WarpContext& context, const sass::Instruction& code) {
    sass::Warp& warp = *context.warp;
    sass::compute_addresses(code, warp);
    const sass::Row& phase = warp.row(code.b);
    const auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
    const std::uint32_t offset =
        sass::own_shared_offset(*warp.cta, static_cast<std::uint32_t>(warp.access.address[lane]));
    const bool is_valid = offset % kMbarrierBytes == 0 &&
                          offset + std::uint64_t{kMbarrierBytes} <= warp.cta->launch->shared_bytes;
    context.tried_mbarrier = is_valid ? offset : WarpContext::kNoMbarrier;
    context.tried_phase = phase.lane[lane] >> 31;
    return waits(context, parameters_.try_wait_limit);
}

bool MbarrierWaits::waits(WarpContext& context, engine::Cycle limit) {
    const sass::Cta& cta = *context.warp->cta;
    const std::uint32_t offset = context.tried_mbarrier;
    const bool gives_up = context.try_wait_end != 0 && context.try_wait_end <= warps_.now();
    if (offset == WarpContext::kNoMbarrier || phase_of(cta, offset) != context.tried_phase ||
        gives_up) {
        if (context.try_wait_end != 0) remove(context.slot);
        context.try_wait_end = 0;
        return false;
    }
    remove(context.slot);
    waits_.push_back({context.slot, context.cta_slot, offset, context.tried_phase});
    if (context.try_wait_end == 0) {
        context.try_wait_end = warps_.now() + limit;
        warps_.end_wait_later(context);
    }
    return true;
}

void MbarrierWaits::check(const sass::Cta& cta, engine::Cycle at) {
    std::erase_if(waits_, [&](const Wait& wait) {
        if (wait.cta_slot != cta.slot || phase_of(cta, wait.offset) == wait.phase) return false;
        warps_.wake(warps_[wait.slot], at);
        return true;
    });
}

}  // namespace lockstep::gpu
