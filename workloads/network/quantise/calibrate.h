// SPDX-License-Identifier: Apache-2.0
// The ranges of a network's values over sample inputs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

struct Range {
    float low = 0, high = 0;
};
/// Of each value by its id; of values that are not floating, or never computed, 0 to 0.
using Ranges = std::vector<Range>;

/// Runs the network in FP32 on each sample (inputs as graph.inputs) and gives the least range that
/// holds the fraction `coverage` of each value's elements, in every sample; 1: minimum and maximum.
/// The rest is cut off in equal parts at both ends. Each floating value passes `visit` on the way.
/// InputError as execute.
Ranges calibrate(const Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                 double coverage = 1,
                 const std::function<void(ValueId, std::span<const float>)>& visit = {});

/// Gives the parts of each concatenation and its result the range that holds them all, so that they
/// are quantised with one scale.
void share_concat_ranges(const Graph& graph, Ranges& ranges);

}  // namespace lockstep::network
