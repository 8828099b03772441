// SPDX-License-Identifier: Apache-2.0
// A network becomes an NPU program.
#pragma once

#include <string>
#include <vector>

#include "isa/npu/program.h"
#include "workloads/network/compile/port.h"
#include "workloads/network/npu/target.h"

namespace lockstep::network {

/// How a step of the program was made: a layer, or several as a cascade.
struct NpuLayer {
    std::string name;
    std::uint32_t step = 0;
    std::string shape;  ///< of what it reads and gives, in words
    std::int64_t macs = 0;
    std::int64_t stripes = 1, pieces = 1;  ///< commands: of rows, of output channels
    std::int64_t slices = 1;               ///< of input channels, whose sums the cores keep
    bool weights_outer = false;
    std::string kept;  ///< operands and results that stay in the SRAM: i, o, +
    int weight_bits = 0, input_bits = 8;
    std::uint64_t weight_bytes = 0, stream_bytes = 0;  ///< before and after compression
    double lane_use = 0, output_use = 0;     ///< of the array's inputs and outputs, 0 to 1
    double estimate = 0, core_estimate = 0;  ///< cycles
    std::string note;
};

struct NpuCompiled {
    lockstep::npu::Program program;
    std::vector<compile::Port> inputs, outputs;  ///< as graph.inputs, graph.outputs
    std::vector<NpuLayer> layers;
    std::vector<compile::HostTask> host_tasks;  ///< as program.host_tasks
    std::uint64_t weight_bytes = 0;  ///< of all weights and parameters, as they lie in memory
};

/// Compiles a graph whose values are integers of 8, 4 or 2 bits. Shapes must be inferred. Nodes
/// that the NPU lacks become tasks of the host where `host` allows it; else InputError that lists
/// all of them.
NpuCompiled compile_for_npu(const Graph& graph, const NpuTarget& target, bool host);

}  // namespace lockstep::network
