// SPDX-License-Identifier: Apache-2.0
// The same training on the host, with Eigen in double precision, to check a device's weights by.
#pragma once

#include <string>
#include <vector>

#include "workloads/cuda/digits/digits.h"
#include "workloads/cuda/train/weights.h"

namespace lockstep::cuda {

struct ReferenceTraining {
    std::vector<double> losses;  ///< by epoch
    std::vector<std::vector<double>> weights;
};

/// The same images in the same batches from the same initial weights, in double.
ReferenceTraining reference_train(NetworkKind kind, const Digits& digits,
                                  const TrainOptions& options);

struct WeightComparison {
    std::string name;
    double error = 0;  ///< |device - reference| / |reference - initial|, Euclidean norms
    bool passed = false;
};

/// Rounding makes a trained network drift from its double: every gradient is off by about 1e-6 of
/// itself, and where a ReLU or a maximum falls the other way, a whole term of it is. Measured over
/// six seeds: 2e-7 to 2e-6 of the way that the weights have gone in training, and 6e-5 in the one
/// where a maximum fell the other way. A momentum of 0.89 for 0.9 shows as 2e-2 and more.
inline constexpr double kWeightTolerance = 1e-3;

std::vector<WeightComparison> compare_weights(NetworkKind kind, std::uint64_t seed,
                                              const std::vector<Weights>& device,
                                              const ReferenceTraining& reference);

}  // namespace lockstep::cuda
