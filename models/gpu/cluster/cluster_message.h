// SPDX-License-Identifier: Apache-2.0
// What travels between the SMs of a GPC.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/sass/cluster.h"

namespace lockstep::gpu {

/// A cluster on the chip. Placing fixes everything but the members' own state.
struct PlacedCluster : sass::Cluster {
    std::vector<sass::ClusterMember> members;  ///< by rank, as the following
    std::vector<std::uint16_t> sm;
};

/// An operation on its way to the SM that performs it and back. It belongs to the SM that issued
/// it; the other one changes it between the receipt of the request and the reply, never at the same
/// time.
struct RemotePacket {
    sass::RemoteOperation operation;
    PlacedCluster* cluster = nullptr;
    // Of the issuing warp, which may have ended when the operation is performed.
    std::uint64_t cta = 0;
    std::uint32_t warp = 0;
    const sass::Launch* launch = nullptr;
    std::uint32_t instruction = 0;  ///< ClusterUnit's number of what waits for it
    std::uint16_t from = 0;         ///< SM
};

struct ClusterMessage {
    enum class Kind : std::uint8_t { kRequest, kReply, kArrive, kRelease };
    Kind kind = Kind::kRequest;
    bool has_exited = false;  ///< kArrive: all threads of the CTA have, it comes to no barrier more
    std::uint8_t rank = 0;    ///< kArrive, kRelease: of the CTA
    std::uint16_t to = 0;     ///< SM
    std::uint32_t bytes = 0;  ///< on the network
    RemotePacket* packet = nullptr;
    PlacedCluster* cluster = nullptr;
};

}  // namespace lockstep::gpu
