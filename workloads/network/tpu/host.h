// SPDX-License-Identifier: Apache-2.0
// What a board's host computes: the nodes of a network that the chip lacks.
#pragma once

#include "isa/tpu/semantics/storage.h"
#include "workloads/network/tpu/compile.h"

namespace lockstep::network {

/// How much a node is to a processor with vector units.
struct NodeCost {
    uint64_t operations = 0;
    uint64_t bytes = 0;  ///< of its operands and results
};
NodeCost cost_of(const Graph& graph, const Node& node);

/// Does the host tasks of a compiled network, in their order, with the reference executor: values
/// that the chip needs or made are in the program's buffers, all others in the host's own memory.
/// For one run of the program; the graph is the one that was compiled, with values.
class HostDriver {
  public:
    HostDriver(const Graph& graph, const TpuCompiled& compiled, tpu::Storage& storage);
    /// Other numbers than those of tasks mean nothing to it. InputError where a node cannot be
    /// computed.
    void operator()(uint32_t task);

  private:
    const TpuCompiled& compiled_;
    tpu::Storage& storage_;
    Graph part_;  ///< the graph with the nodes of one task
    const std::vector<Node>& nodes_;
    std::vector<std::shared_ptr<const Tensor>> values_;
    std::vector<uint32_t> last_task_;  ///< that reads a value
};

}  // namespace lockstep::network
