// SPDX-License-Identifier: Apache-2.0
// Operators taken apart into simpler ones, for machines that have no instruction for the whole.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// Unrolls each LSTM over its steps: one Gemm of all inputs with W, and for each step a Gemm of the
/// state with R, an Add, four gates and the new state, named "NODE.t3.gates" and so on. An initial
/// state that is left out or constant zero is not computed with. Shapes must be inferred, and are
/// afterwards. Gives the number of LSTM nodes that were there.
int expand_lstm(Graph& graph);

/// Each LRN as squares, a convolution, a power and a quotient, named "NODE.squares" and so on, but
/// for those of stored integers. Shapes must be inferred, and are afterwards. InputError for more
/// than 2048 channels.
int expand_local_response(Graph& graph);

}  // namespace lockstep::network
