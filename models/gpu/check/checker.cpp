// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/check/checker.h"

#include <algorithm>
#include <bit>

#include "isa/sass/cluster.h"
#include "isa/sass/effects.h"
#include "isa/sass/program.h"
#include "isa/sass/tma/copy.h"
#include "models/device.h"

namespace lockstep::gpu::check {

namespace {

std::uint32_t live_warps(const sass::Cta& cta) {
    std::uint32_t live = 0;
    for (const sass::Warp* warp : cta.warps)
        if (warp->live != 0) live |= 1u << warp->index;
    return live;
}

}  // namespace

Checker::Checker(unsigned checks, const memory::DeviceMemory& memory)
    : checks_{.race = (checks & kCheckRace) != 0,
              .init = (checks & kCheckInit) != 0,
              .sync = (checks & kCheckSync) != 0,
              .hazards = (checks & kCheckHazards) != 0},
      findings_(memory),
      race_(clock_, [this](const Race& race) { findings_.add(race); }),
      init_([this](const UnwrittenRead& read) { findings_.add(read, accesses_.warp()); }),
      sync_([this](const Misuse& misuse) { findings_.add(misuse, states_.last_cta()); }),
      hazards_([this](const Misuse& misuse) { findings_.add(misuse, states_.last_cta()); }),
      products_([this](const Misuse& misuse) { findings_.add(misuse, states_.last_cta()); }),
      accesses_(checks_, states_, clock_, race_, init_, sync_, hazards_) {}

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
}

std::string Checker::end_launch() {
    total_ += findings_.size();
    states_.clear();
    return findings_.report();
}

void Checker::begin_cta(sass::Cta& cta) {
    cta.observer = this;
    CtaState& state = states_.begin(cta);
    state.shared.pages.resize((cta.launch->shared_bytes + Shadow::kBytes - 1) / Shadow::kBytes);
    state.shared.generation = ++ctas_;
    if (checks_.init) state.written = InitCheck::unwritten_cta(cta, reserved_begin_, own_end_);
    if (checks_.sync) state.arrivals = SyncCheck::arrivals(cta);
    if (checks_.hazards) {
        state.hazards = HazardCheck::hazards(cta);
        state.products.resize(cta.warps.size());
    }
}

void Checker::end_cta(const sass::Cta& cta) {
    states_.end(cta);
}

sass::Op Checker::op_at(std::uint32_t pc) const {
    return sass::op_of(launch_->program->words()[pc]);
}

void Checker::paths_change(const sass::Warp& warp) {
    if (checks_.race)
        clock_.paths_change(states_.of(*warp.cta).clock, warp.index, states_.running(warp));
    states_.running(warp) = warp.active;
}

void Checker::products(const sass::Warp& warp) {
    const sass::Instruction& in = launch_->program->code()[warp.pc];
    if ((warp.active & (warp.predicate[in.guard] ^ in.guard_invert)) == 0) return;
    CtaState& cta = states_.of(*warp.cta);
    WarpProducts& products = cta.products[warp.index];
    const std::uint32_t group = products.group;
    products_.before(*launch_->program, warp, warp.pc, products);
    const sass::Word& word = launch_->program->words()[warp.pc];
    if (is_product(sass::op_of(word)))
        hazards_.product(warp, warp.pc, group, cta.hazards);
    else if (const auto left = groups_left(word); left < group)
        HazardCheck::products_awaited(warp, group - left, cta.hazards);
}

void Checker::barrier_reached(const sass::Warp& warp, unsigned number, std::uint32_t threads,
                              bool waits) {
    CtaState& cta = states_.of(*warp.cta);
    if (checks_.race) clock_.barrier_reached(cta.clock, warp.index, number, waits);
    if (!checks_.sync) return;
    constexpr unsigned kDeferBlocking =
        80;  // bar.sync and __syncthreads; barrier.sync before sm_90
    const bool is_aligned = launch_->program->words()[warp.pc - 1].bit(kDeferBlocking);
    sync_.barrier_reached(warp, cta.arrivals, number, threads, is_aligned);
}

void Checker::barrier_completed(const sass::Cta& cta, unsigned number) {
    CtaState& cta_state = states_.of(cta);
    if (checks_.race) clock_.barrier_completed(cta_state.clock, number, live_warps(cta));
    if (checks_.sync) sync_.barrier_completed(cta, cta_state.arrivals, number);
}

void Checker::cluster_completed(const sass::Cluster& cluster) {
    std::vector<CtaClock*> clocks;
    for (std::uint32_t rank = 0; rank < cluster.size; ++rank)
        clocks.push_back(&states_.of(*cluster.member[rank]->cta).clock);
    if (checks_.race) clock_.cluster_barrier(clocks);
}

void Checker::before(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                     std::uint32_t lanes) {
    if (!checks_.sync || (in.effects & sass::kWarpOrExit) == 0) return;
    lanes &= warp.read(in.ps[0]);
    const sass::Op opcode = op_at(pc);
    CtaState& cta = states_.of(*warp.cta);
    if (opcode == sass::Op::kExit) sync_.exited(warp, cta.arrivals, pc, lanes);
    if (opcode == sass::Op::kWarpsync) sync_.warp_sync(warp, pc, lanes, warp.row(in.a));
    if (opcode == sass::Op::kBra) {  // .DIV, .CONV: around a WARPSYNC, for lanes that are missing
        sass::Row masks;
        std::fill(std::begin(masks.lane), std::end(masks.lane),
                  warp.row(in.a).lane[0] ^ in.modifiers);
        sync_.warp_sync(warp, pc, lanes, masks);
    }
}

void Checker::after(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                    std::uint32_t lanes) {
    if (in.effects & (sass::kReadsMemory | sass::kWritesMemory | sass::kLocalMemory))
        return accesses_.memory(in, warp, pc, lanes);
    CtaState& cta = states_.of(*warp.cta);
    if (checks_.hazards && op_at(pc) == sass::Op::kFence) hazards_.fence(warp, cta.hazards);
    if (!checks_.race) return;
    if (in.effects & sass::kWarpOrExit) return meet(in, warp, pc, lanes, cta);
    if (in.effects & sass::kMbarrier) return accesses_.mbarrier(in, warp, lanes, cta);
    constexpr unsigned kFirstScopeBeyondCta = 1;
    if (in.effects & sass::kFence && op_at(pc) == sass::Op::kMembar)
        clock_.fence(cta.clock, launch_->program->words()[pc].bits(76, 3) >= kFirstScopeBeyondCta);
}

void Checker::meet(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                   std::uint32_t lanes, CtaState& cta) {
    if (op_at(pc) != sass::Op::kWarpsync) return;
    const std::uint32_t mask = warp.row(in.a).lane[std::countr_zero(lanes)] & warp.live;
    for (const sass::Path& path : warp.parked)
        if (path.status == sass::PathStatus::kWarpSync && (path.lanes & mask) != 0) return;
    clock_.paths_change(cta.clock, warp.index, mask);
}

void Checker::copy_started(const sass::AsyncCopy& copy) {
    CtaState& target = states_.of(*copy.target);
    CtaState& source = states_.of(*copy.source);
    if (checks_.hazards) hazards_.started(copy, source.hazards, target.hazards);
    if (copy.source != copy.target) accesses_.reads_for_other(copy, source);
}

void Checker::copy_performed(const sass::AsyncCopy& copy) {
    CtaState& cta = states_.of(*copy.target);
    if (checks_.hazards) {
        CtaState* const source = states_.find(*copy.source);
        HazardCheck::performed(copy, source != nullptr ? &source->hazards : nullptr, cta.hazards);
    }
    if (copy.source != copy.target) return accesses_.written_by_other(copy, cta);
    if (copy.kind == sass::CopyKind::kLoad || copy.writes_global())
        for_each_run(copy, [&](std::uint64_t begin, std::uint32_t bytes) {
            accesses_.copied(copy, sass::Space::kGlobal, begin, bytes, copy.writes_global(), cta);
        });
    if (copy.reads_shared())
        accesses_.copied(copy, sass::Space::kShared, copy.from, copy.bytes, false, cta);
    if (!copy.writes_shared()) return;
    accesses_.copied(copy, sass::Space::kShared, copy.to, copy.bytes, true, cta);
    if (!checks_.race) return;
    clock_.release(cta.clock, copy.warp, copy.mbarrier);
    clock_.advance();
}

}  // namespace lockstep::gpu::check
