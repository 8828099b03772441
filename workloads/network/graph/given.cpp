// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/graph/given.h"

namespace lockstep::network {

ValueId given_as(Graph& graph, ValueId id, const Shape& shape) {
    const Value old = graph.value(id);
    Value value{old.name + ".as", old.kind, old.type, shape};
    if (old.is_known()) {
        Tensor tensor = *old.data;
        tensor.shape = shape;
        value.data = std::make_shared<const Tensor>(std::move(tensor));
    }
    return graph.add(std::move(value));
}

std::optional<float> scalar_of(const Value& value) {
    if (!is_given(value) || element_count(*value.shape) != 1) return std::nullopt;
    if (!value.is_known()) return 1.0f;
    return static_cast<float>(to_doubles(*value.data)[0]);
}

}  // namespace lockstep::network
