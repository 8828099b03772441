// SPDX-License-Identifier: Apache-2.0
// From an FP32 network to what a TPU computes, and the check of what it computed.
#pragma once

#include "workloads/network/graph.h"

#include <optional>
#include <string>

namespace lockstep::network {

struct TpuNetwork {
    Graph graph;                 ///< int8 or int16 (generation 1), fp32 or bf16
    std::vector<Tensor> inputs;  ///< as graph.inputs; none where there are no values
    int generation = 1;
    /// What the network gave in FP32 before it was quantised, as graph.outputs; empty where it was
    /// not.
    std::vector<std::vector<float>> real_outputs;
};

/// Simplifies the network, unrolls LSTMs, folds biases, then quantises it (calibrated on the seeded
/// inputs; a model that is quantised already keeps its scales) or, for later generations, leaves
/// its tensors in fp32, as frameworks do unless told otherwise, or casts them to bf16 (`dtype`).
/// InputError where `dtype` is not one of the generation's
/// (1: int8, or int16: activations, weights stay int8).
TpuNetwork prepare_for_tpu(Graph graph, int generation, std::optional<ElementType> dtype,
                           uint64_t seed, bool with_values);

/// Of one output.
struct TpuCheck {
    std::string output;
    bool passed = false;
    std::string message;  ///< what was compared, or where it is wrong
};

/// Generation 1: outputs must equal the reference, which computes integers exactly
/// (Requantisation::kVectorUnit, or kFixedPoint where the target is) and floats in FP32, as the
/// host does. Later, they are compared with FP64 on the same weights and inputs: their error, root
/// mean square and largest, may be at most twice and four times that of the reference executor that
/// rounds where the chip does (the operands of products to bf16; tensors of bf16 each), plus a step
/// of their type.
std::vector<TpuCheck> verify_tpu(const TpuNetwork& network, const std::vector<Tensor>& results,
                                 bool fixed_point = false);

}  // namespace lockstep::network
