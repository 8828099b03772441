// SPDX-License-Identifier: Apache-2.0
// PCI Express Base Specification: 2.5 GT/s doubled from generation to generation (8, 16, 32 GT/s),
// coded 128b/130b since the third. A packet has 2 bytes of framing, 6 of the data link layer, and a
// header of 16 bytes (a write with 64-bit addresses) or 12 (a completion with data).
// Acknowledgements and flow control take link.protocol_overhead of what is left (Neugebauer et al.,
// "Understanding PCIe performance for end host networking", SIGCOMM 2018). To the device data
// travels as completions of its reads, to the host as its writes.
#include "models/system/host_link.h"

#include "models/system/link_kinds.h"
#include "sim/config/row.h"

namespace lockstep::system {

namespace {

constexpr double kGiga = 1e9;
constexpr double kFramingBytes = 2 + 6;
constexpr double kWriteHeader = 16, kCompletionHeader = 12;
constexpr double kCoding = 128.0 / 130.0;
constexpr double kBitsPerByte = 8;

SimulatedTime nanoseconds(const config::Machine& machine, const char* path) {
    return static_cast<SimulatedTime>(machine.number(path) * 1e3 + 0.5);
}

LinkKind link_kind(const config::Machine& machine) {
    return static_cast<LinkKind>(config::chosen(machine, "link.kind", kLinkKinds));
}

/// Transfers a second and lane.
double pcie_rate(LinkKind generation) {
    return generation == LinkKind::kPcie3 ? 8e9 : generation == LinkKind::kPcie4 ? 16e9 : 32e9;
}

}  // namespace

/// NVLink: packets of 16-byte flits, the first of which is a header, up to 256 bytes of data
/// (Foley and Danskin, "Ultra-Performance Pascal GPU and NVLink Interconnect", IEEE Micro 2017).
/// PCIe: writes cross the root complex from one device's link to the other's.
PeerLink PeerLink::of(const config::Machine& machine) {
    const auto kind = static_cast<PeerKind>(config::chosen(machine, "peer.kind", kPeerKinds));
    PeerLink out;
    out.way.latency = nanoseconds(machine, "peer.latency");
    if (kind == PeerKind::kNone) return out;
    out.exists = true;
    if (kind == PeerKind::kNvlink) {
        out.is_of_its_own = true;
        out.packet_header = machine.number("peer.packet_header");
        out.raw_bytes_per_second =
            machine.number("peer.links") * machine.number("peer.link_bandwidth") * kGiga;
        const double payload = machine.number("peer.max_payload");
        out.way.bytes_per_second =
            out.raw_bytes_per_second * payload / (payload + out.packet_header);
        return out;
    }
    if (link_kind(machine) == LinkKind::kNvlinkC2c)
        throw InputError(fmt::format("{}: peer.kind pcie needs a link.kind of PCIe, not nvlink_c2c",
                                     machine.name()));
    const double payload = machine.number("link.max_payload");
    out.packet_header = kFramingBytes + kWriteHeader;
    out.raw_bytes_per_second = pcie_rate(link_kind(machine)) * machine.number("link.lanes") *
                               kCoding / kBitsPerByte *
                               (1 - machine.number("link.protocol_overhead"));
    out.way.bytes_per_second = out.raw_bytes_per_second * payload / (payload + out.packet_header);
    return out;
}

HostLink HostLink::of(const config::Machine& machine) {
    const LinkKind kind = link_kind(machine);
    const SimulatedTime latency = nanoseconds(machine, "link.latency");
    const double left = 1 - machine.number("link.protocol_overhead");
    if (kind == LinkKind::kNvlinkC2c) {
        const double rate = machine.number("link.c2c_bandwidth") * kGiga * left;
        return {{rate, latency}, {rate, latency}, PeerLink::of(machine)};
    }
    const double raw =
        pcie_rate(kind) * machine.number("link.lanes") * kCoding / kBitsPerByte * left;
    const double payload = machine.number("link.max_payload");
    const auto direction = [&](double header) {
        return LinkDirection{raw * payload / (payload + kFramingBytes + header), latency};
    };
    return {direction(kCompletionHeader), direction(kWriteHeader), PeerLink::of(machine)};
}

HostParameters HostParameters::of(const config::Machine& machine) {
    const auto time = [&](const char* path) { return nanoseconds(machine, path); };
    const auto bytes = [&](const char* path) {
        return static_cast<std::uint64_t>(machine.integer(path));
    };
    return {.call = time("host.call_time"),
            .launch_call = time("host.launch_time"),
            .copy_call = time("host.copy_time"),
            .graph_call = time("host.graph_time"),
            .launch_latency = time("host.launch_latency"),
            .completion_latency = time("host.completion_latency"),
            .stream_gap = time("host.stream_gap"),
            .graph_gap = time("host.graph_gap"),
            .copy_rate = machine.number("host.copy_bandwidth") * kGiga,
            .staging_bytes = bytes("host.staging_size"),
            .inline_bytes = bytes("host.inline_size"),
            .queue_depth = bytes("host.queue_depth")};
}

}  // namespace lockstep::system
