// SPDX-License-Identifier: Apache-2.0
// `lockstep sweep X...`: many runs over values of parameters.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sim/cli/duration.h"
#include "sim/cli/verbs.h"
#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "workloads/sweep/amounts.h"
#include "workloads/sweep/runner.h"
#include "workloads/sweep/slurm.h"
#include "workloads/sweep/table.h"

namespace lockstep::cli {

namespace {

struct Options {
    std::vector<std::string> what, machines, axes, overrides, constraints, objectives, prices;
    std::string slurm_task;  ///< in a task of Slurm: the file that says which points are its
    std::vector<std::string> command;  ///< this one, as words
    bool is_on_slurm = false;
    std::string design, mode, l2, timeout, memory, state_file, out_file, html_file;
    std::uint64_t samples = 0;
    std::optional<std::uint64_t> seed;
    unsigned jobs = std::max(std::thread::hardware_concurrency(), 1u);
    bool no_values = false, stops_dominated = false, is_fresh = false, retries = false,
         is_quiet = false;
};

config::Place place_of(std::string_view option, const std::string& text) {
    return {fmt::format("{} {}", option, text), 0};
}

/// What study files say first, what options say behind it.
sweep::StudyText text_of(const Options& options, const Words& after_dashes) {
    sweep::StudyText text;
    for (const std::string& what : options.what)
        if (what.ends_with(".yaml") || what.ends_with(".yml"))
            sweep::read_study_file(what, text);
        else
            text.workloads.push_back({what, {what, 0}});
    const auto append = [](std::vector<sweep::Placed>& to, std::string_view option,
                           const std::vector<std::string>& items) {
        for (const std::string& item : items) to.push_back({item, place_of(option, item)});
    };
    append(text.machines, "--on", options.machines);
    if (text.machines.empty()) text.machines.push_back({"h200", {"--on h200", 0}});
    append(text.overrides, "--set", options.overrides);
    append(text.constraints, "--where", options.constraints);
    append(text.objectives, "--objective", options.objectives);
    append(text.prices, "--price", options.prices);
    for (const std::string& axis : options.axes)
        text.axes.push_back(sweep::split_axis(axis, place_of("--vary", axis)));
    if (!options.design.empty())
        text.design = {options.design, place_of("--design", options.design)};
    if (options.samples > 0) text.samples = options.samples;
    if (options.seed) text.seed = *options.seed;
    if (!options.mode.empty())
        text.mode = options.mode == "cycle" ? run::Mode::kCycle : run::Mode::kEmulate;
    if (!options.l2.empty()) text.l2 = options.l2;
    text.no_values |= options.no_values;
    text.stops_dominated |= options.stops_dominated;
    text.arguments.insert(text.arguments.end(), after_dashes.begin(), after_dashes.end());
    if (!options.timeout.empty())
        text.limits.seconds =
            sweep::seconds_of(options.timeout, place_of("--timeout", options.timeout));
    if (!options.memory.empty())
        text.limits.bytes = sweep::bytes_of(options.memory, place_of("--memory", options.memory));
    return text;
}

/// Beside what is written, so that the same command finds it again.
std::string state_file(const Options& options) {
    if (!options.state_file.empty()) return options.state_file;
    const std::string& output = options.out_file.empty() ? options.html_file : options.out_file;
    if (output.empty()) return "sweep.sqlite";
    return std::filesystem::path(output).replace_extension(".sqlite");
}

void check_outputs(const Options& options) {
    if (!options.out_file.empty()) stats::Statistics::check_path(options.out_file);
    if (!options.html_file.empty()) stats::check_writable(options.html_file);
    if (!options.html_file.empty() && options.html_file == options.out_file)
        throw InputError(fmt::format("{}: --out and --html name the same file", options.html_file));
}

/// Behind the program's name.
std::vector<std::string> words_of_process() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    if (!words.empty()) words.erase(words.begin());
    return words;
}

/// A line on standard error, a few times a second, where that is a terminal.
class ProgressLine {
  public:
    explicit ProgressLine(bool is_quiet) : is_shown_(!is_quiet && isatty(STDERR_FILENO) != 0) {}
    ~ProgressLine() {
        if (is_shown_) fmt::print(stderr, "\r\033[K");
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void operator()(const sweep::Progress& progress) const {
        if (!is_shown_) return;
        std::string text = fmt::format("\r\033[K{} of {} points", progress.done + progress.failed,
                                       progress.points);
        if (progress.failed > 0) text += fmt::format(", {} failed", progress.failed);
        text += fmt::format(", {} running", progress.running);
        if (progress.seconds_left >= 0) text += ", " + duration(progress.seconds_left) + " left";
        fmt::print(stderr, "{}", text);
        std::fflush(stderr);
    }

  private:
    const bool is_shown_;
};

void write_files(const Options& options, const sweep::Table& table) {
    if (!options.out_file.empty())
        stats::write_whole(options.out_file, options.out_file.ends_with(".csv")
                                                 ? sweep::csv(table)
                                                 : sweep::json(table));
    if (!options.html_file.empty())
        stats::write_whole(options.html_file, sweep::html_report(table));
}

/// This command as a task of Slurm starts it.
std::vector<std::string> slurm_command(const Options& options) {
    if (options.stops_dominated)
        throw InputError("--stop-dominated: points on Slurm do not know of each other");
    std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe")};
    words.insert(words.end(), options.command.begin(), options.command.end());
    // In front of what is behind --.
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end())
        throw InputError("--slurm: arguments of executables behind -- go into a study file");
    words.push_back("--slurm-task");
    return words;
}

int run_sweep(const Options& options, const Words& after_dashes) {
    check_outputs(options);
    const sweep::Study study = sweep::make_study(text_of(options, after_dashes));
    const sweep::Plan plan = sweep::make_plan(study);
    const std::string state = state_file(options);
    if (!options.slurm_task.empty()) {
        sweep::run_apart(study, plan, sweep::points_of_task(plan, options.slurm_task),
                         std::filesystem::path(options.slurm_task).parent_path());
        return static_cast<int>(ExitStatus::kDone);
    }
    sweep::Store store(state);
    if (options.is_fresh) store.forget_all();
    if (options.retries) store.forget_failed();
    sweep::RunReport report;
    std::vector<sweep::Result> results;
    {
        const ProgressLine line(options.is_quiet);
        const auto show = [&](const sweep::Progress& progress) { line(progress); };
        const std::string folder = sweep::work_folder(state);
        results = options.is_on_slurm
                      ? sweep::run_on_slurm(study, plan, store, folder,
                                            {slurm_command(options), options.jobs}, show, report)
                      : sweep::run_points(study, plan, store, folder, options.jobs, show, report);
    }
    const sweep::Table table = sweep::make_table(study, plan, std::move(results));
    write_files(options, table);
    if (options.is_quiet) return static_cast<int>(ExitStatus::kDone);
    fmt::print("{}", sweep::text(table));
    std::fflush(stdout);
    fmt::print(stderr, "{} of {} points run", report.run, plan.points.size());
    if (report.run > 0 && !options.is_on_slurm)
        fmt::print(stderr, " in {}, {} at a time, {:.0f}% of their cores busy",
                   duration(report.seconds), options.jobs,
                   100 * report.busy_seconds / report.seconds / options.jobs);
    fmt::print(stderr, "; state in {}\n", state);
    return static_cast<int>(ExitStatus::kDone);
}

}  // namespace

void add_sweep(CLI::App& app, const Words& after_dashes, int& status) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand(
        "sweep", "Run workloads over values of parameters: table, Pareto front, sensitivity");
    verb->add_option("X", options->what, "workloads as for run, or study files (.yaml)")
        ->required();
    verb->add_option("--on", options->machines, "machines: names or .yaml files (default: h200)")
        ->delimiter(',')
        ->check(is_name);
    const auto list = [&](const char* name, std::vector<std::string>& into, const char* meaning) {
        verb->add_option(name, into, meaning)->take_all()->expected(1);
    };
    list("--vary", options->axes,
         "path=a,b,c of the machine, or workload.KEY=...: values, ranges a..b..step and "
         "a..b..*factor; for samples the interval a..b or a..b..log");
    list("--set", options->overrides, "override a machine's parameter in all points: path=value");
    list("--where", options->constraints,
         "run only points for which this holds, as 'sm.count * tensor_core.macs.fp16 <= 70000'");
    list("--objective", options->objectives,
         "objective to minimise, [max:][name=]formula of cycles, seconds, joules, mm2, dollars, "
         "metrics "
         "and parameters (default: cycles)");
    list("--price", options->prices, "dollars of an hour of a machine, as h200=3.5");
    verb->add_option("--design", options->design,
                     "grid (default), one-at-a-time, random, lhs (default with --samples), sobol");
    verb->add_option("--samples", options->samples,
                     "points to draw; for design sobol times (parameters + 2)")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
    verb->add_option("--seed", options->seed, "seed of samples and generated inputs (default: 0)");
    verb->add_option("--mode", options->mode, "cycle (default) or emulate")
        ->check(CLI::IsMember({"cycle", "emulate"}));
    verb->add_option("--l2", options->l2, "GPU: what the L2 holds when a kernel begins")
        ->check(CLI::IsMember({"cold", "warm"}));
    verb->add_flag("--no-values", options->no_values, "TPU, systolic: only time");
    verb->add_option("--timeout", options->timeout, "time limit of a point, as 90s or 5min");
    verb->add_option("--memory", options->memory, "memory limit of a point, as 4GiB");
    verb->add_flag("--stop-dominated", options->stops_dominated,
                   "end points as soon as an earlier one is better in all objectives");
    verb->add_option("--jobs", options->jobs, "points at a time; results never depend on it")
        ->check(CLI::Range(1u, 4096u))
        ->capture_default_str();
    verb->add_flag("--slurm", options->is_on_slurm,
                   "run the points as a job array of Slurm, --jobs tasks at a time");
    verb->add_option("--slurm-task", options->slurm_task)->group("");
    verb->add_option("--state", options->state_file,
                     "SQLite file that keeps results; the same command goes on from it (default: "
                     "beside --out or --html, or sweep.sqlite)")
        ->check(is_name);
    verb->add_flag("--fresh", options->is_fresh, "forget what the state has");
    verb->add_flag("--retry", options->retries, "run points again that failed");
    verb->add_option("--out", options->out_file, "write all points (.csv or .json)")
        ->check(is_name);
    verb->add_option("--html", options->html_file, "write a page: front, sensitivity, all points")
        ->check(is_name);
    verb->add_flag("--quiet", options->is_quiet, "print nothing");
    verb->callback([options, &after_dashes, &status] {
        options->command = words_of_process();
        status = run_sweep(*options, after_dashes);
    });
}

}  // namespace lockstep::cli
