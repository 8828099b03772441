// SPDX-License-Identifier: Apache-2.0
// The CTAs of a cluster run in turn, by rank, each until it has executed its share or only waits
// for others. When none of them can go on, one that waits is blamed.
#include "models/gpu/emulator/cta_group.h"

#include <algorithm>

#include "models/gpu/check/checker.h"

namespace lockstep::gpu {

namespace {

/// Instructions of one CTA of a cluster after which the next has its turn: they come forward at
/// about the same pace, as on a chip.
constexpr std::uint64_t kTurn = 1 << 12;
/// Turns of a cluster after which it is looked whether it can go on at all.
constexpr unsigned kTurnsPerLook = 64;
/// Times that a group is preempted until it is looked again whether it polls.
constexpr unsigned kMostCallsPerLook = 256;

}  // namespace

CtaGroup::CtaGroup(sass::Launch& launch, CtaPool& pool) : launch_(launch) {
    const std::uint32_t size = ctas(launch);
    for (std::uint32_t i = 0; i < size; ++i) storage_.push_back(pool.take(launch));
    is_finished_.assign(size, false);
    if (launch.is_clustered) members_.resize(size);
}

std::uint32_t CtaGroup::ctas(const sass::Launch& launch) {
    return static_cast<std::uint32_t>(launch.cluster.volume());
}

void CtaGroup::give_back(CtaPool& pool) {
    for (std::unique_ptr<CtaStorage>& storage : storage_) pool.give_back(std::move(storage));
    storage_.clear();
}

const sass::Cta& CtaGroup::cta() const {
    for (std::size_t i = 0; i < storage_.size(); ++i)
        if (!is_finished_[i]) return storage_[i]->cta();
    return storage_.front()->cta();
}

void CtaGroup::start(std::uint64_t number, check::Checker* checker) {
    standstill_.restart();
    calls_to_look_ = 0;
    calls_per_look_ = 1;
    if (members_.empty()) {
        storage_.front()->start(number);
        if (checker != nullptr) checker->begin_cta(storage_.front()->cta());
        return;
    }
    const sass::ClusterShape shape(launch_);
    cluster_.size = shape.ctas();
    cluster_.number = number;
    for (std::uint32_t rank = 0; rank < cluster_.size; ++rank) {
        storage_[rank]->start(shape.cta(number, rank));
        sass::Cta& cta = storage_[rank]->cta();
        cluster_.member[rank] = &members_[rank];
        sass::begin_member(members_[rank], cta, cluster_, rank, nullptr);
        if (checker != nullptr) checker->begin_cta(cta);
        is_finished_[rank] = false;
    }
}

CtaOutcome CtaGroup::run(std::uint64_t budget, InstructionCount& count, check::Checker* checker) {
    if (!members_.empty()) return run_cluster(budget, count, checker);
    sass::Cta& cta = storage_.front()->cta();
    const CtaOutcome outcome = run_cta(cta, budget, count, checker);
    if (outcome == CtaOutcome::kPreempted) look(count, checker);
    if (outcome == CtaOutcome::kFinished && checker != nullptr) checker->end_cta(cta);
    return outcome;
}

std::vector<sass::Cta*> CtaGroup::left() const {
    std::vector<sass::Cta*> ctas;
    for (std::size_t i = 0; i < storage_.size(); ++i)
        if (members_.empty() || !is_finished_[i]) ctas.push_back(&storage_[i]->cta());
    return ctas;
}

void CtaGroup::look(InstructionCount& count, check::Checker* checker) {
    const std::vector<sass::Cta*> ctas = left();
    standstill_.look(ctas, count, checker);
}

bool CtaGroup::polls(Poll& poll) const {
    const std::vector<sass::Cta*> ctas = left();
    return all_poll(ctas, poll);
}

bool CtaGroup::seems_to_poll(Poll& poll) {
    if (calls_to_look_ != 0) {
        --calls_to_look_;
        return false;
    }
    const bool found = polls(poll);
    calls_per_look_ = found ? 1 : std::min(2 * calls_per_look_, kMostCallsPerLook);
    calls_to_look_ = calls_per_look_ - 1;
    return found;
}

void CtaGroup::forget_extents() {
    for (const std::unique_ptr<CtaStorage>& storage : storage_) storage->cta().extents = {};
}

CtaOutcome CtaGroup::run_cluster(std::uint64_t budget, InstructionCount& count,
                                 check::Checker* checker) {
    const std::uint64_t end = count.warp + budget;
    for (unsigned turn = 1;; ++turn) {
        bool has_run = false;
        bool is_done = true;
        const std::uint64_t before = count.warp;
        for (std::size_t rank = 0; rank < storage_.size(); ++rank) {
            if (is_finished_[rank]) continue;
            const std::uint64_t before_turn = count.warp;
            const CtaOutcome outcome = run_cta(storage_[rank]->cta(), kTurn, count, checker);
            members_[rank].executed += count.warp - before_turn;
            is_finished_[rank] = outcome == CtaOutcome::kFinished;
            has_run = has_run || outcome != CtaOutcome::kStuck;
            is_done = is_done && is_finished_[rank];
        }
        if (is_done) {
            // Together: until the last has ended, the others' memory may be asked about.
            if (checker != nullptr)
                for (const auto& storage : storage_) checker->end_cta(storage->cta());
            return CtaOutcome::kFinished;
        }
        if (!has_run && count.warp == before) {
            // A CTA that was looked at first may have been released by one that came later.
            const auto can_run = [](const auto& storage) {
                const auto& warps = storage->cta().warps;
                return std::any_of(warps.begin(), warps.end(), [](const sass::Warp* warp) {
                    return warp->active != 0 ||
                           std::any_of(warp->parked.begin(), warp->parked.end(), [](const auto& p) {
                               return p.status == sass::PathStatus::kReady;
                           });
                });
            };
            if (std::none_of(storage_.begin(), storage_.end(), can_run)) report_stuck(cta());
        }
        if (turn % kTurnsPerLook == 0) look(count, checker);
        if (count.warp >= end) return CtaOutcome::kPreempted;
    }
}

}  // namespace lockstep::gpu
