// SPDX-License-Identifier: Apache-2.0
// Values that are known when a network is compiled.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// A weight or another constant; in a network that was built for its shapes alone it has no data.
inline bool is_given(const Value& value) {
    return value.kind == ValueKind::kParameter || value.kind == ValueKind::kConstant;
}

/// The same constant in another shape.
ValueId given_as(Graph& graph, ValueId id, const Shape& shape);

/// The one value of a given one, 1 where there is no data; nothing where there are several.
std::optional<float> scalar_of(const Value& value);

}  // namespace lockstep::network
