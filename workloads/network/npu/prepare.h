// SPDX-License-Identifier: Apache-2.0
// A network as an NPU computes it: in integers of 8, 4 or 2 bits.
#pragma once

#include "workloads/network/compile/prepare.h"
#include "workloads/network/npu/target.h"

namespace lockstep::network {

struct NpuPrecision {
    LayerBits bits;                                  ///< of all products
    std::map<std::string, LayerBits> bits_of_layer;  ///< of some, by the node's name
    bool per_channel = true;  ///< a scale for each output channel of a weight
};

/// The network simplified and with rules applied for what NPUs lack; still in floats where it was.
Graph legalise_for_npu(Graph graph);

/// Quantised, calibrated on seeded inputs, digits_cnn on images that it was trained on (or with the
/// model's own scales). InputError where it has floats that cannot be.
compile::Prepared prepare_for_npu(const Graph& legal, const NpuPrecision& precision,
                                  std::uint64_t seed, bool with_values);
QuantiseOptions npu_options(const NpuPrecision& precision);

}  // namespace lockstep::network
