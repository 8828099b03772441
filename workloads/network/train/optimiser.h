// SPDX-License-Identifier: Apache-2.0
// Optimisers as pieces of a graph, and the numbers that change from step to step, which the host
// gives as inputs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/network/decompose/node_writer.h"

namespace lockstep::network {

struct Optimiser {
    enum class Kind : std::uint8_t { kSgd, kAdamW };
    Kind kind = Kind::kSgd;
    double momentum = 0.9;  ///< SGD; 0: none, and no state
    bool nesterov = false;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< AdamW
    double weight_decay = 0;  ///< SGD: added to the gradient; AdamW: decoupled
    double clip_norm = 0;     ///< of all gradients together; 0: they are not clipped
};

/// A number of a step. Each is an input of shape [1].
enum class Scalar : std::uint8_t {
    kRate,            ///< the learning rate; of AdamW over 1 - beta1^t
    kDecay,           ///< AdamW: 1 - rate * weight decay
    kRootCorrection,  ///< AdamW: 1 / sqrt(1 - beta2^t)
    kLossScale,
    kInverseLossScale,
};
std::string_view name_of(Scalar scalar);
/// Those that the optimiser reads.
std::vector<Scalar> scalars_of(const Optimiser& optimiser);
/// Of step `step`, from 1, at this learning rate. Of the loss scale: 1.
double value_of(Scalar scalar, const Optimiser& optimiser, double rate, std::uint64_t step);

/// The state of one weight, each of its shape and zero at first: "momentum"; "mean", "square".
std::vector<std::string_view> states_of(const Optimiser& optimiser);

/// Writes the new weight and, into `state`, the new state. `scalars` as scalars_of().
/// SGD: v = m v + g, w - rate v (Nesterov: w - rate (g + m v)), as PyTorch. AdamW: Loshchilov and
/// Hutter, arXiv 1711.05101, algorithm 2, bias correction by the scalars.
ValueId write_update(NodeWriter& w, const Optimiser& optimiser, const std::string& name,
                     ValueId weight, ValueId gradient, std::vector<ValueId>& state,
                     const std::vector<ValueId>& scalars);

/// min(1, clip_norm / (norm of all gradients + 1e-6)), shape [1] (PyTorch's clip_grad_norm_).
ValueId write_clip_factor(NodeWriter& w, const std::vector<ValueId>& gradients, double clip_norm);

}  // namespace lockstep::network
