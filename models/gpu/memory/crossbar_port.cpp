// SPDX-License-Identifier: Apache-2.0
// The crossbar is a set of point-to-point ways between SMs and memory partitions; its limits stand
// at its ends: what an SM can send and receive in a cycle (here), what a slice can deliver
// (L2Slice), what a GPC can receive (MemoryPartition). Requests and acknowledgements without data
// take one cycle of the port. Left out: limits of a TPC, those of a GPC on requests, and distances
// within the chip: every SM has the same latency to every slice near it.
#include "models/gpu/memory/crossbar_port.h"

#include <algorithm>
#include <bit>

#include "sim/engine/simulation.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

namespace {

Cycle request_service(const MemoryRequest& request, const MemoryParameters& parameters) {
    if (request.kind == RequestKind::kRead) return kFraction;
    // A request may be longer than what it writes (V100's, machines/v100.yaml).
    const auto sectors = static_cast<std::uint32_t>(std::popcount(request.sectors)) * kSectorBytes;
    const std::uint32_t bytes =
        request.kind == RequestKind::kWrite ? std::max(sectors, parameters.store_request) : sectors;
    return std::max(kFraction, service(bytes, parameters.request_bandwidth));
}

Cycle reply_service(const MemoryReply& reply, const MemoryParameters& parameters) {
    if (reply.kind == RequestKind::kWrite || reply.kind == RequestKind::kReduction)
        return kFraction;
    const auto sectors = static_cast<std::uint32_t>(std::popcount(reply.sectors));
    return std::max(kFraction, service(sectors * kSectorBytes, parameters.reply_bandwidth));
}

}  // namespace

bool CrossbarPort::send(Cycle now, const MemoryRequest& request) {
    if (way_out_.turn(now) != now) return false;
    const LinePlace place = place_of(request.line);
    Link& link = link_to(request.line);
    if (link.outstanding >= parameters_->outstanding || link.requests.credits(now) == 0)
        return false;
    RoutedRequest routed{request, place.index, static_cast<std::uint16_t>(place.slice),
                         static_cast<std::uint8_t>(place.l2_partition)};
    routed.request.sm = sm_;
    link.requests.send(now, routed);
    ++link.outstanding;
    ++outstanding_;
    way_out_.occupy(now, request_service(request, *parameters_));
    return true;
}

Cycle CrossbarPort::next_send(Cycle now, const MemoryRequest& request) {
    Link& link = link_to(request.line);
    if (link.outstanding >= parameters_->outstanding) return kNever;
    const Cycle credit = link.requests.next_credit(now);
    return credit == kNever ? kNever : std::max(way_out_.turn(now), credit);
}

void CrossbarPort::connected() {
    ready_.resize(links_.size());
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->replies.keep_next_ready(ready_[i]);
}

void CrossbarPort::choose() const {
    const auto first = std::min_element(ready_.begin(), ready_.end());
    next_ = static_cast<std::size_t>(first - ready_.begin());
    next_at_ = *first;
}

Cycle CrossbarPort::next_reply() const {
    // In a new window new replies may be there.
    if (looked_ != tile_.simulation().now()) {
        looked_ = tile_.simulation().now();
        choose();
    }
    return next_at_ == kNever ? kNever : way_in_.turn(next_at_);
}

MemoryReply CrossbarPort::receive(Cycle now) {
    LOCKSTEP_CHECK(next_reply() <= now, "SM {}: no reply at cycle {}", sm_, now);
    Link& link = *links_[next_];
    const MemoryReply reply = link.replies.receive(now);
    way_in_.occupy(next_at_, reply_service(reply, *parameters_));
    --link.outstanding;
    --outstanding_;
    choose();
    return reply;
}

}  // namespace lockstep::gpu
