// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/tpu/network.h"

#include <fmt/format.h>

#include <functional>

#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/explain.h"
#include "workloads/network/tpu/host.h"
#include "workloads/network/tpu/prepare.h"
#include "workloads/run/network_source.h"
#include "workloads/run/network_values.h"
#include "workloads/run/tpu/emulate.h"
#include "workloads/run/tpu/program.h"
#include "workloads/run/tpu/simulate.h"
#include "workloads/run/tpu/target.h"
#include "workloads/run/verdict.h"

namespace lockstep::run {

namespace {

struct Compiled {
    network::TpuNetwork network;
    network::TpuCompiled code;
};

Compiled compile(const Job& job, const Subject& subject, const tpu::Parameters& parameters) {
    NetworkSource source = read_network(job, subject, !job.no_values);
    network::TpuNetwork network = network::prepare_for_tpu(
        std::move(source.graph), parameters.generation, source.dtype, job.seed, !job.no_values);
    put_inputs(job, network);
    network::TpuCompiled code = network::compile_for_tpu(network.graph, tpu_target(parameters));
    return {std::move(network), std::move(code)};
}

std::string explanation(const network::TpuCompiled& code, const tpu::RunResult& result,
                        const tpu::Parameters& parameters, std::uint64_t top) {
    std::vector<network::LayerTime> times;
    for (const tpu::StepResult& step : result.steps)
        times.push_back({step.cycles, step.useful_macs, step.active, step.active_others,
                         step.active_elsewhere, step.weight_stall, step.weight_shift,
                         step.raw_stall, step.input_stall, step.issue_stall, step.idle_units,
                         step.bank_stall, step.window_stall, step.vector_busy, step.host_busy,
                         step.host_bytes_read + step.host_bytes_written,
                         step.dram_bytes_read + step.dram_bytes_written});
    return network::explain_utilisation(code, times, parameters.limits(),
                                        shown_steps(result.steps, top));
}

std::vector<network::Tensor> results_of(const Compiled& compiled, tpu::Storage& storage) {
    std::vector<network::Tensor> results;
    const network::Graph& graph = compiled.network.graph;
    for (std::size_t i = 0; i < compiled.code.outputs.size(); ++i)
        results.push_back(network::read_port(compiled.code.outputs[i],
                                             graph.value(graph.outputs[i]).type,
                                             storage.contents(compiled.code.outputs[i].buffer)));
    return results;
}

}  // namespace

Outcome run_tpu_network(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen) {
    const tpu::Parameters parameters(*machine);
    Outcome outcome{{machine->name(), std::string(name_of(job.mode)), job.what}};
    screen.progress("preparing");
    const Compiled compiled = compile(job, subject, parameters);
    if (job.schedule) screen.print_always(network::schedule_text(compiled.code));
    write_tpu_program(job, compiled.code.program);

    tpu::Storage storage(compiled.code.program, !job.no_values);
    for (std::size_t i = 0; i < compiled.network.inputs.size(); ++i)
        network::write_port(compiled.code.inputs[i], compiled.network.inputs[i],
                            storage.contents(compiled.code.inputs[i].buffer));
    const std::function<void(std::uint32_t)> host =
        job.no_values ? std::function<void(std::uint32_t)>()
                      : network::HostDriver(compiled.network.graph, compiled.code, storage);
    if (job.mode == Mode::kEmulate) {
        emulate_tpu_program(compiled.code.program, parameters, storage, outcome.statistics, screen,
                            host);
    } else {
        const tpu::RunResult result = simulate_tpu_program(
            job, compiled.code.program, parameters, storage, outcome.statistics, screen, host);
        screen.print(explanation(compiled.code, result, parameters, job.top));
    }
    outcome.statistics.stop_clock();
    if (job.values != nullptr && !job.no_values)
        take_outputs(job, compiled.network.graph, results_of(compiled, storage));
    if (job.verify) {
        screen.progress("comparing with the reference");
        judge(network::verify_tpu(compiled.network, results_of(compiled, storage),
                                  parameters.fixed_point),
              outcome, screen);
    }
    return outcome;
}

tpu::RunResult time_tpu_network(const Job& job) {
    const MachinePtr machine = config::Machine::load(job.machine, job.overrides);
    const tpu::Parameters parameters(*machine);
    Job timed = job;
    timed.no_values = true;
    const Compiled compiled = compile(timed, identify(job.what), parameters);
    tpu::Storage storage(compiled.code.program, false);
    return tpu::run(compiled.code.program, parameters, storage, {.values = false});
}

}  // namespace lockstep::run
