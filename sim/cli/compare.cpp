// SPDX-License-Identifier: Apache-2.0
// `lockstep compare --suite NAME`: simulated against measured or published.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "sim/cli/verbs.h"
#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "validation/compare/html_report.h"
#include "validation/compare/report.h"

namespace lockstep::cli {

namespace {

struct Options {
    std::string suite, stats_file, html_file;
    validation::Request request;
};

int compare(Options options) {
    if (options.suite.empty()) {
        for (const auto& [is_given, option] : {std::pair{!options.request.machine.empty(), "--on"},
                                               {!options.stats_file.empty(), "--stats"},
                                               {!options.html_file.empty(), "--html"},
                                               {!options.request.measured.empty(), "--measured"},
                                               {!options.request.programs.empty(), "--programs"}})
            if (is_given) throw InputError(fmt::format("{} needs --suite", option));
        for (const validation::Suite& suite : validation::suites())
            fmt::print("{:<16} {}\n{:<16}   --on {}\n", suite.name, suite.summary, "",
                       suite.machine);
        return static_cast<int>(ExitStatus::kDone);
    }
    const validation::Suite& suite = validation::find_suite(options.suite);
    if (suite.name != "h200" && !options.request.measured.empty())
        throw InputError("--measured is for suite h200");
    if (suite.name != "h200" && options.request.limit != 0)
        throw InputError("--limit is for suite h200");
    if (!suite.runs_programs && !options.request.programs.empty())
        throw InputError("--programs is for suites silicon and counters");
    if (!options.request.store.empty()) {
        if (suite.name != "networks" && suite.name != "sampling" &&
            options.request.programs.empty())
            throw InputError("--store needs --programs, or suite networks or sampling");
        stats::check_writable(options.request.store);
    }
    if (!options.stats_file.empty()) stats::Statistics::check_path(options.stats_file);
    if (!options.html_file.empty()) stats::check_writable(options.html_file);
    if (!options.html_file.empty() && options.html_file == options.stats_file)
        throw InputError(
            fmt::format("{}: --stats and --html name the same file", options.html_file));
    if (options.request.machine.empty()) options.request.machine = suite.machine;
    options.request.progress = isatty(STDERR_FILENO) != 0;
    bool are_rows_shown = false;
    options.request.on_rows = [&](std::span<const validation::Row> some) {
        if (!are_rows_shown)
            fmt::print("{}{:>9} {:>11} {:>11} {:<5} {:<14} name\n",
                       validation::sample_warning(some), "error", "reference", "simulated", "part",
                       "quantity");
        are_rows_shown = true;
        if (options.request.progress) fmt::print(stderr, "\r\033[K");
        for (const validation::Row& row : some)
            if (validation::is_shown(row)) fmt::print("{}", validation::row_text(suite, row));
        std::fflush(stdout);
    };
    const std::vector<validation::Row> rows = suite.rows(options.request);
    const std::string& machine = options.request.machine;
    if (are_rows_shown) fmt::print("\n");
    fmt::print("{}", validation::text_report(suite, machine, rows, !are_rows_shown));
    if (!options.stats_file.empty())
        stats::write_whole(options.stats_file, options.stats_file.ends_with(".csv")
                                                   ? validation::csv_report(suite, rows)
                                                   : validation::json_report(suite, machine, rows));
    if (!options.html_file.empty())
        stats::write_whole(options.html_file, validation::html_report(suite, machine, rows));
    const bool is_equal = std::all_of(rows.begin(), rows.end(), [](const validation::Row& row) {
        return row.simulated == row.reference;
    });
    return static_cast<int>(suite.is_exact && !is_equal ? ExitStatus::kMismatch
                                                        : ExitStatus::kDone);
}

}  // namespace

void add_compare(CLI::App& app, int& status) {
    auto options = std::make_shared<Options>();
    CLI::App* verb =
        app.add_subcommand("compare", "Compare simulated results with measured and published ones");
    verb->add_option("--suite", options->suite, "suite to run (default: list the suites)");
    verb->add_option("--on", options->request.machine,
                     "machine: a name or a .yaml file (default: the suite's own)");
    verb->add_option("--stats", options->stats_file, "write all rows (.json or .csv)")
        ->check(is_name);
    verb->add_option("--html", options->html_file, "write a page with plots and all rows")
        ->check(is_name);
    verb->add_option("--measured", options->request.measured,
                     "folder of measurements that suite h200 compares with (default: built in)");
    verb->add_option(
        "--programs", options->request.programs,
        "folder of executables that suites silicon and counters run (default: stored results)");
    verb->add_option("--store", options->request.store,
                     "write what the executables of --programs took, as the stored results; suites "
                     "networks and sampling: simulate what is feasible, and write it")
        ->check(is_name);
    verb->add_option("--limit", options->request.limit,
                     "seconds after which suite h200 stops comparing (0: none)");
    verb->add_option("--threads", options->request.threads,
                     "host threads; results never depend on it")
        ->check(CLI::Range(1u, 1024u))
        ->capture_default_str();
    verb->callback([options, &status] { status = compare(*options); });
}

}  // namespace lockstep::cli
