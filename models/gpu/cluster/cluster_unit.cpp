// SPDX-License-Identifier: Apache-2.0
// A warp's accesses to other CTAs leave as one packet for each CTA, with addresses and data; the SM
// that has the CTA performs the operation when the packet arrives, by the semantics that the
// emulator uses, and answers. Until then nobody sees it: registers are written when the answer is
// here. Simplified: a packet carries the lanes of one warp instruction, whatever their addresses.
#include "models/gpu/cluster/cluster_unit.h"

#include <bit>
#include <utility>

#include "models/gpu/execution/cta_runner.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

namespace {

PlacedCluster* placed(const sass::Cta& cta) {
    // The only clusters whose members have a port here.
    return static_cast<PlacedCluster*>(cta.member->cluster);
}

}  // namespace

ClusterUnit::ClusterUnit(engine::Tile& tile, std::uint16_t sm, const ClusterParameters& parameters,
                         ClusterListener& listener)
    : out(tile, "cluster_out"),
      in(tile, "cluster_in"),
      sm_(sm),
      parameters_(parameters),
      listener_(listener),
      port_(parameters.port_bandwidth) {}

void ClusterUnit::begin_kernels() {
    LOCKSTEP_CHECK(idle(), "SM {}: {} operations on other CTAs are under way", sm_, under_way_);
    counters_ = {};
}

RemotePacket& ClusterUnit::new_packet() {
    if (spare_.empty()) {
        packets_.push_back(std::make_unique<RemotePacket>());
        spare_.push_back(packets_.back().get());
    }
    RemotePacket& packet = *spare_.back();
    spare_.pop_back();
    return packet;
}

void ClusterUnit::send(const sass::RemoteOperation& operation) {
    if (first_issued_ == kNone) {
        if (spare_waiting_.empty()) {
            spare_waiting_.push_back(static_cast<std::uint32_t>(waiting_.size()));
            waiting_.emplace_back();
        }
        first_issued_ = spare_waiting_.back();
        spare_waiting_.pop_back();
    }
    RemotePacket& packet = new_packet();
    const sass::Cta& cta = *operation.warp->cta;
    packet.operation = operation;
    packet.cluster = placed(cta);
    packet.cta = cta.linear_index;
    packet.warp = operation.warp->index;
    packet.launch = cta.launch;
    packet.instruction = first_issued_;
    packet.from = sm_;
    waiting_[first_issued_].packets.push_back(&packet);
    ++under_way_;
}

std::uint32_t ClusterUnit::take_issued() {
    return std::exchange(first_issued_, kNone);
}

void ClusterUnit::cluster_arrived(sass::Cta& cta) {
    ClusterMessage message;
    message.kind = ClusterMessage::Kind::kArrive;
    message.has_exited = !cta.member->is_present;
    message.rank = static_cast<std::uint8_t>(cta.cluster_rank);
    message.cluster = placed(cta);
    arrivals_.push_back(message);
}

void ClusterUnit::send_arrivals(Cycle now) {
    for (const ClusterMessage& message : arrivals_) queue(now, message);
    arrivals_.clear();
}

/// Headers are stated for 128 bytes of data, a word for each lane of a warp; a packet with fewer
/// lanes or narrower ones has shorter ones, to the next whole byte.
std::uint32_t ClusterUnit::bytes_of(const sass::RemoteOperation& operation, bool is_reply) const {
    const auto data = static_cast<std::uint32_t>(std::popcount(operation.lanes)) * operation.width;
    const auto share = [data](unsigned bytes) {
        constexpr std::uint32_t kOf = 128;
        return (bytes * data + kOf - 1) / kOf;
    };
    const ClusterParameters& p = parameters_;
    if (!is_reply) return operation.is_store ? data + share(p.store_header) : share(p.load_request);
    return operation.returns ? data + share(p.load_header) : share(p.acknowledgement);
}

void ClusterUnit::queue(Cycle ready, const ClusterMessage& message) {
    Cycle at = std::max(ready, port_.pass(ready, message.bytes));
    if (!queue_.empty()) at = std::max(at, queue_.back().at);
    counters_.bytes_sent += message.bytes;
    queue_.push_back({at, message});
    next_send_ = std::min(next_send_, at);
}

void ClusterUnit::request(Cycle now, std::uint32_t number, const MemoryInstructionHeader& header,
                          bool waits) {
    Waiting& waiting = waiting_[number];
    waiting.header = header;
    waiting.left = static_cast<std::uint32_t>(waiting.packets.size());
    waiting.waits = waits;
    for (RemotePacket* const packet : waiting.packets) {
        ClusterMessage message;
        message.kind = ClusterMessage::Kind::kRequest;
        message.to = packet->cluster->sm[packet->operation.rank];
        message.bytes = bytes_of(packet->operation, false);
        message.packet = packet;
        queue(now, message);
        stores_queued_ += packet->operation.is_store;
        ++counters_.requests;
    }
    waiting.packets.clear();
}

void ClusterUnit::perform(Cycle now, RemotePacket& packet) {
    sass::ClusterMember* const member = packet.cluster->member[packet.operation.rank];
    try {
        sass::perform_remote(packet.operation, member);
    } catch (const sass::Fault& fault) {
        throw LocatedFault{fault, packet.cta, packet.warp, packet.operation.pc, packet.launch};
    }
    const Cycle at = listener_.serve_remote(now, packet.operation);
    ClusterMessage reply;
    reply.kind = ClusterMessage::Kind::kReply;
    reply.to = packet.from;
    reply.bytes = bytes_of(packet.operation, true);
    reply.packet = &packet;
    queue(std::max(at, now), reply);
}

void ClusterUnit::finish(Cycle now, RemotePacket& packet) {
    Waiting& waiting = waiting_[packet.instruction];
    if (packet.operation.returns) sass::deliver_remote(packet.operation);
    spare_.push_back(&packet);
    --under_way_;
    if (--waiting.left != 0) return;
    spare_waiting_.push_back(packet.instruction);
    if (waiting.waits) listener_.remote_done(now, waiting.header);
}

void ClusterUnit::take(Cycle now, const ClusterMessage& message) {
    counters_.bytes_received += message.bytes;
    using Kind = ClusterMessage::Kind;
    switch (message.kind) {
        case Kind::kRequest:
            return perform(now, *message.packet);
        case Kind::kReply:
            return finish(now, *message.packet);
        case Kind::kRelease: {
            sass::ClusterMember& member = message.cluster->members[message.rank];
            if (!member.is_present) return;  // it has exited meanwhile
            ++counters_.barriers;
            sass::release_cluster_barrier(member);
            return listener_.cluster_released(now, *member.cta);
        }
        case Kind::kArrive:
            break;
    }
    LOCKSTEP_CHECK(false, "SM {}: an arrival at barrier.cluster reached an SM", sm_);
}

void ClusterUnit::send_queued(Cycle now) {
    next_send_ = kNever;
    while (!queue_.empty()) {
        if (queue_.front().at > now) {
            next_send_ = queue_.front().at;
            return;
        }
        if (out.credits(now) == 0) {
            next_send_ = out.next_credit(now);
            return;
        }
        const ClusterMessage& message = queue_.front().message;
        if (message.kind == ClusterMessage::Kind::kRequest)
            stores_queued_ -= message.packet->operation.is_store;
        out.send(now, message);
        queue_.pop_front();
    }
}

void ClusterUnit::begin_window(Cycle from) {
    // What lacked credits may have got some.
    if (next_send_ == kNever && !queue_.empty()) next_send_ = out.next_credit(from);
}

void ClusterUnit::advance(Cycle now) {
    while (in.next_ready() <= now) take(now, in.receive(now));
    if (next_send_ <= now) send_queued(now);
}

}  // namespace lockstep::gpu
