// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/npu/network.h"

#include <fmt/format.h>

#include <functional>

#include "workloads/network/compile/host.h"
#include "workloads/network/compile/verify.h"
#include "workloads/network/npu/explain.h"
#include "workloads/run/network_source.h"
#include "workloads/run/network_values.h"
#include "workloads/run/npu/precision.h"
#include "workloads/run/npu/program.h"
#include "workloads/run/npu/simulate.h"
#include "workloads/run/npu/table.h"
#include "workloads/run/verdict.h"

namespace lockstep::run {

namespace {

std::string explanation(const NpuRun& compiled, const npu::RunResult& result,
                        const npu::Parameters& parameters, std::uint64_t top) {
    std::vector<network::NpuLayerTime> times;
    for (const npu::StepResult& step : result.steps)
        times.push_back({step.cycles, step.useful_macs, step.macs, step.array_active,
                         step.decode_stall, step.output_stall, step.bank_stall, step.dma_stall,
                         step.core_stall, step.issue_stall, step.output_busy, step.core_busy,
                         step.host_busy, step.dram_bytes_read + step.dram_bytes_written});
    return network::explain_npu(compiled.code, times, compiled.target,
                                parameters.array.macs() * parameters.cores,
                                shown_steps(result.steps, top));
}

}  // namespace

NpuRun compile_npu_network(const network::Graph& legal, const network::NpuPrecision& precision,
                           const npu::Parameters& parameters, const Job& job) {
    NpuRun made{{}, {}, npu_target(parameters)};
    made.network = network::prepare_for_npu(legal, precision, job.seed, !job.no_values);
    put_inputs(job, made.network);
    made.code = network::compile_for_npu(made.network.graph, made.target, job.host);
    return made;
}

network::Graph legal_npu_network(const Job& job, const Subject& subject) {
    NetworkSource source = read_network(job, subject, !job.no_values);
    if (source.dtype && *source.dtype != network::ElementType::kInt8)
        throw InputError(
            fmt::format("an NPU computes networks in int8 (or fewer bits: "
                        "--precision), not in {}",
                        network::name_of(*source.dtype)));
    return network::legalise_for_npu(std::move(source.graph));
}

void put_npu_inputs(const NpuRun& compiled, command::Storage& storage) {
    for (std::size_t i = 0; i < compiled.network.inputs.size(); ++i)
        network::compile::write_port(compiled.code.inputs[i], compiled.network.inputs[i],
                                     storage.contents(compiled.code.inputs[i].buffer));
}

std::vector<network::Tensor> npu_results(const NpuRun& compiled, command::Storage& storage) {
    std::vector<network::Tensor> results;
    const network::Graph& graph = compiled.network.graph;
    for (std::size_t i = 0; i < compiled.code.outputs.size(); ++i) {
        const network::compile::Port& port = compiled.code.outputs[i];
        results.push_back(network::compile::read_port(port, graph.value(graph.outputs[i]).type,
                                                      storage.contents(port.buffer)));
    }
    return results;
}

std::function<void(std::uint32_t)> npu_host(const NpuRun& compiled, command::Storage& storage) {
    return network::compile::HostDriver(
        compiled.network.graph, compiled.code.host_tasks, compiled.target.requantisation,
        [&storage](std::uint32_t buffer) { return storage.contents(buffer); });
}

void verify_npu_network(const NpuRun& compiled, command::Storage& storage, Outcome& outcome,
                        Screen& screen) {
    screen.progress("comparing with the reference");
    judge(network::compile::verify_equal(compiled.network, npu_results(compiled, storage),
                                         compiled.target.requantisation),
          outcome, screen);
}

Outcome run_npu_network(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen) {
    const npu::Parameters parameters(*machine);
    const std::vector<std::string> precisions = precisions_of(job);
    Outcome outcome{{machine->name(), std::string(name_of(job.mode)), job.what}};
    screen.progress("preparing");
    const network::Graph legal = legal_npu_network(job, subject);
    if (precisions.size() > 1) return compare_npu_precisions(job, legal, machine, outcome, screen);
    const network::NpuPrecision precision = precision_named(
        precisions.front(), legal, parameters.array.split == npu::Split::kBoth, job.seed, screen);
    const NpuRun compiled = compile_npu_network(legal, precision, parameters, job);
    if (job.schedule) screen.print_always(network::npu_schedule_text(compiled.code));
    write_npu_program(job, compiled.code.program);
    command::Storage storage(compiled.code.program, !job.no_values);
    put_npu_inputs(compiled, storage);
    const std::function<void(std::uint32_t)> host =
        job.no_values ? std::function<void(std::uint32_t)>() : npu_host(compiled, storage);
    if (job.mode == Mode::kEmulate) {
        emulate_npu_program(compiled.code.program, parameters, storage, outcome.statistics, screen,
                            host);
    } else {
        const npu::RunResult result = simulate_npu_program(
            job, compiled.code.program, parameters, storage, outcome.statistics, screen, host);
        screen.print(explanation(compiled, result, parameters, job.top));
    }
    outcome.statistics.stop_clock();
    if (job.values != nullptr && !job.no_values)
        take_outputs(job, compiled.network.graph, npu_results(compiled, storage));
    if (job.verify) verify_npu_network(compiled, storage, outcome, screen);
    return outcome;
}

npu::RunResult time_npu_network(const Job& job) {
    const MachinePtr machine = config::Machine::load(job.machine, job.overrides);
    const npu::Parameters parameters(*machine);
    Job timed = job;
    timed.no_values = true;
    const NpuRun compiled =
        compile_npu_network(legal_npu_network(timed, identify(job.what)), {}, parameters, timed);
    command::Storage storage(compiled.code.program, false);
    return npu::run(compiled.code.program, parameters, storage, {.values = false});
}

}  // namespace lockstep::run
