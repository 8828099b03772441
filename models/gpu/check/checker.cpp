// SPDX-License-Identifier: Apache-2.0
// What an instruction accessed stands in Warp::access once it is executed, as the cycle model reads
// it. Copies that hardware does in the background count as accesses by the thread that started
// them: LDGSTS when it is issued, those of TMA when they are performed, which releases their
// mbarrier.
#include "models/gpu/check/checker.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "isa/sass/cluster.h"
#include "isa/sass/effects.h"
#include "isa/sass/program.h"
#include "isa/sass/tma/copy.h"
#include "models/device.h"
#include "models/gpu/execution/order.h"

namespace lockstep::gpu::check {

using sass::Space;

struct Checker::CtaState {
    CtaState(std::uint32_t cta, unsigned warps) : clock(cta, warps), running(warps) {}

    CtaClock clock;
    std::vector<std::uint32_t> running;
    RaceCheck::Shared shared;
    CtaWritten written;
    CtaArrivals arrivals;
    CtaHazards hazards;
    std::vector<WarpProducts> products;           ///< by warp
    std::unordered_set<std::uint32_t> mbarriers;  ///< sm_80: words that only hold one's state
};

namespace {

constexpr unsigned kLdgsts = 0x1ae, kWarpsync = 0x148, kExit = 0x14d, kBra = 0x147, kAtoms = 0x18c,
                   kPhaseCheck = 0x1a7, kMembar = 0x192, kAsyncFence = 0x1c6, kStas = 0x1bd,
                   kRedas = 0x1be;
constexpr unsigned kMbarrierBytes = 8;

/// The store instructions that keep what they store in the rows of in.b, lane by lane.
bool stores_rows(unsigned opcode) {
    return opcode == 0x185 || opcode == 0x186 || opcode == 0x188 || opcode == 0x187;
}

/// ATOMS.ARRIVE, an mbarrier's arrival before sm_90.
bool arrives(const sass::Word& word, sass::Arch arch) {
    constexpr unsigned kArrive = 9;
    return arch < 90 && word.base_opcode() == kAtoms && word.form() == 7 &&
           word.bits(87, 4) == kArrive;
}

std::uint32_t live_warps(const sass::Cta& cta) {
    std::uint32_t live = 0;
    for (const sass::Warp* warp : cta.warps)
        if (warp->live != 0) live |= 1u << warp->index;
    return live;
}

}  // namespace

Checker::Checker(unsigned checks, const memory::DeviceMemory& memory)
    : checks_race_(checks & kCheckRace),
      checks_init_(checks & kCheckInit),
      checks_sync_(checks & kCheckSync),
      checks_hazards_(checks & kCheckHazards),
      findings_(memory),
      race_(clock_, [this](const Race& race) { findings_.add(race); }),
      init_([this](const UnwrittenRead& read) { findings_.add(read, *warp_); }),
      sync_([this](const Misuse& misuse) { findings_.add(misuse, *last_cta_); }),
      hazards_([this](const Misuse& misuse) { findings_.add(misuse, *last_cta_); }),
      products_([this](const Misuse& misuse) { findings_.add(misuse, *last_cta_); }) {}

Checker::~Checker() = default;

void Checker::begin_launch(const sass::Launch& launch, std::uint32_t own_shared_bytes,
                           SourceLine source_line) {
    // From sm_90 on the program's own shared memory begins behind the system's, see
    // constant_bank.cpp.
    constexpr std::uint32_t kReserved = 1024;
    launch_ = &launch;
    reserved_begin_ = launch.arch >= 90 ? kReserved : 0;
    own_end_ = own_shared_bytes;
    clock_.begin_launch();
    race_.begin_launch();
    findings_.begin_launch(launch, std::move(source_line));
    states_.clear();
    last_ = nullptr;
    last_cta_ = nullptr;
}

std::string Checker::end_launch() {
    total_ += findings_.size();
    states_.clear();
    last_ = nullptr;
    last_cta_ = nullptr;
    return findings_.report();
}

void Checker::begin_cta(sass::Cta& cta) {
    cta.observer = this;
    auto& state = states_[&cta];
    state = std::make_unique<CtaState>(static_cast<std::uint32_t>(cta.linear_index),
                                       static_cast<unsigned>(cta.warps.size()));
    state->shared.pages.resize((cta.launch->shared_bytes + Shadow::kBytes - 1) / Shadow::kBytes);
    state->shared.generation = ++ctas_;
    if (checks_init_) state->written = InitCheck::unwritten_cta(cta, reserved_begin_, own_end_);
    if (checks_sync_) state->arrivals = SyncCheck::arrivals(cta);
    if (checks_hazards_) {
        state->hazards = HazardCheck::hazards(cta);
        state->products.resize(cta.warps.size());
    }
    last_ = nullptr;
    last_cta_ = nullptr;
}

void Checker::end_cta(const sass::Cta& cta) {
    states_.erase(&cta);
    last_ = nullptr;
    last_cta_ = nullptr;
}

Checker::CtaState& Checker::state(const sass::Cta& cta) {
    if (last_cta_ != &cta) {
        last_cta_ = &cta;
        last_ = states_.at(&cta).get();
        running_ = last_->running.data();
    }
    return *last_;
}

void Checker::paths_change(const sass::Warp& warp) {
    if (checks_race_) clock_.paths_change(state(*warp.cta).clock, warp.index, running_[warp.index]);
    running_[warp.index] = warp.active;
}

void Checker::products(const sass::Warp& warp) {
    const sass::Instruction& in = launch_->program->code()[warp.pc];
    if ((warp.active & (warp.predicate[in.guard] ^ in.guard_invert)) == 0) return;
    products_.before(*launch_->program, warp, warp.pc, last_->products[warp.index]);
    if (is_product(sass::op_of(launch_->program->words()[warp.pc])))
        hazards_.product(warp, warp.pc, last_->hazards);
}

void Checker::barrier_reached(const sass::Warp& warp, unsigned number, std::uint32_t threads,
                              bool waits) {
    CtaState& cta = state(*warp.cta);
    if (checks_race_) clock_.barrier_reached(cta.clock, warp.index, number, waits);
    if (!checks_sync_) return;
    constexpr unsigned kDeferBlocking =
        80;  // bar.sync and __syncthreads; barrier.sync before sm_90
    const bool is_aligned = launch_->program->words()[warp.pc - 1].bit(kDeferBlocking);
    sync_.barrier_reached(warp, cta.arrivals, number, threads, is_aligned);
}

void Checker::barrier_completed(const sass::Cta& cta, unsigned number) {
    CtaState& cta_state = state(cta);
    if (checks_race_) clock_.barrier_completed(cta_state.clock, number, live_warps(cta));
    if (checks_sync_) sync_.barrier_completed(cta, cta_state.arrivals, number);
}

void Checker::cluster_completed(const sass::Cluster& cluster) {
    std::vector<CtaClock*> clocks;
    for (std::uint32_t rank = 0; rank < cluster.size; ++rank)
        clocks.push_back(&states_.at(cluster.member[rank]->cta)->clock);
    if (checks_race_) clock_.cluster_barrier(clocks);
}

void Checker::before(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                     std::uint32_t lanes) {
    if (!checks_sync_ || (in.effects & sass::kWarpOrExit) == 0) return;
    lanes &= warp.read(in.ps[0]);
    const unsigned opcode = launch_->program->words()[pc].base_opcode();
    CtaState& cta = state(*warp.cta);
    if (opcode == kExit) sync_.exited(warp, cta.arrivals, pc, lanes);
    if (opcode == kWarpsync) sync_.warp_sync(warp, pc, lanes, warp.row(in.a));
    if (opcode == kBra) {  // .DIV, .CONV: around a WARPSYNC, for lanes that are missing
        sass::Row masks;
        std::fill(std::begin(masks.lane), std::end(masks.lane),
                  warp.row(in.a).lane[0] ^ in.modifiers);
        sync_.warp_sync(warp, pc, lanes, masks);
    }
}

void Checker::after(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                    std::uint32_t lanes) {
    warp_ = &warp;
    if (in.effects & (sass::kReadsMemory | sass::kWritesMemory | sass::kLocalMemory))
        return memory(in, warp, pc, lanes);
    CtaState& cta = state(*warp.cta);
    if (checks_hazards_ && launch_->program->words()[pc].base_opcode() == kAsyncFence)
        hazards_.fence(warp, cta.hazards);
    if (!checks_race_) return;
    if (in.effects & sass::kWarpOrExit) return meet(in, warp, pc, lanes, cta);
    if (in.effects & sass::kMbarrier) return mbarrier(in, warp, lanes, cta);
    constexpr unsigned kFirstScopeBeyondCta = 1;
    if (in.effects & sass::kFence && launch_->program->words()[pc].base_opcode() == kMembar)
        clock_.fence(cta.clock, launch_->program->words()[pc].bits(76, 3) >= kFirstScopeBeyondCta);
}

void Checker::meet(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                   std::uint32_t lanes, CtaState& cta) {
    if (launch_->program->words()[pc].base_opcode() != kWarpsync) return;
    const std::uint32_t mask = warp.row(in.a).lane[std::countr_zero(lanes)] & warp.live;
    for (const sass::Path& path : warp.parked)
        if (path.status == sass::PathStatus::kWarpSync && (path.lanes & mask) != 0) return;
    clock_.paths_change(cta.clock, warp.index, mask);
}

void Checker::memory(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                     std::uint32_t lanes) {
    const sass::Word& word = launch_->program->words()[pc];
    const unsigned opcode = word.base_opcode();
    if (opcode == kLdgsts) return copy(warp, pc, lanes);
    const sass::Access& noted = warp.access;
    CtaState& cta = state(*warp.cta);
    Observed access{.warp = warp,
                    .pc = pc,
                    .lanes = noted.lanes,
                    .space = noted.space,
                    .is_write = noted.is_store || noted.is_atomic,
                    .is_atomic = noted.is_atomic,
                    .is_strong = noted.is_atomic || is_strong_access(word, launch_->arch),
                    .width = noted.width,
                    .stored = stores_rows(opcode) ? &warp.row(in.b) : nullptr};
    const bool has_result = in.d != sass::Operand::of_warp(sass::kSinkRow);
    if (noted.space == Space::kCluster) {
        std::copy(std::begin(noted.address), std::end(noted.address), access.address);
        return remote(in, access, cta, opcode == kStas || opcode == kRedas);
    }
    if (checks_race_ && arrives(word, launch_->arch))
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

void Checker::remote(const sass::Instruction& in, Observed access, CtaState& cta, bool is_async) {
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
        if (checks_sync_ && member.phases == 0 && rank != own.cluster_rank) {
            state(own);
            sync_.accessed_early(part, rank);
        }
        CtaState& target = state(*member.cta);
        if (checks_init_) init_.access(part, target.written);
        // What is stored asynchronously is ordered by an mbarrier, at a time that nobody sees.
        if (!checks_race_ || is_async) continue;
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
    state(own);
}

/// An arrival at an mbarrier of another CTA: known to those there that find it complete.
void Checker::remote_arrival(const sass::Warp& warp, std::uint32_t lanes, CtaState& cta) {
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

void Checker::copy(const sass::Warp& warp, std::uint32_t pc, std::uint32_t lanes) {
    const sass::Access& noted = warp.access;
    CtaState& cta = state(*warp.cta);
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

void Checker::copied(const sass::AsyncCopy& copy, Space space, std::uint64_t begin,
                     std::uint32_t bytes, bool is_write, CtaState& cta) {
    constexpr std::uint32_t kPiece = 16;
    const sass::Warp& warp = *copy.source->warps[copy.warp];
    Observed piece{.warp = warp, .pc = copy.pc, .lanes = 1u << copy.lane, .is_async = true};
    warp_ = &warp;
    for (std::uint32_t at = 0; at < bytes; at += kPiece) {
        piece.space = space;
        piece.is_write = is_write;
        piece.width = std::min(kPiece, bytes - at);
        piece.lanes = 1u << copy.lane;
        piece.address[copy.lane] = begin + at;
        access(piece, cta, true);
    }
}

void Checker::copy_started(const sass::AsyncCopy& copy) {
    if (checks_hazards_) hazards_.started(copy, state(*copy.source).hazards);
}

void Checker::copy_performed(const sass::AsyncCopy& copy) {
    if (copy.source != copy.target) return;  // between CTAs of a cluster: not checked
    CtaState& cta = state(*copy.source);
    if (checks_hazards_) hazards_.performed(copy, cta.hazards);
    if (copy.kind == sass::CopyKind::kLoad || copy.writes_global())
        for_each_run(copy, [&](std::uint64_t begin, std::uint32_t bytes) {
            copied(copy, Space::kGlobal, begin, bytes, copy.writes_global(), cta);
        });
    if (copy.reads_shared()) copied(copy, Space::kShared, copy.from, copy.bytes, false, cta);
    if (!copy.writes_shared()) return;
    copied(copy, Space::kShared, copy.to, copy.bytes, true, cta);
    if (!checks_race_) return;
    clock_.release(cta.clock, copy.warp, copy.mbarrier);
    clock_.advance();
}

void Checker::mbarrier(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t lanes,
                       CtaState& cta) {
    const sass::Word& word =
        launch_->program->words()[static_cast<std::size_t>(&in - launch_->program->code().data())];
    const bool is_check = word.base_opcode() == kPhaseCheck && word.form() == 2;
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

void Checker::synchronise(const Observed& access, CtaState& cta, bool acquires, bool releases) {
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

void Checker::access(Observed& access, CtaState& cta, bool has_result) {
    if (checks_init_) init_.access(access, cta.written);
    if (checks_hazards_ && access.space == Space::kShared && !access.is_async)
        hazards_.access(access, cta.hazards);
    if (!checks_race_ || access.space == Space::kLocal) return;
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
