// SPDX-License-Identifier: Apache-2.0
// Within a window nothing that a partition sends comes back to it, so it takes all arrivals of the
// window, sorts them by time, runs its slices and its channels one after the other, and sends what
// they answered in order of time. Slices and channels meet only through the ways to and from the
// DRAM controllers, whose latency is the step in which they alternate.
#include "models/gpu/memory/memory_partition.h"

#include <algorithm>
#include <utility>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

namespace {
constexpr std::uint32_t kNoSlice = ~0u;
}  // namespace

MemoryPartition::MemoryPartition(engine::Simulation& simulation, const MemoryParameters& parameters,
                                 const LineMap& map, std::uint32_t l2_partition,
                                 std::uint32_t number, const std::string& prefix)
    : Tile(simulation, fmt::format("{}l2_{}.partition{}", prefix, l2_partition, number),
           parameters.clock),
      parameters_(parameters),
      map_(map),
      l2_partition_(l2_partition),
      mmu_(parameters) {
    SliceSurroundings& self = *this;
    for (std::uint32_t i = 0; i < parameters.slices_per_l2_partition(); ++i) {
        if (map.tile_of_slice(i) != number) continue;
        if (slices_.empty()) first_slice_ = i;
        slices_.push_back(
            std::make_unique<L2Slice>(parameters, map, l2_partition, i, self, counters_));
    }
    const std::uint32_t channels = parameters.dram.channels, slices = parameters.slices;
    const std::uint32_t first = l2_partition * parameters.slices_per_l2_partition() + first_slice_;
    first_channel_ = first * channels / slices;
    const auto count = slices_.size() * channels / slices;
    channels_.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        channels_.emplace_back(parameters, first_channel_ + static_cast<std::uint32_t>(i));
}

void MemoryPartition::connected(const std::vector<double>& gpc_shares) {
    const double slices = static_cast<double>(slices_.size()) / map_.slices();
    gpc_ports_ = GpcPorts(gpc_shares, parameters_.gpc_bandwidth * slices);
    ready_.resize(links_.size());
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->requests.keep_next_ready(ready_[i]);
}

/// Takes what arrives in this window and delivers it in the order of arrival.
void MemoryPartition::gather(Cycle from, Cycle until) {
    constexpr std::size_t kAhead = 6;
    std::vector<Arrival>& arrivals = scratch_->arrivals;
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        if (i + kAhead < links_.size() && ready_[i + kAhead] < until)
            links_[i + kAhead]->requests.prefetch();
        for (Cycle at = ready_[i]; at < until; at = ready_[i])
            arrivals.push_back({at,
                                i,
                                {.link = static_cast<std::uint16_t>(i),
                                 .routed = links_[i]->requests.receive(at)}});
    }
    if (from_peer_.connected())
        for (Cycle at = from_peer_.next_ready(); at < until; at = from_peer_.next_ready())
            arrivals.push_back({at, kPeerLink, from_peer_.receive(at)});
    hold_untranslated(from, until);
    const auto before = [](const Arrival& a, const Arrival& b) { return a.order < b.order; };
    for (const std::uint32_t i : scratch_->order.of(arrivals, from, until, before))
        deliver(arrivals[i]);
    arrivals.clear();
}

/// Those without a translation wait for the MMU; those whose wait ends join the arrivals.
void MemoryPartition::hold_untranslated(Cycle from, Cycle until) {
    std::vector<Arrival>& arrivals = scratch_->arrivals;
    const auto waits = [](const Arrival& a) {
        return !a.message.routed.request.translated && a.order != kPeerLink;
    };
    if (std::any_of(arrivals.begin(), arrivals.end(), waits)) {
        const auto before = [](const Arrival& a, const Arrival& b) { return a.order < b.order; };
        for (const std::uint32_t i : scratch_->order.of(arrivals, from, until, before)) {
            Arrival& arrival = arrivals[i];
            if (!waits(arrival)) continue;
            MemoryRequest& request = arrival.message.routed.request;
            held_.push_back(arrival);
            held_.back().at = mmu_.translate(arrival.at, request.line);
            held_.back().message.routed.request.translated = true;
            arrival.at = kNever;
        }
    }
    if (held_.empty()) return;
    const auto later = std::stable_partition(held_.begin(), held_.end(),
                                             [&](const Arrival& a) { return a.at < until; });
    arrivals.insert(arrivals.end(), held_.begin(), later);
    held_.erase(held_.begin(), later);
}

void MemoryPartition::deliver(const Arrival& arrival) {
    const PeerMessage& message = arrival.message;
    const MemoryRequest& request = message.routed.request;
    switch (message.type) {
        case PeerMessage::Type::kRequest: {
            const bool from_peer = arrival.order == kPeerLink;
            slice(message.routed.slice)
                .request({arrival.at, message.routed, message.link, from_peer,
                          from_peer ? kNoGpc : links_[message.link]->gpc});
            break;
        }
        case PeerMessage::Type::kFill:
            slice(message.routed.slice)
                .fill(arrival.at, static_cast<std::uint16_t>(request.id), request.sectors);
            break;
        case PeerMessage::Type::kAnswer:
            replies_.push_back({arrival.at,
                                message.link,
                                message.routed.slice * 2u,
                                {request.id, request.kind, request.sectors}});
            break;
        case PeerMessage::Type::kInvalidate:
            slice(message.routed.slice)
                .invalidate(arrival.at, L2Tags::key(message.routed.index, message.routed.home));
            break;
    }
}

Cycle MemoryPartition::advance(Cycle from, Cycle until) {
    scratch_ = &Scratch::of_thread();
    scratch_->clear();
    gather(from, until);
    if (dram_port_) {
        dram_port_->take(until, scratch_->completions);
        take_completions();
    }
    if (!copies_.empty() && !are_copies_stopped_) carry_copies(from, until);
    for (Cycle now = from; now < until;) {
        now = std::min(until, now + parameters_.dram_reply_latency);
        run(now);
    }
    send_replies(from, until);
    send_peer_messages(from, until);
    const bool all_sent = !dram_port_ || dram_port_->send(until);

    Cycle next = kNever;
    for (const auto& slice : slices_) next = std::min(next, slice->next_event());
    for (const DramChannel& channel : channels_) next = std::min(next, channel.next_event());
    if (!replies_.empty() || !peer_messages_.empty() || !all_sent) next = std::min(next, until);
    for (const Arrival& arrival : held_) next = std::min(next, arrival.at);
    if (!are_copies_stopped_)
        for (const CopyStream& copy : copies_) next = std::min(next, copy.next());
    return next == kNever ? kNever : std::max(next, until);
}

void MemoryPartition::run(Cycle until) {
    for (const auto& slice : slices_)
        if (slice->next_event() < until) slice->advance(until);
    for (DramChannel& channel : channels_)
        if (channel.next_event() < until) channel.advance(until, scratch_->completions);
    take_completions();
}

void MemoryPartition::carry(const CopyTraffic& traffic) {
    if (traffic.lines == 0 || traffic.end <= traffic.begin || channels_.empty() || dram_port_)
        return;
    if (std::exchange(are_copies_stopped_, false)) copies_.clear();
    copies_.push_back({traffic});
    wake(traffic.begin);
}

double MemoryPartition::left(std::uint64_t number) const {
    for (const auto& [traffic, done, held_up] : copies_)
        if (traffic.number == number)
            return static_cast<double>(traffic.lines - done) / static_cast<double>(traffic.lines);
    return 0;
}

/// A linear stream in each channel, reads and writes in different halves of it, as many lines ahead
/// as the controller's queues hold: where kernels load DRAM, it falls behind, and makes up for as
/// many lines as the engine has room for, which is taken to be as many again.
void MemoryPartition::carry_copies(Cycle from, Cycle until) {
    constexpr std::uint64_t kHalf = 1 << 28, kWindow = 1 << 26;  // bytes of a channel
    copy_lines_.resize(channels_.size());
    for (CopyStream& copy : copies_) {
        const bool is_read = copy.traffic.direction == memory::dram::Direction::kRead;
        const std::uint32_t most = is_read ? parameters_.read_queue : parameters_.write_queue;
        const auto is_full = [&](const auto& lines) { return lines[is_read ? 0 : 1] >= most; };
        if (const Cycle latest = copy.next() + copy.planned(most); latest < from)
            copy.held_up += from - latest;
        while (copy.done != copy.traffic.lines && copy.next() < until &&
               std::none_of(copy_lines_.begin(), copy_lines_.end(), is_full)) {
            for (std::size_t i = 0; i < channels_.size(); ++i) {
                const LineSpot spot{first_channel_ + static_cast<std::uint32_t>(i),
                                    (is_read ? 0 : kHalf) + copy.done * kLineBytes % kWindow};
                channels_[i].request(std::max(from, copy.next()),
                                     {copy.traffic.direction, kAllSectors, map_.location(spot),
                                      kNoSlice, static_cast<std::uint16_t>(i)});
                ++copy_lines_[i][is_read ? 0 : 1];
            }
            ++copy.done;
        }
    }
    std::erase_if(copies_, [](const CopyStream& copy) { return copy.done == copy.traffic.lines; });
}

void MemoryPartition::take_completions() {
    for (const auto& [at, transfer] : scratch_->completions) {
        if (transfer.slice == kNoSlice) {  // a copy's
            --copy_lines_[transfer.mshr]
                         [transfer.direction == memory::dram::Direction::kRead ? 0 : 1];
            continue;
        }
        if (transfer.direction == memory::dram::Direction::kWrite)
            slice(transfer.slice).written(at, transfer.sectors);
        else if (transfer.mshr != kNoMshr)
            slice(transfer.slice).fill(at, transfer.mshr, transfer.sectors);
    }
    scratch_->completions.clear();
}

void MemoryPartition::reply(Cycle at, std::uint32_t slice, std::uint16_t link,
                            const MemoryReply& reply) {
    replies_.push_back({at, link, slice * 2 + 1, reply});
}

void MemoryPartition::send_to_peer(Cycle at, const PeerMessage& message) {
    peer_messages_.push_back({at, message});
}

void MemoryPartition::ask_dram(Cycle at, memory::dram::Direction direction, std::uint32_t slice,
                               std::uint64_t line, std::uint8_t sectors, std::uint16_t mshr) {
    if (dram_port_) {
        dram_port_->request(
            at, LineMap::device_line(line),
            {.direction = direction, .sectors = sectors, .slice = slice, .mshr = mshr});
        return;
    }
    const LineSpot spot = map_.spot(line);
    channels_[spot.channel - first_channel_].request(
        at, {direction, sectors, map_.location(spot), slice, mshr});
}

void MemoryPartition::read_dram(Cycle at, std::uint32_t slice, std::uint64_t line,
                                std::uint8_t sectors, std::uint16_t mshr) {
    ask_dram(at, memory::dram::Direction::kRead, slice, line, sectors, mshr);
}

void MemoryPartition::write_dram(Cycle at, std::uint32_t slice, std::uint64_t line,
                                 std::uint8_t sectors) {
    ask_dram(at, memory::dram::Direction::kWrite, slice, line, sectors, kNoMshr);
}

/// What slices answer from the next window on comes later than all that is due in this one.
void MemoryPartition::send_replies(Cycle from, Cycle until) {
    if (replies_.empty()) return;
    const auto before = [](const Departure& a, const Departure& b) { return a.order < b.order; };
    for (const std::uint32_t i : scratch_->order.of(replies_, from, until, before)) {
        const Departure& departure = replies_[i];
        Link& link = *links_[departure.link];
        const Cycle at = gpc_ports_.pass(departure.at + parameters_.slice_latency, link.gpc,
                                         bytes_of(departure.reply));
        link.replies.send(at, departure.reply);
    }
    std::erase_if(replies_, [&](const Departure& d) { return d.at < until; });
}

void MemoryPartition::send_peer_messages(Cycle from, Cycle until) {
    if (peer_messages_.empty()) return;
    const auto before = [](const PeerDeparture& a, const PeerDeparture& b) {
        return a.message.routed.slice < b.message.routed.slice;
    };
    bool blocked = false;
    for (const std::uint32_t i : scratch_->order.of(peer_messages_, from, until, before)) {
        PeerDeparture& departure = peer_messages_[i];
        blocked = blocked || to_peer_.credits(departure.at) == 0;
        if (blocked) {
            departure.at = until;  // in this order, with those of the next window
        } else {
            to_peer_.send(departure.at, departure.message);
            departure.at = kNever;
        }
    }
    std::erase_if(peer_messages_, [](const PeerDeparture& d) { return d.at == kNever; });
}

bool MemoryPartition::finished() const {
    return replies_.empty() && peer_messages_.empty() && held_.empty() &&
           (!dram_port_ || dram_port_->idle()) &&
           std::all_of(slices_.begin(), slices_.end(), [](const auto& s) { return s->idle(); }) &&
           std::all_of(channels_.begin(), channels_.end(),
                       [](const DramChannel& c) { return c.idle(); });
}

std::string MemoryPartition::explain_wait() const {
    const auto busy =
        std::count_if(slices_.begin(), slices_.end(), [](const auto& s) { return !s->idle(); });
    return fmt::format(
        "{} slices busy, {} replies and {} messages to its peer not sent, {} held by "
        "the MMU",
        busy, replies_.size(), peer_messages_.size(), held_.size());
}

void MemoryPartition::clear_l2() {
    LOCKSTEP_CHECK(finished(), "{}: L2 forgotten while {}", name(), explain_wait());
    for (const auto& slice : slices_) slice->clear();
}

void MemoryPartition::place(Cycle at, const LinePlace& place) {
    if (slice(place.slice).place(at, place)) wake(at);
}

PartitionCounters MemoryPartition::counters() const {
    PartitionCounters out = counters_;
    for (const auto& slice : slices_) out.slice_busy += slice->busy_cycles();
    for (const DramChannel& channel : channels_) {
        out.dram_bytes_read += channel.statistics().bytes_read;
        out.dram_bytes_written += channel.statistics().bytes_written;
        out.dram_bus_busy += channel.statistics().bus_busy_cycles;
    }
    out.tlb_hits = mmu_.hits();
    out.tlb_misses = mmu_.misses();
    return out;
}

}  // namespace lockstep::gpu
