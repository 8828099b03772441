// SPDX-License-Identifier: Apache-2.0
// CTAs start breadth-first: on the SMs that hold least, in their order; later ones
// go where one has ended, in the order of the ends (observed on hardware; the order of SMs by GPC
// is not published). Several kernels: the CTAs of the first one are placed before any of the next,
// by priority, then by arrival (the rules that Amert et al. observed, "GPU scheduling on the NVIDIA
// TX2: hidden details revealed", RTSS 2017). The distributor acts between windows, which its
// latency allows.
#include "models/gpu/chip/distributor.h"

#include <algorithm>
#include <utility>

#include "models/gpu/cluster/placement.h"

namespace lockstep::gpu {

using engine::Cycle;

void Distributor::begin(std::size_t sms) {
    used_ = std::span(sms_).first(sms);
    free_ = 0;
    ended_ = 0;
    clusters_.clear();
}

Grid* Distributor::head() const {
    for (const std::unique_ptr<Grid>& grid : grids_)
        if (grid->has_left()) return grid.get();
    return nullptr;
}

Grid& Distributor::owner(const KernelRun* run) const {
    return **std::find_if(grids_.begin(), grids_.end(),
                          [run](const auto& grid) { return &grid->run == run; });
}

Grid& Distributor::add(std::unique_ptr<Grid> grid) {
    Grid& added = *grid;
    const auto later = [](const std::unique_ptr<Grid>& a, const std::unique_ptr<Grid>& b) {
        return std::pair(a->priority, a->order) < std::pair(b->priority, b->order);
    };
    grids_.insert(std::upper_bound(grids_.begin(), grids_.end(), grid, later), std::move(grid));
    if (head() == &added) place(added, 0);
    return added;
}

std::unique_ptr<Grid> Distributor::remove(const Grid& grid) {
    const auto at = std::find_if(grids_.begin(), grids_.end(),
                                 [&grid](const auto& other) { return other.get() == &grid; });
    std::unique_ptr<Grid> removed = std::move(*at);
    grids_.erase(at);
    return removed;
}

/// CTAs of a kernel to those SMs that hold the fewest warps, in turn, as long as there is room.
void Distributor::place(Grid& grid, Cycle earliest) {
    free_ = std::max(free_, static_cast<double>(std::max(grid.first_cta, earliest)));
    if (grid.is_clustered()) return place_clusters(grid);
    while (grid.has_left()) {
        constexpr std::uint32_t kNone = ~0u;
        std::uint32_t least = kNone;
        for (const CtaHost* sm : used_)
            if (sm->fits(grid.run)) least = std::min(least, sm->load());
        if (least == kNone) return;
        for (CtaHost* sm : used_) {
            if (!grid.has_left()) return;
            if (sm->load() != least || !sm->fits(grid.run)) continue;
            sm->start_cta(grid.run, grid.take_next(), next_start(), nullptr);
            free_ += timing_.interval;
        }
    }
}

/// All CTAs of a cluster at a time, where a GPC has room for all of them.
void Distributor::place_clusters(Grid& grid) {
    const sass::ClusterShape shape(*grid.run.launch);
    std::vector<SmOffer> offers(sms_.size());
    while (grid.has_left()) {
        for (std::size_t i = 0; i < sms_.size(); ++i)
            offers[i] = {sms_[i]->room(grid.run), sms_[i]->load()};
        std::vector<std::uint16_t> sms =
            place_cluster(map_, offers, shape.ctas(), grid.run.warps_per_cta);
        if (sms.empty()) return;
        PlacedCluster& cluster = *clusters_.emplace_back(std::make_unique<PlacedCluster>());
        cluster.size = shape.ctas();
        cluster.number = clusters_placed_++;
        cluster.sm = std::move(sms);
        cluster.members.resize(cluster.size);
        const std::uint64_t index = grid.next / cluster.size;
        for (std::uint32_t rank = 0; rank < cluster.size; ++rank) {
            sass::ClusterMember& member = cluster.members[rank];
            member.cluster = &cluster;
            member.rank = rank;
            cluster.member[rank] = &member;
            sms_[cluster.sm[rank]]->start_cta(grid.run, shape.cta(index, rank), next_start(),
                                              &member);
            ++grid.next;
            free_ += timing_.interval;
        }
    }
}

void Distributor::count(std::span<EndedCta> ended) {
    ended_ += ended.size();
    std::stable_sort(ended.begin(), ended.end(),
                     [](const EndedCta& a, const EndedCta& b) { return a.end.at < b.end.at; });
    for (const EndedCta& cta : ended) {
        Grid& grid = owner(cta.end.run);
        ++grid.ended;
        grid.last_end = std::max(grid.last_end, cta.end.at);
    }
}

void Distributor::refill(std::span<const EndedCta> ended, Cycle earliest) {
    Grid* const first = head();
    for (const auto& [end, sm] : ended) {
        if (first == nullptr || first->is_clustered()) break;
        const bool is_own = end.run == &first->run;  // it leaves room for exactly one
        while (first->has_left() && sm->fits(first->run)) {
            const Cycle possible = std::max({end.at + timing_.latency, earliest, first->first_cta});
            free_ = std::max(free_ + timing_.interval, static_cast<double>(possible));
            sm->start_cta(first->run, first->take_next(), next_start(), nullptr);
            if (is_own) break;
        }
    }
    if (first != nullptr && first->is_clustered())
        place(*first, std::max(earliest, ended.back().end.at + timing_.latency));
    // Others follow where the first one's last CTA has been placed.
    for (Grid* next = head(); next != nullptr && next != first; next = head()) {
        place(*next, earliest + timing_.latency);
        if (next->has_left()) break;
    }
}

}  // namespace lockstep::gpu
