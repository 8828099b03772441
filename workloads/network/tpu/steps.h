// SPDX-License-Identifier: Apache-2.0
// The steps of a program: each is a layer, and from generation 2 on one or more kernels, which
// begin when the one before is done.
#pragma once

#include <string>
#include <vector>

#include "isa/tpu/builder.h"
#include "workloads/network/tpu/compile.h"

namespace lockstep::network::lowering {

class Steps {
  public:
    /// `has_kernels`: generation 2 and later; `may_prefetch`: what the next one needs.
    Steps(tpu::ProgramBuilder& builder, bool has_kernels, bool may_prefetch)
        : builder_(builder), has_kernels_(has_kernels), may_prefetch_(may_prefetch) {}

    /// With `prefetch`, where kernels may, only what comes after end_prefetch() waits for the
    /// kernel before.
    void begin(const std::string& name, std::int64_t macs = 0, bool prefetch = false);
    /// Another kernel of the step: nothing of it begins before all that came before is done.
    void begin_kernel();
    void end_prefetch();
    bool prefetches() const { return prefetches_; }
    /// Goes back to where a step was.
    void set_prefetches(bool prefetches) { prefetches_ = prefetches; }
    /// The one that was begun last.
    TpuLayer& layer() { return layers_.back(); }
    std::vector<TpuLayer> take() { return std::move(layers_); }

  private:
    void wait_for_all();

    tpu::ProgramBuilder& builder_;
    const bool has_kernels_, may_prefetch_;
    bool prefetches_ = false;  ///< the step has not yet waited for the kernel before
    std::vector<TpuLayer> layers_;
};

}  // namespace lockstep::network::lowering
