// SPDX-License-Identifier: Apache-2.0
// Independent thread scheduling: how the threads of a warp split into paths and meet again.
#pragma once

#include <cstdint>

#include "isa/sass/state.h"

namespace lockstep::sass {

/// Parks the running path: it stops, and waits as `status` says. It will go on at warp.pc.
void park(Warp& warp, PathStatus status, std::uint8_t detail = 0, std::uint32_t wanted = 0);

/// Parks the running path at WARPSYNC.COLLECTIVE for the lanes `wanted`. The region that begins at
/// warp.pc ends before the code index `after`.
void park_for_collective(Warp& warp, std::uint32_t wanted, std::uint32_t after);

/// The running path is at the end of a collective region: lanes that came into it from elsewhere go
/// on behind the regions that they came to.
void end_collective(Warp& warp);

/// Parks the lanes of the running path that are not in `lanes`, ready at warp.pc, so that the
/// running path has exactly `lanes`.
void split_off_others(Warp& warp, std::uint32_t lanes);

/// `lanes` of the running path go to `target`, the others to warp.pc. Where both exist, the lanes
/// that fall through run on and the others are parked.
void branch(Warp& warp, std::uint32_t lanes, std::uint32_t target);

/// The lanes go each to a code index of its own.
void branch_each(Warp& warp, std::uint32_t lanes, const std::uint32_t (&target)[kWarpSize]);

/// The lanes end.
void exit_lanes(Warp& warp, std::uint32_t lanes);

/// Makes paths ready whose convergence barrier or WARPSYNC is complete, merging those that meet at
/// the same pc.
void release_paths(Warp& warp);

/// Makes the longest-waiting ready path the running one. False where no path is ready.
bool resume(Warp& warp);

/// The running path goes behind the other ready paths, if there are any.
void rotate(Warp& warp);

constexpr std::uint32_t kWholeTurn = ~0u;

/// The running path gives way (YIELD, NANOSLEEP, polls): to other paths, to other warps once its
/// warp's turn is used up, of which this takes so many instructions' time, and where it has done so
/// in vain for long, to threads that wait for it at a convergence barrier.
void yield(Warp& warp, std::uint32_t instructions = kWholeTurn);

}  // namespace lockstep::sass
