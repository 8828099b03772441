// SPDX-License-Identifier: Apache-2.0
// The link between a host and a chip: how long data takes across it, by mechanism.
#pragma once

#include <cstdint>

#include "models/timeline.h"
#include "sim/config/machine.h"

namespace lockstep::system {

/// One direction of a link; both are there at once.
struct LinkDirection {
    double bytes_per_second = 0;  ///< of payload, sustained
    SimulatedTime latency = 0;    ///< from the copy engine's start to the first byte's arrival
};

/// What joins two devices.
struct PeerLink {
    bool exists = false;              ///< kernels may access a peer's memory
    bool is_of_its_own = false;       ///< NVLink; else the links to the host
    LinkDirection way;                ///< in each direction
    double packet_header = 0;         ///< bytes that a packet has besides its payload
    double raw_bytes_per_second = 0;  ///< headers included

    /// Throws InputError.
    static PeerLink of(const config::Machine& machine);
};

struct HostLink {
    LinkDirection to_device, to_host;
    PeerLink peer;

    /// PCIe by generation: the lanes' rate, less line coding, flow control and the packets'
    /// headers. NVLink-C2C: its rate and what its protocol leaves of it. Throws InputError.
    static HostLink of(const config::Machine& machine);
};

/// What the host does and how long it takes.
struct HostParameters {
    SimulatedTime call, launch_call, copy_call, graph_call;
    SimulatedTime launch_latency;      ///< from a call's end to the device's first move
    SimulatedTime completion_latency;  ///< from the end of work to the host that waits for it
    SimulatedTime stream_gap;          ///< from the end of work to what follows it
    SimulatedTime graph_gap;           ///< likewise, within a graph
    double copy_rate;                  ///< bytes a second that one core copies
    std::uint64_t staging_bytes;       ///< of a pinned buffer that pageable data goes through
    std::uint64_t inline_bytes;  ///< pageable data to the device up to here goes with the command
    std::size_t queue_depth;     ///< pieces of work that can be under way

    static HostParameters of(const config::Machine& machine);
};

}  // namespace lockstep::system
