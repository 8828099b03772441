// SPDX-License-Identifier: Apache-2.0
// Since Volta each thread has a pc of its own; the hardware runs threads that share one together
// and brings them together again at convergence barriers (BSSY, BSYNC). Here a set of threads with
// a common pc is a Path; a warp runs one path at a time. Which side of a branch runs first is not
// published; the fall-through side does here. B registers are held per lane, so that paths inside
// different calls cannot disturb each other. Compilers put YIELD into loops that may wait for
// another thread: a barrier whose other threads do nothing but yield lets the waiting ones go
// (US patent 10,067,768; after how many yields is not published).
//
// WARPSYNC.COLLECTIVE mask, label (sm_90) opens a region that ENDCOLLECTIVE closes; the region
// holds one SHFL, VOTE, MATCH or REDUX. Published: PTX (shfl.sync waits until all threads of the
// mask that have not exited have executed it, wherever they do); the debugger's interface (a warp
// has a mask of the threads in a collective operation); experiments on sm_120 (that mask is the
// named lanes less the exited ones, and 0 behind the region; a lane that executes it and is not in
// its own mask raises an illegal instruction). Inferred from what ptxas emits: all regions of a
// kernel with the same operation use the same registers, and each has its own label, so that lanes
// which wait at different regions run one of them together, and each goes on at the label it came
// with.
//
// A lane that waits at BSYNC for lanes that wait at WARPSYNC for it can never come. Programs that
// do so (a full-mask shuffle in a loop that some lanes have left) hang on Volta and Turing by their
// users' reports, and are run on later chips. Inferred for those: such lanes count as absent, like
// exited ones. PTX leaves it undefined; whether the silicon does so is not measured here.
#include "isa/sass/convergence.h"

#include <algorithm>
#include <bit>

#include "isa/sass/cta_barrier.h"

namespace lockstep::sass {

namespace {

/// Yields of a warp in which none of its threads came to a barrier or ended, after which threads
/// at a convergence barrier no longer wait for the others.
constexpr std::uint32_t kPatience = 128;
/// From this architecture on lanes that cannot come do not hold up a WARPSYNC.
constexpr int kSkipsAbsent = 80;

}  // namespace

void park(Warp& warp, PathStatus status, std::uint8_t detail, std::uint32_t wanted) {
    warp.yields = 0;
    warp.parked.push_back({warp.pc, warp.active, status, detail, wanted});
    warp.active = 0;
    warp.budget = 0;
}

void park_for_collective(Warp& warp, std::uint32_t wanted, std::uint32_t after) {
    park(warp, PathStatus::kWarpSync, 0, wanted);
    warp.parked.back().after = after;
}

void end_collective(Warp& warp) {
    for (std::size_t i = 0; i < warp.parked.size();) {
        Path& path = warp.parked[i];
        if (path.status != PathStatus::kCollective || (path.lanes & warp.active) == 0) {
            ++i;
        } else if (path.pc == warp.pc) {
            warp.parked.erase(warp.parked.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            warp.active &= ~path.lanes;
            path.status = PathStatus::kReady;
            ++i;
        }
    }
    if (warp.active == 0) warp.budget = 0;
}

void split_off_others(Warp& warp, std::uint32_t lanes) {
    const std::uint32_t others = warp.active & ~lanes;
    if (others != 0) warp.parked.push_back({warp.pc, others, PathStatus::kReady, 0, 0});
    warp.active = lanes;
}

void branch(Warp& warp, std::uint32_t lanes, std::uint32_t target) {
    const std::uint32_t others = warp.active & ~lanes;
    if (others == 0) {
        warp.pc = target;
        return;
    }
    if (lanes == 0) return;
    warp.parked.push_back({target, lanes, PathStatus::kReady, 0, 0});
    warp.active = others;
}

void branch_each(Warp& warp, std::uint32_t lanes, const std::uint32_t (&target)[kWarpSize]) {
    split_off_others(warp, lanes);
    std::uint32_t rest = lanes;
    bool is_first = true;
    while (rest != 0) {
        const std::uint32_t common = target[std::countr_zero(rest)];
        std::uint32_t same = 0;
        for (unsigned l = 0; l < kWarpSize; ++l)
            if ((rest >> l & 1) && target[l] == common) same |= 1u << l;
        rest &= ~same;
        if (is_first) {
            warp.active = same;
            warp.pc = common;
            is_first = false;
        } else {
            warp.parked.push_back({common, same, PathStatus::kReady, 0, 0});
        }
    }
}

void exit_lanes(Warp& warp, std::uint32_t lanes) {
    warp.yields = 0;
    warp.live &= ~lanes;
    warp.active &= ~lanes;
    if (warp.active == 0) warp.budget = 0;
    if (!warp.parked.empty()) release_paths(warp);
    note_exit(warp, lanes);
}

namespace {

/// Lanes that the path's barrier still waits for, its own included.
std::uint32_t participants(Warp& warp, const Path& path) {
    if (path.status == PathStatus::kWarpSync) return path.wanted & warp.live;
    return warp.barrier_row(path.detail).lane[std::countr_zero(path.lanes)] & warp.live;
}

/// Lets the path that has waited longest at a convergence barrier go on, and with it those that
/// wait at the same one. The lanes still to come wait for each other only.
void release_early(Warp& warp) {
    const auto first = std::find_if(warp.parked.begin(), warp.parked.end(), [](const Path& p) {
        return p.status == PathStatus::kConvergence;
    });
    if (first == warp.parked.end()) return;
    const std::uint32_t wanted = participants(warp, *first);
    std::uint32_t arrived = 0;
    for (const Path& path : warp.parked)
        if (path.status == PathStatus::kConvergence && path.detail == first->detail &&
            path.pc == first->pc && participants(warp, path) == wanted)
            arrived |= path.lanes;
    Row& barrier = warp.barrier_row(first->detail);
    for (unsigned l = 0; l < kWarpSize; ++l)
        if (wanted >> l & 1) barrier.lane[l] &= (arrived >> l & 1) ? arrived : ~arrived;
    release_paths(warp);
}

/// The lanes that wait, directly or through others, at a convergence barrier for one of `awaited`.
std::uint32_t held_up_by(Warp& warp, std::uint32_t awaited) {
    std::uint32_t held = 0;
    for (bool grows = true; grows;) {
        grows = false;
        for (const Path& path : warp.parked)
            if (path.status == PathStatus::kConvergence && (path.lanes & ~held) != 0 &&
                (participants(warp, path) & ~path.lanes & (awaited | held)) != 0) {
                held |= path.lanes;
                grows = true;
            }
    }
    return held;
}

/// The paths of `lanes`, which wait at one WARPSYNC.COLLECTIVE each, become one path in the region
/// of the one at `index`, and reminders of where the lanes go on.
void join_collective(Warp& warp, std::size_t index, std::uint32_t lanes) {
    const std::uint32_t region = warp.parked[index].pc;
    for (Path& path : warp.parked)
        if (path.status == PathStatus::kWarpSync && (path.lanes & lanes) != 0)
            path = {path.after, path.lanes, PathStatus::kCollective};
    warp.parked.push_back({region, lanes, PathStatus::kReady});
}

}  // namespace

void release_paths(Warp& warp) {
    for (std::size_t i = 0; i < warp.parked.size(); ++i) {
        Path& path = warp.parked[i];
        if (path.status != PathStatus::kConvergence && path.status != PathStatus::kWarpSync)
            continue;
        const std::uint32_t wanted = participants(warp, path);
        // In recursion, paths may wait at the same BSYNC of different calls: they wait for other
        // lanes.
        const auto waits_with = [&](const Path& other) {
            return other.status == path.status && other.detail == path.detail &&
                   participants(warp, other) == wanted &&
                   (path.status == PathStatus::kWarpSync ? (other.after != 0) == (path.after != 0)
                                                         : other.pc == path.pc);
        };
        std::uint32_t arrived = 0;
        for (const Path& other : warp.parked)
            if (waits_with(other)) arrived |= other.lanes;
        std::uint32_t missing = wanted & ~arrived;
        if (missing != 0 && path.status == PathStatus::kWarpSync &&
            warp.cta->launch->arch >= kSkipsAbsent)
            missing &= ~held_up_by(warp, arrived);
        if (missing != 0) continue;
        // Complete: everybody who waits at this pc becomes one path.
        const PathStatus status = path.status;
        const std::uint32_t pc = path.pc;
        if (path.after != 0 && arrived != path.lanes) {
            join_collective(warp, i, arrived);
            continue;
        }
        for (std::size_t j = warp.parked.size(); j-- > i + 1;) {
            const Path& other = warp.parked[j];
            if (other.pc == pc && waits_with(other)) {
                path.lanes |= other.lanes;
                warp.parked.erase(warp.parked.begin() + static_cast<std::ptrdiff_t>(j));
            }
        }
        // Others at the same WARPSYNC but elsewhere are released as they are.
        for (Path& other : warp.parked)
            if (status == PathStatus::kWarpSync && &other != &path && waits_with(other))
                other.status = PathStatus::kReady;
        path.status = PathStatus::kReady;
    }
}

bool resume(Warp& warp) {
    const auto ready = std::find_if(warp.parked.begin(), warp.parked.end(),
                                    [](const Path& p) { return p.status == PathStatus::kReady; });
    if (ready == warp.parked.end()) return false;
    warp.pc = ready->pc;
    warp.active = ready->lanes;
    warp.parked.erase(ready);
    return true;
}

void rotate(Warp& warp) {
    const auto is_ready = [](const Path& p) { return p.status == PathStatus::kReady; };
    if (std::none_of(warp.parked.begin(), warp.parked.end(), is_ready)) return;
    warp.parked.push_back({warp.pc, warp.active, PathStatus::kReady, 0, 0});
    resume(warp);
}

void yield(Warp& warp, std::uint32_t instructions) {
    if (++warp.yields >= kPatience) {
        warp.yields = 0;
        release_early(warp);
    }
    rotate(warp);
    warp.has_yielded = true;
    // Who waits for the rest of its turn comes round once a turn at any rate.
    warp.has_polled = instructions != kWholeTurn && (warp.has_polled || instructions == 0);
    warp.budget -= std::min(warp.budget, instructions);
}

}  // namespace lockstep::sass
