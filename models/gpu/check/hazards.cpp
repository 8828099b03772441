// SPDX-License-Identifier: Apache-2.0
// A copy is under way from its instruction until the emulator performs it, which is when a thread
// waits for it (emulator/late_copies): who touches its memory in between has not waited. A plain
// write is seen by a later copy where the writing warp, or the warp that starts the copy, has
// executed fence.proxy.async since (coarse: the path of synchronisation between both is not looked
// at, so that some missing fences are not found, and none is invented). A wgmma reads likewise, and
// may do so until a warp of its warpgroup has waited for its group: all four issue it as one. Of
// the products of a warpgroup that read a piece, the last one is known. What cp.async brings counts
// as visible to a wgmma: CUTLASS (MainloopSm90CpAsyncGmmaWarpSpecialized), FlashAttention-3 and
// FlashMLA wait for it without a fence.
#include "models/gpu/check/hazards.h"

#include <algorithm>
#include <bit>

#include "isa/sass/program.h"
#include "isa/sass/semantics/tensor/warpgroup.h"
#include "isa/sass/table/op.h"
#include "models/gpu/check/product_reads.h"

namespace lockstep::gpu::check {

namespace {

constexpr std::uint32_t kWord = 4, kPiece = sass::SharedMatrix::kPieceBytes;

std::size_t warpgroup_of(const sass::Warp& warp) {
    return warp.index / sass::kWarpgroupWarps;
}

std::uint32_t thread_of(const sass::AsyncCopy& copy) {
    return copy.warp * sass::kWarpSize + copy.lane;
}

CtaHazards::Pending pending_of(const sass::AsyncCopy& copy, bool writes) {
    const std::uint32_t begin = writes ? copy.to : copy.from;
    return {begin, begin + copy.bytes, writes, copy.pc, thread_of(copy), copy.source->linear_index};
}

void remove(const CtaHazards::Pending& done, CtaHazards& cta) {
    const auto found = std::find(cta.pending.begin(), cta.pending.end(), done);
    if (found != cta.pending.end()) cta.pending.erase(found);
}

const char* explain(bool copy_writes, bool is_write) {
    if (!copy_writes) return "shared memory is written while a pending copy has yet to read it";
    return is_write ? "shared memory is written while a pending copy has yet to write it"
                    : "a tile is read before the phase of its mbarrier was waited for";
}

}  // namespace

CtaHazards HazardCheck::hazards(const sass::Cta& cta) {
    CtaHazards hazards;
    hazards.writes.resize((cta.launch->shared_bytes + kWord - 1) / kWord);
    hazards.fenced.resize(cta.warps.size());
    const std::size_t warpgroups =
        (cta.warps.size() + sass::kWarpgroupWarps - 1) / sass::kWarpgroupWarps;
    hazards.reads.resize(warpgroups);
    hazards.waited.resize(warpgroups);
    return hazards;
}

void HazardCheck::access(const Observed& access, CtaHazards& cta) {
    const sass::Program& program = *access.warp.cta->launch->program;
    const bool is_copied =
        access.is_write && sass::op_of(program.words()[access.pc]) == sass::Op::kLdgsts;
    ++cta.time;
    for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const auto begin = static_cast<std::uint32_t>(access.address[lane]);
        const std::uint32_t end = begin + access.width;
        const std::uint32_t thread = access.warp.index * sass::kWarpSize + lane;
        for (const CtaHazards::Pending& copy : cta.pending) {
            if (begin >= copy.end || end <= copy.begin) continue;
            if (!copy.writes && !access.is_write) continue;
            report_({.pc = access.pc,
                     .warp = access.warp.index,
                     .lane = lane,
                     .what = explain(copy.writes, access.is_write),
                     .has_other = true,
                     .other_pc = copy.pc,
                     .other_thread = copy.thread,
                     .other_cta = copy.cta,
                     .other_what = "copy by",
                     .check = "hazard"});
            break;
        }
        if (!access.is_write) continue;
        write_under_products(begin, end, {.pc = access.pc, .warp = access.warp.index, .lane = lane},
                             cta);
        for (std::uint32_t word = begin / kWord; word * kWord < end; ++word)
            if (word < cta.writes.size())
                cta.writes[word] = {cta.time, access.pc, thread, is_copied};
    }
}

/// What is written while a product may still read it; `misuse`: by whom.
void HazardCheck::write_under_products(std::uint32_t begin, std::uint32_t end, Misuse misuse,
                                       const CtaHazards& cta) const {
    for (std::size_t w = 0; w < cta.reads.size(); ++w) {
        const std::vector<CtaHazards::Read>& reads = cta.reads[w];
        for (std::size_t piece = begin / kPiece; piece * kPiece < end && piece < reads.size();
             ++piece) {
            const CtaHazards::Read& read = reads[piece];
            if (read.group <= cta.waited[w]) continue;
            misuse.what =
                "shared memory is written that a wgmma reads that has not been waited for";
            misuse.has_other = true;
            misuse.other_pc = read.pc;
            misuse.other_thread = read.thread;
            misuse.other_what = "wgmma by";
            misuse.check = "hazard";
            return report_(misuse);
        }
    }
}

void HazardCheck::products_awaited(const sass::Warp& warp, std::uint32_t groups, CtaHazards& cta) {
    std::uint32_t& waited = cta.waited[warpgroup_of(warp)];
    waited = std::max(waited, groups);
}

void HazardCheck::product(const sass::Warp& warp, std::uint32_t pc, std::uint32_t group,
                          CtaHazards& cta) {
    const sass::Program& program = *warp.cta->launch->program;
    constexpr unsigned kWarps = sass::kWarpgroupWarps;
    const std::size_t first = warp.index / kWarps * kWarps;
    std::uint64_t issuers = 0;
    for (std::size_t w = first; w < std::min(first + kWarps, cta.fenced.size()); ++w)
        issuers = std::max(issuers, cta.fenced[w]);
    std::vector<CtaHazards::Read>& reads = cta.reads[warpgroup_of(warp)];
    reads.resize((warp.cta->launch->shared_bytes + kPiece - 1) / kPiece);
    bool is_reported = false;
    for_each_piece(program.words()[pc], program.code()[pc], warp, [&](std::uint32_t begin) {
        reads[begin / kPiece] = {group + 1, pc, warp.index * sass::kWarpSize};
        if (is_reported) return;
        Misuse misuse{.pc = pc, .warp = warp.index, .has_other = true, .check = "hazard"};
        for (const CtaHazards::Pending& copy : cta.pending) {
            if (!copy.writes || begin >= copy.end || begin + kPiece <= copy.begin) continue;
            misuse.what = "a wgmma reads a tile before the phase of its mbarrier was waited for";
            misuse.other_pc = copy.pc;
            misuse.other_thread = copy.thread;
            misuse.other_cta = copy.cta;
            misuse.other_what = "copy by";
            is_reported = true;
            return report_(misuse);
        }
        for (std::uint32_t word = begin / kWord; word * kWord < begin + kPiece; ++word) {
            const CtaHazards::Write& write = cta.writes[word];
            if (write.is_copied ||
                write.time <= std::max(issuers, cta.fenced[write.thread / sass::kWarpSize]))
                continue;
            misuse.what =
                "a wgmma reads shared memory that no fence.proxy.async has made visible to it "
                "since it was written";
            misuse.other_pc = write.pc;
            misuse.other_thread = write.thread;
            misuse.other_what = "written by";
            is_reported = true;
            return report_(misuse);
        }
    });
}

void HazardCheck::started(const sass::AsyncCopy& copy, CtaHazards& source, CtaHazards& target) {
    const std::uint64_t issuer = source.fenced[copy.warp];
    if (copy.reads_shared() && copy.bytes != 0) {
        for (std::uint32_t word = copy.from / kWord; word * kWord < copy.from + copy.bytes;
             ++word) {
            const CtaHazards::Write& write = source.writes[word];
            const std::uint64_t fenced =
                std::max(issuer, source.fenced[write.thread / sass::kWarpSize]);
            if (write.time <= fenced) continue;
            report_({.pc = copy.pc,
                     .warp = copy.warp,
                     .lane = copy.lane,
                     .what =
                         "a copy reads shared memory that no fence.proxy.async has made visible "
                         "to it since it was written",
                     .has_other = true,
                     .other_pc = write.pc,
                     .other_thread = write.thread,
                     .other_what = "written by",
                     .check = "hazard"});
            break;
        }
    }
    if (copy.bytes == 0) return;
    if (copy.reads_shared()) source.pending.push_back(pending_of(copy, false));
    if (!copy.writes_shared()) return;
    target.pending.push_back(pending_of(copy, true));
    write_under_products(copy.to, copy.to + copy.bytes,
                         {.pc = copy.pc,
                          .warp = copy.warp,
                          .lane = copy.lane,
                          .other_cta = copy.target->linear_index},
                         target);
}

void HazardCheck::performed(const sass::AsyncCopy& copy, CtaHazards* source, CtaHazards& target) {
    if (copy.reads_shared() && source != nullptr) remove(pending_of(copy, false), *source);
    if (copy.writes_shared()) remove(pending_of(copy, true), target);
}

}  // namespace lockstep::gpu::check
