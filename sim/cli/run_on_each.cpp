// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_on_each.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/run_page.h"
#include "sim/cli/screen.h"
#include "sim/error/error.h"
#include "workloads/report/side_by_side.h"
#include "workloads/run/job_for.h"

namespace lockstep::cli {

namespace {

/// The report of each run would hide the table: only what it must say, and what it is doing.
class QuietScreen final : public run::Screen {
  public:
    QuietScreen(run::Screen& screen, std::string machine)
        : screen_(screen), machine_(std::move(machine)) {}
    void print_always(std::string_view text) override {
        screen_.print_always(fmt::format("{}: {}", machine_, text));
    }
    void progress(std::string_view doing) override {
        screen_.progress(fmt::format("{}: {}", machine_, doing));
    }

  private:
    run::Screen& screen_;
    const std::string machine_;
};

void check(const run::Job& job) {
    if (is_executable(job))
        throw InputError(
            fmt::format("{} is an executable, which takes this program's place: one machine at a "
                        "time (lockstep "
                        "sweep runs it on several)",
                        job.what));
    for (const char* option : {"--trace", "--program", "--source", "--power-cap"})
        if (std::ranges::count(job.given, option) != 0)
            throw InputError(
                fmt::format("{}: of one machine; --on {} names several", option, job.machine));
}

std::string csv_of(const std::vector<report::MachineLine>& lines) {
    const auto text = [](const std::optional<double>& value) {
        return value ? fmt::format("{}", *value) : std::string();
    };
    std::string csv =
        "machine,basis,cycles,seconds,samples_per_second,utilization_pct,dram_bytes,joules_per_"
        "sample,error,failure\n";
    for (const report::MachineLine& line : lines) {
        std::string failure = line.failure;
        for (std::size_t at = 0; (at = failure.find('"', at)) != std::string::npos; at += 2)
            failure.insert(at, "\"");
        csv += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", line.machine, line.basis,
                           text(line.cycles), text(line.seconds), text(line.rate),
                           text(line.utilization), text(line.dram_bytes), text(line.joules),
                           text(line.error), failure.empty() ? "" : "\"" + failure + "\"");
    }
    return csv;
}

}  // namespace

int run_on_each(const run::Job& job, const std::string& html_file) {
    const std::vector<std::string> machines = run::machines_of(job.machine);
    check(job);
    if (!job.stats_file.empty()) stats::Statistics::check_path(job.stats_file);
    if (!html_file.empty()) stats::check_writable(html_file);
    if (!job.screen_file.empty()) stats::check_writable(job.screen_file);

    std::vector<run::Job> jobs;
    std::vector<std::string> taken, refusals;
    for (const std::string& machine : machines) {
        refusals.emplace_back();
        jobs.emplace_back();
        try {
            jobs.back() = run::job_for(job, machine, taken);
        } catch (const InputError& error) {
            refusals.back() = error.what();
        }
    }
    if (std::ranges::none_of(refusals, &std::string::empty)) throw InputError(refusals.front());
    for (const std::string& option : job.given)
        if (std::ranges::count(taken, option) == 0)
            throw InputError(
                fmt::format("{} means nothing to any of --on {}", option, job.machine));

    TerminalScreen screen(job.what, job.quiet, job.screen_file);
    std::vector<report::MachineLine> lines;
    std::vector<report::MachineRun> runs;
    std::string all;
    int status = 0;
    const auto fail = [&](const std::string& machine, const char* why, int with) {
        lines.push_back({.machine = machine, .failure = why});
        if (status == 0) status = with;
    };
    for (std::size_t i = 0; i < machines.size(); ++i) {
        if (!refusals[i].empty()) {
            fail(machines[i], refusals[i].c_str(), static_cast<int>(ExitStatus::kInputError));
            continue;
        }
        try {
            QuietScreen quiet(screen, machines[i]);
            const run::Outcome outcome = run::run(jobs[i], quiet);
            const std::string json = outcome.statistics.json();
            report::RunFile run = report::parse_run(machines[i], json);
            lines.push_back(report::line_of(run, run::samples_of(job)));
            runs.push_back({std::move(run), config::Machine::load(machines[i], jobs[i].overrides)});
            all += (all.empty() ? "" : ",\n") + json;
            if (status == 0) status = static_cast<int>(outcome.status());
        } catch (const InputError& error) {
            fail(machines[i], error.what(), static_cast<int>(ExitStatus::kInputError));
        } catch (const ProgramFault& fault) {
            fail(machines[i], fault.what(), static_cast<int>(ExitStatus::kProgramFault));
        }
    }
    screen.print(report::side_by_side_text(lines));
    screen.write_file();
    if (job.stats_file.ends_with(".csv"))
        stats::write_whole(job.stats_file, csv_of(lines));
    else if (!job.stats_file.empty())
        stats::write_whole(job.stats_file, "{\"schema\": 1, \"runs\": [\n" + all + "]}\n");
    if (!html_file.empty())
        stats::write_whole(html_file, report::side_by_side_page(job.what, lines, runs));
    return status;
}

}  // namespace lockstep::cli
