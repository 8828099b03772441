// SPDX-License-Identifier: Apache-2.0
#include "models/npu/parameters.h"

#include <algorithm>
#include <cmath>

#include "models/npu/parameter_rows.h"
#include "sim/error/error.h"

namespace lockstep::npu {

Parameters::Parameters(const config::Machine& machine) {
    if (machine.kind() != "npu")
        throw InputError(fmt::format("{} is a {}, which cannot run an NPU program", machine.name(),
                                     machine.kind()));
    read_parameters(machine, *this);
}

std::uint64_t host_cycles(const command::HostTask& task, const Parameters& parameters) {
    const HostParameters& host = parameters.host;
    const double ns = host.interrupt_ns + static_cast<double>(task.operations) / host.gflops +
                      static_cast<double>(task.bytes) / host.memory_gb_per_s;
    constexpr double kMost = 1e15;  // cycles: more than two weeks
    return static_cast<std::uint64_t>(std::min(kMost, std::ceil(ns * parameters.clock_mhz / 1000)));
}

CoreLimits Parameters::limits() const {
    return {.sram = sram.bytes,
            .accumulators = accumulators,
            .cores = cores,
            .outputs = array.outputs,
            .winograd = array.winograd,
            .local_response = output.neighbour_values != 0,
            .zero_skipping = array.zero_skipping};
}

CoreSpeed Parameters::speed() const {
    // Of the memory's bus: both edges of its clock.
    return {.macs = array.macs(),
            .memory_bytes = memory.bus_bits / 8.0 * 2 * memory.clock_mhz / clock_mhz,
            .memory_latency = memory.latency_ns * clock_mhz / 1000,
            .output_values = double(output.values),
            .move_bytes = double(output.move_bytes),
            .transfer_setup = dma.setup,
            .row_granule = memory.granule};
}

}  // namespace lockstep::npu
