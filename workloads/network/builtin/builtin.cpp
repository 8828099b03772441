// SPDX-License-Identifier: Apache-2.0
// The table of built-in networks. Their shapes are those of torchvision (AlexNet, ResNet,
// MobileNetV2) and of the published BERT-base (uncased) and GPT-2 small, and the tests hold their
// parameter counts to the published ones. Weights are random, and the results mean nothing, but for
// those of digits_cnn, which was trained.
#include "workloads/network/builtin/builtin.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "sim/config/key_values.h"
#include "sim/config/nearest.h"
#include "sim/error/error.h"
#include "workloads/network/builtin/families.h"

namespace lockstep::network {

const std::vector<BuiltinNetwork>& builtin_networks() {
    static const std::vector<BuiltinNetwork> networks = {
        {"add",
         "x + y, or a chain of such sums",
         {{"rows", 1024}, {"cols", 1024}, {"steps", 1}},
         builtin::add},
        {"alexnet",
         "AlexNet (torchvision), 224x224; dropout=50: percent, before its first two linear layers, "
         "in "
         "training",
         {{"batch", 1}, {"dropout", 0, 0, 99}},
         builtin::alexnet},
        {"alexnet_2012",
         "AlexNet (Caffe: two groups, 227x227); lrn=0: without its normalisations",
         {{"batch", 1}, {"lrn", 1, 0}},
         builtin::alexnet_2012},
        {"attention",
         "softmax(q k' / sqrt(d)) v; kv_heads=8: so many heads of keys and values, which heads "
         "share (0: each has its own); queries=1: the last of the sequence alone, as in decoding "
         "(0: all); causal=1: a query sees no later keys; block=512: on TPUs from v2 on by one "
         "fused kernel, so many queries and keys at a time, where else several kernels pass the "
         "scores through memory; page=16: which loads keys and values by pages of so many",
         {{"batch", 1},
          {"heads", 12},
          {"kv_heads", 0, 0},
          {"seq", 128},
          {"queries", 0, 0},
          {"d", 64},
          {"axis", -1, -2},
          {"causal", 0, 0, 1},
          {"block", 0, 0, 1 << 16},
          {"page", 0, 0, 1 << 16}},
         builtin::attention},
        {"bert_base",
         "BERT-base uncased with its pooler; block: as of attention",
         {{"batch", 1}, {"seq", 128}, {"block", 0, 0, 1 << 16}},
         builtin::bert_base},
        {"bert_block",
         "one encoder layer of BERT; block: as of attention",
         {{"batch", 1},
          {"hidden", 768},
          {"heads", 12},
          {"seq", 128},
          {"relu", 0, 0},
          {"axis", -1, -2},
          {"block", 0, 0, 1 << 16}},
         builtin::bert_block},
        {"char_transformer",
         "two layers of a decoder over characters, untrained: for run --train; dropout=10: percent",
         {{"batch", 8},
          {"seq", 32},
          {"hidden", 64},
          {"heads", 4},
          {"layers", 2},
          {"vocabulary", 64},
          {"dropout", 0, 0, 99}},
         builtin::char_transformer},
        {"cnn0", "CNN0 of the TPU paper's Table 1", {{"batch", 8}}, builtin::cnn0},
        {"cnn1", "CNN1 of the TPU paper's Table 1", {{"batch", 32}}, builtin::cnn1},
        {"conv2d",
         "convolution of [n,c,h,w] with k filters of r by s",
         {{"n", 1},
          {"h", 56},
          {"w", 56},
          {"c", 64},
          {"k", 64},
          {"r", 3},
          {"s", 3},
          {"stride", 1},
          {"pad", 1, 0}},
         builtin::conv2d},
        {"digits_cnn",
         "the CNN of lockstep demo, trained on drawn digits, on images that it has not seen",
         {{"batch", 1}},
         builtin::digits_cnn},
        {"digits_mlp",
         "784-128-10 perceptron of digits, untrained: for run --train; dropout=20: percent",
         {{"batch", 1}, {"hidden", 128}, {"dropout", 0, 0, 99}},
         builtin::digits_mlp},
        {"exp",
         "e^x, or a chain of it; decays=1: e^-|x|",
         {{"rows", 1024}, {"cols", 1024}, {"decays", 0, 0, 1}, {"steps", 1}},
         builtin::exponential},
        {"gemm",
         "[m,k] times a weight of [k,n]; steps=8: so many, each of x and the row means of the last",
         {{"m", 512}, {"n", 512}, {"k", 512}, {"steps", 1}},
         builtin::gemm},
        {"gpt2_small",
         "GPT-2 small with its language-model head; block: as of attention",
         {{"batch", 1}, {"seq", 128}, {"block", 0, 0, 1 << 16}},
         builtin::gpt2_small},
        {"layernorm",
         "layer normalisation of each row",
         {{"rows", 512}, {"cols", 768}},
         builtin::layernorm},
        {"lstm",
         "stacked LSTM layers over a sequence",
         {{"batch", 1}, {"seq", 32}, {"input", 256}, {"hidden", 512}, {"layers", 2}},
         builtin::lstm},
        {"lstm0", "LSTM0 of the TPU paper's Table 1", {{"batch", 64}}, builtin::lstm0},
        {"lstm1", "LSTM1 of the TPU paper's Table 1", {{"batch", 96}}, builtin::lstm1},
        {"mlp",
         "784-512-512-10 perceptron with ReLU",
         {{"batch", 1}, {"input", 784}, {"hidden", 512}, {"layers", 2}, {"classes", 10}},
         builtin::mlp},
        {"mlp0", "MLP0 of the TPU paper's Table 1", {{"batch", 200}}, builtin::mlp0},
        {"mlp1", "MLP1 of the TPU paper's Table 1", {{"batch", 168}}, builtin::mlp1},
        {"mobilenet_v2",
         "MobileNetV2 1.0 (torchvision), 224x224",
         {{"batch", 1}},
         builtin::mobilenet_v2},
        {"resnet18", "ResNet-18 (torchvision), 224x224", {{"batch", 1}}, builtin::resnet18},
        {"resnet50",
         "ResNet-50 v1.5 (torchvision), 224x224; v1=1: stride in the first 1x1 (Caffe's)",
         {{"batch", 1}, {"v1", 0, 0}},
         builtin::resnet50},
        {"row_sums", "sum of each row", {{"rows", 1024}, {"cols", 1024}}, builtin::row_sums},
        {"scale", "x times a number", {{"rows", 1024}, {"cols", 1024}}, builtin::scale},
        {"softmax", "softmax of each row", {{"rows", 512}, {"cols", 512}}, builtin::softmax},
        {"sums",
         "sum of all elements of one or two values, each times a number; exp=1: of e^-(x + "
         "number); steps=8: so many, the number of each from the last sum",
         {{"rows", 1024}, {"cols", 1024}, {"inputs", 1, 1, 2}, {"exp", 0, 0, 1}, {"steps", 1}},
         builtin::sums},
        {"triad", "x times a number, plus y", {{"rows", 1024}, {"cols", 1024}}, builtin::triad},
    };
    return networks;
}

namespace {

/// For the end of a message.
std::string suggestion(std::string_view wanted, const std::vector<std::string>& candidates) {
    const std::string near = config::nearest(wanted, candidates);
    return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

}  // namespace

BuiltinRequest parse_builtin(std::string_view text) {
    BuiltinRequest request;
    const std::size_t colon = text.find(':');
    request.name = text.substr(0, colon);
    if (colon == std::string_view::npos) return request;
    for (const config::KeyValue& item : config::key_values(text.substr(colon + 1))) {
        if (item.key.empty())
            throw InputError(fmt::format("{}: '{}' is not key=value", request.name, item.text));
        const std::string key(item.key);
        const std::string_view value = item.value;
        if (key == "dtype") {
            if (request.dtype) throw InputError(fmt::format("{}: dtype twice", request.name));
            request.dtype = element_type_named(value);
            if (!request.dtype)
                throw InputError(fmt::format("{}: no element type {}", request.name, value));
            continue;
        }
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(value.begin(), value.end(), number);
        if (error != std::errc() || end != value.end())
            throw InputError(fmt::format("{}: {} is no integer", request.name, item.text));
        if (!request.options.parameters.emplace(key, number).second)
            throw InputError(fmt::format("{}: {} twice", request.name, key));
    }
    return request;
}

Graph build_network(std::string_view name, const BuiltinOptions& options) {
    std::vector<std::string> names;
    for (const BuiltinNetwork& network : builtin_networks()) {
        names.emplace_back(network.name);
        if (network.name != name) continue;
        builtin::Parameters parameters;
        std::vector<std::string> known;
        std::map<std::string, std::pair<std::int64_t, std::int64_t>> range;
        for (const BuiltinParameter& parameter : network.parameters) {
            parameters.emplace(parameter.name, parameter.otherwise);
            range.emplace(parameter.name, std::pair(parameter.minimum, parameter.maximum));
            known.emplace_back(parameter.name);
        }
        known.emplace_back("dtype");
        for (const auto& [key, value] : options.parameters) {
            if (!parameters.contains(key))
                throw InputError(fmt::format("{} has no parameter {} (it has {}){}", name, key,
                                             fmt::join(known, ", "), suggestion(key, known)));
            const auto [least, most] = range[key];
            if (value < least || value > most)
                throw InputError(
                    fmt::format("{}: {}={} is not in {} to {}", name, key, value, least, most));
            parameters[key] = value;
        }
        return network.build(parameters, options.seed, options.with_values);
    }
    throw InputError(fmt::format("no built-in network {} (there are {}){}", name,
                                 fmt::join(names, ", "), suggestion(name, names)));
}

}  // namespace lockstep::network
