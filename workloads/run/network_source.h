// SPDX-License-Identifier: Apache-2.0
// The graph of a network: a built-in one, or an .onnx, .tflite or .mlir (StableHLO) file.
#pragma once

#include <optional>

#include "workloads/network/graph/graph.h"
#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

struct NetworkSource {
    network::Graph graph;
    std::optional<network::ElementType> dtype;  ///< of `dtype=`
};

/// What stands behind a file's name are the extents of its symbolic dimensions: x.onnx:batch=8.
/// Behind that of an .mlir: how many of its arguments are weights, x.mlir:weights=2. `with_values`:
/// the weights of a built-in one are made, seeded by the job; a file has its own. Throws
/// InputError.
NetworkSource read_network(const Job& job, const Subject& subject, bool with_values);

}  // namespace lockstep::run
