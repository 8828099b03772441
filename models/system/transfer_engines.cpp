// SPDX-License-Identifier: Apache-2.0
// Pageable memory cannot be read by the device: the driver copies it through pinned buffers, one
// being filled while another crosses the link (CUDA C Best Practices Guide, pinned memory; CUDA
// Runtime API, "API synchronization behavior"). The slower of the two sets the rate, the first
// buffer's other half is not hidden. What the link brings to and from device memory is a hundredth
// of that memory's bandwidth, and is not seen there.
#include "models/system/transfer_engines.h"

#include <algorithm>

namespace lockstep::system {

namespace {

SimulatedTime time_of(std::uint64_t bytes, double bytes_per_second) {
    constexpr double kPicoseconds = 1e12;
    return static_cast<SimulatedTime>(static_cast<double>(bytes) / bytes_per_second * kPicoseconds +
                                      0.5);
}

constexpr unsigned kToPeers = 4, kFromPeers = 5;

}  // namespace

unsigned TransferEngines::engine(TransferKind kind) {
    switch (kind) {
        case TransferKind::kHostToDevice:
            return 0;
        case TransferKind::kDeviceToHost:
            return 1;
        case TransferKind::kDeviceToDevice:
        case TransferKind::kFill:
            return 2;
        case TransferKind::kPeerToPeer:
            return kToPeers;
        case TransferKind::kHostToHost:
            break;
    }
    return 3;
}

/// Over PCIe, or through the host's memory, what goes to a peer takes the ways to and from the
/// host.
unsigned TransferEngines::way_out(const TransferWork& transfer) const {
    const bool has_own = link_.peer.is_of_its_own && !transfer.is_staged;
    return has_own ? kToPeers : engine(TransferKind::kDeviceToHost);
}

unsigned TransferEngines::way_in(const TransferWork& transfer) const {
    const bool has_own = link_.peer.is_of_its_own && !transfer.is_staged;
    return has_own ? kFromPeers : engine(TransferKind::kHostToDevice);
}

SimulatedTime TransferEngines::free_at(const TransferWork& transfer,
                                       const TransferEngines& to) const {
    return std::max(free_[way_out(transfer)], to.free_[to.way_in(transfer)]);
}

SimulatedTime TransferEngines::start(const TransferWork& transfer, TransferEngines& to,
                                     SimulatedTime at) {
    SimulatedTime time = 0;
    if (transfer.is_staged) {
        // Buffer by buffer to the host and on: the first one's way on is not hidden.
        const double rate =
            std::min(link_.to_host.bytes_per_second, to.link_.to_device.bytes_per_second);
        const std::uint64_t buffer = std::min(transfer.bytes, host_.staging_bytes);
        time = link_.to_host.latency + to.link_.to_device.latency + time_of(transfer.bytes, rate) +
               time_of(buffer, to.link_.to_device.bytes_per_second);
    } else {
        const LinkDirection& way = link_.peer.way;
        time = way.latency + time_of(transfer.bytes, way.bytes_per_second);
    }
    return free_[way_out(transfer)] = to.free_[to.way_in(transfer)] = at + time;
}

const char* TransferEngines::name(TransferKind kind) {
    constexpr const char* kNames[kEngines] = {
        "copy engine to the device", "copy engine to the host", "copies within the device",
        "copies of the host",        "copies to peers",         "copies from peers"};
    return kNames[engine(kind)];
}

SimulatedTime TransferEngines::host_time(const TransferWork& transfer) const {
    const bool is_staged = transfer.kind == TransferKind::kHostToDevice && transfer.is_pageable;
    return is_staged ? time_of(transfer.bytes, host_.copy_rate) : 0;
}

SimulatedTime TransferEngines::duration(const TransferWork& transfer) const {
    switch (transfer.kind) {
        case TransferKind::kDeviceToDevice:
            return processor_.copy_time(transfer.bytes);
        case TransferKind::kFill:
            return processor_.fill_time(transfer.bytes);
        case TransferKind::kHostToHost:
            return time_of(transfer.bytes, host_.copy_rate);
        case TransferKind::kHostToDevice:
        case TransferKind::kDeviceToHost:
        case TransferKind::kPeerToPeer:
            break;
    }
    const LinkDirection& way =
        transfer.kind == TransferKind::kHostToDevice ? link_.to_device : link_.to_host;
    const SimulatedTime crossing = time_of(transfer.bytes, way.bytes_per_second);
    if (!transfer.is_pageable || is_inline(transfer)) return way.latency + crossing;
    const SimulatedTime staging = time_of(transfer.bytes, host_.copy_rate);
    const std::uint64_t buffer = std::min(transfer.bytes, host_.staging_bytes);
    const double faster = std::max(host_.copy_rate, way.bytes_per_second);
    return way.latency + std::max(crossing, staging) + time_of(buffer, faster);
}

SimulatedTime TransferEngines::start(const TransferWork& transfer, SimulatedTime at) {
    return free_[engine(transfer.kind)] = at + duration(transfer);
}

}  // namespace lockstep::system
