// SPDX-License-Identifier: Apache-2.0
// Runs of nodes that generation 1 lacks, as tasks of its host.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workloads/network/tpu/compilation.h"

namespace lockstep::network::lowering {

/// Nodes by their index, and what was found to keep the chip from computing them.
using Refused = std::map<std::size_t, std::string>;

class HostTasks {
  public:
    HostTasks(Compilation& c, const Refused& refused)
        : c_(c), refused_(refused), has_(c.graph.values.size()) {}

    /// The nodes as one task of the host, with what it needs and gives.
    void add(const std::vector<std::size_t>& nodes);
    /// Outputs of the network that are on the host.
    const std::map<ValueId, TpuPort>& outputs() const { return outputs_; }
    std::vector<compile::HostTask> take() { return std::move(tasks_); }

  private:
    /// Where the host finds a value that the chip has.
    TpuPort bring(ValueId id);
    /// What a task gives: a place in host memory.
    Place make_result(ValueId id, bool images, compile::HostTask& task);

    Compilation& c_;
    const Refused& refused_;
    std::vector<bool> has_;  ///< the value, in any form
    std::map<ValueId, TpuPort> outputs_;
    std::vector<compile::HostTask> tasks_;
};

}  // namespace lockstep::network::lowering
