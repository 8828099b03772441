// SPDX-License-Identifier: Apache-2.0
// What a board's host computes: the nodes of a network that the chip lacks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "workloads/network/compile/port.h"
#include "workloads/network/reference/quantised.h"

namespace lockstep::network::compile {

/// Does the host tasks of a compiled network, in their order, with the reference executor: values
/// that the chip needs or made are in the program's buffers, all others in the host's own memory.
/// For one run of the program; the graph is the one that was compiled, with values.
class HostDriver {
  public:
    /// The bytes of a buffer of the program.
    using Contents = std::function<std::span<std::uint8_t>(std::uint32_t buffer)>;
    /// `graph` and `tasks` must outlive it. Integers are scaled as the chip scales them.
    HostDriver(const Graph& graph, const std::vector<HostTask>& tasks,
               Requantisation requantisation, Contents contents);
    /// Other numbers than those of tasks mean nothing to it. InputError where a node cannot be
    /// computed.
    void operator()(std::uint32_t task);

  private:
    const std::vector<HostTask>& tasks_;
    Requantisation requantisation_;
    Contents contents_;
    Graph part_;  ///< the graph with the nodes of one task
    const std::vector<Node>& nodes_;
    std::vector<std::shared_ptr<const Tensor>> values_;
    std::vector<std::uint32_t> last_task_;  ///< that reads a value
};

}  // namespace lockstep::network::compile
