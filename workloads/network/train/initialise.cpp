// SPDX-License-Identifier: Apache-2.0
// What a weight is follows from the node that reads it first.
#include <cmath>

#include "sim/numerics/random.h"
#include "workloads/network/train/trainable.h"

namespace lockstep::network {

namespace {

using enum Operator;

struct Range {
    float spread = 0, centre = 0;
};

float he(std::int64_t inputs) {
    return std::sqrt(6.0f / static_cast<float>(std::max<std::int64_t>(1, inputs)));
}

Range range_of(const Node& node, std::size_t input, const Shape& shape) {
    const std::int64_t count = element_count(shape);
    switch (node.op) {
        case kConv:
            return input == 1 ? Range{he(count / std::max<std::int64_t>(1, shape[0]))} : Range{};
        case kConvTranspose:
            return input == 1 ? Range{he(count / std::max<std::int64_t>(1, shape[1]))} : Range{};
        case kGemm: {
            const bool turned = node.integer(input == 0 ? "transA" : "transB", 0) != 0;
            if (input > 1) return {};
            return {he(shape.at((input == 0) != turned ? 1 : 0))};
        }
        case kMatMul:
            if (input > 1) return {};
            return {
                he(shape.size() == 1 ? shape[0] : shape.at(shape.size() - (input == 0 ? 1 : 2)))};
        case kLSTM:
        case kGRU:
        case kRNN:
            return {1 / std::sqrt(static_cast<float>(node.integer("hidden_size", shape.back())))};
        case kGather:
            return {0.05f};
        case kBatchNormalization:
        case kInstanceNormalization:
        case kLayerNormalization:
            return {0, input == 1 ? 1.0f : 0.0f};
        case kMul:
        case kDiv:
            return {0, 1};
        case kPRelu:
            return {0, 0.25f};
        default:
            return {};
    }
}

}  // namespace

void initialise_weights(Graph& network, std::uint64_t seed) {
    std::vector<bool> done(network.values.size(), false);
    std::uint64_t stream = numerics::mix(seed);
    const auto fill = [&](ValueId id, Range range) {
        Value& value = network.values[id];
        done[id] = true;
        if (!value.is_known() || !is_floating(value.type)) return;
        stream = numerics::mix(stream);
        std::vector<float> values(static_cast<std::size_t>(element_count(*value.shape)));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] =
                range.spread == 0
                    ? range.centre
                    : range.centre + range.spread * (2 * numerics::random_unit(stream, i) - 1);
        value.data = std::make_shared<const Tensor>(from_floats(value.type, *value.shape, values));
    };
    for (const Node& node : network.nodes)
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const ValueId id = node.inputs[i];
            if (id == kNoValue || done[id]) continue;
            const Value& value = network.value(id);
            const bool is_statistic = node.op == kBatchNormalization && i >= 3;
            if (is_statistic && is_floating(value.type))
                fill(id, {0, i == 4 ? 1.0f : 0.0f});
            else if (value.kind == ValueKind::kParameter && value.shape && !value.shape->empty())
                fill(id, range_of(node, i, *value.shape));
        }
}

}  // namespace lockstep::network
