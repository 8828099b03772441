// SPDX-License-Identifier: Apache-2.0
// One task runs several points where there are more points than an array may have tasks
// (MaxArraySize is 1001 where a site did not say otherwise). What a site wants besides (partition,
// account) sbatch reads from its own variables, as SBATCH_PARTITION.
#include "workloads/sweep/slurm.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "sim/stats/statistics.h"

namespace lockstep::sweep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTasks = 1000;
constexpr std::chrono::seconds kTick{1};

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

struct Output {
    int status = 0;
    std::string text;  ///< both streams
};

Output output_of(const std::string& command) {
    std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) throw InputError(command + ": cannot be run");
    Output output;
    std::array<char, 4096> buffer;
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
        output.text.append(buffer.data(), got);
    const int status = pclose(pipe);
    output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    while (output.text.ends_with('\n')) output.text.pop_back();
    return output;
}

std::string read_line(const std::string& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

/// Whether tasks of the array wait or run. Where Slurm cannot say, they are taken to.
bool is_under_way(const std::string& job) {
    constexpr int kUnknownJob = 1;  // one that ended a while ago is forgotten
    const Output queue = output_of("squeue --noheader --format=%i --jobs=" + quoted(job));
    if (queue.status == kUnknownJob && queue.text.find("Invalid job id") != std::string::npos)
        return false;
    return queue.status != 0 || !queue.text.empty();
}

/// Minutes for a task of so many points, and a minute to start.
std::string time_limit(const Study& study, std::size_t points) {
    if (study.limits.seconds == 0) return "";
    const double minutes = std::ceil(study.limits.seconds * static_cast<double>(points) / 60) + 1;
    return fmt::format(" --time={:.0f}", minutes);
}

std::string memory_limit(const Study& study) {
    constexpr std::uint64_t kMiB = 1 << 20, kOfThisProgram = 256;
    if (study.limits.bytes == 0) return "";
    return fmt::format(" --mem={}M", study.limits.bytes / kMiB + kOfThisProgram);
}

/// Returns the array's number.
std::string submit(const Study& study, const Plan& plan, const std::vector<std::size_t>& points,
                   const std::string& folder, const SlurmOptions& options) {
    const std::size_t each = (points.size() + kMostTasks - 1) / kMostTasks;
    std::string tasks;
    std::size_t lines = 0;
    for (std::size_t i = 0; i < points.size(); i += each, ++lines) {
        for (std::size_t k = i; k < std::min(i + each, points.size()); ++k)
            tasks += plan.points[points[k]].key + " ";
        tasks += "\n";
    }
    const std::string file = fs::absolute(folder) / "tasks";
    stats::write_whole(file, tasks);
    std::string script = "#!/bin/sh\nexec";
    for (const std::string& word : options.command) script += " " + quoted(word);
    script += " " + quoted(file) + "\n";
    const std::string script_file = fs::absolute(folder) / "task.sh";
    stats::write_whole(script_file, script);
    const Output output = output_of(fmt::format(
        "sbatch --parsable --job-name=lockstep-sweep --array=0-{}%{} --ntasks=1 --cpus-per-task=1 "
        "--chdir={} --output={}{}{} {}",
        lines - 1, options.jobs, quoted(fs::current_path()),
        quoted((fs::absolute(folder) / "slurm-%a.log").string()), time_limit(study, each),
        memory_limit(study), quoted(script_file)));
    if (output.status != 0)
        throw InputError(
            fmt::format("--slurm: {}", output.text.empty() ? "sbatch says nothing" : output.text));
    return output.text.substr(0, output.text.find(';'));  // NUMBER;CLUSTER
}

void clean(const std::string& folder) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        fs::remove(entry.path(), ignored);
    fs::remove(folder, ignored);
}

}  // namespace

std::vector<std::size_t> points_of_task(const Plan& plan, const std::string& file) {
    const char* const task = std::getenv("SLURM_ARRAY_TASK_ID");
    if (task == nullptr) throw InputError("SLURM_ARRAY_TASK_ID is not set: not a task of an array");
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < plan.points.size(); ++i) places[plan.points[i].key] = i;
    std::ifstream stream(file);
    std::string line;
    for (long i = std::strtol(task, nullptr, 10); i >= 0; --i)
        if (!std::getline(stream, line)) throw InputError(file + ": has no line for this task");
    std::vector<std::size_t> points;
    std::istringstream keys(line);
    for (std::string key; keys >> key;) {
        const auto found = places.find(key);
        if (found == places.end())
            throw InputError(fmt::format("{}: {} is no point of this sweep", file, key));
        points.push_back(found->second);
    }
    return points;
}

std::vector<Result> run_on_slurm(const Study& study, const Plan& plan, Store& store,
                                 const std::string& folder, const SlurmOptions& options,
                                 const std::function<void(const Progress&)>& on_progress,
                                 RunReport& report) {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    std::vector<Result> results = stored_results(plan, store);
    fs::create_directories(folder);
    const std::string job_file = folder + "/job";
    std::string job = read_line(job_file);
    if (!job.empty() && !is_under_way(job)) job.clear();
    report.run = collect(study, plan, folder, store, results);
    const auto missing = [&] {
        std::vector<std::size_t> list;
        for (std::size_t i = 0; i < results.size(); ++i)
            if (results[i].status == Status::kMissing) list.push_back(i);
        return list;
    };
    if (job.empty() && !missing().empty()) {
        job = submit(study, plan, missing(), folder, options);
        stats::write_whole(job_file, job + "\n");
    }
    while (!missing().empty()) {
        const bool was_under_way = is_under_way(job);
        report.run += collect(study, plan, folder, store, results);
        Progress progress{.points = results.size()};
        for (const Result& result : results) {
            progress.done += result.status == Status::kDone;
            progress.failed += result.status == Status::kFailed;
        }
        const auto left = static_cast<double>(missing().size());
        if (report.run > 0)
            progress.seconds_left = seconds() / static_cast<double>(report.run) * left;
        on_progress(progress);
        if (!was_under_way) break;
        if (left > 0) std::this_thread::sleep_for(kTick);
    }
    for (const std::size_t i : missing())
        results[i].reason = fmt::format("array {} of Slurm ended without it", job);
    if (missing().empty()) clean(folder);
    report.seconds = seconds();
    return results;
}

}  // namespace lockstep::sweep
