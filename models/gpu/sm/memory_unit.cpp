// SPDX-License-Identifier: Apache-2.0
// An SM's memory pipeline (l1tex and the shared memory beside it): instructions pass the tag stage,
// where lanes have been merged to lines; hits go to the data stage, which shared memory uses too,
// and back to the sub-core; misses wait in the miss table for replies. Stores are written through.
// Every stage is a server that is busy until a cycle, so that hits cost no event at all. Data that
// come from L2 are written into the L1's array through a port of their own (assumed).
#include "models/gpu/sm/memory_unit.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "models/gpu/sm/coalescer.h"
#include "models/gpu/sm/l1_cache.h"
#include "models/gpu/sm/memory_unit_parameters.h"
#include "models/gpu/sm/miss_table.h"
#include "models/gpu/sm/pending_table.h"
#include "models/gpu/sm/send_queue.h"
#include "models/gpu/sm/shared_banks.h"
#include "models/gpu/sm/tlb.h"

namespace lockstep::gpu {

namespace {

using engine::Cycle;
using engine::kNever;
using enum MemoryOperation;

/// Requests bear the number of a miss entry or, with this bit, of a pending instruction.
constexpr std::uint32_t kOfInstruction = 1u << 31;

constexpr unsigned divide_up(unsigned a, unsigned b) {
    return (a + b - 1) / b;
}
unsigned count(std::uint8_t sectors) {
    return static_cast<unsigned>(std::popcount(sectors));
}

}  // namespace

class MemoryUnit::Implementation {
  public:
    Implementation(const config::Machine& machine, std::uint16_t sm, std::uint64_t shared_bytes,
                   MemoryPort& port, MemoryListener& listener, MemoryCounters& counters)
        : p_(machine),
          sm_(sm),
          port_(port),
          listener_(listener),
          counters_(counters),
          l1_(static_cast<std::uint32_t>((p_.l1_bytes - shared_bytes) / kLineBytes), p_.sets),
          misses_(p_.miss_entries),
          tlb_(p_.tlb_entries, p_.page_bytes),
          data_(p_.sub_cores, p_.request_interval),
          queue_(port),
          stores_(p_.max_warps) {}

    Cycle next_accept(Cycle now) const {
        if (stalled_ || queue_.size() >= p_.miss_queue) return kNever;
        return std::max({now, accept_from_, data_.free_from(), tags_free_});
    }
    void accept(Cycle now, const MemoryInstruction& in);
    void advance(Cycle now);
    Cycle next_event() const { return std::min(port_.next_reply(), queue_.next_event()); }
    bool idle() const { return pending_.is_empty() && misses_.is_empty() && queue_.size() == 0; }
    std::uint32_t outstanding_stores(std::uint16_t warp) const { return stores_[warp]; }
    void invalidate_l1() {
        l1_.clear();
        misses_.forbid_fills();
    }

  private:
    /// A load or atomic whose lines have not all passed the tags, for want of entries.
    struct Stalled {
        std::uint32_t pending;
        unsigned next_line;
        Cycle since;
    };

    void access_shared(Cycle now, const MemoryInstruction& in);
    void load_constant(Cycle now, const MemoryInstruction& in);
    void load(Cycle now, const MemoryInstruction& in);
    void store(Cycle now, const MemoryInstruction& in);
    void atomic(Cycle now, const MemoryInstruction& in);

    void coalesce(const MemoryInstruction& in);
    /// Cycles of the data stage for the lanes of a global or local access.
    unsigned data_cycles(const MemoryInstruction& in) const;
    DataPath::Trip trip_of(const MemoryInstruction& in, unsigned bytes_per_lane) const;
    unsigned pass_tags(Cycle now);
    void look_up_lines(Cycle now, std::uint32_t index, unsigned first);
    void request(Cycle ready, RequestKind kind, std::uint32_t id, const LineAccess& line,
                 const MemoryInstruction& in);
    void take(Cycle now, const MemoryReply& reply);
    void satisfy(Cycle now, std::uint32_t index, unsigned parts);
    LocalPlace local_place(const MemoryInstruction& in) const;
    static bool bypasses_l1(const MemoryInstructionInfo& info) {
        return info.is_strong || info.skips_l1;
    }

    const MemoryUnitParameters p_;
    const std::uint16_t sm_;
    MemoryPort& port_;
    MemoryListener& listener_;
    MemoryCounters& counters_;

    L1Cache l1_;
    MissTable misses_;
    Tlb tlb_;
    DataPath data_;
    SendQueue queue_;
    PendingTable pending_;
    LineAccesses lines_;  ///< of the instruction in the tag stage
    std::optional<Stalled> stalled_;
    std::uint32_t loads_waiting_ = 0;  ///< loads and atomics that wait for replies
    Cycle accept_from_ = 0, tags_free_ = 0;
    std::vector<std::uint32_t> stores_;  ///< not yet performed, by warp slot
};

void MemoryUnit::Implementation::accept(Cycle now, const MemoryInstruction& in) {
    LOCKSTEP_CHECK(!stalled_, "SM {}: the memory unit stands still at cycle {}", sm_, now);
    accept_from_ = now + p_.request_interval;
    const MemoryOperation operation = in.info->operation;
    Cycle sources = now + p_.timing(*in.info).sources;
    if (reads_data(operation)) {
        const unsigned width = std::max<unsigned>({4, in.access.width, in.info->width});
        sources += divide_up(width * sass::kWarpSize, p_.source_width) -
                   divide_up(4 * sass::kWarpSize, p_.source_width);
    }
    listener_.sources_read(sources, in);
    switch (operation) {
        case kLoadGlobal:
        case kLoadLocal:
        case kCopyAsync:
            return load(now, in);
        case kStoreGlobal:
        case kStoreLocal:
            return store(now, in);
        case kAtomicGlobal:
        case kReductionGlobal:
            return atomic(now, in);
        case kLoadConstant:
            return load_constant(now, in);
        default:
            return access_shared(now, in);
    }
}

void MemoryUnit::Implementation::access_shared(Cycle now, const MemoryInstruction& in) {
    const sass::Access& access = in.access;
    const MemoryOperation operation = in.info->operation;
    const bool is_load = operation == kLoadShared || operation == kLoadMatrix;
    unsigned wavefronts = 1;
    unsigned cycles = p_.wavefront_cycles;
    DataPath::Trip trip = trip_of(in, access.width);
    trip.way = DataPath::Way::kShared;
    if (operation == kShuffle) {
        trip.return_cycles = divide_up(4 * sass::kWarpSize, p_.return_width);
    } else if (operation == kAtomicShared) {
        wavefronts = atomic_wavefronts(access.address, access.lanes, access.width);
        cycles = p_.atomic_cycles;
    } else {
        wavefronts = bank_wavefronts(access.address, access.lanes, access.width);
        // A pass brings what the way back takes in a cycle or two; matrices go through the narrower
        // way that global data take.
        const unsigned bytes = access.width * sass::kWarpSize;
        trip.return_cycles = operation == kLoadMatrix
                                 ? divide_up(in.info->matrices * kLineBytes, p_.return_width)
                                 : divide_up(bytes, kLineBytes);
    }
    if (operation != kShuffle) {
        const unsigned ideal = ideal_wavefronts(access.lanes, access.width);
        const unsigned beyond = wavefronts > ideal ? wavefronts - ideal : 0;
        (is_load ? counters_.shared_wavefronts_load : counters_.shared_wavefronts_store) +=
            wavefronts;
        (is_load ? counters_.bank_conflicts_load : counters_.bank_conflicts_store) += beyond;
    }
    trip.ready = now;
    trip.data_cycles = std::max(1u, wavefronts) * cycles;
    counters_.data_busy += trip.data_cycles;
    listener_.written_back(data_.finish(trip), in);
}

void MemoryUnit::Implementation::load_constant(Cycle now, const MemoryInstruction& in) {
    DataPath::Trip trip = trip_of(in, in.access.width);
    trip.ready = now + in.constant_delay;
    trip.way = DataPath::Way::kShared;
    listener_.written_back(data_.finish(trip), in);
}

LocalPlace MemoryUnit::Implementation::local_place(const MemoryInstruction& in) const {
    // Blocks of all the chip's warp slots lie one after the other; see LocalPlace.
    const std::uint64_t slot = std::uint64_t{sm_} * p_.max_warps + in.warp;
    return {sass::kLocalWindow / kLineBytes + slot * LocalPlace::kBlockWords,
            std::uint64_t{p_.sms} * p_.max_warps * LocalPlace::kBlockWords};
}

void MemoryUnit::Implementation::coalesce(const MemoryInstruction& in) {
    const sass::Access& access = in.access;
    if (access.space == sass::Space::kLocal) {
        coalesce_local(access, access.lanes, local_place(in), lines_);
    } else if (in.info->operation == kStoreGlobal) {
        coalesce_store(access, access.lanes, lines_);
    } else {
        coalesce_load(access, access.lanes, lines_);
    }
}

unsigned MemoryUnit::Implementation::data_cycles(const MemoryInstruction& in) const {
    const sass::Access& access = in.access;
    unsigned passes;
    if (access.lanes == 0 || lines_.is_uniform) {
        passes = 1;
    } else if (access.space == sass::Space::kLocal) {
        passes = lines_.is_regular ? lines_.count
                                   : bank_wavefronts(access.address, access.lanes, access.width);
    } else if (lines_.is_regular) {
        passes = ideal_wavefronts(access.lanes, access.width);
    } else {
        passes = bank_wavefronts(access.address, access.lanes, access.width);
    }
    return passes * p_.wavefront_cycles;
}

DataPath::Trip MemoryUnit::Implementation::trip_of(const MemoryInstruction& in,
                                                   unsigned bytes_per_lane) const {
    return {.return_cycles = divide_up(bytes_per_lane * sass::kWarpSize, p_.return_width),
            .latency = p_.timing(*in.info).result,
            .sub_core = in.sub_core};
}

/// Holds the tag stage for the lines; returns for how long.
unsigned MemoryUnit::Implementation::pass_tags(Cycle now) {
    const unsigned cycles = std::max(1u, divide_up(lines_.count, p_.tags_per_cycle));
    tags_free_ = now + cycles;
    ++counters_.requests;
    counters_.tag_wavefronts += cycles;
    counters_.tag_busy += cycles;
    return cycles;
}

void MemoryUnit::Implementation::load(Cycle now, const MemoryInstruction& in) {
    coalesce(in);
    DataPath::Trip trip = trip_of(in, in.access.width);
    trip.data_cycles = data_cycles(in);
    unsigned copy_cycles = 0;  // of the pass that writes to shared memory
    if (in.info->operation == kCopyAsync) {
        trip.way = DataPath::Way::kNone;
        std::uint64_t copy_to[sass::kWarpSize];
        std::copy(std::begin(in.access.copy_to), std::end(in.access.copy_to), copy_to);
        copy_cycles =
            p_.wavefront_cycles * bank_wavefronts(copy_to, in.access.lanes, in.access.width);
    }
    const unsigned tag_cycles = pass_tags(now);

    if (!bypasses_l1(*in.info)) {
        unsigned sectors = 0;
        bool all_hit = true;
        for (const LineAccess& line : lines_) {
            all_hit &= (line.sectors & ~l1_.look_up(line.line)) == 0;
            sectors += count(line.sectors);
        }
        if (all_hit) {
            counters_.sectors_load_hit += sectors;
            trip.data_cycles = std::max(trip.data_cycles + copy_cycles, tag_cycles);
            counters_.data_busy += trip.data_cycles;
            trip.ready = now;
            listener_.written_back(data_.finish(trip), in);
            return;
        }
    }
    const std::uint32_t index = pending_.add(in);
    PendingInstruction& pending = pending_[index];
    pending.trip = trip;
    pending.trip.latency -= std::min(trip.latency, p_.tag_latency);
    // What comes from L2 goes to shared memory at once.
    if (copy_cycles != 0) pending.trip.data_cycles = copy_cycles;
    pending.returns_data = true;
    pending.waits_for = 1;  // until all lines have been looked up
    look_up_lines(now, index, 0);
}

void MemoryUnit::Implementation::look_up_lines(Cycle now, std::uint32_t index, unsigned first) {
    PendingInstruction& pending = pending_[index];
    const MemoryInstruction& in = pending.instruction;
    const bool bypasses = bypasses_l1(*in.info);
    if (first == 0) {
        if (loads_waiting_ >= p_.pending_requests) {
            stalled_ = {index, 0, now};
            return;
        }
        ++loads_waiting_;
    }
    for (unsigned i = first; i < lines_.count; ++i) {
        const LineAccess& line = lines_.line[i];
        const Cycle ready = now + p_.tag_latency + (i - first) / p_.tags_per_cycle;
        if (bypasses) {
            if (in.info->is_strong) l1_.invalidate(line.line, line.sectors);
            counters_.sectors_load_miss += count(line.sectors);
            pending.waits_for += count(line.sectors);
            request(ready, RequestKind::kRead, kOfInstruction | index, line, in);
            continue;
        }
        const auto missing = static_cast<std::uint8_t>(line.sectors & ~l1_.look_up(line.line));
        if (missing == 0) {
            counters_.sectors_load_hit += count(line.sectors);
            continue;
        }
        std::uint32_t entry = misses_.find(line.line);
        if (entry == MissTable::kNone) {
            if (misses_.is_full()) {
                stalled_ = {index, i, now};
                return;
            }
            entry = misses_.add(line.line, in.info->priority);
        }
        // A sector that is on its way counts as a hit: the tags know it.
        const auto asked = static_cast<std::uint8_t>(missing & ~misses_[entry].pending);
        counters_.sectors_load_hit += count(line.sectors) - count(asked);
        counters_.sectors_load_miss += count(asked);
        misses_[entry].pending |= asked;
        misses_.wait(entry, missing, index);
        ++pending.waits_for;
        if (asked != 0) request(ready, RequestKind::kRead, entry, {line.line, asked}, in);
    }
    satisfy(now, index, 1);
}

void MemoryUnit::Implementation::request(Cycle ready, RequestKind kind, std::uint32_t id,
                                         const LineAccess& line, const MemoryInstruction& in) {
    const bool translated = tlb_.look_up(line.line);
    ++(translated ? counters_.tlb_hits : counters_.tlb_misses);
    if (!translated && (id & kOfInstruction) != 0)
        pending_[id & ~kOfInstruction].untranslated = line.line;
    (kind == RequestKind::kRead ? counters_.sectors_to_l2_read : counters_.sectors_to_l2_write) +=
        count(line.sectors);
    queue_.push(ready, {.line = line.line,
                        .id = id,
                        .sm = sm_,
                        .kind = kind,
                        .sectors = line.sectors,
                        .partial = line.partial,
                        .lanes = line.lanes,
                        .same_address = line.same_address,
                        .priority = in.info->priority,
                        .translated = translated});
}

void MemoryUnit::Implementation::store(Cycle now, const MemoryInstruction& in) {
    coalesce(in);
    const unsigned cycles = std::max(data_cycles(in), pass_tags(now));
    counters_.data_busy += cycles;
    data_.occupy(now, cycles);
    if (lines_.count == 0) return listener_.written_back(now, in);
    const bool allocates =
        in.access.space == sass::Space::kLocal ? p_.allocates_local_stores : p_.allocates_stores;
    const std::uint32_t index = pending_.add(in);
    pending_[index].waits_for = lines_.count;
    ++stores_[in.warp];
    for (unsigned i = 0; i < lines_.count; ++i) {
        const LineAccess& line = lines_.line[i];
        counters_.sectors_store += count(line.sectors);
        // Sectors that the L1 holds are updated and stay.
        if (in.info->is_strong) {
            l1_.invalidate(line.line, line.sectors);
        } else if (allocates) {
            l1_.fill(line.line, static_cast<std::uint8_t>(line.sectors & ~line.partial),
                     in.info->priority);
        }
        request(now + p_.tag_latency + i / p_.tags_per_cycle, RequestKind::kWrite,
                kOfInstruction | index, line, in);
    }
}

void MemoryUnit::Implementation::atomic(Cycle now, const MemoryInstruction& in) {
    const bool returns = in.info->operation == kAtomicGlobal;
    coalesce_atomic(in.access, in.access.lanes, lines_);
    pass_tags(now);
    if (lines_.count == 0) {
        DataPath::Trip trip = trip_of(in, in.access.width);
        trip.ready = now;
        return listener_.written_back(returns ? data_.finish(trip) : now, in);
    }
    const std::uint32_t index = pending_.add(in);
    PendingInstruction& pending = pending_[index];
    pending.waits_for = lines_.count;
    pending.returns_data = returns;
    if (returns) {
        pending.trip = trip_of(in, in.access.width);
        pending.trip.latency -= std::min(pending.trip.latency, p_.tag_latency);
        ++loads_waiting_;
    } else {
        ++stores_[in.warp];
    }
    for (unsigned i = 0; i < lines_.count; ++i) {
        const LineAccess& line = lines_.line[i];
        counters_.sectors_atomic += count(line.sectors);
        l1_.invalidate(line.line, line.sectors);  // performed at L2
        request(now + p_.tag_latency + i / p_.tags_per_cycle,
                returns ? RequestKind::kAtomic : RequestKind::kReduction, kOfInstruction | index,
                line, in);
    }
}

/// Parts of what an instruction waits for have come.
void MemoryUnit::Implementation::satisfy(Cycle now, std::uint32_t index, unsigned parts) {
    PendingInstruction& pending = pending_[index];
    pending.waits_for -= parts;
    if (pending.waits_for != 0) return;
    if (pending.returns_data) {
        --loads_waiting_;
        counters_.data_busy += pending.trip.data_cycles;
        pending.trip.ready = now;
        listener_.written_back(data_.finish(pending.trip), pending.instruction);
    } else {
        --stores_[pending.instruction.warp];
        listener_.written_back(now, pending.instruction);
    }
    pending_.remove(index);
}

void MemoryUnit::Implementation::take(Cycle now, const MemoryReply& reply) {
    if (reply.id & kOfInstruction) {
        const std::uint32_t index = reply.id & ~kOfInstruction;
        PendingInstruction& pending = pending_[index];
        if (pending.untranslated != 0) tlb_.fill(pending.untranslated);
        satisfy(now, index, reply.kind == RequestKind::kRead ? count(reply.sectors) : 1);
        return;
    }
    const MissTable::Entry& entry = misses_[reply.id];
    tlb_.fill(entry.line);
    if (entry.may_fill) l1_.fill(entry.line, reply.sectors, entry.priority);
    misses_.arrive(reply.id, reply.sectors, [&](std::uint32_t index) { satisfy(now, index, 1); });
}

void MemoryUnit::Implementation::advance(Cycle now) {
    bool came = false;
    while (port_.next_reply() <= now) {
        take(now, port_.receive(now));
        came = true;
    }
    if (came && stalled_) {
        const Stalled stalled = *stalled_;
        stalled_.reset();
        look_up_lines(now, stalled.pending, stalled.next_line);
        if (stalled_) {
            stalled_->since = stalled.since;
        } else {
            counters_.mshr_full += now - stalled.since;
        }
    }
    queue_.advance(now);
}

MemoryUnit::MemoryUnit(const config::Machine& machine, std::uint16_t sm, std::uint64_t shared_bytes,
                       MemoryPort& port, MemoryListener& listener, MemoryCounters& counters)
    : implementation_(
          std::make_unique<Implementation>(machine, sm, shared_bytes, port, listener, counters)) {}
MemoryUnit::~MemoryUnit() = default;

Cycle MemoryUnit::next_accept(Cycle now) const {
    return implementation_->next_accept(now);
}
void MemoryUnit::accept(Cycle now, const MemoryInstruction& instruction) {
    implementation_->accept(now, instruction);
}
void MemoryUnit::advance(Cycle now) {
    implementation_->advance(now);
}
Cycle MemoryUnit::next_event() const {
    return implementation_->next_event();
}
bool MemoryUnit::idle() const {
    return implementation_->idle();
}
std::uint32_t MemoryUnit::outstanding_stores(std::uint16_t warp) const {
    return implementation_->outstanding_stores(warp);
}
void MemoryUnit::invalidate_l1() {
    implementation_->invalidate_l1();
}

}  // namespace lockstep::gpu
