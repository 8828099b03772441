// SPDX-License-Identifier: Apache-2.0
// What happens to a product's sums on their way out of the accumulators, and which nodes after it
// are done there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/numerics/requantise.h"
#include "workloads/network/shapes/window.h"
#include "workloads/network/tpu/compilation.h"

namespace lockstep::network::lowering {

/// What comes after the sums.
struct Epilogue {
    ValueId result = kNoValue;
    std::string name;
    tpu::Function function = tpu::Function::kIdentity;
    ValueId addend = kNoValue;
    bool has_bias = false;
    float scale = 1;
    std::vector<float> scales;                     ///< by column, or none
    std::vector<numerics::FixedPointScale> fixed;  ///< instead of both: one, or by column
    numerics::FixedPointPair addition;             ///< then: of the result and of the addend
    std::vector<std::uint32_t> bias;               ///< the bits, by column
    Scaling out;
    std::optional<SlidingWindow> pool;  ///< maxima of the result's lines

    /// Of each column: its bias, its scale, or its multiplier and shift.
    std::int64_t parameter_words() const {
        return (has_bias ? 1 : 0) + (scales.empty() ? 0 : 1) + (fixed.empty() ? 0 : 2);
    }
};

class EpilogueFinder {
  public:
    EpilogueFinder(Compilation& c, const Node& product);
    /// Of the nodes after the product, as many as fit; they are noted as fused.
    Epilogue find();

  private:
    bool fuse(const Node& next);
    bool fuse_residual(const Node& next);
    bool fuse_activation(const Node& next);
    bool fuse_scale(const Node& next);
    bool fuse_pool(const Node& next);
    bool fuse_addition(const Node& next);
    /// Whether a value of the result's shape can be added on the way out.
    bool lies_in_rows(const Place& addend) const;

    Compilation& c_;
    const Node& node_;
    const bool integer_;
    Epilogue epilogue_;
};

/// What a Mul or Div by a constant multiplies `value` by; nothing where the node is none that keeps
/// its shape.
std::optional<float> factor_of(const Graph& graph, const Node& node, ValueId value);

/// The elements of a product's result, or of an addend, in its order as one matrix; nothing where
/// they do not lie so.
std::optional<Matrix> rows_of(const Node& product, const Place& place);

}  // namespace lockstep::network::lowering
