// SPDX-License-Identifier: Apache-2.0
// A quantised graph as steps.
#pragma once

#include <map>
#include <set>
#include <string>

#include "workloads/network/compile/refusal.h"
#include "workloads/network/npu/target.h"
#include "workloads/network/npu/values.h"

namespace lockstep::network::npu_code {

/// Reasons by the index of a node.
using Refused = std::map<std::size_t, std::string>;

struct Lowered {
    std::vector<Step> steps;  ///< in an order in which each comes after those it reads from
    Refused refused;          ///< where there are some, steps mean nothing
};

/// `on_host`: nodes that are tasks of the host; a step each for those that follow each other.
Lowered lower(const Graph& graph, Values& values, const NpuTarget& target,
              const std::set<std::size_t>& on_host);

/// Why a node is not the NPU's.
[[noreturn]] inline void refuse(const std::string& reason) {
    throw compile::Refusal(reason);
}

/// Makes one step of a node or more. Functions throw compile::Refusal.
class Lowering {
  public:
    Lowering(const Graph& graph, Values& values, const NpuTarget& target)
        : graph_(graph), values_(values), target_(target) {}

    /// A product; the nodes after the first that it takes with it are those that it has at the end.
    Step product(const std::vector<std::size_t>& layer);
    /// Any other node: its steps, none where the node is a view.
    std::vector<Step> node(std::size_t index, std::vector<Step>& before);

  private:
    // lower_product.cpp
    Step product_of_weights(const Node& node);
    void set_convolution(Step& step, const Node& node);
    void set_matrix(Step& step, const Node& node);
    void set_sums(Step& step, const Node& node, std::int64_t outputs);
    bool absorb(Step& step, const Node& node, ValueId from);
    bool absorb_pool(Step& step, const Node& node);

    // lower_values.cpp
    Step product_of_values(const Node& node);
    bool read_by_products(ValueId id) const;
    bool place_transposed(const Node& node, std::vector<Step>& before);

    // lower.cpp
    Step begin(std::size_t index, isa::Opcode opcode);
    void identity(Step& step, ValueId from);
    void set_output(Step& step, ValueId id);

    // lower_elements.cpp
    bool absorb_activation(Step& step, const Node& node);
    bool set_combination(Step& step, const Node& node, ValueId first);
    Step activation(std::size_t index);
    Step combination(std::size_t index);

    // lower_windows.cpp
    Step pooling(std::size_t index);
    Step softmax(std::size_t index);
    Step local_response(std::size_t index);

    // lower_movement.cpp
    void see(const Node& node, std::vector<Step>& before);
    bool see_otherwise(const Node& node);
    bool see_slice(const Node& node);
    Step gather(std::size_t index);
    Step resize(std::size_t index);
    Step copy(std::size_t index, const Part& from, ValueId from_value, const Part& to);
    std::vector<Step> concatenation(std::size_t index, std::vector<Step>& before);
    std::vector<Step> padding(std::size_t index);

    const Quantisation& quantisation(ValueId id) const { return *graph_.value(id).quantisation; }
    double scale(ValueId id) const { return double{quantisation(id).scale.at(0)}; }
    std::int32_t zero(ValueId id) const { return quantisation(id).zero_point.at(0); }

    const Graph& graph_;
    Values& values_;
    const NpuTarget& target_;
};

}  // namespace lockstep::network::npu_code
