// SPDX-License-Identifier: Apache-2.0
// A network becomes a TPU program.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isa/tpu/core_speed.h"
#include "isa/tpu/program.h"
#include "isa/tpu/semantics/state.h"
#include "workloads/network/compile/port.h"
#include "workloads/network/graph/graph.h"
#include "workloads/network/reference/quantised.h"

namespace lockstep::network {

/// What the compiler must know of a core.
struct TpuTarget {
    int generation = 1;
    tpu::CoreLimits limits;
    bool fixed_point = false;   ///< integers are scaled by multiplier and shift, not in fp32
    tpu::CoreSpeed speed = {};  ///< generation 2 on: what plans are compared by
    /// Generation 2 on: of the unified buffer, for values that stay there between kernels; where
    /// there is any, a product's first weights are loaded while the kernel before computes.
    double resident_share = 0;
    /// Bytes of a value of 16-bit elements from which its tiles fill a register of the vector unit;
    /// those of smaller ones fill half of it.
    std::uint64_t full_tiles = 0;
    /// Bytes of the windows that kernels of the vector unit pass their operands by; 0: sixteenths.
    std::uint64_t window = 0;
    /// Registers of the vector unit, and how many a loop works on in a round.
    std::uint32_t vector_registers = 32, loop_registers = 1;
    /// Cycles that the vector unit takes for a loop of instructions; for plans, too.
    std::function<std::uint64_t(std::span<const tpu::Instruction* const>)> vector_cycles = {};
};

using TpuPort = compile::Port;
using compile::read_port;
using compile::write_port;

/// How a layer was mapped.
struct TpuLayer {
    std::string name;
    std::uint32_t step = 0;
    std::int64_t m = 0, n = 0, k = 0, products = 0;  ///< of the matrix products; 0: there is none
    std::int64_t row_blocks = 0, weight_tiles = 0;   ///< passes of weights through the array
    std::int64_t row_cycles = 1;          ///< that the array takes for a row of its operands
    double lane_use = 0, column_use = 0;  ///< of the array, mean over the passes, 0 to 1
    std::string note;
};

struct TpuCompiled {
    tpu::Program program;
    std::vector<TpuPort> inputs, outputs;  ///< as graph.inputs, graph.outputs
    std::vector<TpuLayer> layers;
    std::vector<compile::HostTask> host_tasks;  ///< as program.host_tasks
    tpu::Dataflow dataflow = tpu::Dataflow::kWeightStationary;
    bool fixed_point = false;          ///< as the target's
    std::uint64_t resident_bytes = 0;  ///< most of the unified buffer that values filled at once
};

/// Compiles a graph in int8 (generation 1) or bf16 (later), whose shapes are inferred. What
/// generation 1 lacks becomes tasks of its host (compile/partition.h). InputError that lists all
/// nodes that cannot be compiled.
TpuCompiled compile_for_tpu(const Graph& graph, const TpuTarget& target);

/// How a TPU scales integers, and so the reference that it is equal to.
inline Requantisation requantisation_of(bool fixed_point) {
    return fixed_point ? Requantisation::kFixedPoint : Requantisation::kVectorUnit;
}

}  // namespace lockstep::network
