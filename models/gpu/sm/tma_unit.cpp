// SPDX-License-Identifier: Apache-2.0
// One copy after the other: a later copy does not pass one that waits for its map. Rows of a box
// that touch the same line one after the other are one request. What lies outside of the tensor is
// asked for nowhere, but takes its time in shared memory. The rate and the number of lines under
// way are the machine's; the map cache is replaced in order of use (assumed).
#include "models/gpu/sm/tma_unit.h"

#include <algorithm>
#include <bit>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;
using sass::AsyncCopy;
using sass::CopyKind;

namespace {

constexpr unsigned kAtomicBytes = 4;

EvictionPriority priority_of(sass::CopyHint hint) {
    switch (hint) {
        case sass::CopyHint::kFirst:
            return EvictionPriority::kFirst;
        case sass::CopyHint::kLast:
            return EvictionPriority::kLast;
        default:
            return EvictionPriority::kNormal;
    }
}

RequestKind kind_of(CopyKind kind) {
    switch (kind) {
        case CopyKind::kStore:
            return RequestKind::kWrite;
        case CopyKind::kReduce:
            return RequestKind::kReduction;
        default:
            return RequestKind::kRead;
    }
}

/// Calls f for each line in turn.
template <typename F>
void for_each_line(const AsyncCopy& copy, F&& f) {
    LineAccess last;
    bool has_last = false;
    for_each_run(copy, [&](std::uint64_t begin, std::uint32_t bytes) {
        const std::uint64_t end = begin + bytes;
        while (begin < end) {
            const std::uint64_t stop = std::min(end, (begin / kLineBytes + 1) * kLineBytes);
            LineAccess line = line_of_run(begin, stop);
            line.lanes = static_cast<std::uint8_t>(
                std::max<std::uint64_t>((stop - begin) / kAtomicBytes, 1));
            line.same_address = 1;
            if (has_last && last.line == line.line) {
                last.partial |= line.partial;
                last.halves |= line.halves;
                last.sectors |= line.sectors;
                last.lanes = static_cast<std::uint8_t>(last.lanes + line.lanes);
            } else {
                if (has_last) f(last);
                last = line;
                has_last = true;
            }
            begin = stop;
        }
    });
    if (has_last) f(last);
}

bool moves_lines(const AsyncCopy& copy) {
    return copy.kind == CopyKind::kLoad || copy.writes_global() || copy.kind == CopyKind::kPrefetch;
}

}  // namespace

std::uint32_t TmaUnit::sectors_of(const AsyncCopy& copy) {
    std::uint32_t sectors = 0;
    if (moves_lines(copy))
        for_each_line(copy, [&](const LineAccess& line) {
            sectors += static_cast<std::uint32_t>(std::popcount(line.sectors));
        });
    return sectors;
}

void TmaUnit::start(Cycle now, std::uint32_t pending, const AsyncCopy& copy) {
    if (jobs_.empty()) next_ = std::max(next_, now);
    Job& job = jobs_.emplace_back();
    job.pending = pending;
    job.copy = copy.kind;
    job.kind = kind_of(copy.kind);
    job.priority = priority_of(copy.hint);
    job.forgets_map = copy.kind == CopyKind::kForgetMap;
    if (copy.is_tensor) {
        job.map_line = copy.map_address / kLineBytes;
        ++counters_.tma_maps;
    }
    // L2 promotion: what L2 is asked to fetch from DRAM beside a sector.
    if (copy.is_tensor && copy.map.l2_promotion != 0)
        job.prefetch_sectors = static_cast<std::uint8_t>(1u << copy.map.l2_promotion);
    std::uint32_t bytes = 0;
    if (moves_lines(copy))
        for_each_line(copy, [&](const LineAccess& line) {
            job.lines.push_back(line);
            bytes += static_cast<std::uint32_t>(std::popcount(line.sectors)) * kSectorBytes;
        });
    if (copy.kind != CopyKind::kPrefetch) job.bytes_left = copy.bytes - std::min(copy.bytes, bytes);
    ++counters_.tma_copies;
}

bool TmaUnit::knows(std::uint64_t map_line) const {
    return std::find(maps_.begin(), maps_.end(), map_line) != maps_.end();
}

void TmaUnit::learn(std::uint64_t map_line) {
    std::erase(maps_, map_line);
    if (maps_.size() == p_.tma_map_entries) maps_.erase(maps_.begin());
    maps_.push_back(map_line);
}

Cycle TmaUnit::next_event() const {
    if (jobs_.empty() || awaits_map_) return kNever;
    const Job& job = jobs_.front();
    return job.next < job.lines.size() && is_full() ? kNever : next_;
}

TmaUnit::Part TmaUnit::take(Cycle now) {
    Job& job = jobs_.front();
    Part part{.pending = job.pending, .kind = job.kind, .priority = job.priority};
    if (job.forgets_map) {
        std::erase(maps_, job.map_line);
        job.map_line = 0;
    } else if (job.map_line != 0) {
        if (!knows(job.map_line)) {
            awaits_map_ = true;
            part.kind = RequestKind::kRead;
            part.line = {.line = job.map_line, .sectors = kAllSectors};
            part.is_map = true;
            return part;
        }
        learn(job.map_line);  // it was used last
        job.map_line = 0;
    }
    unsigned bytes = 0;
    if (job.next < job.lines.size()) {
        part.line = job.lines[job.next++];
        part.prefetch_sectors = job.prefetch_sectors;
        bytes = static_cast<unsigned>(std::popcount(part.line.sectors)) * kSectorBytes;
        in_flight_ += static_cast<unsigned>(std::popcount(part.line.sectors));
        if (job.kind != RequestKind::kRead) part.wavefronts = 1;
        counters_.tma_sectors += static_cast<unsigned>(std::popcount(part.line.sectors));
    } else if (job.bytes_left != 0) {
        // A box that lies outside in part is filled, a copy within shared memory read and written.
        bytes = std::min<unsigned>(job.bytes_left, kLineBytes);
        job.bytes_left -= bytes;
        part.wavefronts = job.copy == CopyKind::kLoad ? 1 : 2;
        if (sass::AsyncCopy{.kind = job.copy}.writes_global()) part.wavefronts = 0;
    }
    next_ = now + std::max(divide_up(bytes, p_.bulk_copy_width), 1u);
    part.is_last = job.next == job.lines.size() && job.bytes_left == 0;
    if (part.is_last) {
        jobs_.pop_front();
        next_ = std::max(next_, now + p_.tma_copy_interval);
    }
    return part;
}

void TmaUnit::map_arrived(Cycle now) {
    awaits_map_ = false;
    ++counters_.tma_map_misses;
    learn(jobs_.front().map_line);
    next_ = std::max(next_, now + p_.tma_map_latency);
}

void TmaUnit::arrived(std::uint8_t sectors) {
    in_flight_ -= static_cast<unsigned>(std::popcount(sectors));
}

}  // namespace lockstep::gpu
