// SPDX-License-Identifier: Apache-2.0
// From an FP32 network to what a TPU computes, and the check of what it computed.
#pragma once

#include <optional>

#include "workloads/network/compile/verify.h"

namespace lockstep::network {

struct TpuNetwork : compile::Prepared {  ///< int8 or int16 (generation 1), fp32 or bf16
    int generation = 1;
};

/// Simplifies the network, unrolls LSTMs, folds biases, then quantises it (calibrated on the seeded
/// inputs; a model that is quantised already keeps its scales) or, for later generations, leaves
/// its tensors in fp32, as frameworks do unless told otherwise, or casts them to bf16 (`dtype`).
/// InputError where `dtype` is not one of the generation's
/// (1: int8, or int16: activations, weights stay int8).
TpuNetwork prepare_for_tpu(Graph graph, int generation, std::optional<ElementType> dtype,
                           std::uint64_t seed, bool with_values);

using TpuCheck = compile::Check;

/// Generation 1: outputs must equal the reference (Requantisation::kVectorUnit, or kFixedPoint
/// where the target is). Later, they must be as near to FP64 as bf16 operands allow.
std::vector<TpuCheck> verify_tpu(const TpuNetwork& network, const std::vector<Tensor>& results,
                                 bool fixed_point = false);

}  // namespace lockstep::network
