// SPDX-License-Identifier: Apache-2.0
// The rules are those of the PTX ISA (barrier{.cta}, bar.warp.sync): all threads of the CTA come to
// a barrier without a count, a warp comes as a whole and from one place, all that use a barrier say
// the same count, and a thread is in the mask that it synchronises with. Hardware lets most of this
// pass, which is why a check is wanted; what it cannot let pass is a fault of its own.
#include "models/gpu/check/sync.h"

#include <fmt/format.h>

#include <bit>

namespace lockstep::gpu::check {

CtaArrivals SyncCheck::arrivals(const sass::Cta& cta) {
    CtaArrivals arrivals;
    for (auto& barrier : arrivals.barrier) barrier.of_warp.resize(cta.warps.size());
    arrivals.exit_pc.resize(cta.warps.size());
    return arrivals;
}

void SyncCheck::barrier_reached(const sass::Warp& warp, CtaArrivals& cta, unsigned number,
                                std::uint32_t threads, bool is_aligned) {
    const std::uint32_t pc = warp.pc - 1;
    const auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
    CtaArrivals::Barrier& barrier = cta.barrier[number];
    const std::uint64_t cta_threads = warp.cta->launch->block.volume();
    const std::uint64_t most =
        (cta_threads + sass::kWarpSize - 1) / sass::kWarpSize * sass::kWarpSize;
    Misuse misuse{.pc = pc, .warp = warp.index, .lane = lane};
    if (threads > most) {
        misuse.what =
            fmt::format("barrier {} for {} threads in a CTA of {}", number, threads, cta_threads);
        report_(misuse);
    }
    if (barrier.is_awaited) {
        const CtaArrivals::Arrival& first = barrier.of_warp[barrier.first_warp];
        misuse.has_other = true;
        misuse.other_pc = first.pc;
        misuse.other_thread = barrier.first_warp * sass::kWarpSize +
                              static_cast<unsigned>(std::countr_zero(first.lanes));
        if (first.threads != threads) {
            const auto text = [](std::uint32_t count) {
                return count == 0 ? std::string("all threads") : fmt::format("{} threads", count);
            };
            misuse.what = fmt::format("barrier {} for {}, while others wait at it for {}", number,
                                      text(threads), text(first.threads));
            misuse.other_what = "waits";
            report_(misuse);
        }
        CtaArrivals::Arrival& mine = barrier.of_warp[warp.index];
        if ((mine.lanes & warp.mask) != 0) mine = {};  // the same ones arrive again
        if (is_aligned && mine.lanes != 0 && mine.pc != pc) {
            misuse.other_pc = mine.pc;
            misuse.other_thread =
                warp.index * sass::kWarpSize + static_cast<unsigned>(std::countr_zero(mine.lanes));
            misuse.what =
                fmt::format("threads of a warp come to barrier {} from two places", number);
            misuse.other_what = "waits";
            report_(misuse);
        }
    } else {
        barrier.first_warp = warp.index;
    }
    barrier.is_awaited = true;
    CtaArrivals::Arrival& mine = barrier.of_warp[warp.index];
    if (mine.lanes == 0) mine = {pc, warp.mask, threads};
}

void SyncCheck::barrier_completed(const sass::Cta& cta, CtaArrivals& arrivals, unsigned number) {
    CtaArrivals::Barrier& barrier = arrivals.barrier[number];
    const CtaArrivals::Arrival& first = barrier.of_warp[barrier.first_warp];
    if (barrier.is_awaited && first.threads == 0) {
        for (const sass::Warp* warp : cta.warps) {
            const std::uint32_t gone =
                warp->lanes & ~warp->live & ~cta.barrier[number].arrived[warp->index];
            if (gone == 0) continue;
            const auto lane = static_cast<unsigned>(std::countr_zero(gone));
            report_({.pc = first.pc,
                     .warp = barrier.first_warp,
                     .lane = static_cast<unsigned>(std::countr_zero(first.lanes)),
                     .what = fmt::format("barrier {} for all threads, of which some have ended",
                                         number),
                     .has_other = true,
                     .other_pc = arrivals.exit_pc[warp->index][lane],
                     .other_thread = warp->index * sass::kWarpSize + lane,
                     .other_what = "ended"});
            break;
        }
    }
    for (CtaArrivals::Arrival& arrival : barrier.of_warp) arrival = {};
    barrier.is_awaited = false;
}

void SyncCheck::warp_sync(const sass::Warp& warp, std::uint32_t pc, std::uint32_t lanes,
                          const sass::Row& masks) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        if (masks.lane[lane] >> lane & 1) continue;
        report_({.pc = pc,
                 .warp = warp.index,
                 .lane = lane,
                 .what = fmt::format("lane {} synchronises with the lanes {:#010x}, which do not "
                                     "hold itself",
                                     lane, masks.lane[lane])});
    }
}

void SyncCheck::exited(const sass::Warp& warp, CtaArrivals& cta, std::uint32_t pc,
                       std::uint32_t lanes) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
        cta.exit_pc[warp.index][static_cast<unsigned>(std::countr_zero(left))] = pc;
}

void SyncCheck::accessed_early(const Observed& access, std::uint32_t rank) {
    report_({.pc = access.pc,
             .warp = access.warp.index,
             .lane = static_cast<unsigned>(std::countr_zero(access.lanes)),
             .what = fmt::format("access to shared memory of the CTA of rank {} before any "
                                 "barrier.cluster: it may not have started",
                                 rank)});
}

}  // namespace lockstep::gpu::check
