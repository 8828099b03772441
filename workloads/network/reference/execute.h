// SPDX-License-Identifier: Apache-2.0
// The reference executor: what a network computes, in FP32 or FP64, and its quantised parts in
// exact integers.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/reference/quantised.h"

namespace lockstep::network {

enum class Precision { kFp32, kFp64 };

/// Runs a graph whose shapes are inferred. `inputs` as graph.inputs, of their types and shapes (any
/// floating type). Gives the values of `wanted` (graph.outputs where it is empty); floating ones
/// are fp32 or fp64. Floating values are computed in the given precision; in kFp32 those of type
/// bf16 or fp16 are rounded to it after each node, in kFp64, the yardstick, none are. Quantised
/// nodes compute what reference/quantised.h says. InputError where inputs do not fit, values are
/// missing, an index is out of range or a sum does not fit 32 bits.
std::vector<Tensor> execute(const Graph& graph, const std::vector<Tensor>& inputs,
                            Precision precision = Precision::kFp32,
                            const std::vector<ValueId>& wanted = {},
                            Requantisation requantisation = Requantisation::kFixedPoint);

struct TimedRun {
    std::vector<Tensor> outputs;  ///< as graph.outputs
    std::vector<double> seconds;  ///< of each node, as graph.nodes
};

/// Runs a graph in FP32 on `threads` of this computer's cores and measures each node. Products are
/// shared by rows or columns: the last bits of sums may depend on the number of threads.
TimedRun execute_timed(const Graph& graph, const std::vector<Tensor>& inputs, unsigned threads);

/// What execute_visiting calls with each value.
using Visitor = std::function<void(ValueId, std::span<const float>)>;

/// Runs a graph in FP32 and shows each floating input and each floating value that a node computes,
/// once, in the order in which they come to be. No value is kept longer than the run needs it.
void execute_visiting(const Graph& graph, const std::vector<Tensor>& inputs, const Visitor& visit);

}  // namespace lockstep::network
