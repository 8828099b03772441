// SPDX-License-Identifier: Apache-2.0
// A network that can be trained: its weights are inputs, and normalisation is by the batch.
#pragma once

#include <string>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/train/dropout.h"

namespace lockstep::network {

/// What training changes: a weight, or a running statistic.
struct Variable {
    std::string name;
    ValueId value = kNoValue;    ///< of the graph, one of its inputs
    ValueId updated = kNoValue;  ///< of a statistic: what it becomes in this step
    Tensor initial;              ///< empty where the network was built for its shapes alone
};

struct Trainable {
    /// Inputs: the network's, then the variables', then the masks. The first output is the
    /// network's first, before a softmax that ends it.
    Graph graph;
    std::size_t network_inputs = 0;
    std::vector<Variable> weights, statistics;
    std::vector<DropoutMask> masks;  ///< of training
};

/// How normalisation and dropout are computed.
enum class Phase {
    kTraining,   ///< by the batch's mean and variance, which also move the running ones; by masks
    kInference,  ///< by the running ones; nothing is dropped
};

/// The graph of a phase; both phases have the same variables in the same order. Composite operators
/// and LSTMs are taken apart, constants folded. InputError where the network has no floating weight
/// or output, or a Dropout that write_dropout refuses.
Trainable make_trainable(const Graph& network, Phase phase);

/// Puts weights as training begins in the place of the network's: of a product uniform in
/// +-sqrt(6 / inputs of a neuron) (He et al., arXiv 1502.01852), of a recurrent layer in
/// +-1 / sqrt(hidden), of an embedding in +-0.05; scales are 1, biases 0. The same for every
/// machine.
void initialise_weights(Graph& network, std::uint64_t seed);

}  // namespace lockstep::network
