// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda/train/weights.h"

#include <cmath>

#include "sim/numerics/random.h"

namespace lockstep::cuda {

std::vector<Weights> initial_weights(NetworkKind kind, std::uint64_t seed) {
    struct Layer {
        const char* name;
        int inputs, outputs;
    };
    const std::vector<Layer> layers =
        kind == NetworkKind::kMlp
            ? std::vector<Layer>{{"linear1", kPixels, kHidden}, {"linear2", kHidden, kClasses}}
            : std::vector<Layer>{
                  {"conv1", kConv1Window * kConv1Window, kConv1Filters},
                  {"conv2", kConv1Filters * kConv2Window * kConv2Window, kConv2Filters},
                  {"linear", kFeatures, kClasses}};
    numerics::Random random(seed);
    std::vector<Weights> weights;
    for (const Layer& layer : layers) {
        const float bound = std::sqrt(6.0f / static_cast<float>(layer.inputs));
        Weights weight{std::string(layer.name) + ".weight", {}};
        for (int i = 0; i < layer.inputs * layer.outputs; ++i) {
            weight.values.push_back(random.uniform(-bound, bound));
        }
        weights.push_back(std::move(weight));
        weights.push_back({std::string(layer.name) + ".bias", std::vector<float>(layer.outputs)});
    }
    return weights;
}

}  // namespace lockstep::cuda
