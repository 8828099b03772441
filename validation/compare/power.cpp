// SPDX-License-Identifier: Apache-2.0
// Power of machines at known work: what --energy comes to beside what was published. Machines are
// those of the table. Kernels whose sources are not here were run once: the table has what came of
// it, and says how.
#include "sim/error/error.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"
#include "workloads/run/job.h"

namespace lockstep::validation {

namespace {

/// Its sheet of prices was chosen when its rows were there already.
constexpr std::string_view kChosenBesideItsRows = "v100";

double total_of(const stats::Statistics& run, std::string_view wanted) {
    for (const auto& [name, value] : run.totals())
        if (name == wanted) return value.as_double();
    throw InternalError(fmt::format("a run with energy has no {}", wanted));
}

/// W, or mJ, of one machine, without one component where that is named.
double value_of(const run::Job& job, bool is_power, const std::string& without) {
    constexpr double kMilli = 1e3;
    run::Screen screen;
    const run::Outcome outcome = run::run(job, screen);
    const double energy = total_of(outcome.statistics, "energy.total");
    const double left =
        without.empty() ? energy : energy - total_of(outcome.statistics, "energy." + without);
    if (!is_power) return left * kMilli;
    return total_of(outcome.statistics, "energy.power") * left / energy;
}

std::vector<Row> rows(const Request&) {
    const Table table = published_table("power");
    std::vector<Row> list;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const std::string& machine = table.text(i, "machine");
        const run::Job job{.what = table.text(i, "workload"),
                           .machine = machine,
                           .no_values = true,
                           .energy = true};
        const std::string& quantity = table.text(i, "quantity");
        const bool is_power = quantity == "power", is_stored = !table.text(i, "simulated").empty();
        list.push_back({.name = machine + " " + job.what,
                        .quantity = quantity,
                        .reference = table.number(i, "value"),
                        .simulated = is_stored
                                         ? table.number(i, "simulated")
                                         : table.number(i, "cores") *
                                               value_of(job, is_power, table.text(i, "without")),
                        .unit = is_power ? "W" : "mJ",
                        .source = table.text(i, "source"),
                        .part = machine == kChosenBesideItsRows ? Part::kTrain : Part::kTest,
                        .note = table.text(i, "note"),
                        .group = machine});
    }
    return list;
}

}  // namespace

Suite power_suite() {
    return {.name = "power",
            .summary = "power of known work, as --energy has it, against what was published",
            .machine = "tpu_v1",
            .bar = 32,
            .bar_source = "AccelWattch: 9% on the card that it was fitted to, 32% on another",
            .rows = rows};
}

}  // namespace lockstep::validation
