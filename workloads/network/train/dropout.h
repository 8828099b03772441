// SPDX-License-Identifier: Apache-2.0
// Dropout in training: a value times a mask of zeros and 1 / (1 - ratio), which is another one in
// each step. Source: Srivastava et al., "Dropout" (JMLR 2014), scaled in training as ONNX has it.
//
// A mask is an input of the step, as the batch is: the host draws it, the machine multiplies. It
// follows from seed, step, node and element alone, so that it is the same on every machine, when
// activations are computed again, and after a checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

struct DropoutMask {
    std::string name;          ///< of the node
    ValueId value = kNoValue;  ///< fp32, of the shape of what it masks
    double ratio = 0;          ///< share of elements that are dropped
    std::uint32_t number = 0;  ///< of the node, among all that drop
};

/// Writes each Dropout as a product with a mask, a new input (not listed in graph.inputs); the
/// masks in the order of the nodes. Shapes must be inferred. InputError where a ratio is computed
/// or not in [0, 1), or the node's own mask is read.
std::vector<DropoutMask> write_dropout(Graph& graph);

/// Of this shape in a step (from 1).
Tensor draw_mask(const DropoutMask& mask, const Shape& shape, std::uint64_t seed,
                 std::uint64_t step);

}  // namespace lockstep::network
