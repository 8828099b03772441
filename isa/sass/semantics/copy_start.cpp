// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/semantics/copy_start.h"

#include <fmt/format.h>

#include <bit>

#include "isa/sass/async_engine.h"
#include "isa/sass/cluster.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kHintBit = 76, kHintRegister = 40;

/// What createpolicy makes for L2::evict_first, evict_last and evict_normal of all of an access.
CopyHint hint_of(std::uint64_t policy) {
    switch (policy >> 52) {
        case 0x12f:
            return CopyHint::kFirst;
        case 0x14f:
            return CopyHint::kLast;
        default:
            return CopyHint::kNormal;
    }
}

}  // namespace

void bind_hint(Binder& binder) {
    binder.out.d2 = binder.word.bit(kHintBit) ? binder.source_uniform(kHintRegister, 2)
                                              : Operand::of_warp(kZeroRow);
}

AsyncCopy begin_copy(const Instruction& in, Warp& warp, CopyKind kind) {
    AsyncCopy copy;
    copy.kind = kind;
    copy.source = copy.target = warp.cta;
    copy.pc = warp.pc - 1;
    copy.warp = warp.index;
    copy.lane = static_cast<unsigned>(std::countr_zero(warp.mask));
    if (in.d2 != Operand::of_warp(kZeroRow)) copy.hint = hint_of(lane64(&warp.row(in.d2), 0));
    return copy;
}

SharedPlace shared_place(const AsyncCopy& copy, std::uint32_t address) {
    const ClusterMember* const member =
        cluster_target(*copy.source->warps[copy.warp], address, copy.lane);
    return {member == nullptr ? copy.source : member->cta, cluster_offset_of(address)};
}

void start_copy(const AsyncCopy& copy) {
    check_copy(copy, *copy.source->launch->memory);
    AsyncEngine* const engine = copy.source->async;
    if (engine != nullptr) return engine->start(copy);
    perform_copy(copy);
    report_copy(copy);
}

void start_to_shared(AsyncCopy& copy, std::uint32_t to, std::uint32_t mbarrier,
                     std::uint32_t multicast) {
    const SharedPlace tile = shared_place(copy, to);
    const SharedPlace barrier = shared_place(copy, mbarrier);
    if (tile.cta != barrier.cta)
        throw Fault{.kind = FaultKind::kIllegalAddress,
                    .what = fmt::format("a copy to {:#x} reports to the mbarrier {:#x} of another "
                                        "CTA",
                                        to, mbarrier),
                    .lane = copy.lane,
                    .address = mbarrier,
                    .space = Space::kShared};
    copy.to = tile.offset;
    copy.mbarrier = barrier.offset;
    if (multicast == 0) {
        copy.target = tile.cta;
        return start_copy(copy);
    }
    copy.is_multicast = true;
    for (; multicast != 0; multicast &= multicast - 1) {
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(multicast));
        copy.target = shared_place(copy, rank << kClusterRankBit).cta;
        start_copy(copy);
    }
}

void start_from_shared(AsyncCopy& copy, std::uint32_t from) {
    const SharedPlace tile = shared_place(copy, from);
    if (tile.cta != copy.source)
        throw Fault{.kind = FaultKind::kIllegalAddress,
                    .what = fmt::format("a copy from {:#x}, in another CTA's shared memory", from),
                    .lane = copy.lane,
                    .address = from,
                    .space = Space::kShared};
    copy.from = tile.offset;
    start_copy(copy);
}

}  // namespace lockstep::sass
