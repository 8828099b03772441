// SPDX-License-Identifier: Apache-2.0
// Clusters of CTAs (sm_90): which CTA an address of the shared window belongs to, operations on the
// shared memory of other CTAs, and barrier.cluster.
//
// A shared::cluster address is 32 bits wide: bits 24-31 are the rank of a CTA in its cluster, bits
// 0-23 the offset in that CTA's shared memory (mapa is a PRMT that sets the upper byte, and code
// builds its own CTA's addresses with S2R SR_CgaCtaId and a shift by 24). The generic address is
// kSharedWindow plus that.
//
// The emulator performs an operation on another CTA's memory at once. A machine that runs CTAs
// apart from each other in time sets ClusterMember::port: operations are handed to it, and are
// performed with perform_remote() where and when they arrive.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isa/sass/deferred_queue.h"
#include "isa/sass/row.h"
#include "isa/sass/state.h"

namespace lockstep::sass {

constexpr unsigned kClusterRankBit = 24;
constexpr unsigned kMaxClusterCtas = 16;
constexpr std::uint32_t kClusterOffsetMask = (1u << kClusterRankBit) - 1;

constexpr std::uint32_t cluster_rank_of(std::uint32_t address) {
    return address >> kClusterRankBit;
}
constexpr std::uint32_t cluster_offset_of(std::uint32_t address) {
    return address & kClusterOffsetMask;
}

/// An operation on the shared memory of one other CTA of the cluster, for some lanes of a warp.
struct RemoteOperation {
    const Instruction* instruction = nullptr;
    Warp* warp = nullptr;     ///< that issued it
    std::uint32_t pc = 0;     ///< code index of the instruction
    std::uint32_t rank = 0;   ///< of the CTA whose memory it is
    std::uint32_t lanes = 0;  ///< never 0
    std::uint32_t width = 0;  ///< bytes a lane
    bool returns = false;     ///< the warp gets d
    bool reports = false;     ///< to the mbarriers at `barrier`, `width` bytes a lane
    bool is_store = false;    ///< carries data there (b), atomics included
    PerformAtomic perform = nullptr;
    std::uint32_t offset[kWarpSize] = {};   ///< by lane, in the CTA's shared memory; checked
    std::uint32_t barrier[kWarpSize] = {};  ///< likewise, of an mbarrier
    Row b[4], c[4];                         ///< sources
    Row d[4];                               ///< results
};

/// Where a machine takes what leaves an SM.
class RemotePort {
  public:
    virtual ~RemotePort() = default;
    virtual void send(const RemoteOperation& operation) = 0;
    /// All live threads of the CTA have arrived at barrier.cluster, or have exited.
    virtual void cluster_arrived(Cta& cta) = 0;
};

struct Cluster;

/// A CTA's part in its cluster. The machine owns it, and begins it when the CTA starts.
struct ClusterMember {
    Cluster* cluster = nullptr;
    Cta* cta = nullptr;
    std::uint32_t rank = 0;
    RemotePort* port = nullptr;          ///< nullptr: operations are performed at once
    std::vector<std::uint32_t> arrived;  ///< lanes that have arrived at barrier.cluster, by warp
    bool has_arrived = false;            ///< all its live threads have
    bool is_present = false;             ///< started and not ended
    std::uint32_t phases = 0;            ///< how often barrier.cluster has let it go
    std::uint64_t executed = 0;  ///< emulation: warp-instructions, counted when a turn of its ends
};

/// Constant while CTAs run, except where no member has a port.
struct Cluster {
    std::uint32_t size = 1;
    std::uint64_t number = 0;                              ///< among those of the launch
    std::array<ClusterMember*, kMaxClusterCtas> member{};  ///< by rank
};

/// How clusters divide a grid: by x, then y, then z, as CTAs in a cluster are ranked.
struct ClusterShape {
    explicit ClusterShape(const Launch& launch);
    Dim3 clusters;  ///< in the grid
    Dim3 size;      ///< CTAs of one
    Dim3 grid;
    /// The grid's linear index of a cluster's CTA.
    std::uint64_t cta(std::uint64_t cluster, std::uint32_t rank) const;
    std::uint32_t ctas() const { return static_cast<std::uint32_t>(size.volume()); }
};

/// The CTA starts as a member that is present; its warps are known and have not run.
void begin_member(ClusterMember& member, Cta& cta, Cluster& cluster, std::uint32_t rank,
                  RemotePort* port);
/// All threads of the CTA have exited.
void end_member(ClusterMember& member);

/// The part of an address of the own CTA's shared memory that is the offset there: code gives such
/// addresses with or without the rank. Those of other CTAs are returned as they are, and are out of
/// bounds therefore.
inline std::uint32_t own_shared_offset(const Cta& cta, std::uint32_t address) {
    return cluster_rank_of(address) == cta.cluster_rank ? cluster_offset_of(address) : address;
}

/// The member whose shared memory holds a shared::cluster address. Throws Fault, blaming `lane`,
/// where the cluster has no such CTA; in emulation also where it has exited. nullptr: the CTA is in
/// no cluster and the rank is 0, that is its own.
ClusterMember* cluster_target(const Warp& warp, std::uint32_t address, unsigned lane);

/// Hands an operation, whose lanes' offsets are checked against the size of shared memory, to the
/// member's port, or performs it.
void send_remote(const RemoteOperation& operation);

/// Performs an operation in shared memory that begins at a host address.
void perform_in(RemoteOperation& operation, std::byte* shared);
/// Performs an operation in the memory of the CTA that it names. Throws Fault where that is not
/// there. `target` may be nullptr: it has exited or never was.
void perform_remote(RemoteOperation& operation, ClusterMember* target);
/// Gives the warp that issued it what it has returned.
void deliver_remote(const RemoteOperation& operation);

/// The lanes of warp.mask arrive at barrier.cluster. Throws Fault where one of them has arrived in
/// this phase already.
void arrive_at_cluster(Warp& warp);
/// True where a lane of warp.mask has arrived and the barrier is not complete.
bool waits_for_cluster(const Warp& warp);
/// All threads of the cluster have arrived: the member's threads go on.
void release_cluster_barrier(ClusterMember& member);
/// Threads of the CTA have exited, which may complete its arrival.
void note_cluster_exit(Cta& cta);

}  // namespace lockstep::sass
