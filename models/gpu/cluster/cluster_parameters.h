// SPDX-License-Identifier: Apache-2.0
// Parameters of the SM-to-SM network, by which CTAs of a cluster reach each other's shared memory.
#pragma once

#include <cstdint>
#include <span>

#include "sim/config/row.h"
#include "sim/engine/time.h"

namespace lockstep::gpu {

struct ClusterParameters {
    /// Throws InputError where the numbers do not go together.
    explicit ClusterParameters(const config::Machine& machine);

    engine::Cycle hop_latency;  ///< from one SM to another of its GPC
    double port_bandwidth;      ///< bytes a cycle that leave an SM, and that come to it
    // Bytes on the network besides the data, for 128 bytes of data.
    unsigned load_request, load_header, store_header, acknowledgement;
    engine::Cycle barrier_latency;  ///< from the last CTA's arrival to the release, in the GPC
    unsigned port_queue;            ///< stores that may wait for an SM's port
    unsigned channel_messages;      ///< between an SM and the network, in each direction

    engine::Cycle to_network() const { return hop_latency / 2; }
    engine::Cycle from_network() const { return hop_latency - hop_latency / 2; }
};

std::span<const config::Row<ClusterParameters>> cluster_rows();  // cluster_rows.cpp

}  // namespace lockstep::gpu
