// SPDX-License-Identifier: Apache-2.0
// One step of training as an ordinary graph: forward, loss, backward, update.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/train/optimiser.h"
#include "workloads/network/train/trainable.h"

namespace lockstep::network {

enum class Loss : std::uint8_t {
    /// Of logits along the last dimension and targets that add up to 1 along it (one-hot labels),
    /// the mean over all rows.
    kCrossEntropy,
    kMeanSquare,  ///< of the output's and the target's difference, the mean over all elements
};

struct StepOptions {
    Loss loss = Loss::kCrossEntropy;
    Optimiser optimiser = {};
    /// The type of products: fp32, or mixed precision in bf16 or fp16 (mixed.h). Weights, losses
    /// and updates are fp32.
    ElementType compute = ElementType::kFp32;
    /// The loss is multiplied by an input before gradients are taken, and they are divided by it;
    /// where one of them is not finite nothing is updated, and the step says so.
    bool scales_loss = false;
    /// Forward values are kept at the borders of so many segments and computed again between them
    /// (recompute.h); 0: all are kept.
    int segments = 0;
};

/// Where a variable (weight, statistic, state of the optimiser) goes in and comes out.
struct StepVariable {
    std::string name;
    std::size_t input = 0, output = 0;  ///< positions in graph.inputs and graph.outputs
    Tensor initial;
};

struct TrainingStep {
    /// Inputs: the network's, the target, the scalars, the masks, the variables. Outputs: the loss,
    /// of shape [1]; whether the gradients are finite (1 or 0, [1]) where the loss is scaled; the
    /// variables.
    Graph graph;
    std::size_t network_inputs = 0;
    std::size_t target = 0;  ///< position of the target: fp32, of the shape of the network's output
    std::vector<std::pair<Scalar, std::size_t>> scalars;
    std::vector<std::pair<DropoutMask, std::size_t>> masks;
    std::optional<std::size_t> finite;  ///< its position among the outputs
    /// Weights, then statistics, in the order of Trainable, then the states of the weights.
    std::vector<StepVariable> variables;
};

/// `network` as make_trainable(..., kTraining) gives it. InputError where a node on the way from a
/// weight to the loss has no gradient, or a weight does not move the loss.
TrainingStep training_step(const Trainable& network, const StepOptions& options);

}  // namespace lockstep::network
