// SPDX-License-Identifier: Apache-2.0
// What stands around a GPU: its link to the host, and the host as far as it takes time
// (models/system/host_link.cpp reads them).
#include "models/gpu/device/parameter_rows.h"
#include "models/system/link_kinds.h"

namespace lockstep::gpu {

using config::Row;
using config::Type;

namespace {

constexpr double kMostTime = 1e9;  // a second

}  // namespace

std::span<const Row<config::NoMembers>> system_rows() {
    static const std::vector<Row<config::NoMembers>> kRows{
        Row<config::NoMembers>{"link.kind", Type::kText, "1", 0, 0, "link to the host"}.one_of(
            system::kLinkKinds),
        {"link.lanes", Type::kInteger, "1", 1, 64, "lanes of a PCIe link"},
        {"link.max_payload", Type::kInteger, "B", 32, 4096, "payload of a PCIe packet"},
        {"link.protocol_overhead", Type::kNumber, "1", 0, 0.9,
         "share of the link that flow control and acknowledgements take"},
        {"link.c2c_bandwidth", Type::kNumber, "GB/s", 0.001, 1e6,
         "rate of an NVLink-C2C link in each direction"},
        {"link.latency", Type::kNumber, "ns", 0, kMostTime,
         "time from a copy engine's start to the arrival of the first byte"},
        {"system.devices", Type::kInteger, "1", 1, 16, "GPUs of this kind in the system"},
        Row<config::NoMembers>{"peer.kind", Type::kText, "1", 0, 0, "what joins GPUs"}.one_of(
            system::kPeerKinds),
        {"peer.links", Type::kInteger, "1", 1, 64, "NVLinks of a GPU"},
        {"peer.link_bandwidth", Type::kNumber, "GB/s", 0.001, 1e6,
         "rate of an NVLink in each direction, packets' headers included"},
        {"peer.max_payload", Type::kInteger, "B", 32, 4096,
         "most data of an NVLink packet that a copy sends"},
        {"peer.packet_header", Type::kInteger, "B", 0, 4096, "header of an NVLink packet"},
        {"peer.latency", Type::kNumber, "ns", 0, kMostTime,
         "time from one GPU to the other, one way"},
        {"host.call_time", Type::kNumber, "ns", 0, kMostTime,
         "time that a call to the CUDA API takes which submits no kernel and no copy"},
        {"host.launch_time", Type::kNumber, "ns", 0, kMostTime,
         "time that the call takes which launches a kernel"},
        {"host.copy_time", Type::kNumber, "ns", 0, kMostTime,
         "time that the call takes which submits a copy or set"},
        {"host.graph_time", Type::kNumber, "ns", 0, kMostTime,
         "time that the call takes which launches a graph"},
        {"host.launch_latency", Type::kNumber, "ns", 0, kMostTime,
         "time from a call's end until an idle device begins what it submitted"},
        {"host.completion_latency", Type::kNumber, "ns", 0, kMostTime,
         "time from the end of work until the host that waits for it goes on"},
        {"host.stream_gap", Type::kNumber, "ns", 0, kMostTime,
         "time from the end of work to the begin of what follows it in a stream"},
        {"host.graph_gap", Type::kNumber, "ns", 0, kMostTime,
         "time from the end of a graph's node to the begin of one that follows it"},
        {"host.copy_bandwidth", Type::kNumber, "GB/s", 0.001, 1e6,
         "rate at which one core of the host copies memory"},
        {"host.staging_size", Type::kInteger, "B", 1, 1e12,
         "pinned buffer that pageable data passes through"},
        {"host.inline_size", Type::kInteger, "B", 0, 1e12,
         "most pageable data that goes to the device within the command"},
        {"host.queue_depth", Type::kInteger, "1", 1, 1e9,
         "pieces of submitted work that may be under way before a call waits"},
    };
    return kRows;
}

}  // namespace lockstep::gpu
