// SPDX-License-Identifier: Apache-2.0
// Values that a program gives a network and takes from it, in place of seeded ones.
#pragma once

#include <vector>

#include "workloads/network/compile/prepare.h"
#include "workloads/run/job.h"

namespace lockstep::run {

struct NetworkValues {
    std::vector<network::Tensor> inputs;  ///< as the network's; none: seeded ones
    std::vector<network::Tensor> outputs;
    std::vector<std::string> names;  ///< of the outputs
};

/// Puts the job's inputs in place of the seeded ones. Throws InputError where they do not fit, or
/// where --verify would compare with what seeded ones gave.
void put_inputs(const Job& job, network::compile::Prepared& network);

/// Leaves what the network gave with the job, integers with a scale as real numbers.
void take_outputs(const Job& job, const network::Graph& graph,
                  const std::vector<network::Tensor>& results);

}  // namespace lockstep::run
