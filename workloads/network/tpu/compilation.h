// SPDX-License-Identifier: Apache-2.0
// What the lowering of a node works with.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "workloads/network/tpu/placement.h"
#include "workloads/network/tpu/staging.h"
#include "workloads/network/tpu/steps.h"

namespace lockstep::network::lowering {

class Softmax;

struct Compilation {
    /// `host_nodes` run on the host.
    Compilation(const Graph& graph, const TpuTarget& target, std::set<const Node*> host_nodes);

    const Value& value(ValueId id) const { return graph.value(id); }
    const Shape& shape(ValueId id) const { return graph.shape(id); }
    bool has_memory() const { return places.has_memory(); }
    tpu::DataType type_of(ValueId id) const { return places.type_of(id); }
    /// Whether the node's results are scaled by multiplier and shift.
    bool is_fixed_point(const Node& node) const;
    /// Nothing may be placed until staging.close().
    void open_staging() { staging.open(has_memory() ? places.heap().top() : heap_bytes); }

    const Graph& graph;
    const TpuTarget& target;
    const std::uint64_t heap_bytes;  ///< of the unified buffer, for values that stay
    tpu::ProgramBuilder builder;
    Steps steps;
    Placement places;
    Staging staging;
    std::set<const Node*> fused;  ///< nodes that were computed with the one before
    /// Of softmax results that the product that reads them makes itself: in their places are what
    /// they are made of.
    std::map<ValueId, std::shared_ptr<Softmax>> unmade;
    // The array goes round: the next row of accumulators, and the next matrix unit.
    std::uint64_t next_accumulator = 0;
    std::uint32_t next_unit = 0;
};

}  // namespace lockstep::network::lowering
