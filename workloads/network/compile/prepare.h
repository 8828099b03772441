// SPDX-License-Identifier: Apache-2.0
// A network as a machine computes it, with inputs: what all machines do on the way there.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/quantise/quantise.h"

namespace lockstep::network::compile {

struct Prepared {
    Graph graph;                 ///< in the machine's types
    std::vector<Tensor> inputs;  ///< as graph.inputs; none where there are no values
    /// What the network gave in FP32 before it was quantised, as graph.outputs; empty where it was
    /// not.
    std::vector<std::vector<float>> real_outputs;
};

/// InputError listing the values that have no elements: there is nothing to compute with them.
void refuse_empty_values(const Graph& graph);

/// A network in integers, calibrated on its seeded inputs, for which `graph` was simplified and
/// legalised; or, of a model that is quantised already, with its own scales. `options` are how the
/// machine wants it.
Prepared prepare_integers(const Graph& graph, const QuantiseOptions& options, std::uint64_t seed,
                          bool with_values);
/// The same with samples to calibrate on and inputs that are given; none where there are no values.
Prepared prepare_integers(const Graph& graph, const QuantiseOptions& options,
                          const std::vector<std::vector<Tensor>>& samples,
                          const std::vector<Tensor>& inputs);
/// A network in the types that it has, with seeded inputs.
Prepared prepare_floats(Graph graph, std::uint64_t seed, bool with_values);

}  // namespace lockstep::network::compile
