// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/host/host.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/host/parameter_rows.h"
#include "workloads/network/compile/cost.h"
#include "workloads/network/compile/prepare.h"
#include "workloads/network/compile/verify.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"
#include "workloads/run/network_source.h"
#include "workloads/run/network_values.h"
#include "workloads/run/verdict.h"

namespace lockstep::run {

namespace {

unsigned threads_of(const Job& job, const config::Machine& machine) {
    const bool is_given = std::ranges::count(job.given, "--threads") != 0;
    return is_given ? job.threads : host::threads(machine);
}

}  // namespace

Outcome run_on_host(const Job& job, const Subject& subject, const MachinePtr& machine,
                    Screen& screen) {
    NetworkSource source = read_network(job, subject, true);
    network::simplify(source.graph);
    screen.progress("preparing");
    network::compile::Prepared network =
        network::compile::prepare_floats(std::move(source.graph), job.seed, true);
    put_inputs(job, network);
    const network::Graph& graph = network.graph;
    const unsigned threads = threads_of(job, *machine);
    Outcome outcome{{machine->name(), "measured", job.what}};
    screen.progress("running");
    network::execute_timed(graph, network.inputs, threads);
    const network::TimedRun run = network::execute_timed(graph, network.inputs, threads);
    double seconds = 0, operations = 0;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const network::compile::NodeCost cost = network::compile::cost_of(graph, graph.nodes[n]);
        const bool is_product =
            network::info_of(graph.nodes[n].op).product != network::ProductForm::kNone;
        stats::Step step;
        step.name = graph.nodes[n].name;
        step.metrics = {{"host__seconds", run.seconds[n]},
                        {"macs", is_product ? cost.operations / 2 : std::uint64_t{0}}};
        outcome.statistics.add(std::move(step));
        outcome.statistics.add_time(0, run.seconds[n], 1);
        seconds += run.seconds[n];
        operations += static_cast<double>(cost.operations);
    }
    screen.print(
        fmt::format("measured on this computer, {} {} in Eigen: {:.3f} ms, {:.1f} GFLOP/s\n",
                    threads, threads == 1 ? "thread" : "threads", 1e3 * seconds,
                    seconds > 0 ? operations / seconds * 1e-9 : 0.0));
    outcome.statistics.stop_clock();
    take_outputs(job, graph, run.outputs);
    if (job.verify) {
        screen.progress("comparing with the reference");
        judge(network::compile::verify_fp32(network, run.outputs), outcome, screen);
    }
    return outcome;
}

}  // namespace lockstep::run
