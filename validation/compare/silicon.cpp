// SPDX-License-Identifier: Apache-2.0
// Kernels of public benchmarks on several GPUs against times that others measured there. Sources
// are where they were published, so that a user builds the executables (validation/README.md says
// how they are named); what they took when the table was made is stored, with its provenance, and
// is what is compared without them. Rows of long kernels are cut: `scale` says by how much, and
// `less` names a shorter run whose time is taken off, which leaves no start and no end. `beyond` is
// what a measurement by events adds to the kernel's time.
#include "validation/compare/silicon.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "validation/compare/silicon_programs.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"

namespace lockstep::validation {

namespace {

constexpr double kMicroseconds = 1e6;

struct Simulated {
    double value = 0;  ///< in the row's unit, before `scale`
    std::string work_class;
};

std::optional<Simulated> stored(const std::string& set, const std::string& program) {
    static const Table table = published_table("silicon_simulated");
    for (std::size_t i = 0; i < table.rows(); ++i)
        if (table.text(i, "set") == set && table.text(i, "program") == program)
            return Simulated{table.number(i, "simulated"), table.text(i, "class")};
    return std::nullopt;
}

std::optional<Simulated> run(const Table& table, std::size_t i, const Request& request) {
    const auto simulated = simulate_row(table, i, request);
    if (!simulated) return std::nullopt;
    const auto& [all, less] = *simulated;
    if (table.text(i, "unit") == "cycles")
        return Simulated{all.cycles - less.cycles, all.work_class};
    return Simulated{kMicroseconds * (all.seconds - less.seconds), all.work_class};
}

/// The row's note, and the clock where it was fitted to the set (it is among the overrides).
std::string note(const Table& table, std::size_t i) {
    const std::string& own = table.text(i, "note");
    if (table.text(i, "clock") != "fitted") return own;
    const std::string& overrides = table.text(i, "overrides");
    constexpr std::string_view kClock = "clock.sm=";
    const std::size_t at = overrides.find(kClock);
    if (at == std::string::npos)
        throw InputError(fmt::format("silicon.csv: {}: a fitted clock without {}",
                                     table.text(i, "program"), kClock));
    const std::size_t from = at + kClock.size();
    return fmt::format("{}{}at {} MHz, fitted to the set", own, own.empty() ? "" : "; ",
                       overrides.substr(from, overrides.find(' ', from) - from));
}

std::vector<Row> rows(const Request& request) {
    std::vector<Row> list;
    for (SiliconRow& row : silicon_rows(request)) list.push_back(std::move(row.row));
    if (request.progress) fmt::print(stderr, "\r\033[K");
    return list;
}

}  // namespace

std::vector<SiliconRow> silicon_rows(const Request& request) {
    const Table table = published_table("silicon");
    check_programs(request);
    std::vector<SiliconRow> list;
    std::string store = "set,program,simulated,class\n";
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const std::string &set = table.text(i, "set"), &program = table.text(i, "program");
        if (!is_asked_for(request, table.text(i, "machine"))) continue;
        const auto simulated =
            request.programs.empty() ? stored(set, program) : run(table, i, request);
        if (!simulated) continue;
        store +=
            fmt::format("{},{},{:.6g},{}\n", set, program, simulated->value, simulated->work_class);
        list.push_back(
            {.set = set,
             .machine = table.text(i, "machine"),
             .work_class = simulated->work_class,
             .row = {.name = set + "/" + program,
                     .quantity = "time",
                     .reference = table.number(i, "value"),
                     .simulated =
                         simulated->value * table.number(i, "scale") + table.number(i, "beyond"),
                     .unit = table.text(i, "unit"),
                     .source = table.text(i, "source"),
                     .part = table.text(i, "part") == "train" ? Part::kTrain : Part::kTest,
                     .note = note(table, i),
                     .group = set}});
    }
    if (list.empty()) no_row(request, "silicon");
    if (!request.store.empty()) stats::write_whole(request.store, store);
    return list;
}

Suite silicon_suite() {
    return {.name = "silicon",
            .summary = "kernels of public benchmarks against times measured on real GPUs",
            .machine = "all",
            .runs_programs = true,
            .rows = rows};
}

}  // namespace lockstep::validation
