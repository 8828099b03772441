// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/execution/cta_storage.h"

#include <algorithm>
#include <cstring>

#include "isa/sass/cta_barrier.h"
#include "isa/sass/program.h"
#include "isa/sass/semantics/tensor/warpgroup.h"
#include "models/gpu/execution/late_copies.h"
#include "sim/numerics/integer.h"

namespace lockstep::gpu {

namespace {

constexpr std::uint32_t kWarpSize = sass::kWarpSize;

}  // namespace

void CtaStorage::prepare(sass::Launch& launch) {
    launch_ = &launch;
    cta_.launch = &launch;
    cta_.extents = {};
    const Shape shape{.threads = static_cast<std::uint32_t>(launch.block.volume()),
                      .rows = launch.rows,
                      .local_bytes = launch.local_bytes,
                      .shared_bytes = launch.shared_bytes};
    if (shape != shape_) {
        shape_ = shape;
        lay_out();
    }
    for (sass::Warp& warp : warps_) warp.bases[1] = const_cast<std::byte*>(launch.literals);
}

void CtaStorage::lay_out() {
    const std::uint32_t warps = (shape_.threads + kWarpSize - 1) / kWarpSize;
    const std::size_t local = shape_.local_bytes / sizeof(std::uint32_t);
    rows_.at_least(std::size_t{warps} * shape_.rows);
    local_.at_least(warps * local);
    // In rows, for wide shared accesses want their alignment.
    const std::size_t shared = (shape_.shared_bytes + sizeof(sass::Row) - 1) / sizeof(sass::Row);
    if (shared_.size() < shared + 1) shared_.resize(shared + 1);
    cta_.shared = reinterpret_cast<std::byte*>(shared_.data());
    warps_.resize(warps);
    cta_.warps.clear();
    for (std::uint32_t w = 0; w < warps; ++w) {
        sass::Warp& warp = warps_[w];
        warp.index = w;
        warp.cta = &cta_;
        const std::uint32_t rest = shape_.threads - w * kWarpSize;
        warp.lanes = rest >= kWarpSize ? sass::kAllLanes : (1u << rest) - 1;
        sass::Row* const rows = rows_.data() + std::size_t{w} * shape_.rows;
        warp.bases[0] = reinterpret_cast<std::byte*>(rows);
        std::memset(rows + sass::kZeroRow, 0, (sass::kSinkRow - sass::kZeroRow) * sizeof *rows);
        warp.local = local == 0 ? nullptr : reinterpret_cast<std::byte*>(local_.data() + w * local);
        warp.has_written_local = true;  // another launch may have
        cta_.warps.push_back(&warp);
    }
}

void CtaStorage::start(std::uint64_t linear_index) {
    const sass::Dim3& grid = launch_->grid;
    cta_.linear_index = linear_index;
    cta_.index = {static_cast<std::uint32_t>(linear_index % grid.x),
                  static_cast<std::uint32_t>(linear_index / grid.x % grid.y),
                  static_cast<std::uint32_t>(linear_index / grid.x / grid.y)};
    cta_.clock_reads = 0;
    cta_.releases = 0;
    cta_.member = nullptr;
    cta_.cluster_rank = 0;
    cta_.free_registers = 0;
    cta_.live_warps = static_cast<std::uint32_t>(warps_.size());
    sass::reset_barriers(cta_);
    std::memset(cta_.shared, 0, numerics::round_up(launch_->shared_bytes, sizeof(std::uint32_t)));
    const std::size_t local_rows = shape_.local_bytes / sizeof(std::uint32_t);
    const sass::Program& program = *launch_->program;
    for (sass::Warp& warp : warps_) {
        auto* rows = reinterpret_cast<sass::Row*>(warp.bases[0]);
        std::memset(rows + sass::kUniformRow, 0, program.uniform_rows() * sizeof(sass::Row));
        std::memset(rows + sass::kProductGroupsRow, 0, sizeof(sass::Row));
        std::memset(rows + sass::kBarrierRow, 0, program.barrier_rows() * sizeof(sass::Row));
        std::memset(rows + sass::kRegisterRow, 0,
                    (launch_->rows - sass::kRegisterRow) * sizeof(sass::Row));
        if (warp.has_written_local && local_rows != 0)
            std::memset(warp.local, 0, local_rows * sizeof(sass::Row));
        warp.has_written_local = false;
        std::fill(std::begin(warp.predicate), std::end(warp.predicate), 0u);
        warp.predicate[sass::kPredicatePT] = warp.predicate[sass::kPredicateUPT] = sass::kAllLanes;
        warp.pc = launch_->entry;
        warp.active = warp.live = warp.lanes;
        warp.budget = 0;
        warp.has_yielded = false;
        warp.yields = 0;
        warp.turns = sass::Warp::kTurns;
        warp.awaited = 0;
        warp.progress = 0;
        warp.barrier_result = 0;
        warp.registers = launch_->registers;
        warp.parked.clear();
    }
}

std::unique_ptr<CtaStorage> CtaPool::take(sass::Launch& launch) {
    std::unique_ptr<CtaStorage> storage;
    if (spare_.empty()) {
        storage = std::make_unique<CtaStorage>();
        storage->perform_copies_by(std::make_unique<LateCopies>());
    } else {
        storage = std::move(spare_.back());
        spare_.pop_back();
    }
    storage->prepare(launch);
    return storage;
}

void CtaPool::give_back(std::unique_ptr<CtaStorage> storage) {
    constexpr std::size_t kKept = 64;
    if (spare_.size() < kKept) spare_.push_back(std::move(storage));
}

}  // namespace lockstep::gpu
