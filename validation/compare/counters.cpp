// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's counters of public kernels (published/counters.csv) beside those of the model
// under the same names. The kernels are those of suite silicon and are cut as there, so that a
// count is taken times the row's `scale`, and an average is that of the work that a run has more
// than the shorter one: counters that a cut changes (what a larger working set asks of L2 and of
// DRAM) are not in the table.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "validation/compare/counter_rules.h"
#include "validation/compare/silicon_programs.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"

namespace lockstep::validation {

namespace {

using Program = std::pair<std::string, std::string>;  ///< set, program

std::optional<double> stored(const Program& program, const std::string& metric) {
    static const auto made = [] {
        std::map<std::pair<Program, std::string>, double> values;
        const Table table = published_table("counters_simulated");
        for (std::size_t i = 0; i < table.rows(); ++i)
            values[{{table.text(i, "set"), table.text(i, "program")}, table.text(i, "metric")}] =
                table.number(i, "simulated");
        return values;
    }();
    const auto found = made.find({program, metric});
    return found == made.end() ? std::nullopt : std::optional(found->second);
}

/// The programs' simulations, each of them once.
class Simulations {
  public:
    explicit Simulations(const Request& request) : request_(request) {
        for (std::size_t i = 0; i < silicon_.rows(); ++i)
            rows_[{silicon_.text(i, "set"), silicon_.text(i, "program")}] = i;
    }

    std::size_t row_of(const Program& program) const {
        const auto found = rows_.find(program);
        if (found == rows_.end())
            throw InternalError(fmt::format("counters.csv: {}/{} is not a row of silicon.csv",
                                            program.first, program.second));
        return found->second;
    }
    const Table& silicon() const { return silicon_; }

    std::optional<double> value(const Program& program, const std::string& metric) {
        if (request_.programs.empty()) return stored(program, metric);
        const std::size_t row = row_of(program);
        const auto [place, is_new] = done_.try_emplace(program);
        if (is_new) place->second = simulate_row(silicon_, row, request_);
        if (!place->second) return std::nullopt;
        return counter_of(metric, place->second->all.kernels, place->second->less.kernels,
                          silicon_.number(row, "scale"));
    }

  private:
    const Request& request_;
    const Table silicon_ = published_table("silicon");
    std::map<Program, std::size_t> rows_;
    std::map<Program, std::optional<SimulatedRow>> done_;
};

std::vector<Row> rows(const Request& request) {
    check_programs(request);
    const Table table = published_table("counters");
    Simulations simulations(request);
    std::vector<Row> list;
    std::string store = "set,program,metric,simulated\n";
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const Program program{table.text(i, "set"), table.text(i, "program")};
        const std::string& metric = table.text(i, "metric");
        const std::size_t row = simulations.row_of(program);
        const Table& silicon = simulations.silicon();
        if (!is_asked_for(request, silicon.text(row, "machine"))) continue;
        const std::optional<double> simulated = simulations.value(program, metric);
        if (!simulated) continue;
        store +=
            fmt::format("{},{},{},{:.6g}\n", program.first, program.second, metric, *simulated);
        list.push_back({.name = program.first + "/" + program.second,
                        .quantity = metric,
                        .reference = table.number(i, "value"),
                        .simulated = *simulated,
                        .unit = is_percentage(metric) ? "%" : "1",
                        .source = silicon.text(row, "source"),
                        .part = table.text(i, "part") == "train" ? Part::kTrain : Part::kTest,
                        .group = program.first,
                        .is_percentage = is_percentage(metric)});
    }
    if (request.progress) fmt::print(stderr, "\r\033[K");
    if (list.empty()) no_row(request, "counters");
    if (!request.store.empty()) stats::write_whole(request.store, store);
    return list;
}

}  // namespace

Suite counters_suite() {
    return {.name = "counters",
            .summary = "counters under Nsight Compute's names against those of real GPUs",
            .machine = "all",
            .runs_programs = true,
            .rows = rows};
}

}  // namespace lockstep::validation
