// SPDX-License-Identifier: Apache-2.0
// What each layer of a network asks of any machine: operations and bytes.
#pragma once

#include <string>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network::compile {

struct LayerWork {
    std::string name;
    double operations = 0;         ///< a multiply-add counts twice
    double macs = 0;               ///< of products
    double read = 0, written = 0;  ///< bytes: each value that passes, once
};

/// Of a graph whose shapes are inferred, by layers_of(). `bytes`: of an element of floating type.
std::vector<LayerWork> layer_works(const Graph& graph, double bytes);

/// Bytes of an element of a precision: "fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8",
/// "int4".
double bytes_of(std::string_view precision);

}  // namespace lockstep::network::compile
