// SPDX-License-Identifier: Apache-2.0
// The cores, a TLM-2.0 port, and a DRAM that streams (its bandwidth is what the controllers
// sustain). Host memory and memory lie in it one behind the other. Other memories can be bound to
// the port's socket.
#include "models/npu/npu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "models/memory/stream/stream_memory.h"
#include "models/memory/stream/stream_rates.h"
#include "models/npu/core_complex.h"
#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::npu {

namespace {

memory::dram::Geometry geometry_of(const MemoryParameters& parameters) {
    return memory::dram::make_geometry(
        memory::dram::find_standard(parameters.standard), parameters.bus_bits,
        static_cast<std::uint64_t>(std::llround(parameters.clock_mhz * 1000)), parameters.ranks,
        parameters.bytes);
}

memory::StreamParameters memory_stream(const memory::dram::Geometry& geometry,
                                       const MemoryParameters& parameters,
                                       const DmaParameters& dma) {
    // Queues take turns by the request.
    const memory::StreamRates rates =
        memory::measure_streams(geometry, parameters.policies.controller(geometry), dma.chunk);
    return {.read_gb_per_s = rates.read_gb_per_s,
            .write_gb_per_s = rates.write_gb_per_s,
            .latency_ns = rates.read_latency_ns + parameters.latency_ns,
            .jump_ns = rates.jump_ns,
            .turn_ns = rates.turn_ns};
}

void check(const Program& program, const Parameters& parameters, bool values) {
    std::uint64_t bytes[command::kBufferSpaces] = {};
    for (const command::Buffer& buffer : program.buffers) {
        std::uint64_t& end = bytes[buffer.space.value];
        end = std::max(end, buffer.address + buffer.bytes);
    }
    if (bytes[0] + bytes[1] > parameters.memory.bytes)
        throw InputError(fmt::format("the program's buffers take {} bytes of {} of memory",
                                     bytes[0] + bytes[1], parameters.memory.bytes));
    if (parameters.array.zero_skipping && !values)
        throw InputError(
            "array.zero_skipping: the time depends on the weights, which are not read where no "
            "values are computed (--no-values)");
}

/// Cycles from refresh to refresh of all ranks of all channels; never: infinite.
double refresh_interval(const memory::dram::Geometry& geometry, const Parameters& parameters) {
    if (parameters.memory.policies.refresh == memory::dram::RefreshPolicy::kNone)
        return std::numeric_limits<double>::infinity();
    const double seconds = double(geometry.timing.REFI) / (double(geometry.clock_khz) * 1e3);
    return seconds * parameters.clock_mhz * 1e6 / geometry.channels / geometry.ranks;
}

}  // namespace

StepResult RunResult::total() const {
    StepResult sum;
    sum.name = "total";
    for (const StepResult& step : steps) sum.add(step);
    return sum;
}

RunResult run(const Program& program, const Parameters& parameters, command::Storage& storage,
              const RunOptions& options) {
    check(program, parameters, options.values);
    command::check_waits(program);
    std::optional<State> state;
    if (options.values) {
        command::check_driver(program, options.host != nullptr);
        state.emplace(parameters.limits(), storage);
        state->host = options.host;
    }
    const memory::dram::Geometry geometry = geometry_of(parameters.memory);

    engine::Simulation simulation({.name = "npu", .threads = options.threads});
    const engine::ClockDomain clock = engine::ClockDomain::from_megahertz(parameters.clock_mhz);
    std::optional<CoreTrace> trace;
    if (options.trace != nullptr) trace.emplace(*options.trace, parameters.cores);
    CoreComplex cores(simulation, "npu", parameters,
                      {.burst_bytes = geometry.organisation.burst_bytes(),
                       .row_bytes = geometry.organisation.row_bytes},
                      program, storage, state ? &*state : nullptr, trace ? &*trace : nullptr);
    cores.progress = options.progress;
    cores.observe = options.observe;
    engine::TlmMemoryPort port(simulation, "memory_port", clock);
    std::optional<memory::StreamMemory> memory;
    simulation.build_inside(port, [&] {
        memory.emplace("memory", memory_stream(geometry, parameters.memory, parameters.dma));
        port.socket().bind(memory->socket);
    });
    // The wires are part of memory.latency: as short as a Channel can be.
    const engine::ChannelParameters wire{.latency = 1, .capacity = 3 * parameters.dma.outstanding};
    simulation.connect(cores.memory_requests, port.requests, wire);
    simulation.connect(port.responses, cores.memory_responses, wire);
    simulation.run();

    RunResult result;
    result.cycles = cores.cycles();
    result.seconds = double(cores.cycles()) / (parameters.clock_mhz * 1e6);
    result.interrupts = cores.interrupts();
    const std::vector<std::uint64_t> ends = cores.step_ends();
    const double interval = refresh_interval(geometry, parameters);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        StepResult step{cores.steps()[i]};
        step.name = i < program.steps.size() ? program.steps[i].name : "program";
        const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
        step.cycles = ends[i] - begin;
        const std::uint64_t declared = i < program.steps.size() ? program.steps[i].macs : 0;
        step.useful_macs = declared != 0 ? declared : step.macs;
        const std::uint64_t all = step.cycles * parameters.cores;
        step.idle = all - std::min(all, step.array_active);
        step.gated = parameters.clock_gating ? step.idle : 0;
        step.refreshes = static_cast<std::uint64_t>(double(ends[i]) / interval) -
                         static_cast<std::uint64_t>(double(begin) / interval);
        result.instructions += step.instructions;
        if (trace) trace->step(step.name, begin, ends[i]);
        result.steps.push_back(std::move(step));
    }
    if (options.trace != nullptr) options.trace->complete();
    return result;
}

}  // namespace lockstep::npu
