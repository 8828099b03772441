// SPDX-License-Identifier: Apache-2.0
// The two networks that are trained on digits, and the parameters they begin with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cuda {

enum class NetworkKind {
    kMlp,  ///< 784 - 128 - ReLU - 10
    kCnn,  ///< conv 5x5/2, 8 - ReLU - max pool 2x2 - conv 3x3, 16 - ReLU - 784 to 10
};

inline constexpr int kImageSide = 28, kPixels = kImageSide * kImageSide, kClasses = 10;
inline constexpr int kHidden = 128;
// The CNN: 28x28 -> conv1 -> 8 of 14x14 -> pool -> 8 of 7x7 -> conv2 -> 16 of 7x7.
inline constexpr int kConv1Filters = 8, kConv1Window = 5, kConv1Stride = 2, kConv1Pad = 2;
inline constexpr int kConv1Side = 14, kPooledSide = 7;
inline constexpr int kConv2Filters = 16, kConv2Window = 3, kConv2Stride = 1, kConv2Pad = 1;
inline constexpr int kFeatures = kConv2Filters * kPooledSide * kPooledSide;

struct Weights {
    std::string name;
    std::vector<float> values;  ///< linear: [inputs][outputs]; convolution: [k][c][r][s]
};

struct TrainOptions {
    int epochs = 3;
    int batch = 50;
    float rate = 0.05f;
    float momentum = 0.9f;
    std::uint64_t seed = 1;
};

/// Uniform in +-sqrt(6 / inputs of a neuron) (He et al., arXiv 1502.01852); biases zero.
std::vector<Weights> initial_weights(NetworkKind kind, std::uint64_t seed);

}  // namespace lockstep::cuda
