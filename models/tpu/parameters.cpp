// SPDX-License-Identifier: Apache-2.0
#include "models/tpu/parameters.h"

#include <algorithm>
#include <cmath>

#include "models/tpu/memory_stream.h"
#include "models/tpu/parameter_rows.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

Parameters::Parameters(const config::Machine& machine) {
    if (machine.kind() != "tpu")
        throw InputError(fmt::format("{} is a {}, which cannot run a TPU program", machine.name(),
                                     machine.kind()));
    read_parameters(machine, *this);
    array.dataflow = parse_dataflow(machine.text("array.dataflow"));
    overlap = parse_overlap(machine.text("array.overlap"));
    fixed_point = requantisation == Requantisation::kFixedPoint;
    if (fixed_point && generation != 1)
        throw InputError(
            fmt::format("{}: vector.requantisation fixed_point is for generation 1; "
                        "later ones compute networks in floating point",
                        machine.name()));
}

memory::dram::Geometry MemoryParameters::geometry() const {
    return memory::dram::make_geometry(memory::dram::find_standard(standard), bus_bits,
                                       static_cast<std::uint64_t>(std::llround(clock_mhz * 1000)),
                                       ranks, bytes);
}

std::uint64_t host_cycles(const HostTask& task, const Parameters& parameters) {
    const HostParameters& host = parameters.host;
    const double ns = host.interrupt_ns + static_cast<double>(task.operations) / host.gflops +
                      static_cast<double>(task.bytes) / host.memory_gb_per_s;
    constexpr double kMost = 1e15;  // cycles: more than two weeks
    return static_cast<std::uint64_t>(std::min(kMost, std::ceil(ns * parameters.clock_mhz / 1000)));
}

CoreSpeed Parameters::speed() const {
    const memory::StreamParameters stream = memory_stream(memory, dma);
    const double cycles_per_ns = clock_mhz / 1000;
    // Of the memory's bus: both edges of its clock.
    return {.memory_bytes = memory.bus_bits / 8.0 * 2 * memory.clock_mhz / clock_mhz,
            .read_bytes = stream.read_gb_per_s / cycles_per_ns,
            .write_bytes = stream.write_gb_per_s / cycles_per_ns,
            .memory_latency = stream.latency_ns * cycles_per_ns,
            .memory_jump = stream.jump_ns * cycles_per_ns,
            .memory_turn = stream.turn_ns * cycles_per_ns,
            .memory_granule = memory.granule,
            .dma_chunk = dma.chunk,
            .dma_outstanding = dma.outstanding,
            .dma_setup = double(dma.setup),
            .issue_interval = double(issue_interval),
            .vector_latency = double(vector.latency),
            .window_row = double(vector.window_cycles) / vector.sublanes,
            .vector_lanes = vector.lanes};
}

CoreLimits Parameters::limits() const {
    return {.unified_buffer = unified_buffer,
            .accumulator_rows = accumulator_rows,
            .array_rows = static_cast<std::uint32_t>(array.rows),
            .array_columns = static_cast<std::uint32_t>(array.columns),
            .matrix_units = units,
            .dataflow = array.dataflow};
}

}  // namespace lockstep::tpu
