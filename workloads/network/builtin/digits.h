// SPDX-License-Identifier: Apache-2.0
// Images for the built-in networks that were trained: drawn digits with their labels.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

struct LabelledImages {
    Tensor images;  ///< [n, 1, 28, 28], 0 to 1
    std::vector<int> labels;
};

/// Whether a graph is a trained network of digits.
bool is_digits_network(const Graph& graph);

/// The first of those that it was trained on; in batches, at least one.
LabelledImages digits_to_calibrate(int count);
std::vector<LabelledImages> digits_to_calibrate(int count, int batch);
/// Others; of seed 0, those that the trainer tests with.
LabelledImages digits_to_test(int count, std::uint64_t seed);

}  // namespace lockstep::network
