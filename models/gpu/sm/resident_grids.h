// SPDX-License-Identifier: Apache-2.0
// The kernels that have CTAs on an SM, and what those take of it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/kernel_run.h"

namespace lockstep::gpu {

class ResidentGrids {
  public:
    ResidentGrids(const SmParameters& parameters, const SmCounters& counters)
        : parameters_(parameters), counters_(counters) {}

    /// All kernels have ended.
    void clear() {
        is_shared_ = false;
        grids_.clear();
    }
    /// The first of them comes here; lines of code and constants are numbered from its own.
    void number_from(const KernelRun& run) {
        code_base_ = run.code_address;
        constant_base_ = run.constant_address;
    }
    /// From now on what instructions each kernel executes is counted apart.
    void share();
    bool is_shared() const { return is_shared_; }

    /// What has been counted of a kernel; nullptr: it was not here. Until forgotten.
    const ResidentGrid* find(const KernelRun& run) const;
    ResidentGrid& find_or_add(const KernelRun& run);
    /// The kernel has ended.
    void forget(const KernelRun& run);

    /// No other kernel has been here since the chip was idle, but for forgotten ones.
    bool is_alone(const KernelRun& run) const;
    /// CTAs of others are here or announced.
    bool has_others(const KernelRun& run) const;
    /// Its CTAs that are here or announced.
    std::uint32_t ctas(const KernelRun& run) const {
        const ResidentGrid* const grid = find(run);
        return grid == nullptr ? 0 : grid->ctas;
    }
    /// Of all CTAs that are here or announced.
    std::uint32_t ctas() const;
    std::uint32_t warps() const;
    std::uint32_t registers() const;
    std::uint64_t shared_bytes() const;

  private:
    const SmParameters& parameters_;
    const SmCounters& counters_;
    std::vector<std::unique_ptr<ResidentGrid>> grids_;  // those that CTAs point to do not move
    bool is_shared_ = false;
    std::uint64_t code_base_ = 0, constant_base_ = 0;
};

}  // namespace lockstep::gpu
