// SPDX-License-Identifier: Apache-2.0
// The table of built-in networks. Their shapes are those of torchvision (AlexNet, ResNet,
// MobileNetV2) and of the published BERT-base (uncased) and GPT-2 small, and the tests hold their
// parameter counts to the published ones. Weights are random: the results mean nothing.
#include "workloads/network/builtin/builtin.h"

#include "sim/error/error.h"
#include "workloads/network/builtin/families.h"

#include <fmt/ranges.h>

namespace lockstep::network {

const std::vector<BuiltinNetwork>& builtin_networks() {
    static const std::vector<BuiltinNetwork> networks = {
        {"alexnet", "AlexNet (torchvision), 224x224", {{"batch", 1}}, builtin::alexnet},
        {"bert_base",
         "BERT-base uncased with its pooler",
         {{"batch", 1}, {"seq", 128}},
         builtin::bert_base},
        {"gpt2_small",
         "GPT-2 small with its language-model head",
         {{"batch", 1}, {"seq", 128}},
         builtin::gpt2_small},
        {"lstm",
         "stacked LSTM layers over a sequence",
         {{"batch", 1}, {"seq", 32}, {"input", 256}, {"hidden", 512}, {"layers", 2}},
         builtin::lstm},
        {"mlp",
         "784-512-512-10 perceptron with ReLU",
         {{"batch", 1}, {"input", 784}, {"hidden", 512}, {"layers", 2}, {"classes", 10}},
         builtin::mlp},
        {"mobilenet_v2",
         "MobileNetV2 1.0 (torchvision), 224x224",
         {{"batch", 1}},
         builtin::mobilenet_v2},
        {"resnet18", "ResNet-18 (torchvision), 224x224", {{"batch", 1}}, builtin::resnet18},
        {"resnet50", "ResNet-50 v1.5 (torchvision), 224x224", {{"batch", 1}}, builtin::resnet50},
    };
    return networks;
}

Graph build_network(std::string_view name, const BuiltinOptions& options) {
    std::vector<std::string_view> names;
    for (const BuiltinNetwork& network : builtin_networks()) {
        names.push_back(network.name);
        if (network.name != name) continue;
        builtin::Parameters parameters;
        std::vector<std::string_view> known;
        for (const auto& [key, otherwise] : network.parameters) {
            parameters.emplace(key, otherwise);
            known.push_back(key);
        }
        for (const auto& [key, value] : options.parameters) {
            if (!parameters.contains(key))
                throw InputError(fmt::format("{} has no parameter {} (it has {})", name, key,
                                             fmt::join(known, ", ")));
            if (value < 1 || value > 65536)
                throw InputError(fmt::format("{}: {}={} is not in 1 to 65536", name, key, value));
            parameters[key] = value;
        }
        return network.build(parameters, options.seed, options.with_values);
    }
    throw InputError(
        fmt::format("no built-in network {} (there are {})", name, fmt::join(names, ", ")));
}

}  // namespace lockstep::network
