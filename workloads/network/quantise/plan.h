// SPDX-License-Identifier: Apache-2.0
// Which nodes of a network run in integers, and the scale of each value there.
#pragma once

#include "workloads/network/graph/given.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/quantise/quantise.h"

namespace lockstep::network {

class IntegerPlan {
  public:
    /// `given`: scales by value, or empty: then they follow from `ranges`. All must outlive it.
    IntegerPlan(const Graph& graph, const Ranges& ranges, const Scales& given,
                const QuantiseOptions& options);

    /// The nodes in the order in which they can be computed.
    const std::vector<std::size_t>& order() const { return order_; }
    bool in_integers(std::size_t node) const { return in_integers_[node]; }
    bool computed_in_integers(ValueId id) const { return computed_in_integers_[id]; }
    bool is_result(ValueId id) const { return uses_.is_result(id); }  ///< of the network
    /// Whether all that read a value, and there are some, do so in integers.
    bool read_in_integers(ValueId id) const;
    /// The scales were given, not found.
    bool is_trained() const { return trained_; }
    bool has_scale(ValueId id) const { return scales_[id].has_value(); }
    /// Of a value in its integer form.
    const Quantisation& scale(ValueId id);

  private:
    bool comes_in(ValueId id) const;
    bool is_integer_constant(ValueId id) const;
    bool pads_with_zero(const Node& node) const;
    bool is_integer_product(const Node& node) const;
    bool has_scales(const Node& node);
    std::optional<ValueId> clipped(ValueId id) const;
    std::optional<Quantisation> scale_of_clip(ValueId id) const;
    Quantisation scale_of_range(ValueId id) const;
    bool begins_at_bytes(const Node& node) const;
    void count_bits();
    void take(std::size_t node);
    void choose(std::size_t node);
    void move_before_products(std::size_t node);
    void set_scale(const Node& node);

    const Graph& graph_;
    const Ranges& ranges_;
    const QuantiseOptions& options_;
    bool trained_;
    std::vector<std::size_t> order_;
    std::vector<bool> in_integers_, computed_in_integers_;
    Scales scales_;
    std::vector<int> bits_;  ///< of each value in its integer form
    const Uses uses_;
};

}  // namespace lockstep::network
