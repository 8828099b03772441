// SPDX-License-Identifier: Apache-2.0
// An access to a peer's memory crosses the own crossbar and the link, is served by the peer's L2 or
// DRAM beside the peer's own accesses, and its answer comes back over the link: an access is a
// packet (a header, and the data that it brings), its answer another. Packets leave one after the
// other at the link's rate. Peers' lines are not cached in the own L2, as on hardware. Simplified:
// several links of NVLink are one of their joint rate, and flow control takes nothing.
#include "models/gpu/memory/peer_unit.h"

#include <algorithm>
#include <bit>

#include "sim/engine/simulation.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

namespace {

/// Under way between two chips: more than their ports' limits let them ask.
constexpr std::uint32_t kMessages = 1 << 16;

std::uint32_t bytes_of(std::uint8_t sectors) {
    return static_cast<std::uint32_t>(std::popcount(sectors)) * kSectorBytes;
}

bool brings_data(RequestKind kind) {
    return kind == RequestKind::kRead || kind == RequestKind::kAtomic;
}

}  // namespace

PeerUnit::PeerUnit(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
                   std::uint16_t number, const PeerParameters& parameters)
    : Tile(simulation, std::move(name), clock),
      parameters_(parameters),
      port_(*this, number),
      queue_(port_) {
    ways_.resize(parameters_.regions.size());
    for (std::size_t i = 0; i < ways_.size(); ++i)
        if (i != parameters_.device) ways_[i] = std::make_unique<Way>(*this, i);
}

void PeerUnit::connect(PeerUnit& a, PeerUnit& b) {
    const std::uint32_t of_a = a.parameters_.device, of_b = b.parameters_.device;
    const auto join = [](PeerUnit& from, std::uint32_t to_number, PeerUnit& to,
                         std::uint32_t from_number) {
        const Cycle latency = from.parameters_.latency;
        from.simulation().connect(
            from.ways_[to_number]->out, to.ways_[from_number]->in,
            {.latency = latency, .capacity = kMessages, .credit_latency = latency});
    };
    join(a, of_b, b, of_a);
    join(b, of_a, a, of_b);
}

std::uint32_t PeerUnit::owner_of(std::uint64_t line) const {
    const std::vector<std::uint64_t>& regions = parameters_.regions;
    const std::uint64_t region = line * kLineBytes / kPeerRegionBytes * kPeerRegionBytes;
    const auto at = std::find(regions.begin(), regions.end(), region);
    LOCKSTEP_CHECK(at != regions.end(), "{}: line {:#x} is no peer's", name(), line);
    return static_cast<std::uint32_t>(at - regions.begin());
}

void PeerUnit::depart(Cycle now, std::uint32_t peer, std::uint32_t payload,
                      const ChipMessage& message) {
    const std::uint32_t bytes = parameters_.packet_header + payload;
    const auto service =
        static_cast<Cycle>(static_cast<double>(bytes * kFraction) / parameters_.bandwidth + 0.5);
    out_free_ = std::max(out_free_, now * kFraction) + std::max<Cycle>(service, 1);
    bytes_sent_ += bytes;
    departures_.push_back({(out_free_ + kFraction - 1) / kFraction, peer, message});
}

void PeerUnit::take_request(Cycle now, std::uint16_t port, const MemoryRequest& request) {
    const std::uint32_t payload = request.kind == RequestKind::kRead    ? 0
                                  : request.kind == RequestKind::kWrite ? written_bytes(request)
                                                                        : bytes_of(request.sectors);
    ++asked_;
    depart(now, owner_of(request.line), payload, {.port = port, .request = request, .reply = {}});
}

void PeerUnit::take_message(Cycle now, std::uint32_t peer, const ChipMessage& message) {
    if (message.is_reply) {
        links_[message.port]->replies.send(now, MemoryReply(message.reply));
        if (message.request.sectors == 0) --asked_;
        return;
    }
    if (free_guests_.empty()) {
        free_guests_.push_back(static_cast<std::uint32_t>(guests_.size()));
        guests_.emplace_back();
    }
    const std::uint32_t number = free_guests_.back();
    free_guests_.pop_back();
    const std::uint8_t sectors = message.request.sectors;
    guests_[number] = {peer, message.port, message.request.id,
                       message.request.kind == RequestKind::kRead ? sectors : std::uint8_t{1}};
    ++guests_here_;
    MemoryRequest request = message.request;
    request.id = number;
    request.translated = true;  // the link's own page tables
    queue_.push(now, request);
}

void PeerUnit::take_answer(Cycle now, const MemoryReply& reply) {
    Guest& guest = guests_[reply.id];
    guest.missing = reply.kind == RequestKind::kRead
                        ? static_cast<std::uint8_t>(guest.missing & ~reply.sectors)
                        : std::uint8_t{0};
    // The request's sectors say what is still to come.
    ChipMessage message{.is_reply = true,
                        .port = guest.port,
                        .request = {.sectors = guest.missing},
                        .reply = reply};
    message.reply.id = guest.id;
    depart(now, guest.peer, brings_data(reply.kind) ? bytes_of(reply.sectors) : 0, message);
    if (guest.missing != 0) return;
    --guests_here_;
    free_guests_.push_back(reply.id);
}

void PeerUnit::send(Cycle now) {
    while (!departures_.empty() && departures_.front().at <= now) {
        Departure& first = departures_.front();
        engine::Sender<ChipMessage>& out = ways_[first.peer]->out;
        LOCKSTEP_CHECK(out.credits(now) != 0, "{}: too many messages to a peer", name());
        out.send(now, first.message);
        departures_.pop_front();
    }
}

Cycle PeerUnit::advance(Cycle from, Cycle until) {
    while (true) {
        Cycle next = std::min(port_.next_reply(), queue_.next_event());
        for (const std::unique_ptr<Link>& link : links_)
            next = std::min(next, link->requests.next_ready());
        for (const std::unique_ptr<Way>& way : ways_)
            if (way != nullptr && way->in.connected()) next = std::min(next, way->in.next_ready());
        if (!departures_.empty()) next = std::min(next, departures_.front().at);
        if (next == kNever) return kNever;
        const Cycle now = std::max(next, from);
        if (now >= until) return now;
        while (port_.next_reply() <= now) take_answer(now, port_.receive(now));
        for (std::size_t peer = 0; peer < ways_.size(); ++peer)
            if (Way* const way = ways_[peer].get(); way != nullptr && way->in.connected())
                while (way->in.next_ready() <= now)
                    take_message(now, static_cast<std::uint32_t>(peer), way->in.receive(now));
        for (std::size_t port = 0; port < links_.size(); ++port)
            while (links_[port]->requests.next_ready() <= now)
                take_request(now, static_cast<std::uint16_t>(port),
                             links_[port]->requests.receive(now).request);
        queue_.advance(now);
        send(now);
        from = now;
    }
}

bool PeerUnit::finished() const {
    return guests_here_ == 0 && asked_ == 0 && departures_.empty();
}

std::string PeerUnit::explain_wait() const {
    return fmt::format("{} accesses to peers' memory, {} of peers to its own", asked_,
                       guests_here_);
}

}  // namespace lockstep::gpu
