// SPDX-License-Identifier: Apache-2.0
// Elements come from the hash that weights come from (sim/numerics/random.h), in streams of their
// own.
#include "workloads/network/builtin/inputs.h"

#include <algorithm>
#include <cmath>

#include "sim/numerics/random.h"
#include "workloads/network/builtin/digits.h"

namespace lockstep::network {

using numerics::random_bits;
using numerics::random_unit;

namespace {

/// The least extent that any Gather takes rows of by this input.
std::int64_t index_bound(const Graph& graph, ValueId input) {
    std::int64_t bound = INT64_MAX;
    for (const Node& node : graph.nodes) {
        if (node.op != Operator::kGather || node.inputs.at(1) != input) continue;
        const Shape& table = graph.shape(node.inputs[0]);
        const std::int64_t axis = node.integer("axis", 0);
        const auto rank = static_cast<std::int64_t>(table.size());
        bound = std::min(bound, table.at(static_cast<std::size_t>(axis < 0 ? axis + rank : axis)));
    }
    return bound == INT64_MAX ? 2 : bound;
}

}  // namespace

std::vector<Tensor> seeded_inputs(const Graph& graph, std::uint64_t seed) {
    if (is_digits_network(graph))
        return {
            digits_to_test(static_cast<int>(graph.shape(graph.inputs.at(0)).at(0)), seed).images};
    std::vector<Tensor> inputs;
    for (const ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        const Shape& shape = graph.shape(id);
        const std::uint64_t stream = random_bits(~seed, inputs.size());
        const auto count = static_cast<std::size_t>(element_count(shape));
        if (is_floating(value.type)) {
            std::vector<float> values(count);
            for (std::size_t i = 0; i < count; ++i)
                values[i] = std::sqrt(3.0f) * (2 * random_unit(stream, i) - 1);
            inputs.push_back(from_floats(value.type, shape, values));
            continue;
        }
        const bool byte = value.type == ElementType::kInt8 || value.type == ElementType::kUint8;
        const auto bound = static_cast<std::uint64_t>(
            std::max<std::int64_t>(1, byte ? 256 : index_bound(graph, id)));
        std::vector<std::int64_t> values(count, 1);
        for (std::size_t i = 0; i < count && value.type != ElementType::kBool; ++i)
            values[i] = static_cast<std::int64_t>((random_bits(stream, i) >> 32) % bound);
        inputs.push_back(from_integers(value.type, shape, values));
    }
    return inputs;
}

}  // namespace lockstep::network
