// SPDX-License-Identifier: Apache-2.0
// The lanes' addresses are merged to lines, whose tags are looked up four a cycle, each in a bank
// of its own. Hits go on to the data stage; sectors that miss are asked for at L2 and their
// instructions wait in the miss table. Stores are written through and update the sectors that the
// L1 holds; atomics are performed at L2. Between tags and data stage lies a queue (latency_fifo.h).
// Data from L2 are written into the L1's array through a port of their own (assumed). Stages are
// servers that are busy until a cycle, so that hits cost no event at all.
#include "models/gpu/sm/l1_pipeline.h"

#include <algorithm>
#include <bit>

namespace lockstep::gpu {

using engine::Cycle;
using enum MemoryOperation;

namespace {

/// Requests bear the number of a miss entry or, with this bit, of a pending instruction.
constexpr std::uint32_t kOfInstruction = 1u << 31;
constexpr std::uint32_t kOfStores = 1u << 30;  ///< of several instructions, by one of merged_

unsigned count(std::uint8_t sectors) {
    return static_cast<unsigned>(std::popcount(sectors));
}
bool bypasses_l1(const MemoryInstructionInfo& info) {
    return info.is_strong || info.skips_l1;
}
}  // namespace

L1Pipeline::L1Pipeline(const MemoryUnitParameters& parameters, std::uint16_t sm,
                       std::uint64_t cache_bytes, MemoryPort& port, MemoryListener& listener,
                       MemoryCounters& counters, DataPath& data, SharedMemory& shared)
    : p_(parameters),
      sm_(sm),
      port_(port),
      listener_(listener),
      counters_(counters),
      data_(data),
      lanes_(parameters, sm, shared),
      l1_(static_cast<std::uint32_t>(cache_bytes / kLineBytes), p_.sets, p_.replacement,
          p_.ideal_l1),
      misses_(p_.miss_entries),
      tlb_(p_.tlb_entries, p_.page_bytes,
           p_.ideal_tlb  ? TlbStart::kIdeal
           : p_.tlb_warm ? TlbStart::kWarm
                         : TlbStart::kCold),
      queue_(port),
      tma_(p_, counters),
      fifo_(p_.return_order) {}

AccessCounters& L1Pipeline::counted(const MemoryInstructionInfo& info) {
    return counters_.of(row(info.operation).access);
}

/// Holds the tag stage for an instruction; returns for how long its lines need it.
unsigned L1Pipeline::pass_tags(Cycle now, const MemoryInstruction& in) {
    const unsigned cycles = tag_cycles(lines_, p_.tags_per_cycle);
    const unsigned held = std::max(cycles, p_.tag_interval);
    tags_free_ = now + held;
    ++counted(*in.info).requests;
    counters_.tag_wavefronts += cycles;
    counters_.tag_busy += held;
    return cycles;
}

/// Stores wait for others no longer than the window, nor where the tag stage has been idle.
Cycle L1Pipeline::next_release() const {
    if (partial_stores_.is_empty()) return engine::kNever;
    return std::min<Cycle>(partial_stores_.first().ready + p_.merge_window,
                           tags_free_ + p_.merge_idle);
}

bool L1Pipeline::all_hit(const MemoryInstruction& in) {
    if (bypasses_l1(*in.info)) return lines_.count == 0;
    unsigned sectors = 0;
    for (const LineAccess& line : lines_) {
        if ((line.sectors & ~l1_.look_up(line.line)) != 0) return false;
        sectors += count(line.sectors);
    }
    AccessCounters& access = counted(*in.info);
    access.sectors += sectors;
    access.sectors_hit += sectors;
    return true;
}

void L1Pipeline::load(Cycle now, const MemoryInstruction& in) {
    DataPath::Trip trip = lanes_.trip_of(in);
    trip.data_cycles = lanes_.merge(in, lines_);
    const unsigned copy = in.info->operation == kCopyAsync ? lanes_.copy_cycles(in) : 0;
    const unsigned tag_cycles = pass_tags(now, in);
    if (in.info->operation == kTexture) {
        const unsigned cycles = lanes_.texture_cycles(in);
        texture_free_ = now + cycles;
        trip.latency += cycles - 1;  // the last quad's result
    }
    if (all_hit(in)) {
        trip.data_cycles = std::max(trip.data_cycles + copy, tag_cycles);
        if (fifo_.can_be_passed() && data_.free_from(p_.data_queue) <= now) {
            counters_.data_busy += trip.data_cycles;
            trip.ready = now;
            data_.note_turn(true);
            return listener_.written_back(data_.finish(trip), in);
        }
        const std::uint32_t index = pending_.add(in, PendingInstruction::Kind::kResult);
        // One that waits for others' data has left the tags behind when they come.
        if (!fifo_.add_hit(index)) trip.latency -= std::min(trip.latency, p_.tag_latency);
        pending_[index].trip = trip;
        return;
    }
    const std::uint32_t index = pending_.add(in, PendingInstruction::Kind::kResult);
    PendingInstruction& pending = pending_[index];
    pending.trip = trip;
    pending.trip.latency -= std::min(trip.latency, p_.tag_latency);
    // What comes from L2 goes to shared memory at once, by the fill port: cp.async products on H100
    // (ahmadsharif1/cuda_study) read operands in 768 of 824 cycles that L1 is busy in a step
    // (Nsight Compute), 1,536 of 1,600 where LDS reads them; copies write 512 times 128 bytes.
    if (in.info->operation == kCopyAsync) {
        pending.trip.data_cycles = 0;
        pending.fill_cycles = copy;
    }
    pending.waits_for = 1;  // until all lines have been looked up
    pending.place = fifo_.add_miss(index);
    look_up_lines(now, index, 0);
    pass_data(now);
}

void L1Pipeline::look_up_lines(Cycle now, std::uint32_t index, unsigned first) {
    PendingInstruction& pending = pending_[index];
    const MemoryInstructionInfo& info = *pending.instruction.info;
    AccessCounters& access = counted(info);
    for (unsigned i = first; i < lines_.count; ++i) {
        const LineAccess& line = lines_.line[i];
        if (bypasses_l1(info)) {
            if (info.is_strong) l1_.invalidate(line.line, line.sectors);
            access.sectors += count(line.sectors);
            pending.waits_for += count(line.sectors);
            request(leaves(now, i), RequestKind::kRead, kOfInstruction | index, line, info.priority,
                    info.prefetch_sectors, true);
            continue;
        }
        const auto missing = static_cast<std::uint8_t>(line.sectors & ~l1_.look_up(line.line));
        if (missing == 0) {
            access.sectors += count(line.sectors);
            access.sectors_hit += count(line.sectors);
            continue;
        }
        std::uint32_t entry = misses_.find(line.line);
        if (entry == MissTable::kNone) {
            if (misses_.is_full()) {
                stalled_ = {index, i, now};
                return;
            }
            entry = misses_.add(line.line, info.priority);
        }
        // A sector that is on its way counts as a hit: the tags know it.
        const auto asked = static_cast<std::uint8_t>(missing & ~misses_[entry].pending);
        access.sectors += count(line.sectors);
        access.sectors_hit += count(line.sectors) - count(asked);
        misses_[entry].pending |= asked;
        misses_.wait(entry, missing, index);
        ++pending.waits_for;
        if (asked != 0)
            request(leaves(now, i), RequestKind::kRead, entry, {line.line, asked}, info.priority,
                    info.prefetch_sectors);
    }
    satisfy(now, index, 1);
}

void L1Pipeline::request(Cycle ready, RequestKind kind, std::uint32_t id, const LineAccess& line,
                         EvictionPriority priority, std::uint8_t prefetch_sectors, bool bypasses) {
    const bool translated = tlb_.look_up(line.line);
    ++(translated ? counters_.tlb_hits : counters_.tlb_misses);
    if (!translated && (id & kOfInstruction) != 0)
        pending_[id & ~kOfInstruction].untranslated = line.line;
    (kind == RequestKind::kRead ? counters_.sectors_to_l2_read : counters_.sectors_to_l2_write) +=
        count(line.sectors);
    counters_.requests_to_l2_read += kind == RequestKind::kRead;
    const MemoryRequest request{.line = line.line,
                                .halves = line.halves,
                                .id = id,
                                .sm = sm_,
                                .kind = kind,
                                .sectors = line.sectors,
                                .partial = line.partial,
                                .lanes = line.lanes,
                                .same_address = line.same_address,
                                .prefetch_sectors = prefetch_sectors,
                                .priority = priority,
                                .is_float = line.is_float,
                                .bypasses_l1 = bypasses,
                                .translated = translated};
    const std::uint32_t index = id & ~kOfInstruction;
    if (kind == RequestKind::kWrite && awaits_others(index, line))
        partial_stores_.hold(ready, request, pending_[index].instruction.warp);
    else
        queue_.push(ready, request);
}

void L1Pipeline::store(Cycle now, const MemoryInstruction& in) {
    unsigned data = lanes_.merge(in, lines_);
    const auto is_partial = [](const LineAccess& line) { return line.partial != 0; };
    if (std::any_of(lines_.begin(), lines_.end(), is_partial)) data *= p_.partial_store_passes;
    const unsigned cycles = std::max(data, pass_tags(now, in));
    counters_.data_busy += cycles;
    data_.occupy(now, cycles);
    if (lines_.count == 0) return listener_.written_back(now, in);
    const bool allocates =
        in.access.space == sass::Space::kLocal ? p_.allocates_local_stores : p_.allocates_stores;
    const std::uint32_t index = pending_.add(in, PendingInstruction::Kind::kStore);
    pending_[index].waits_for = lines_.count;
    AccessCounters& access = counted(*in.info);
    for (unsigned i = 0; i < lines_.count; ++i) {
        const LineAccess& line = lines_.line[i];
        access.sectors += count(line.sectors);
        access.sectors_hit += count(static_cast<std::uint8_t>(line.sectors & l1_.held(line.line)));
        // Sectors that the L1 holds are updated and stay.
        if (in.info->is_strong) {
            l1_.invalidate(line.line, line.sectors);
        } else if (allocates) {
            l1_.fill(line.line, static_cast<std::uint8_t>(line.sectors & ~line.partial),
                     in.info->priority);
        }
        if (awaits_others(index, line) && joins_store(index, line)) continue;
        request(leaves(now, i), RequestKind::kWrite, kOfInstruction | index, line,
                in.info->priority);
    }
    listener_.sent(leaves(now, lines_.count - 1), in);
}

/// Parts of sectors that others of the warp may complete; strong stores and TMA's leave at once.
bool L1Pipeline::awaits_others(std::uint32_t index, const LineAccess& line) const {
    const PendingInstruction& pending = pending_[index];
    return p_.merge_window != 0 && line.partial != 0 &&
           pending.kind == PendingInstruction::Kind::kStore && !pending.instruction.info->is_strong;
}

/// Parts of sectors that a warp writes one after the other leave together.
bool L1Pipeline::joins_store(std::uint32_t index, const LineAccess& line) {
    MemoryRequest* const waiting =
        partial_stores_.find(line.line, pending_[index].instruction.warp);
    if (waiting == nullptr) return false;
    counters_.sectors_to_l2_write += count(line.sectors & ~waiting->sectors);
    add_store(*waiting, line);
    std::uint32_t first = MergedStore::kNone;
    if ((waiting->id & kOfStores) != 0) {
        first = waiting->id & ~kOfStores;
    } else {
        first = merged_.take({waiting->id & ~kOfInstruction, MergedStore::kNone});
    }
    waiting->id = kOfStores | merged_.take({index, first});
    return true;
}

void L1Pipeline::atomic(Cycle now, const MemoryInstruction& in) {
    const bool returns = in.info->operation == kAtomicGlobal;
    lanes_.merge(in, lines_);
    pass_tags(now, in);
    DataPath::Trip trip = lanes_.trip_of(in);
    if (lines_.count == 0) {
        trip.ready = now;
        return listener_.written_back(returns ? data_.finish(trip) : now, in);
    }
    const std::uint32_t index = pending_.add(
        in, returns ? PendingInstruction::Kind::kResult : PendingInstruction::Kind::kStore);
    PendingInstruction& pending = pending_[index];
    pending.waits_for = lines_.count;
    pending.trip = trip;
    pending.trip.latency -= std::min(trip.latency, p_.tag_latency);
    if (returns) {
        pending.place = fifo_.add_miss(index);
    } else {
        listener_.sent(leaves(now, lines_.count - 1), in);
    }
    for (unsigned i = 0; i < lines_.count; ++i) {
        LineAccess& line = lines_.line[i];
        line.is_float = in.info->is_float;
        counted(*in.info).sectors += count(line.sectors);
        l1_.invalidate(line.line, line.sectors);
        request(leaves(now, i), returns ? RequestKind::kAtomic : RequestKind::kReduction,
                kOfInstruction | index, line, in.info->priority);
    }
}

void L1Pipeline::bulk_copy(Cycle now, const MemoryInstruction& in) {
    const std::uint32_t index = pending_.add(in, PendingInstruction::Kind::kBulkCopy);
    PendingInstruction& pending = pending_[index];
    pending.waits_for = TmaUnit::sectors_of(*in.copy) + 1;  // until all has been asked for
    pending.trip = lanes_.trip_of(in);
    pending.trip.way = DataPath::Way::kNone;
    pending.trip.data_cycles = 0;  // the lines took theirs
    pending.trip.latency += p_.bulk_copy_latency;
    if (in.copy->is_multicast) pending.trip.latency += p_.multicast_latency;
    pending.trip.latency -= std::min(pending.trip.latency, p_.tag_latency);
    tma_.start(now + p_.tag_latency, index, *in.copy);
}

void L1Pipeline::use_data_path(Cycle now, unsigned wavefronts) {
    const unsigned cycles = wavefronts * p_.wavefront_cycles;
    counters_.data_busy += cycles;
    data_.occupy(now, cycles);
}

/// One request of TMA.
void L1Pipeline::advance_tma(Cycle now) {
    const TmaUnit::Part part = tma_.take(now);
    const auto index = part.pending;
    if (part.wavefronts != 0) use_data_path(now, part.wavefronts);
    if (part.line.sectors != 0) {
        if (part.kind != RequestKind::kRead) l1_.invalidate(part.line.line, part.line.sectors);
        if (part.is_map) pending_[index].awaits_map = true;
        request(now, part.kind, kOfInstruction | index, part.line, part.priority,
                part.prefetch_sectors, true);
    }
    if (part.is_last) satisfy(now, index, 1);
}

/// Parts of what an instruction waits for have come.
void L1Pipeline::satisfy(Cycle now, std::uint32_t index, unsigned parts) {
    PendingInstruction& pending = pending_[index];
    pending.waits_for -= parts;
    if (pending.waits_for != 0) return;
    switch (pending.kind) {
        case PendingInstruction::Kind::kResult:
            return fifo_.arrived(pending.place);
        case PendingInstruction::Kind::kBulkCopy:
            return finish(now, index);
        case PendingInstruction::Kind::kStore:
            listener_.performed(now, pending.instruction);
            pending_.remove(index);
    }
}

/// The instruction's data are there and the data stage takes it.
void L1Pipeline::finish(Cycle now, std::uint32_t index) {
    PendingInstruction& pending = pending_[index];
    counters_.data_busy += pending.trip.data_cycles;
    pending.trip.ready = now;
    if (pending.fill_cycles != 0) {
        const Cycle start = std::max(now, fill_free_);
        fill_free_ = start + pending.fill_cycles;
        listener_.written_back(start + pending.trip.latency, pending.instruction);
    } else {
        listener_.written_back(data_.finish(pending.trip), pending.instruction);
    }
    pending_.remove(index);
}

/// What is ready goes on, as long as the data stage has little before it.
void L1Pipeline::pass_data(Cycle now) {
    while (fifo_.has_ready() && data_.free_from(p_.data_queue) <= now) {
        data_.note_turn(true);
        finish(now, fifo_.take());
    }
}

void L1Pipeline::take(Cycle now, const MemoryReply& reply) {
    if ((reply.id & kOfInstruction) == 0 && (reply.id & kOfStores) != 0) {
        for (std::uint32_t i = reply.id & ~kOfStores; i != MergedStore::kNone;) {
            const MergedStore store = merged_[i];
            merged_.give_back(i);
            satisfy(now, store.pending, 1);
            i = store.next;
        }
        return;
    }
    if ((reply.id & kOfInstruction) == 0) {
        const MissTable::Entry& entry = misses_[reply.id];
        tlb_.fill(entry.line);
        if (entry.may_fill) l1_.fill(entry.line, reply.sectors, entry.priority);
        misses_.arrive(reply.id, reply.sectors,
                       [&](std::uint32_t index) { satisfy(now, index, 1); });
        return;
    }
    const std::uint32_t index = reply.id & ~kOfInstruction;
    PendingInstruction& pending = pending_[index];
    if (pending.untranslated != 0) tlb_.fill(pending.untranslated);
    if (pending.awaits_map) {
        // A map may come in parts; the copy goes on with the last one.
        pending.map_sectors |= reply.sectors;
        if (count(pending.map_sectors) != kSectorsPerLine) return;
        pending.awaits_map = false;
        tma_.map_arrived(now);
    } else if (pending.kind == PendingInstruction::Kind::kBulkCopy) {
        tma_.arrived(reply.sectors);
        // Lines are written by the fill port, as the cache's are. On the data stage's port, a tf32
        // product of 128 x 256 tiles by TMA (ahmadsharif1/cuda_study) would move 96 KiB of operands
        // and 48 KiB of fills a step, 1,152 cycles of 128 B; H100 takes 1,112.
        satisfy(now, index, count(reply.sectors));
    } else {
        satisfy(now, index, reply.kind == RequestKind::kRead ? count(reply.sectors) : 1);
    }
}

void L1Pipeline::resume(Cycle now) {
    const Stalled stalled = *stalled_;
    stalled_.reset();
    look_up_lines(now, stalled.pending, stalled.next_line);
    if (stalled_) {
        stalled_->since = stalled.since;
    } else {
        counters_.mshr_full += now - stalled.since;
    }
}

Cycle L1Pipeline::next_event() const {
    Cycle next = std::min({port_.next_reply(), queue_.next_event(), next_release()});
    if (queue_.size() < p_.miss_queue) next = std::min(next, tma_.next_event());
    if (fifo_.has_ready()) next = std::min(next, data_.free_from(p_.data_queue));
    return next;
}

void L1Pipeline::advance(Cycle now) {
    bool any_arrived = false;
    while (port_.next_reply() <= now) {
        take(now, port_.receive(now));
        any_arrived = true;
    }
    if (any_arrived && stalled_) resume(now);
    pass_data(now);
    if (queue_.size() < p_.miss_queue && tma_.next_event() <= now) advance_tma(now);
    for (; next_release() <= now; partial_stores_.remove_first())
        queue_.push(partial_stores_.first().ready, partial_stores_.first().request);
    queue_.advance(now);
}

void L1Pipeline::invalidate() {
    l1_.clear();
    misses_.forbid_fills();
}

}  // namespace lockstep::gpu
