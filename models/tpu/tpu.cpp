// SPDX-License-Identifier: Apache-2.0
// The core, two TLM-2.0 ports, a DRAM that streams (its bandwidth is what the controllers sustain)
// and a host link. Other memories can be bound to the ports' sockets.
#include "models/tpu/tpu.h"

#include <algorithm>
#include <optional>

#include "isa/tpu/loops.h"
#include "models/memory/stream/stream_memory.h"
#include "models/tpu/core.h"
#include "models/tpu/memory_stream.h"
#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

void check(const Program& program, const Parameters& parameters) {
    if (program.generation > parameters.generation)
        throw InputError(fmt::format("the program is for TPU generation {}, the machine is of {}",
                                     program.generation, parameters.generation));
    for (const Buffer& buffer : program.buffers)
        if (buffer.space == Space::kMemory &&
            buffer.address + buffer.bytes > parameters.memory.bytes)
            throw InputError(fmt::format("buffer {} ends at {} of {} bytes of memory", buffer.name,
                                         buffer.address + buffer.bytes, parameters.memory.bytes));
    for (const Instruction& instruction : program.instructions)
        if (has_field(instruction.opcode(), Field::kDataflow) &&
            dataflow_of(instruction) != parameters.array.dataflow)
            throw InputError(fmt::format(
                "the program is for an array with dataflow={}; the "
                "machine's array.dataflow is {}",
                dataflow_name(dataflow_of(instruction)), dataflow_name(parameters.array.dataflow)));
}

}  // namespace

StepResult RunResult::total() const {
    StepResult sum;
    sum.name = "total";
    for (const StepResult& step : steps) sum.add(step);
    sum.active_others = sum.active_elsewhere = 0;
    return sum;
}

namespace {

/// What the arrays did in the cycles of each step.
void add_array_states(std::vector<StepResult>& steps, const Core& core,
                      const std::vector<std::uint64_t>& ends) {
    // What the busiest array of a step had to do, stalls included.
    std::vector<std::uint64_t> busiest(steps.size());
    for (const Timeline& timeline : core.timelines()) {
        const std::vector<Timeline::Totals> parts = timeline.cut(ends);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const std::uint64_t busy = parts[i][ArrayState::kActive] +
                                       parts[i][ArrayState::kWeightStall] +
                                       parts[i][ArrayState::kShift];
            busiest[i] = std::max(busiest[i], busy);
            steps[i].active += parts[i][ArrayState::kActive];
            steps[i].active_others += parts[i].others;
            steps[i].weight_stall += parts[i][ArrayState::kWeightStall];
            steps[i].weight_shift += parts[i][ArrayState::kShift];
            steps[i].non_matrix += parts[i][ArrayState::kNonMatrix];
        }
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        StepResult& step = steps[i];
        step.active_elsewhere = step.streamed - (step.active - step.active_others);
        step.idle_units = busiest[i] * core.timelines().size() -
                          (step.active + step.weight_stall + step.weight_shift);
    }
}

}  // namespace

RunResult run(const Program& program, const Parameters& parameters, Storage& storage,
              const RunOptions& options) {
    check(program, parameters);
    if (options.values) command::check_driver(program, options.host != nullptr);
    check_waits(program);
    check_loops(program);
    std::optional<State> state;
    if (options.values) {
        state.emplace(parameters.limits(), storage);
        state->host = options.host;
    }

    engine::Simulation simulation({.name = "tpu", .threads = options.threads});
    const engine::ClockDomain clock = engine::ClockDomain::from_megahertz(parameters.clock_mhz);
    std::optional<CoreTrace> trace;
    if (options.trace != nullptr)
        trace.emplace(*options.trace, parameters.units, parameters.array.dataflow);
    Core core(simulation, "core", parameters, program, storage, state ? &*state : nullptr,
              trace ? &*trace : nullptr);
    core.progress = options.progress;
    engine::TlmMemoryPort memory_port(simulation, "memory_port", clock);
    engine::TlmMemoryPort host_port(simulation, "host_port", clock);
    std::optional<memory::StreamMemory> memory, host;
    simulation.build_inside(memory_port, [&] {
        memory.emplace("memory", memory_stream(parameters.memory, parameters.dma));
        memory_port.socket().bind(memory->socket);
    });
    simulation.build_inside(host_port, [&] {
        host.emplace("host", memory::StreamParameters{.read_gb_per_s = parameters.host_gb_per_s,
                                                      .write_gb_per_s = parameters.host_gb_per_s,
                                                      .latency_ns = parameters.host_latency_ns,
                                                      .duplex = true});
        host_port.socket().bind(host->socket);
    });
    // The wires are part of memory.latency: as short as a Channel can be.
    const engine::ChannelParameters wire{
        .latency = 1, .capacity = (2 + kMaxMatrixUnits) * parameters.dma_requests()};
    simulation.connect(core.memory_requests, memory_port.requests, wire);
    simulation.connect(memory_port.responses, core.memory_responses, wire);
    simulation.connect(core.host_requests, host_port.requests, wire);
    simulation.connect(host_port.responses, core.host_responses, wire);
    simulation.run();

    RunResult result;
    result.cycles = core.cycles();
    result.seconds = double(core.cycles()) / (parameters.clock_mhz * 1e6);
    result.interrupts = core.interrupts();
    const std::vector<std::uint64_t> ends = core.step_ends();
    for (std::size_t i = 0; i < ends.size(); ++i) {
        StepResult step{core.steps()[i]};
        step.buffer_accesses = static_cast<std::uint64_t>(step.buffer_lines + 0.5);
        step.name = i < program.steps.size() ? program.steps[i].name : "program";
        step.cycles = ends[i] - (i == 0 ? 0 : ends[i - 1]);
        const std::uint64_t declared = i < program.steps.size() ? program.steps[i].macs : 0;
        step.useful_macs = declared != 0 ? declared : step.macs;
        result.instructions += step.instructions;
        if (trace) trace->step(step.name, ends[i] - step.cycles, ends[i]);
        result.steps.push_back(std::move(step));
    }
    add_array_states(result.steps, core, ends);
    if (options.trace != nullptr) options.trace->complete();
    return result;
}

}  // namespace lockstep::tpu
