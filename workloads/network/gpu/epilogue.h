// SPDX-License-Identifier: Apache-2.0
// What happens to a product's sums on their way out: bias, residual and activation, as far as their
// operands lie along rows and columns.
#pragma once

#include "workloads/network/gpu/chain.h"
#include "workloads/network/gpu/problem.h"

namespace lockstep::network::gpu {

/// Adds steps to an epilogue as long as their operands fit.
class EpilogueWriter {
  public:
    EpilogueWriter(Lowering& l, Problem& problem, const Shape& shape)
        : l_(l), problem_(problem), epilogue_(problem.p.epilogue), shape_(shape) {}

    /// False, and nothing is added, where they do not.
    bool add(const std::vector<ChainStep>& steps);

  private:
    bool add(const ChainStep& from);
    bool slot(ValueId value, std::optional<std::size_t> axis, std::int8_t& slot);

    Lowering& l_;
    Problem& problem_;
    kernels::Epilogue& epilogue_;
    const Shape& shape_;
    int operands_ = 0;
};

/// Whether the steps are bias, residual and limits, in that order and all in fours; sets which.
bool find_simple(kernels::Epilogue& e, std::int64_t columns);
/// The bias of the product itself.
std::vector<ChainStep> bias_steps(const Node& node);

}  // namespace lockstep::network::gpu
