// SPDX-License-Identifier: Apache-2.0
// An SM as the distributor of CTAs sees it.
#pragma once

#include <cstdint>

#include "isa/sass/cluster.h"
#include "models/gpu/sm/kernel_run.h"
#include "sim/engine/time.h"

namespace lockstep::gpu {

class CtaHost {
  public:
    virtual ~CtaHost() = default;
    /// Whether a CTA of the kernel may be started now, beside those that are here.
    virtual bool fits(const KernelRun& run) const = 0;
    /// How many may, at least.
    virtual std::uint32_t room(const KernelRun& run) const = 0;
    /// Warps of CTAs that are here or announced.
    virtual std::uint32_t load() const = 0;
    /// A CTA that fits is to start at a cycle, as a member of a cluster where there is one. From
    /// outside of windows only; wakes the SM.
    virtual void start_cta(const KernelRun& run, std::uint64_t linear_index, engine::Cycle at,
                           sass::ClusterMember* member) = 0;
};

}  // namespace lockstep::gpu
