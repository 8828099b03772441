// SPDX-License-Identifier: Apache-2.0
// Inputs for a network where the user gives none.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// One tensor for each input, the same for every machine and compiler. digits_cnn gets digits.
/// Floating inputs are uniform with mean 0 and variance 1, as images and embeddings are after
/// normalisation; int8 and uint8 uniform over their type; bool true; other integers are indices,
/// uniform below the extent that the network looks up with them (Gather), or 2 where it looks
/// nothing up.
std::vector<Tensor> seeded_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace lockstep::network
