// SPDX-License-Identifier: Apache-2.0
// A slice looks up a request a cycle of its clock, in order; its data stage takes as long as it
// needs for the bytes (Nsight Compute counts the two stages apart, as lts__t and lts__d). Misses
// wait in a table while later requests pass, and take the data stage when they are answered. Lines
// are written back when they are evicted; sectors written in part are not fetched until somebody
// reads them, and not at all where later writes complete them. With two L2 partitions a slice also
// holds copies of lines whose home is its peer (NVIDIA A100 whitepaper): reads hit in them; writes
// and atomics are performed at the home, which recalls the peer's copy. A slice keeps half of its
// MSHRs, and of each set, for lines that come from its own DRAM, so that two peers never wait for
// each other. Lookups run ahead of the data stage by no more than the queue between them holds.
// Simplified: the data stage is held by replies and written data, not by fills.
#include "models/gpu/memory/l2_slice.h"

#include <algorithm>
#include <bit>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

namespace {

std::uint32_t count(unsigned mask) {
    return static_cast<std::uint32_t>(std::popcount(mask & 0xfu));
}

/// The aligned groups of so many sectors that have a sector in the mask.
std::uint8_t widen(std::uint8_t mask, std::uint32_t group) {
    if (group == 4) return mask != 0 ? 0xf : 0;
    if (group == 1) return mask;
    const unsigned low = (mask | mask >> 1) & 0x5u;
    return static_cast<std::uint8_t>(low | low << 1);
}

std::uint8_t rank_of(EvictionPriority priority) {
    switch (priority) {
        case EvictionPriority::kFirst:
        case EvictionPriority::kNoAllocate:
            return 0;
        case EvictionPriority::kLast:
            return 2;
        default:
            return 1;
    }
}

bool is_atomic(RequestKind kind) {
    return kind == RequestKind::kAtomic || kind == RequestKind::kReduction;
}

}  // namespace

L2Slice::L2Slice(const MemoryParameters& parameters, const LineMap& map, std::uint32_t l2_partition,
                 std::uint32_t number, SliceSurroundings& surroundings, PartitionCounters& counters)
    : parameters_(parameters),
      map_(map),
      partition_(l2_partition),
      number_(number),
      surroundings_(surroundings),
      counters_(counters),
      coalescer_(parameters.coalescer_entries, parameters.coalescer_merge,
                 parameters.coalescer_window),
      tags_(parameters.sets, parameters.ways, parameters.replacement),
      mshrs_(parameters.mshrs) {
    for (std::uint32_t i = parameters.mshrs; i-- > 0;)
        free_mshrs_.push_back(static_cast<std::uint16_t>(i));
}

Cycle L2Slice::next_request(const Input& input) const {
    if (input.blocked || input.queue.empty()) return kNever;
    // In the cycle in which the last one ends: its fraction of a cycle is not lost.
    Cycle has_room = data_.has_room(parameters_.data_queue);
    if (takes_data_to_peer(input.queue.front()))
        has_room = std::max(has_room, link_.has_room(parameters_.link_queue));
    return std::max({input.queue.front().at, looked_up_ / kFraction, has_room, not_before_});
}

void L2Slice::advance(Cycle until) {
    while (true) {
        const Cycle from_sm = next_request(input_[0]), from_peer = next_request(input_[1]);
        const Cycle request_at = std::min(from_sm, from_peer), return_at = next_return();
        if (std::min(request_at, return_at) >= until) return;
        if (return_at <= request_at) {
            const Event event = events_.front();
            events_.pop();
            handle(return_at, event);
            input_[0].blocked = input_[1].blocked = false;
            not_before_ = return_at;
            continue;
        }
        // Of two that could be taken the older: neither side keeps the other from its turn.
        const bool peer_goes =
            from_peer < from_sm ||
            (from_peer == from_sm && input_[1].queue.front().at <= input_[0].queue.front().at);
        Input& input = input_[peer_goes];
        if (follows_another(request_at, input.queue.front())) {
            input.queue.pop();
        } else if (handle(request_at, input.queue.front())) {
            counters_.requests += !input.queue.front().from_peer;
            input.queue.pop();
            looked_up_ = std::max(looked_up_, request_at * kFraction) + parameters_.lookup;
            ++lookups_;
        } else {
            input.blocked = true;
        }
    }
}

/// A read that is answered with another never reaches the tags.
bool L2Slice::follows_another(Cycle now, SliceRequest& request) {
    using Taken = RequestCoalescer::Taken;
    const MemoryRequest& asked = request.routed.request;
    if (request.is_taken || request.from_peer || asked.kind != RequestKind::kRead) return false;
    request.is_taken = true;
    const RequestCoalescer::Result result = coalescer_.take(now, request.at, request.key,
                                                            {.id = asked.id,
                                                             .link = request.link,
                                                             .gpc = request.gpc,
                                                             .sectors = asked.sectors,
                                                             .must_wait = asked.bypasses_l1});
    request.entry = result.entry;
    if (result.taken == Taken::kLeads) return false;
    counters_.sectors_coalesced += count(asked.sectors);
    if (result.taken == Taken::kAnswered)
        surroundings_.reply(data_.turn(now), number_, request.link,
                            {asked.id, asked.kind, asked.sectors});
    return true;
}

bool L2Slice::handle(Cycle now, const SliceRequest& request) {
    if (parameters_.ideal_l2) [[unlikely]] {
        handle_ideal(now, request);
        return true;
    }
    if (request.routed.request.kind == RequestKind::kRead) return read(now, request);
    if (!is_home(request)) return pass_to_home(now, request);
    return is_atomic(request.routed.request.kind) ? read(now, request) : write(now, request);
}

/// Reads, and atomics at their home: all sectors must be here.
bool L2Slice::read(Cycle now, const SliceRequest& request) {
    const MemoryRequest& asked = request.routed.request;
    std::uint32_t slot = tags_.find(request.set, request.key);
    if (slot == L2Tags::kNone && was_resident(request)) {
        if (!allocate(now, request, slot)) return false;
        tags_.line(slot).valid = kAllSectors;
    }
    const std::uint8_t valid = slot == L2Tags::kNone ? 0 : tags_.line(slot).valid;
    const auto missing = static_cast<std::uint8_t>(asked.sectors & ~valid);
    if (missing != 0) {
        const bool new_mshr = slot == L2Tags::kNone || tags_.line(slot).mshr == kNoMshr;
        const bool of_copy = !is_home(request);
        if (new_mshr && free_mshrs_.empty()) return false;
        if (new_mshr && of_copy && waiting_for_peer_ >= parameters_.mshrs / 2) return false;
        if (slot == L2Tags::kNone && !allocate(now, request, slot)) return false;
        if (new_mshr) {
            tags_.line(slot).mshr = free_mshrs_.back();
            free_mshrs_.pop_back();
            mshrs_[tags_.line(slot).mshr] = {.slot = slot, .of_copy = of_copy};
            waiting_for_peer_ += of_copy;
        }
    }
    // What has been asked for already is a hit, as Nsight Compute counts it: a product of 256^2 on
    // an H200, whose SMs read the same lines at once from DRAM, has a hit rate of 70%.
    const unsigned new_misses = missing == 0 ? 0 : missing & ~mshrs_[tags_.line(slot).mshr].pending;
    if (is_atomic(asked.kind)) {
        counters_.atomics_miss += count(new_misses);
    } else if (request.from_peer) {
        counters_.sectors_from_far_hit += count(asked.sectors) - count(new_misses);
    } else {
        counters_.sectors_read_miss += count(new_misses);
        counters_.sectors_read_hit += count(asked.sectors) - count(new_misses);
    }
    note_use(request, slot);
    if (missing == 0)
        serve(now, request, tags_.line(slot));
    else
        fetch(now, request, mshrs_[tags_.line(slot).mshr], missing);
    return true;
}

/// Asks for what is missing and not asked for yet, and lets the request wait.
void L2Slice::fetch(Cycle now, const SliceRequest& request, Mshr& mshr, std::uint8_t missing) {
    const L2Line& line = tags_.line(mshr.slot);
    const MemoryRequest& asked = request.routed.request;
    const std::uint32_t group =
        std::max(parameters_.fetch_sectors, std::min<std::uint32_t>(asked.prefetch_sectors, 4));
    const std::uint8_t wide = asked.kind == RequestKind::kRead ? widen(missing, group) : missing;
    const auto wanted = static_cast<std::uint8_t>(wide & ~line.valid & ~mshr.pending);
    if (wanted != 0) {
        mshr.pending |= wanted;
        if (is_home(request)) {
            surroundings_.read_dram(now, number_, asked.line, wanted, line.mshr);
        } else {
            PeerMessage message{.routed = request.routed};
            message.routed.request.id = line.mshr;
            message.routed.request.sectors = wanted;
            counters_.sectors_from_far += count(wanted);
            send_to_peer(now, message);
        }
    }
    const std::uint32_t waiter = waiters_.take({request, missing, L2Tags::kNone});
    (mshr.first_waiter == L2Tags::kNone ? mshr.first_waiter : waiters_[mshr.last_waiter].next) =
        waiter;
    mshr.last_waiter = waiter;
}

bool L2Slice::write(Cycle now, const SliceRequest& request) {
    const MemoryRequest& asked = request.routed.request;
    std::uint32_t slot = tags_.find(request.set, request.key);
    if (slot == L2Tags::kNone && !allocate(now, request, slot)) return false;
    L2Line& line = tags_.line(slot);
    // A sector that is written whole needs nothing from DRAM: it counts as a hit.
    const std::uint32_t missed = count(asked.partial & ~line.valid & ~line.partial);
    counters_.sectors_write_miss += missed;
    counters_.sectors_write_hit += count(asked.sectors) - missed;
    auto whole = static_cast<std::uint8_t>(asked.sectors & ~asked.partial);
    if (asked.partial != 0) whole |= note_written(slot, line, asked);
    line.valid |= whole;
    line.partial = static_cast<std::uint8_t>((line.partial | asked.partial) & ~line.valid);
    line.dirty |= asked.sectors;
    note_use(request, slot);
    const Cycle begin = occupy(now, write_time(asked));
    recall_copy(begin, request, line);
    answer(begin, request);
    return true;
}

/// Of the data stage, in 256ths.
Cycle L2Slice::write_time(const MemoryRequest& asked) const {
    const Cycle pass = std::max(parameters_.lookup,
                                service(written_bytes(asked), parameters_.slice_write_bandwidth));
    return asked.partial != 0 ? pass * parameters_.partial_write_passes : pass;
}

/// What has been written of the line's partial sectors; those that are complete by now.
std::uint8_t L2Slice::note_written(std::uint32_t slot, const L2Line& line,
                                   const MemoryRequest& asked) {
    constexpr unsigned kSectorHalves = kSectorBytes / 2;
    constexpr std::uint64_t kSector = (1u << kSectorHalves) - 1;
    if (written_.empty()) written_.resize(tags_.size());
    std::uint64_t& halves = written_[slot];
    std::uint8_t complete = 0;
    for (unsigned sector = 0; sector < kSectorsPerLine; ++sector) {
        if ((asked.partial >> sector & 1) == 0) continue;
        const std::uint64_t mask = kSector << (sector * kSectorHalves);
        if ((line.partial >> sector & 1) == 0) halves &= ~mask;
        halves |= asked.halves & mask;
        if ((halves & mask) == mask) complete |= static_cast<std::uint8_t>(1u << sector);
    }
    return complete;
}

/// A write or an atomic whose home is the peer.
bool L2Slice::pass_to_home(Cycle now, const SliceRequest& request) {
    drop_copy(request.key);
    const std::uint8_t sectors = request.routed.request.sectors;
    send_to_peer(now, {.link = request.link, .routed = request.routed}, sectors);
    counters_.sectors_to_far += count(sectors);
    return true;
}

void L2Slice::send_to_peer(Cycle now, const PeerMessage& message, std::uint8_t sectors) {
    if (parameters_.link_bandwidth != 0)
        now = link_.occupy(now, service(count(sectors) * kSectorBytes, parameters_.link_bandwidth));
    surroundings_.send_to_peer(now, message);
}

/// Writes and atomics on their way to their home, and what the peer reads here.
bool L2Slice::takes_data_to_peer(const SliceRequest& request) const {
    if (parameters_.link_bandwidth == 0) return false;
    const bool is_read = request.routed.request.kind == RequestKind::kRead;
    return request.from_peer ? is_read : !is_read && !is_home(request);
}

void L2Slice::drop_copy(std::uint32_t key) {
    const std::uint32_t slot = tags_.find(tags_.set(key), key);
    if (slot == L2Tags::kNone) return;
    L2Line& line = tags_.line(slot);
    line.valid = 0;
    if (line.mshr == kNoMshr) tags_.remove(slot);
}

/// Finds a slot for a line that is absent.
bool L2Slice::allocate(Cycle now, const SliceRequest& request, std::uint32_t& slot) {
    slot = tags_.victim(request.set, !is_home(request));
    if (slot == L2Tags::kNone) return false;
    if (tags_.occupied(slot) && !evict(now, slot)) return false;
    tags_.place(slot, request.key);
    tags_.line(slot).rank = rank_of(request.routed.request.priority);
    return true;
}

bool L2Slice::evict(Cycle now, std::uint32_t slot) {
    const L2Line& line = tags_.line(slot);
    if (line.dirty == 0) return true;
    if (writing_ + count(line.dirty) > parameters_.write_back_buffer) return false;
    write_back(now, slot);
    if (!parameters_.row_write_back) return true;
    // Its neighbours in the DRAM's row go with it, and stay, clean.
    const std::uint32_t index = tags_.key_at(slot) >> 1;
    map_.for_row(partition_ * map_.slices() + number_, index, [&](std::uint32_t other) {
        if (other == index) return;
        const std::uint32_t key = L2Tags::key(other, partition_);
        const std::uint32_t neighbour = tags_.find(tags_.set(key), key);
        if (neighbour == L2Tags::kNone) return;
        L2Line& its = tags_.line(neighbour);
        if (its.dirty == 0 || its.mshr != kNoMshr || (its.partial & its.dirty) != 0) return;
        if (writing_ + count(its.dirty) > parameters_.write_back_buffer) return;
        write_back(now, neighbour);
        its.dirty = 0;
    });
    return true;
}

void L2Slice::write_back(Cycle now, std::uint32_t slot) {
    const L2Line& line = tags_.line(slot);
    // Only lines whose home is here are ever dirty.
    const std::uint64_t number = map_.line_of(partition_, number_, tags_.key_at(slot) >> 1);
    const auto merge = static_cast<std::uint8_t>(line.partial & line.dirty);
    if (merge != 0) surroundings_.read_dram(now, number_, number, merge, kNoMshr);
    surroundings_.write_dram(now, number_, number, line.dirty);
    writing_ += count(line.dirty);
    counters_.write_backs += count(line.dirty);
}

bool L2Slice::holds(std::uint64_t line, const LinePlace& place) const {
    if (parameters_.ideal_l2 || (resident_ != nullptr && resident_->holds(line))) return true;
    const std::uint32_t key = key_of(place), slot = tags_.find(tags_.set(key), key);
    return slot != L2Tags::kNone && tags_.line(slot).valid == kAllSectors;
}

bool L2Slice::place(Cycle now, const LinePlace& place) {
    if (parameters_.ideal_l2) return false;
    const std::uint32_t key = key_of(place);
    const std::uint32_t set = tags_.set(key), before = writing_;
    std::uint32_t slot = tags_.find(set, key);
    if (slot == L2Tags::kNone) {
        slot = tags_.victim(set, false);
        if (slot == L2Tags::kNone || (tags_.occupied(slot) && !evict(now, slot))) return false;
        tags_.place(slot, key);
    }
    tags_.line(slot).valid = kAllSectors;
    return writing_ != before;
}

/// What has to go was written back while the transfer took its time.
void L2Slice::pass(const LinePlace& place, Transfer transfer) {
    if (parameters_.ideal_l2) return;
    const std::uint32_t key = key_of(place), set = tags_.set(key);
    std::uint32_t slot = tags_.find(set, key);
    if (slot == L2Tags::kNone) {
        slot = tags_.victim(set, false);
        if (slot == L2Tags::kNone) return;
        tags_.place(slot, key);
    } else {
        if (tags_.line(slot).mshr != kNoMshr) return;  // of a kernel that runs beside
        tags_.touch(slot);
    }
    L2Line& line = tags_.line(slot);
    line.valid = kAllSectors;
    line.partial = 0;
    if (transfer == Transfer::kWrite) {
        line.dirty = kAllSectors;
        line.peer_has_copy = false;
    }
}

/// All sectors are here.
void L2Slice::serve(Cycle now, const SliceRequest& request, L2Line& line) {
    const MemoryRequest& asked = request.routed.request;
    if (!is_atomic(asked.kind)) {
        if (request.from_peer) line.peer_has_copy = true;
        answer(occupy(now, std::max(parameters_.lookup, service(count(asked.sectors) * kSectorBytes,
                                                                parameters_.slice_bandwidth))),
               request);
        return;
    }
    line.dirty |= asked.sectors;
    counters_.atomics += count(asked.sectors);
    // What is operated on is read and written: the data pass twice.
    const Cycle passes =
        service(2 * count(asked.sectors) * kSectorBytes, parameters_.slice_bandwidth);
    const double interval =
        asked.is_float ? parameters_.float_atomic_interval : parameters_.atomic_interval;
    const auto serial = static_cast<Cycle>(asked.same_address * interval * kFraction + 0.5);
    const Cycle duration = std::max({parameters_.lookup, passes, serial});
    const Cycle begin = occupy(now, duration);
    recall_copy(begin, request, line);
    answer(begin + duration / kFraction - 1, request);
}

void L2Slice::answer(Cycle now, const SliceRequest& request) {
    const MemoryRequest& asked = request.routed.request;
    if (!request.from_peer) {
        surroundings_.reply(now, number_, request.link, {asked.id, asked.kind, asked.sectors});
        if (request.entry != RequestCoalescer::kNone)
            coalescer_.answer(request.entry, [&](const RequestCoalescer::Follower& follower) {
                surroundings_.reply(now, number_, follower.link,
                                    {follower.id, RequestKind::kRead, follower.sectors});
            });
        return;
    }
    PeerMessage message{.link = request.link, .routed = request.routed};
    const bool has_data = asked.kind == RequestKind::kRead;
    message.type = has_data ? PeerMessage::Type::kFill : PeerMessage::Type::kAnswer;
    send_to_peer(now, message, has_data ? asked.sectors : 0);
}

void L2Slice::recall_copy(Cycle now, const SliceRequest& request, L2Line& line) {
    if (!line.peer_has_copy) return;
    line.peer_has_copy = false;
    send_to_peer(now, {.type = PeerMessage::Type::kInvalidate, .routed = request.routed});
}

void L2Slice::note_use(const SliceRequest& request, std::uint32_t slot) {
    if (request.routed.request.priority != EvictionPriority::kUnchanged) tags_.touch(slot);
}

void L2Slice::handle(Cycle now, const Event& event) {
    if (event.mshr == kNoMshr) {
        if (event.key == L2Tags::kNone)
            writing_ -= count(event.sectors);
        else
            drop_copy(event.key);
        return;
    }
    Mshr& mshr = mshrs_[event.mshr];
    L2Line& line = tags_.line(mshr.slot);
    const std::uint8_t arrived = event.sectors & mshr.pending;
    mshr.pending &= static_cast<std::uint8_t>(~arrived);
    line.valid |= arrived;
    line.partial &= static_cast<std::uint8_t>(~arrived);
    // Those that have all they need are answered in the order in which they came.
    std::uint32_t* from = &mshr.first_waiter;
    std::uint32_t last = L2Tags::kNone;
    while (*from != L2Tags::kNone) {
        const std::uint32_t at = *from;
        Waiter& waiter = waiters_[at];
        waiter.missing &= static_cast<std::uint8_t>(~arrived);
        if (waiter.missing != 0) {
            last = at;
            from = &waiter.next;
            continue;
        }
        *from = waiter.next;
        waiters_.give_back(at);
        serve(now, waiter.request, tags_.line(mshr.slot));
    }
    mshr.last_waiter = last;
    if (mshr.pending != 0) return;
    LOCKSTEP_CHECK(mshr.first_waiter == L2Tags::kNone, "L2 slice {}: a request waits for nothing",
                   number_);
    line.mshr = kNoMshr;
    waiting_for_peer_ -= mshr.of_copy;
    free_mshrs_.push_back(event.mshr);
}

}  // namespace lockstep::gpu
