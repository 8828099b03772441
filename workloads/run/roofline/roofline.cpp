// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/roofline/roofline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "models/data_sheet/data_sheet.h"
#include "models/roofline/bound.h"
#include "workloads/network/compile/layer_work.h"
#include "workloads/network/reference/fold.h"
#include "workloads/run/network_source.h"

namespace lockstep::run {

namespace {

std::string precision_of(const NetworkSource& source, const DataSheet& sheet,
                         const config::Machine& machine) {
    if (!source.dtype) return std::string(sheet.usual_float());
    const std::string name(network::name_of(*source.dtype));
    if (sheet.peak(name) > 0) return name;
    std::vector<std::string_view> known;
    for (const DataSheet::Peak& peak : sheet.peaks) known.push_back(peak.precision);
    throw InputError(fmt::format("{} has no peak for {}; it has them for {}",
                                 machine.text("product"), name, fmt::join(known, ", ")));
}

}  // namespace

Outcome run_roofline(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen) {
    if (job.mode == Mode::kEmulate)
        throw InputError(
            fmt::format("{} is a data sheet: nothing executes on it", machine->name()));
    const DataSheet sheet = data_sheet(*machine);
    NetworkSource source = read_network(job, subject, false);
    network::simplify(source.graph);
    const std::string precision = precision_of(source, sheet, *machine);
    Outcome outcome{{machine->name(), "roofline", job.what}};
    const std::vector<network::compile::LayerWork> layers =
        network::compile::layer_works(source.graph, network::compile::bytes_of(precision));
    double all = 0, by_memory = 0, operations = 0;
    const double peak = sheet.peak(precision);
    for (const network::compile::LayerWork& work : layers) {
        const roofline::Bound bound =
            roofline::bound(peak, sheet.bandwidth, work.operations, work.read + work.written);
        const auto cycles =
            static_cast<std::uint64_t>(std::ceil(bound.seconds * machine->number("clock") * 1e6));
        stats::Step step;
        step.name = work.name;
        step.metrics = {{"cycles", cycles},
                        {"macs", static_cast<std::uint64_t>(work.macs)},
                        {"array_utilization.pct",
                         bound.seconds > 0 ? 200 * work.macs / (peak * bound.seconds) : 0.0},
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
