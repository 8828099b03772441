// SPDX-License-Identifier: Apache-2.0
// The reference executor: what a network computes, in FP32 or FP64.
#pragma once

#include "workloads/network/graph.h"

#include <vector>

namespace lockstep::network {

enum class Precision { kFp32, kFp64 };

/// Runs a graph whose shapes are inferred. `inputs` as graph.inputs, of their types and shapes (any
/// floating type). Gives the values of `wanted` (graph.outputs where it is empty); floating ones
/// are fp32 or fp64. Every floating value is computed in the given precision, whatever its type
/// says. InputError where inputs do not fit, values are missing or an index is out of range.
std::vector<Tensor> execute(const Graph& graph, const std::vector<Tensor>& inputs,
                            Precision precision = Precision::kFp32,
                            const std::vector<ValueId>& wanted = {});

}  // namespace lockstep::network
