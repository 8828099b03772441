// SPDX-License-Identifier: Apache-2.0
// One builder a network; the parameters hold every name that the table lists.
#pragma once

#include <map>
#include <string>

#include "workloads/network/graph/graph.h"

namespace lockstep::network::builtin {

using Parameters = std::map<std::string, std::int64_t>;

Graph add(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph alexnet(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph alexnet_2012(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph attention(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph bert_base(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph bert_block(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph char_transformer(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph cnn0(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph cnn1(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph conv2d(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph digits_cnn(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph digits_mlp(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph exponential(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph gemm(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph gpt2_small(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph layernorm(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph lstm(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph lstm0(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph lstm1(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph mlp(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph mlp0(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph mlp1(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph mobilenet_v2(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph resnet18(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph resnet50(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph row_sums(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph scale(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph softmax(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph sums(const Parameters& parameters, std::uint64_t seed, bool with_values);
Graph triad(const Parameters& parameters, std::uint64_t seed, bool with_values);

}  // namespace lockstep::network::builtin
