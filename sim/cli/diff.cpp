// SPDX-License-Identifier: Apache-2.0
// `lockstep diff a.json b.json`: two runs side by side.
#include "workloads/report/diff.h"

#include <fmt/format.h>

#include "sim/cli/verbs.h"
#include "sim/error/error.h"
#include "sim/stats/statistics.h"

namespace lockstep::cli {

namespace {

struct Options {
    std::string a, b, html_file;
    bool shows_all = false;
};

void diff(const Options& options) {
    constexpr std::size_t kMost = 20;
    if (!options.html_file.empty()) stats::check_writable(options.html_file);
    const report::RunFile a = report::read_run(options.a), b = report::read_run(options.b);
    if (!options.html_file.empty()) stats::write_whole(options.html_file, report::diff_page(a, b));
    fmt::print("{}", report::diff_text(a, b, options.shows_all ? 0 : kMost));
}

}  // namespace

void add_diff(CLI::App& app, int&) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand("diff", "Compare two runs' statistics by step and metric");
    verb->add_option("a", options->a, "statistics of a run (.json, from run --stats)")->required();
    verb->add_option("b", options->b, "... of another run")->required();
    verb->add_flag("--all", options->shows_all, "show all metrics that differ");
    verb->add_option("--html", options->html_file, "write a page with all metrics")->check(is_name);
    verb->callback([options] { diff(*options); });
}

}  // namespace lockstep::cli
