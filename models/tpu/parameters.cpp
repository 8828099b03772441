// SPDX-License-Identifier: Apache-2.0
#include "models/tpu/parameters.h"

#include <algorithm>
#include <cmath>

#include "sim/config/machine.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

Parameters::Parameters(const config::Machine& machine) {
    if (machine.kind() != "tpu")
        throw InputError(fmt::format("{} is a {}, which cannot run a TPU program", machine.name(),
                                     machine.kind()));
    const auto number = [&](const char* path) {
        return static_cast<std::uint32_t>(machine.integer(path));
    };
    generation = static_cast<int>(machine.integer("generation"));
    clock_mhz = machine.number("clock.core");
    array = {machine.integer("array.rows"), machine.integer("array.columns"),
             parse_dataflow(machine.text("array.dataflow"))};
    overlap = parse_overlap(machine.text("array.overlap"));
    units = number("array.units");
    weight_fifo = number("array.weight_fifo");
    whole_tiles = machine.boolean("array.whole_tiles");
    accumulator_rows = number("accumulators.rows");
    unified_buffer = static_cast<std::uint64_t>(machine.integer("unified_buffer.size"));
    banks = {number("unified_buffer.banks"), number("unified_buffer.width"),
             number("unified_buffer.ports")};
    vector = {.lanes = number("vector.lanes"),
              .sublanes = number("vector.sublanes"),
              .fixed_function = machine.boolean("vector.fixed_function"),
              .alu_slots = number("vector.alu_slots"),
              .load_slots = number("vector.load_slots"),
              .store_slots = number("vector.store_slots"),
              .conversion_ops = number("vector.conversion_ops"),
              .transcendental_ops = number("vector.transcendental_ops"),
              .divide_ops = number("vector.divide_ops"),
              .cross_lane_cycles = number("vector.cross_lane_cycles"),
              .window_cycles = number("vector.window_cycles"),
              .transpose_rows = number("vector.transpose_rows"),
              .latency = number("vector.latency")};
    const std::string requantisation = machine.text("vector.requantisation");
    fixed_point = requantisation == "fixed_point";
    if (!fixed_point && requantisation != "fp32")
        throw InputError(
            fmt::format("{}: vector.requantisation is '{}'; it can be fp32 or "
                        "fixed_point",
                        machine.name(), requantisation));
    if (fixed_point && generation != 1)
        throw InputError(
            fmt::format("{}: vector.requantisation fixed_point is for generation 1; "
                        "later ones compute networks in floating point",
                        machine.name()));
    issue_interval = number("sequencer.issue_interval");
    tag_cycles = number("sequencer.tag_cycles");
    queue_depth = number("sequencer.queue_depth");
    dma = {number("dma.setup"), number("dma.chunk"), number("dma.outstanding")};
    memory = {.standard = machine.text("memory.standard"),
              .bus_bits = number("memory.bus_width"),
              .ranks = number("memory.ranks"),
              .granule = number("memory.granule"),
              .clock_mhz = machine.number("memory.clock"),
              .latency_ns = machine.number("memory.latency"),
              .bytes = static_cast<std::uint64_t>(machine.integer("memory.size"))};
    host_gb_per_s = machine.number("host.bandwidth");
    host_latency_ns = machine.number("host.latency");
    host = {.interrupt_ns = machine.number("host.interrupt"),
            .gflops = machine.number("host.compute"),
            .memory_gb_per_s = machine.number("host.memory_bandwidth")};
}

std::uint64_t host_cycles(const HostTask& task, const Parameters& parameters) {
    const HostParameters& host = parameters.host;
    const double ns = host.interrupt_ns + static_cast<double>(task.operations) / host.gflops +
                      static_cast<double>(task.bytes) / host.memory_gb_per_s;
    constexpr double kMost = 1e15;  // cycles: more than two weeks
    return static_cast<std::uint64_t>(std::min(kMost, std::ceil(ns * parameters.clock_mhz / 1000)));
}

CoreSpeed Parameters::speed() const {
    // Of the memory's bus: both edges of its clock.
    return {.memory_bytes = memory.bus_bits / 8.0 * 2 * memory.clock_mhz / clock_mhz,
            .memory_latency = memory.latency_ns * clock_mhz / 1000,
            .issue_interval = double(issue_interval),
            .window_row = double(vector.window_cycles) / vector.sublanes,
            .register_lanes = vector.lanes};
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
