// SPDX-License-Identifier: Apache-2.0
// A point's process leaves its statistics as KEY.done.json, which appears whole (it is renamed), so
// that a point that ended after its parent did is not run again. What an executable writes itself
// is KEY.json: whether the program ended well, only its parent knows.
#include "workloads/sweep/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/config/value.h"
#include "sim/stats/live_cycles.h"
#include "sim/stats/statistics.h"
#include "workloads/sweep/dominance.h"
#include "workloads/sweep/names.h"
#include "workloads/sweep/shared_cells.h"

namespace lockstep::sweep {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Files of a point in the work folder.
struct Files {
    Files(const std::string& folder, const Point& point)
        : base(folder + "/" + point.key),
          done(base + ".done.json"),
          failed(base + ".failed"),
          own(base + ".json"),
          log(base + ".log") {}
    std::string base, done, failed, own, log;
    void remove() const {
        for (const std::string& file : {done, failed, own, log}) ::unlink(file.c_str());
    }
};

std::optional<std::string> contents(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return std::nullopt;
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Why a point was ended that need not have begun.
constexpr const char* kDominated = "another point dominates it";

/// In the point's process. An executable takes its place.
std::string run_point(const Study& study, const Point& point, const std::string& folder,
                      std::atomic<std::uint64_t>* cycles = nullptr) {
    stats::publish_cycles_to(cycles);
    const Files files(folder, point);
    const int log = open(files.log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0666);
    const int nothing = open("/dev/null", O_RDONLY);
    if (log < 0 || nothing < 0) throw InputError(files.log + ": cannot be written");
    dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(log);
    close(nothing);
    run::Job job = job_of(study, point);
    job.stats_file = files.own;
    run::Screen screen;
    const run::Outcome outcome = run::run(job, screen);
    if (outcome.status() != ExitStatus::kDone)
        throw Error(outcome.status(),
                    fmt::format("ended with status {}", static_cast<int>(outcome.status())));
    outcome.statistics.write(files.done);
    return "";
}

/// The last line of a program's own output says best what was wrong.
std::string last_line(const std::string& file) {
    std::istringstream text(contents(file).value_or(""));
    std::string last;
    for (std::string line; std::getline(text, line);)
        if (!line.empty()) last = line;
    return last;
}

Result result_of(const Files& files, const process::JobResult& ended) {
    Result result;
    if (ended.text == kDominated) {
        result.status = Status::kDominated;
        return result;
    }
    result.status = Status::kFailed;
    if (!ended.is_done) {
        result.reason = ended.text;
        if (ended.text.starts_with("ended with status"))
            if (const std::string line = last_line(files.log); !line.empty())
                result.reason = fmt::format("{}: {}", ended.text, line);
        return result;
    }
    auto text = contents(files.done);
    if (!text) text = contents(files.own);
    if (!text) {
        result.reason = "ended without statistics: it launched nothing";
        return result;
    }
    try {
        return read_statistics(*text);
    } catch (const InputError& error) {
        result.reason = error.what();
        return result;
    }
}

/// An objective that no point could have is a mistake in words, found with the first result.
void check_metrics(const Study& study, const Point& point, const Result& result) {
    if (result.status != Status::kDone) return;
    std::vector<std::string> known;
    for (const auto& [name, value] : result.metrics) known.push_back(name);
    for (const Objective& objective : study.objectives)
        for (const std::string& name : objective.formula.names())
            if (!result_value(study, point, result, name))
                config::fail(objective.formula.place(),
                             name == "joules" || name == "mm2"
                                 ? fmt::format("{} has no {}: machine {} says nothing about it",
                                               describe(study, point), name,
                                               study.machines[point.machine].name)
                                 : fmt::format("{} has no metric {}{}", describe(study, point),
                                               name, config::did_you_mean(name, known)));
}

class Runner {
  public:
    Runner(const Study& study, const Plan& plan, const std::string& folder, unsigned jobs)
        : study_(study),
          plan_(plan),
          folder_(folder),
          cells_(study.stops_dominated ? jobs : 0),
          pool_(study.limits) {}

    void start(std::size_t place) {
        std::atomic<std::uint64_t>* const cell = cells_.take(place);
        pool_.start(place, [&] { return run_point(study_, plan_.points[place], folder_, cell); });
    }
    /// Ends points that a point before them dominates by now.
    void stop_dominated(const Dominance& dominance) {
        for (const auto& [place, cycles] : cells_.values())
            if (dominance.is_dominated(place, cycles)) pool_.end(place, kDominated);
    }
    std::size_t running() const { return pool_.running(); }

    /// Hands each point that ended to `done`.
    template <typename Done>
    void wait(const Done& done) {
        constexpr std::chrono::milliseconds kTick{250}, kShortTick{50};
        for (const auto& [place, ended] : pool_.wait(study_.stops_dominated ? kShortTick : kTick)) {
            cells_.give_back(place);
            busy_seconds_ += ended.cpu_seconds;
            const Files files(folder_, plan_.points[place]);
            done(place, result_of(files, ended));
            files.remove();
        }
    }
    double busy_seconds() const { return busy_seconds_; }

  private:
    const Study& study_;
    const Plan& plan_;
    const std::string folder_;
    SharedCells cells_;
    process::ProcessPool pool_;
    double busy_seconds_ = 0;
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::string work_folder(const std::string& state_file) {
    return state_file + ".work";
}

std::vector<Result> stored_results(const Plan& plan, const Store& store) {
    const auto known = store.results();
    std::vector<Result> results(plan.points.size());
    for (std::size_t i = 0; i < results.size(); ++i)
        if (const auto found = known.find(plan.points[i].key); found != known.end())
            results[i] = found->second;
    return results;
}

std::size_t collect(const Study& study, const Plan& plan, const std::string& folder, Store& store,
                    std::vector<Result>& results) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Files files(folder, plan.points[i]);
        Result result;
        if (const auto text = contents(files.done)) {
            try {
                result = read_statistics(*text);
            } catch (const InputError&) {
                continue;
            }
        } else if (const auto reason = contents(files.failed)) {
            result.status = Status::kFailed;
            result.reason = *reason;
        } else {
            continue;
        }
        if (results[i].status == Status::kMissing) {
            store.add(plan.points[i].key, describe(study, plan.points[i]), result);
            results[i] = std::move(result);
            ++found;
        }
        files.remove();
    }
    return found;
}

std::vector<Result> run_points(const Study& study, const Plan& plan, Store& store,
                               const std::string& folder, unsigned jobs,
                               const std::function<void(const Progress&)>& on_progress,
                               RunReport& report) {
    std::vector<Result> results = stored_results(plan, store);
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    collect(study, plan, folder, store, results);
    std::vector<std::size_t> waiting;
    for (std::size_t i = results.size(); i-- > 0;)
        if (results[i].status == Status::kMissing) waiting.push_back(i);
    Progress progress{.points = results.size()};
    for (const Result& result : results) {
        progress.done += result.status == Status::kDone;
        progress.failed += result.status == Status::kFailed;
    }
    const auto first_done = std::ranges::find(results, Status::kDone, &Result::status);
    if (first_done != results.end())
        check_metrics(study, plan.points[static_cast<std::size_t>(first_done - results.begin())],
                      *first_done);
    Dominance dominance(study, plan);
    if (study.stops_dominated)
        for (std::size_t i = 0; i < results.size(); ++i) dominance.add(i, results[i]);
    Runner runner(study, plan, folder, jobs);
    const auto start = Clock::now();
    bool is_checked = false;
    while (!waiting.empty() || runner.running() > 0) {
        while (!waiting.empty() && runner.running() < jobs) {
            runner.start(waiting.back());
            waiting.pop_back();
        }
        runner.wait([&](std::size_t place, Result result) {
            // What was stopped is not known: another study may want it.
            if (result.status != Status::kDominated)
                store.add(plan.points[place].key, describe(study, plan.points[place]), result);
            if (study.stops_dominated) dominance.add(place, result);
            if (!is_checked) check_metrics(study, plan.points[place], result);
            is_checked |= result.status == Status::kDone;
            (result.status == Status::kFailed ? progress.failed : progress.done) += 1;
            results[place] = std::move(result);
            ++report.run;
        });
        if (study.stops_dominated) runner.stop_dominated(dominance);
        progress.running = runner.running();
        const auto left = static_cast<double>(waiting.size() + runner.running());
        if (report.run > 0)
            progress.seconds_left = seconds_since(start) / static_cast<double>(report.run) * left;
        on_progress(progress);
    }
    report.seconds = seconds_since(start);
    report.busy_seconds = runner.busy_seconds();
    if (study.stops_dominated) mark_dominated(study, plan, results);
    // What children of a killed parent left beside results that are known by now.
    if (!fs::is_empty(folder, ignored))
        for (const Point& point : plan.points) Files(folder, point).remove();
    fs::remove(folder, ignored);  // where nothing of others is left in it
    return results;
}

void run_apart(const Study& study, const Plan& plan, const std::vector<std::size_t>& points,
               const std::string& folder) {
    for (const std::size_t point : points) {
        const Files files(folder, plan.points[point]);
        if (fs::exists(files.done) || fs::exists(files.failed)) continue;
        process::ProcessPool pool(study.limits);
        pool.start(point, [&] { return run_point(study, plan.points[point], folder); });
        constexpr std::chrono::milliseconds kTick{60'000};
        while (pool.running() > 0)
            for (const auto& [place, ended] : pool.wait(kTick)) {
                const Result result = result_of(files, ended);
                if (result.status == Status::kFailed)
                    stats::write_whole(files.failed, result.reason);
                else if (!fs::exists(files.done))  // an executable's own
                    fs::rename(files.own, files.done);
                ::unlink(files.log.c_str());
            }
    }
}

}  // namespace lockstep::sweep
