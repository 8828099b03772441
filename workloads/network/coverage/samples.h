// SPDX-License-Identifier: Apache-2.0
// A small network for each operator, in which it stands as it does in models: after a product, with
// constants for what models know beforehand.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network::coverage {

/// The names of the node, and of all that it is rewritten as, begin with this.
inline constexpr std::string_view kSampleName = "sample";

/// With values. Composite operators are written with others already.
Graph sample_of(Operator op);

}  // namespace lockstep::network::coverage
