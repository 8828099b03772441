// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/roofline/roofline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "models/roofline/bound.h"
#include "workloads/network/compile/cost.h"
#include "workloads/network/graph/fusion.h"
#include "workloads/network/reference/fold.h"
#include "workloads/run/network_source.h"

namespace lockstep::run {

namespace {

std::string precision_of(const NetworkSource& source, const roofline::Parameters& machine) {
    if (source.dtype) {
        const std::string name(network::name_of(*source.dtype));
        if (machine.operations_per_second(name) > 0) return name;
        std::vector<std::string_view> known;
        for (const std::string_view precision : roofline::kPrecisions)
            if (machine.operations_per_second(precision) > 0) known.push_back(precision);
        throw InputError(fmt::format("{} has no peak for {}; it has them for {}", machine.product,
                                     name, fmt::join(known, ", ")));
    }
    for (const char* narrow : {"bf16", "fp16"})
        if (machine.operations_per_second(narrow) > machine.operations_per_second("fp32"))
            return narrow;
    return "fp32";
}

double bytes_of(std::string_view precision) {
    if (precision == "fp64") return 8;
    if (precision == "fp32" || precision == "tf32") return 4;
    if (precision == "bf16" || precision == "fp16") return 2;
    return precision == "int4" ? 0.5 : 1;
}

struct LayerWork {
    double operations = 0, macs = 0, read = 0, written = 0;
};

/// Each value that a layer reads or writes passes once.
LayerWork work_of(const network::Graph& graph, const network::Layer& layer, double bytes) {
    LayerWork work;
    for (const std::size_t n : layer.nodes) {
        const network::Node& node = graph.nodes[n];
        const auto operations =
            static_cast<double>(network::compile::cost_of(graph, node).operations);
        work.operations += operations;
        if (network::info_of(node.op).product != network::ProductForm::kNone)
            work.macs += operations / 2;
    }
    const auto size = [&](network::ValueId id) {
        const network::Value& value = graph.value(id);
        const double element = network::is_floating(value.type)
                                   ? bytes
                                   : static_cast<double>(network::size_of(value.type));
        return static_cast<double>(network::element_count(graph.shape(id))) * element;
    };
    const bool is_view =
        layer.nodes.size() == 1 &&
        network::info_of(graph.nodes[layer.head()].op).work == network::Work::kView;
    if (is_view) return work;
    for (const network::ValueId id : layer.inputs) work.read += size(id);
    for (const network::ValueId id : layer.outputs) work.written += size(id);
    return work;
}

}  // namespace

Outcome run_roofline(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen) {
    if (job.mode == Mode::kEmulate)
        throw InputError(
            fmt::format("{} is a data sheet: nothing executes on it", machine->name()));
    const roofline::Parameters parameters(*machine);
    NetworkSource source = read_network(job, subject, false);
    network::simplify(source.graph);
    const std::string precision = precision_of(source, parameters);
    const network::Graph& graph = source.graph;
    Outcome outcome{{machine->name(), "roofline", job.what}};
    const std::vector<network::Layer> layers = network::layers_of(graph);
    double all = 0, by_memory = 0, operations = 0;
    for (const network::Layer& layer : layers) {
        const LayerWork work = work_of(graph, layer, bytes_of(precision));
        const roofline::Bound bound =
            roofline::bound(parameters, precision, work.operations, work.read + work.written);
        const auto cycles =
            static_cast<std::uint64_t>(std::ceil(bound.seconds * parameters.clock_mhz * 1e6));
        stats::Step step;
        step.name = network::name_of(graph, layer);
        const double peak = parameters.operations_per_second(precision) * bound.seconds;
        step.metrics = {{"cycles", cycles},
                        {"macs", static_cast<std::uint64_t>(work.macs)},
                        {"array_utilization.pct", peak > 0 ? 200 * work.macs / peak : 0.0},
                        {"dram_bytes_read", static_cast<std::uint64_t>(work.read)},
                        {"dram_bytes_write", static_cast<std::uint64_t>(work.written)},
                        {"lockstep__memory_bound", std::uint64_t{bound.by_memory}}};
        outcome.statistics.add(std::move(step));
        outcome.statistics.add_time(cycles, bound.seconds, 1);
        all += bound.seconds;
        operations += work.operations;
        if (bound.by_memory) by_memory += bound.seconds;
    }
    screen.print(fmt::format(
        "{} is a data sheet, nothing was executed. In {}, {} layers take {:.3f} ms at the least "
        "({:.1f}% of it bound by memory, all at {:.2f} TFLOP/s); real runs take longer.\n",
        machine->name(), precision, layers.size(), 1e3 * all, all > 0 ? 100 * by_memory / all : 0.0,
        all > 0 ? operations / all * 1e-12 : 0.0));
    return outcome;
}

}  // namespace lockstep::run
