// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_page.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "sim/error/error.h"
#include "sim/process/child_work.h"
#include "workloads/report/page.h"
#include "workloads/run/subject.h"

namespace lockstep::cli {

bool is_executable(const run::Job& job) {
    return run::identify(job.what).is(run::SubjectKind::kExecutable);
}

void write_page(const run::Job& job, const std::string& html_file, const std::string& statistics) {
    const auto machine = config::Machine::load(job.machine, job.overrides);
    stats::write_whole(html_file,
                       report::run_page(report::parse_run(job.what, statistics), *machine));
}

int run_apart_for_page(run::Job job, const std::string& html_file,
                       const std::function<int(const run::Job&)>& run) {
    const bool has_own = job.stats_file.ends_with(".json");
    if (!has_own && !job.stats_file.empty())
        throw InputError(
            fmt::format("{}: with --html the statistics of an executable are written as .json",
                        job.stats_file));
    if (!has_own) job.stats_file = fmt::format("{}.{}.json", html_file, getpid());
    std::fflush(nullptr);
    const pid_t child = fork();
    LOCKSTEP_CHECK(child >= 0, "no process: error {}", errno);
    if (child == 0) {
        std::string error;
        int status = 0;
        const int failure = process::do_in_child(
            [&] {
                status = run(job);
                return std::string();
            },
            error);
        if (failure != 0) fmt::print(stderr, "lockstep: {}\n", error);
        std::fflush(nullptr);
        _exit(failure != 0 ? failure : status);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    std::ostringstream text;
    if (std::ifstream file(job.stats_file, std::ios::binary); file) text << file.rdbuf();
    if (!has_own) std::remove(job.stats_file.c_str());
    if (!text.str().empty()) write_page(job, html_file, text.str());
    if (WIFSIGNALED(status)) raise(WTERMSIG(status));
    return WEXITSTATUS(status);
}

}  // namespace lockstep::cli
