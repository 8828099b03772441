// SPDX-License-Identifier: Apache-2.0
// NVDLA machines against what was published of NVDLA: the layers of its performance sheet, cycles
// of its RTL, and frame rates of its primer. What the sheet does and silicon cannot is in the notes
// of its rows (validation/README.md has the sum of it); the RTL's row is run under the conditions
// that are published, and none was chosen by the result.
#include <algorithm>
#include <map>

#include "models/npu/parameters.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"
#include "workloads/run/npu/network.h"

namespace lockstep::validation {

namespace {

constexpr const char* kLayer = "layer cycles";
constexpr const char* kSheet = "sheet cycles";
constexpr const char* kRtl = "RTL cycles";
constexpr double kRtlShare = 0.25;  ///< how far a model of published mechanisms may be off

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(';', at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

/// Each network on each machine once.
class Runs {
  public:
    const npu::RunResult& of(const Table& table, std::size_t i) {
        const std::string key =
            table.text(i, "machine") + " " + table.text(i, "workload") + " " + table.text(i, "set");
        const auto found = runs_.find(key);
        if (found != runs_.end()) return found->second;
        std::string what = table.text(i, "workload");
        std::replace(what.begin(), what.end(), ';', ',');
        const run::Job job{.what = what,
                           .machine = table.text(i, "machine"),
                           .overrides = split(table.text(i, "set"))};
        return runs_.emplace(key, run::time_npu_network(job)).first->second;
    }

  private:
    std::map<std::string, npu::RunResult> runs_;
};

/// Of the steps that begin with one of these nodes.
double cycles_of(const npu::RunResult& run, const std::vector<std::string>& nodes) {
    double cycles = 0;
    for (const std::string& node : nodes) {
        const auto step =
            std::find_if(run.steps.begin(), run.steps.end(), [&](const npu::StepResult& candidate) {
                return candidate.name == node || candidate.name.starts_with(node + "+");
            });
        LOCKSTEP_CHECK(step != run.steps.end(), "no step of the network begins with {}", node);
        cycles += static_cast<double>(step->cycles);
    }
    return cycles;
}

double simulated(const Table& table, std::size_t i, Runs& runs) {
    const npu::RunResult& run = runs.of(table, i);
    const double images = table.number(i, "images");
    const std::vector<std::string> nodes = split(table.text(i, "step"));
    if (!nodes.empty()) return cycles_of(run, nodes) / images;
    return table.text(i, "unit") == "1/s" ? images / run.seconds
                                          : static_cast<double>(run.cycles) / images;
}

std::vector<Row> rows(const Request&) {
    const Table table = published_table("nvdla");
    Runs runs;
    std::vector<Row> list;
    std::map<std::string, Row> sums;  // of the layers of a sheet
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const std::string& network = table.text(i, "network");
        const std::string& step = table.text(i, "step");
        Row row{.name = step.empty() ? network + ": " + table.text(i, "workload")
                                     : network + ": " + step,
                .quantity = table.text(i, "quantity"),
                .reference = table.number(i, "value"),
                .simulated = simulated(table, i, runs),
                .unit = table.text(i, "unit"),
                .source = table.text(i, "source"),
                .note = table.text(i, "note")};
        if (row.quantity == kRtl) row.allowed = kRtlShare * row.reference;
        if (row.quantity == kLayer) {
            Row& sum = sums.try_emplace(network, Row{network, kSheet, 0, 0, row.unit, row.source})
                           .first->second;
            sum.reference += row.reference;
            sum.simulated += row.simulated;
            sum.note = "sum of its layers";
        }
        list.push_back(std::move(row));
    }
    for (auto& [network, sum] : sums) {
        // The bar is for the sheet's larger network.
        if (network.starts_with("AlexNet")) sum.quantity = "sheet cycles of AlexNet";
        list.push_back(std::move(sum));
    }
    return list;
}

}  // namespace

Suite nvdla_suite() {
    return {.name = "nvdla",
            .summary =
                "NVDLA's performance sheet by layer, its RTL's AlexNet, its primer's frame "
                "rates",
            .machine = "nvdla_large",
            .bar = 10,
            .bar_source = "the goal for the sheet's ResNet-50",
            .bar_quantity = kSheet,
            .rows = rows};
}

}  // namespace lockstep::validation
