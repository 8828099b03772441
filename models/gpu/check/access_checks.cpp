// SPDX-License-Identifier: Apache-2.0
// What an instruction accessed stands in Warp::access once it is executed, as the cycle model reads
// it. Copies that hardware does in the background count as accesses by the thread that started
// them: LDGSTS when it is issued, those of TMA when they are performed, which releases their
// mbarrier. Their reductions are atomic for each element (PTX ISA: relaxed, of gpu scope).
#include "models/gpu/check/access_checks.h"

#include <algorithm>
#include <bit>

#include "isa/sass/cluster.h"
#include "isa/sass/program.h"
#include "models/gpu/check/swap_loop.h"
#include "models/gpu/execution/order.h"

namespace lockstep::gpu::check {

using sass::Space;

namespace {

constexpr unsigned kMbarrierBytes = 8;

/// The store instructions that keep what they store in the rows of in.b, lane by lane.
bool stores_rows(sass::Op opcode) {
    using enum sass::Op;
    return opcode == kSt || opcode == kStg || opcode == kSts || opcode == kStl;
}

/// ATOMS.ARRIVE, an mbarrier's arrival before sm_90.
bool arrives(const sass::Word& word, sass::Arch arch) {
    constexpr unsigned kArrive = 9;
    return arch < 90 && sass::op_of(word) == sass::Op::kAtoms && word.form() == 7 &&
           word.bits(87, 4) == kArrive;
}

/// ATOM, ATOMG and ATOMS.EXCH.
bool exchanges(const sass::Word& word) {
    using enum sass::Op;
    constexpr unsigned kExchange = 8;
    const sass::Op opcode = sass::op_of(word);
    return (opcode == kAtom || opcode == kAtoms || opcode == kAtomg) && word.form() != 7 &&
           word.bits(87, 4) == kExchange;
}

const sass::Word& word_at(const sass::Warp& warp, std::uint32_t pc) {
    return warp.cta->launch->program->words()[pc];
}

}  // namespace

void AccessChecks::memory(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                          std::uint32_t lanes) {
    warp_ = &warp;
    const sass::Word& word = word_at(warp, pc);
    const sass::Op opcode = sass::op_of(word);
    if (opcode == sass::Op::kLdgsts) return copy(warp, pc, lanes);
    const sass::Access& noted = warp.access;
    CtaState& cta = states_.of(*warp.cta);
    const bool has_result = in.d != sass::Operand::of_warp(sass::kSinkRow);
    Observed access{.warp = warp,
                    .pc = pc,
                    .lanes = noted.lanes,
                    .space = noted.space,
                    .is_write = noted.is_store || noted.is_atomic,
                    .is_atomic = noted.is_atomic,
                    .only_writes = !has_result && exchanges(word),
                    .is_strong = noted.is_atomic ||
                                 is_strong_access(word, warp.cta->launch->arch) ||
                                 begins_swap_loop(warp.cta->launch->program->words(), pc),
                    .width = noted.width,
                    .stored = stores_rows(opcode) ? &warp.row(in.b) : nullptr};
    if (noted.space == Space::kCluster) {
        std::copy(std::begin(noted.address), std::end(noted.address), access.address);
        return remote(in, access, cta, opcode == sass::Op::kStas || opcode == sass::Op::kRedas);
    }
    if (checks_.race && arrives(word, warp.cta->launch->arch))
        for (std::uint32_t left = noted.lanes; left != 0; left &= left - 1)
            cta.mbarriers.insert(
                static_cast<std::uint32_t>(noted.address[std::countr_zero(left)] / kMbarrierBytes));
    if (noted.space != Space::kGeneric) {
        std::copy(std::begin(noted.address), std::end(noted.address), access.address);
        return this->access(access, cta, has_result);
    }
    for (const Space space : {Space::kGlobal, Space::kShared, Space::kLocal}) {
        access.space = space;
        access.lanes = 0;
        for (std::uint32_t left = noted.lanes; left != 0; left &= left - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(left));
            const std::uint64_t address = noted.address[lane];
            const std::uint64_t window = address / sass::kWindowBytes * sass::kWindowBytes;
            const Space in_space = window == sass::kSharedWindow  ? Space::kShared
                                   : window == sass::kLocalWindow ? Space::kLocal
                                                                  : Space::kGlobal;
            if (in_space != space) continue;
            access.lanes |= 1u << lane;
            access.address[lane] = space == Space::kGlobal ? address : address - window;
        }
        if (access.lanes != 0) this->access(access, cta, has_result);
    }
}

void AccessChecks::remote(const sass::Instruction& in, Observed access, CtaState& cta,
                          bool is_async) {
    const sass::Cta& own = *access.warp.cta;
    if (own.member == nullptr) return;
    const bool has_result = in.d != sass::Operand::of_warp(sass::kSinkRow);
    // Addresses are those of the cluster, or generic where lanes access other spaces too.
    const auto in_window = [&](std::uint64_t address) {
        return address < sass::kWindowBytes ||
               address / sass::kWindowBytes == sass::kSharedWindow / sass::kWindowBytes;
    };
    const sass::Cluster& cluster = *own.member->cluster;
    for (std::uint32_t rank = 0; rank < cluster.size; ++rank) {
        Observed part = access;
        part.space = Space::kShared;
        part.lanes = 0;
        for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(left));
            const auto place = static_cast<std::uint32_t>(access.address[lane]);
            if (!in_window(access.address[lane]) || sass::cluster_rank_of(place) != rank) continue;
            part.lanes |= 1u << lane;
            part.address[lane] = sass::cluster_offset_of(place);
        }
        if (part.lanes == 0) continue;
        const sass::ClusterMember& member = *cluster.member[rank];
        if (checks_.sync && member.phases == 0 && rank != own.cluster_rank) {
            states_.of(own);
            sync_.accessed_early(part, rank);
        }
        CtaState& target = states_.of(*member.cta);
        if (checks_.init) init_.access(part, target.written);
        // What is stored asynchronously is ordered by an mbarrier, at a time that nobody sees.
        if (!checks_.race || is_async) continue;
        const auto* const shared = reinterpret_cast<const std::byte*>(member.cta->shared);
        const auto synchronise = [&](bool acquires) {
            for (std::uint32_t left = part.lanes; left != 0; left &= left - 1) {
                const auto key =
                    reinterpret_cast<std::uint64_t>(shared + part.address[std::countr_zero(left)]);
                if (acquires)
                    clock_.acquire_global(cta.clock, part.warp.index, key);
                else
                    clock_.release_global(cta.clock, part.warp.index, key);
            }
            if (!acquires) clock_.advance();
        };
        if (part.is_strong && (part.is_atomic ? has_result : !part.is_write)) synchronise(true);
        if (!part.is_write) clock_.read_global(cta.clock);
        race_.access(part, cta.clock, target.shared);
        if (part.is_strong && part.is_write) synchronise(false);
    }
    states_.of(own);
}

/// An arrival at an mbarrier of another CTA: known to those there that find it complete.
void AccessChecks::remote_arrival(const sass::Warp& warp, std::uint32_t lanes, CtaState& cta) {
    const sass::Cluster& cluster = *warp.cta->member->cluster;
    for (std::uint32_t left = warp.access.lanes & lanes; left != 0; left &= left - 1) {
        const auto place = static_cast<std::uint32_t>(warp.access.address[std::countr_zero(left)]);
        const sass::Cta& target = *cluster.member[sass::cluster_rank_of(place)]->cta;
        clock_.release_global(
            cta.clock, warp.index,
            reinterpret_cast<std::uint64_t>(target.shared) + sass::cluster_offset_of(place));
    }
    clock_.advance();
}

void AccessChecks::copy(const sass::Warp& warp, std::uint32_t pc, std::uint32_t lanes) {
    const sass::Access& noted = warp.access;
    CtaState& cta = states_.of(*warp.cta);
    Observed read{.warp = warp, .pc = pc, .lanes = noted.lanes, .width = noted.width};
    std::copy(std::begin(noted.address), std::end(noted.address), read.address);
    if (read.lanes != 0) access(read, cta, true);
    Observed write{.warp = warp,
                   .pc = pc,
                   .lanes = lanes,
                   .space = Space::kShared,
                   .is_write = true,
                   .width = noted.width};
    std::copy(std::begin(noted.copy_to), std::end(noted.copy_to), write.address);
    access(write, cta, true);
}

template <typename Tell>
void AccessChecks::for_each_piece(const sass::AsyncCopy& copy, Space space, std::uint64_t begin,
                                  std::uint32_t bytes, bool is_write, Tell&& tell) {
    constexpr std::uint32_t kPiece = 16;
    const sass::Warp& warp = *copy.source->warps[copy.warp];
    const bool is_atomic = is_write && copy.reduce != nullptr;
    Observed piece{.warp = warp,
                   .pc = copy.pc,
                   .lanes = 1u << copy.lane,
                   .is_atomic = is_atomic,
                   .is_strong = is_atomic,
                   .is_async = true};
    warp_ = &warp;
    for (std::uint32_t at = 0; at < bytes; at += kPiece) {
        piece.space = space;
        piece.is_write = is_write;
        piece.width = std::min(kPiece, bytes - at);
        piece.lanes = 1u << copy.lane;
        piece.address[copy.lane] = begin + at;
        tell(piece);
    }
}

void AccessChecks::copied(const sass::AsyncCopy& copy, Space space, std::uint64_t begin,
                          std::uint32_t bytes, bool is_write, CtaState& cta) {
    for_each_piece(copy, space, begin, bytes, is_write,
                   [&](Observed& piece) { access(piece, cta, !piece.is_atomic); });
}

void AccessChecks::reads_for_other(const sass::AsyncCopy& copy, CtaState& source) {
    if (!checks_.init || !copy.reads_shared()) return;
    for_each_piece(copy, Space::kShared, copy.from, copy.bytes, false,
                   [&](const Observed& piece) { init_.access(piece, source.written); });
}

void AccessChecks::written_by_other(const sass::AsyncCopy& copy, CtaState& target) {
    if (!checks_.init) return;
    for_each_piece(copy, Space::kShared, copy.to, copy.bytes, true,
                   [&](const Observed& piece) { init_.access(piece, target.written); });
}

void AccessChecks::mbarrier(const sass::Instruction& in, const sass::Warp& warp,
                            std::uint32_t lanes, CtaState& cta) {
    const sass::Program& program = *warp.cta->launch->program;
    const sass::Word& word = program.words()[static_cast<std::size_t>(&in - program.code().data())];
    const bool is_check = sass::op_of(word) == sass::Op::kSyncs && word.form() == 2;
    if (warp.access.space == Space::kCluster) return remote_arrival(warp, lanes, cta);
    const std::uint32_t passed = is_check ? warp.predicate[in.pd[0]] : ~0u;
    std::uint64_t last = ~0ull;
    for (std::uint32_t left = warp.access.lanes & lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const auto offset = static_cast<std::uint32_t>(warp.access.address[lane]);
        if (offset == last) continue;
        last = offset;
        if (passed >> lane & 1) clock_.acquire(cta.clock, warp.index, offset);
        if (is_check && (passed >> lane & 1) != 0 && warp.cta->member != nullptr)
            clock_.acquire_global(cta.clock, warp.index,
                                  reinterpret_cast<std::uint64_t>(warp.cta->shared) + offset);
        if (!is_check) clock_.release(cta.clock, warp.index, offset);
    }
    if (!is_check) clock_.advance();
}

void AccessChecks::synchronise(const Observed& access, CtaState& cta, bool acquires,
                               bool releases) {
    const unsigned warp = access.warp.index;
    std::uint64_t last = ~0ull;
    for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const std::uint64_t address = access.address[std::countr_zero(left)];
        if (address == last) continue;
        last = address;
        if (access.space == Space::kShared) {
            if (acquires) clock_.acquire(cta.clock, warp, static_cast<std::uint32_t>(address));
            if (releases) clock_.release(cta.clock, warp, static_cast<std::uint32_t>(address));
        } else {
            if (acquires) clock_.acquire_global(cta.clock, warp, address);
            if (releases) clock_.release_global(cta.clock, warp, address);
        }
    }
    if (releases) clock_.advance();
}

void AccessChecks::access(Observed& access, CtaState& cta, bool has_result) {
    if (checks_.init) init_.access(access, cta.written);
    if (checks_.hazards && access.space == Space::kShared && !access.is_async)
        hazards_.access(access, cta.hazards);
    if (!checks_.race || access.space == Space::kLocal) return;
    if (access.space == Space::kShared && !cta.mbarriers.empty()) {
        std::uint32_t lanes = 0;
        for (std::uint32_t left = access.lanes; left != 0; left &= left - 1)
            if (cta.mbarriers.contains(static_cast<std::uint32_t>(
                    access.address[std::countr_zero(left)] / kMbarrierBytes)))
                lanes |= left & (0u - left);
        if (lanes != 0) {
            Observed state = access;
            state.lanes = lanes;
            for (std::uint64_t& address : state.address) address -= address % kMbarrierBytes;
            synchronise(state, cta, true, access.is_write);
            access.lanes &= ~lanes;
            if (access.lanes == 0) return;
        }
    }
    const bool acquires = access.is_strong && (access.is_atomic ? has_result : !access.is_write);
    if (acquires) synchronise(access, cta, true, false);
    race_.access(access, cta.clock, cta.shared);
    if (access.is_strong && access.is_write) synchronise(access, cta, false, true);
}

}  // namespace lockstep::gpu::check
