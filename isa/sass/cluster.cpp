// SPDX-License-Identifier: Apache-2.0
// barrier.cluster (PTX ISA): a thread arrives, and waits until all threads of the cluster that have
// not exited have arrived. The hardware faults accesses to the memory of a CTA that has exited
// ("cluster target block not present", cuda-gdb); the program sees an unspecified launch failure.
#include "isa/sass/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/sass/barrier_observer.h"
#include "isa/sass/semantics/atomic.h"
#include "isa/sass/semantics/mbarrier.h"

namespace lockstep::sass {

namespace {

[[noreturn]] void throw_absent(const Warp& warp, std::uint32_t rank, unsigned lane,
                               std::uint32_t address) {
    const Cluster& cluster = *warp.cta->member->cluster;
    throw Fault{.kind = FaultKind::kLaunchFailure,
                .what = fmt::format("access to shared memory of the CTA of rank {} of the cluster "
                                    "of {}, which has exited",
                                    rank, cluster.size),
                .lane = lane,
                .address = address,
                .space = Space::kCluster};
}

/// True where the CTA has exited by the time of this access. CTAs that are emulated in turn are
/// apart by what a turn is long, where a chip's keep pace: the memory of one that has just ended is
/// there until the other has executed several times as much.
bool is_gone(const ClusterMember& from, const ClusterMember& target) {
    constexpr std::uint64_t kPace = 4, kStart = 512;
    if (target.is_present) return false;
    return from.port != nullptr || from.executed > kPace * target.executed + kStart;
}

void check_present(const RemoteOperation& operation, const ClusterMember* target) {
    if (target != nullptr && !is_gone(*operation.warp->cta->member, *target)) return;
    const auto lane = static_cast<unsigned>(std::countr_zero(operation.lanes));
    throw_absent(*operation.warp, operation.rank, lane,
                 operation.rank << kClusterRankBit | operation.offset[lane]);
}

bool all_have_arrived(const ClusterMember& member) {
    const auto& warps = member.cta->warps;
    return std::all_of(warps.begin(), warps.end(), [&](const Warp* warp) {
        return (warp->live & ~member.arrived[warp->index]) == 0;
    });
}

/// Without a port: releases the cluster's barrier once the last of its CTAs is there.
void complete_cluster_barrier(Cluster& cluster) {
    bool is_awaited = false;
    for (std::uint32_t rank = 0; rank < cluster.size; ++rank) {
        const ClusterMember* member = cluster.member[rank];
        if (member == nullptr) return;  // has not started
        if (!member->has_arrived) return;
        is_awaited = is_awaited || member->is_present;
    }
    if (!is_awaited) return;
    if (BarrierObserver* const observer = cluster.member[0]->cta->observer)
        observer->cluster_completed(cluster);
    for (std::uint32_t rank = 0; rank < cluster.size; ++rank)
        release_cluster_barrier(*cluster.member[rank]);
}

void note_arrival(ClusterMember& member) {
    if (member.has_arrived || !all_have_arrived(member)) return;
    member.has_arrived = true;
    if (member.port != nullptr)
        member.port->cluster_arrived(*member.cta);
    else
        complete_cluster_barrier(*member.cluster);
}

}  // namespace

ClusterShape::ClusterShape(const Launch& launch)
    : clusters{launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
               launch.grid.z / launch.cluster.z},
      size(launch.cluster),
      grid(launch.grid) {}

std::uint64_t ClusterShape::cta(std::uint64_t cluster, std::uint32_t rank) const {
    const std::uint64_t x = cluster % clusters.x * size.x + rank % size.x;
    const std::uint64_t y = cluster / clusters.x % clusters.y * size.y + rank / size.x % size.y;
    const std::uint64_t z = cluster / clusters.x / clusters.y * size.z + rank / size.x / size.y;
    return (z * grid.y + y) * grid.x + x;
}

void begin_member(ClusterMember& member, Cta& cta, Cluster& cluster, std::uint32_t rank,
                  RemotePort* port) {
    member.cluster = &cluster;
    member.cta = &cta;
    member.rank = rank;
    member.port = port;
    member.arrived.assign(cta.warps.size(), 0);
    member.has_arrived = false;
    member.is_present = true;
    member.phases = 0;
    member.executed = 0;
    cta.member = &member;
    cta.cluster_rank = rank;
}

void end_member(ClusterMember& member) {
    member.is_present = false;
}

ClusterMember* cluster_target(const Warp& warp, std::uint32_t address, unsigned lane) {
    const Cta& cta = *warp.cta;
    const std::uint32_t rank = cluster_rank_of(address);
    if (cta.member == nullptr && rank == 0) return nullptr;
    const Cluster* const cluster = cta.member == nullptr ? nullptr : cta.member->cluster;
    const std::uint32_t size = cluster == nullptr ? 1 : cluster->size;
    if (rank >= size)
        throw Fault{.kind = FaultKind::kIllegalAddress,
                    .what = fmt::format("shared::cluster address {:#x} is of the CTA of rank {}; "
                                        "the cluster has {}",
                                        address, rank, size),
                    .lane = lane,
                    .address = address,
                    .space = Space::kCluster};
    ClusterMember* const target = cluster->member[rank];
    if (cta.member->port == nullptr && (target == nullptr || is_gone(*cta.member, *target)))
        throw_absent(warp, rank, lane, address);
    return target;
}

void send_remote(const RemoteOperation& operation) {
    Cta& cta = *operation.warp->cta;
    const ClusterMember* const member = cta.member;
    if (member != nullptr && member->port != nullptr) return member->port->send(operation);
    RemoteOperation performed = operation;
    if (member == nullptr)
        perform_in(performed, cta.shared);
    else
        perform_remote(performed, member->cluster->member[operation.rank]);
    if (operation.returns) deliver_remote(performed);
}

void perform_in(RemoteOperation& operation, std::byte* shared) {
    std::uint64_t host[kWarpSize] = {};
    for_each_lane(operation.lanes, [&](unsigned l) {
        host[l] = reinterpret_cast<std::uint64_t>(shared + operation.offset[l]);
    });
    operation.perform(*operation.instruction, {.target = {.address = host},
                                               .lanes = operation.lanes,
                                               .b = operation.b,
                                               .c = operation.c,
                                               .d = operation.d});
    if (!operation.reports) return;
    for_each_lane(operation.lanes, [&](unsigned l) {
        std::byte* const place = shared + operation.barrier[l];
        std::uint64_t bits = 0;
        std::memcpy(&bits, place, sizeof bits);
        Mbarrier barrier(bits);
        barrier.arrive(0, -static_cast<std::int32_t>(operation.width));
        bits = barrier.bits();
        std::memcpy(place, &bits, sizeof bits);
    });
}

void perform_remote(RemoteOperation& operation, ClusterMember* target) {
    check_present(operation, target);
    perform_in(operation, target->cta->shared);
}

void deliver_remote(const RemoteOperation& operation) {
    Row* const d = &operation.warp->row(operation.instruction->d);
    for (unsigned i = 0; i < std::max(operation.width / 4, 1u); ++i)
        copy_lanes(d[i], operation.d[i], operation.lanes);
}

void arrive_at_cluster(Warp& warp) {
    ClusterMember& member = *warp.cta->member;
    std::uint32_t& arrived = member.arrived[warp.index];
    if ((arrived & warp.mask) != 0)
        throw Fault{.kind = FaultKind::kDivergentBarrier,
                    .what = "barrier.cluster.arrive by a thread that has arrived and not waited",
                    .lane = static_cast<unsigned>(std::countr_zero(arrived & warp.mask))};
    arrived |= warp.mask;
    note_arrival(member);
}

bool waits_for_cluster(const Warp& warp) {
    return (warp.cta->member->arrived[warp.index] & warp.mask) != 0;
}

void release_cluster_barrier(ClusterMember& member) {
    std::fill(member.arrived.begin(), member.arrived.end(), 0u);
    member.has_arrived = false;
    ++member.phases;
    if (!member.is_present) {
        member.has_arrived = true;
        return;
    }
    ++member.cta->releases;
    for (Warp* warp : member.cta->warps) {
        warp->turns = Warp::kTurns;
        warp->awaited = 0;
        warp->progress = 0;
        auto& parked = warp->parked;
        for (std::size_t i = 0; i < parked.size(); ++i) {
            Path& path = parked[i];
            if (path.status != PathStatus::kCluster) continue;
            path.status = PathStatus::kReady;
            for (std::size_t j = parked.size(); j-- > i + 1;) {
                const Path& other = parked[j];
                if (other.status == PathStatus::kCluster && other.pc == path.pc) {
                    path.lanes |= other.lanes;
                    parked.erase(parked.begin() + static_cast<std::ptrdiff_t>(j));
                }
            }
        }
    }
}

void note_cluster_exit(Cta& cta) {
    ClusterMember& member = *cta.member;
    if (cta.live_warps == 0) member.is_present = false;
    note_arrival(member);
}

}  // namespace lockstep::sass
