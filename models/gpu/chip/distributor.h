// SPDX-License-Identifier: Apache-2.0
// Hands the CTAs of one or several kernels to SMs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/gpu/chip/gpc_map.h"
#include "models/gpu/chip/grid.h"
#include "models/gpu/cluster/cluster_message.h"
#include "models/gpu/sm/cta_host.h"

namespace lockstep::gpu {

/// In cycles of the SMs' clock.
struct DistributorTiming {
    double interval = 1;        ///< between the starts of two CTAs
    engine::Cycle latency = 1;  ///< from a CTA's end to the start of the one in its place
};

/// A CTA that has ended, and where.
struct EndedCta {
    CtaEnd end;
    CtaHost* sm = nullptr;
};

class Distributor {
  public:
    Distributor(const GpcMap& map, const DistributorTiming& timing) : map_(map), timing_(timing) {}
    /// All of the chip's, in their order; once.
    void connect(std::vector<CtaHost*> sms) { sms_ = std::move(sms); }

    /// The chip was idle: kernels that come may use the first SMs, and clusters need all.
    void begin(std::size_t sms);
    /// From now on kernels may use all SMs.
    void use_all() { used_ = sms_; }

    /// Kernels whose CTAs have not all ended, in the order in which theirs are placed.
    std::span<const std::unique_ptr<Grid>> grids() const { return grids_; }
    bool is_empty() const { return grids_.empty(); }
    /// CTAs that have ended since begin().
    std::uint64_t ended() const { return ended_; }
    /// The kernel whose CTAs are placed now; null: none has any left.
    Grid* head() const;
    Grid& owner(const KernelRun* run) const;

    /// Another kernel; its CTAs are placed at once if none of others are left.
    Grid& add(std::unique_ptr<Grid> grid);
    std::unique_ptr<Grid> remove(const Grid& grid);

    /// These CTAs have ended; puts them in the order of their ends.
    void count(std::span<EndedCta> ended);
    /// CTAs for where those have been, none before a cycle.
    void refill(std::span<const EndedCta> ended, engine::Cycle earliest);

  private:
    engine::Cycle next_start() const { return static_cast<engine::Cycle>(free_); }
    void place(Grid& grid, engine::Cycle earliest);
    void place_clusters(Grid& grid);

    const GpcMap& map_;
    const DistributorTiming timing_;
    std::vector<CtaHost*> sms_;
    /// Those that may get CTAs: of a kernel by itself CTAs beyond the first go where one has ended.
    std::span<CtaHost* const> used_;
    std::vector<std::unique_ptr<Grid>> grids_;
    std::vector<std::unique_ptr<PlacedCluster>> clusters_;  ///< since the chip was idle
    std::uint64_t clusters_placed_ = 0, ended_ = 0;
    double free_ = 0;  ///< when the next CTA may start
};

}  // namespace lockstep::gpu
