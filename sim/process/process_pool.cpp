// SPDX-License-Identifier: Apache-2.0
// A child writes its text to a pipe and says by its exit status how it ended. A child that becomes
// another program takes the pipe's end along, so that the pipe's closing tells its end as well.
#include "sim/process/process_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <map>

#include "sim/error/error.h"
#include "sim/process/child_work.h"

namespace lockstep::process {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// Between looks at clocks and memory.
constexpr Milliseconds kTick{50};

[[noreturn]] void be_child(int pipe, pid_t parent, const std::function<std::string()>& work) {
    setpgid(0, 0);  // what it starts in its turn ends with it
    std::string text;
    const int status = do_in_child(
        [&] {
            if (getppid() != parent) _exit(1);
            return work();
        },
        text);
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t written = write(pipe, text.data() + at, text.size() - at);
        if (written < 0 && errno != EINTR) _exit(1);
        if (written > 0) at += static_cast<std::size_t>(written);
    }
    _exit(status);
}

void kill_group(pid_t pid) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);  // where it has no group yet
}

std::uint64_t resident_bytes(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/statm", pid));
    std::uint64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

ProcessPool::~ProcessPool() {
    JobResult ignored;
    for (Child& child : children_) {
        kill_group(child.pid);
        reap(child, true, ignored);
    }
}

void ProcessPool::start(std::size_t job, const std::function<std::string()>& work) {
    int ends[2];
    LOCKSTEP_CHECK(pipe(ends) == 0, "no pipe: error {}", errno);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const pid_t parent = getpid(), pid = fork();
    LOCKSTEP_CHECK(pid >= 0, "no process: error {}", errno);
    if (pid == 0) {
        close(ends[0]);
        be_child(ends[1], parent, work);
    }
    close(ends[1]);
    children_.push_back({job, pid, ends[0], Clock::now(), {}, {}});
}

void ProcessPool::read_pipe(Child& child) {
    char buffer[65536];
    while (true) {
        const ssize_t got = read(child.pipe, buffer, sizeof buffer);
        if (got > 0) child.text.append(buffer, static_cast<std::size_t>(got));
        if (got > 0 || (got < 0 && errno == EINTR)) continue;
        if (got < 0 && errno == EAGAIN) return;
        close(child.pipe);
        child.pipe = -1;
        return;
    }
}

bool ProcessPool::reap(Child& child, bool waits, JobResult& result) {
    int status = 0;
    rusage usage{};
    pid_t got = 0;
    do got = wait4(child.pid, &status, waits ? 0 : WNOHANG, &usage);
    while (got < 0 && errno == EINTR);
    if (got == 0) return false;
    if (child.pipe >= 0) close(child.pipe);
    result.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.is_done = code == 0 && child.reason.empty();
    result.is_input_error = code == static_cast<int>(ExitStatus::kInputError);
    if (!child.reason.empty())
        result.text = std::move(child.reason);
    else if (WIFSIGNALED(status))
        result.text = fmt::format("ended by signal {}", WTERMSIG(status));
    else if (code != 0 && child.text.empty())
        result.text = fmt::format("ended with status {}", code);
    else
        result.text = std::move(child.text);
    return true;
}

void ProcessPool::check_limits() {
    const auto now = Clock::now();
    for (Child& child : children_) {
        if (!child.reason.empty()) continue;
        if (limits_.seconds > 0 &&
            now - child.begin > std::chrono::duration<double>(limits_.seconds))
            child.reason = fmt::format("took longer than {:g} s", limits_.seconds);
        else if (limits_.bytes > 0 && resident_bytes(child.pid) > limits_.bytes)
            child.reason = fmt::format("took more than {:g} MiB of memory",
                                       static_cast<double>(limits_.bytes) / 1048576);
        if (!child.reason.empty()) kill_group(child.pid);
    }
}

std::vector<ProcessPool::Ended> ProcessPool::wait(Milliseconds longest) {
    const auto until = Clock::now() + longest;
    std::vector<Ended> ended;
    while (!children_.empty()) {
        const bool is_watched =
            limits_.seconds > 0 || limits_.bytes > 0 ||
            std::ranges::any_of(children_, [](const Child& child) { return child.pipe < 0; });
        const auto left = std::max(std::chrono::duration_cast<Milliseconds>(until - Clock::now()),
                                   Milliseconds(0));
        const auto step = is_watched ? std::min(left, kTick) : left;
        std::vector<pollfd> pipes;  // a negative one is passed over
        for (const Child& child : children_) pipes.push_back({child.pipe, POLLIN, 0});
        poll(pipes.data(), pipes.size(),
             static_cast<int>(std::min<std::int64_t>(step.count(), 60'000)));
        check_limits();
        for (std::size_t i = children_.size(); i-- > 0;) {
            Child& child = children_[i];
            if (child.pipe >= 0) read_pipe(child);
            if (child.pipe >= 0 && child.reason.empty()) continue;
            JobResult result;
            if (!reap(child, false, result)) continue;
            ended.push_back({child.job, std::move(result)});
            children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
        }
        if (!ended.empty() || Clock::now() >= until) break;
    }
    return ended;
}

void ProcessPool::end(std::size_t job, const std::string& reason) {
    for (Child& child : children_)
        if (child.job == job && child.reason.empty()) {
            child.reason = reason;
            kill_group(child.pid);
        }
}

void ProcessPool::end_all(const std::string& reason) {
    for (Child& child : children_) {
        if (!child.reason.empty()) continue;
        child.reason = reason;
        kill_group(child.pid);
    }
}

std::size_t run_in_processes(std::size_t jobs, unsigned processes, unsigned limit,
                             const std::function<std::string(std::size_t)>& work,
                             const std::function<void(std::size_t, const JobResult&)>& done) {
    const auto until = Clock::now() + std::chrono::seconds(limit);
    const auto is_late = [&] { return limit > 0 && Clock::now() > until; };
    constexpr Milliseconds kLimitTick{200};
    ProcessPool pool;
    std::map<std::size_t, JobResult> ended;  // but not handed over
    std::size_t begun = 0, handed_over = 0;
    while (true) {
        while (begun < jobs && pool.running() < processes && !is_late()) {
            pool.start(begun, [&, job = begun] { return work(job); });
            ++begun;
        }
        if (pool.running() == 0) return begun;
        if (is_late()) pool.end_all("the time limit was reached");
        constexpr Milliseconds kLong{60'000};
        for (auto& [job, result] : pool.wait(limit > 0 ? kLimitTick : kLong))
            ended.emplace(job, std::move(result));
        for (auto next = ended.find(handed_over); next != ended.end();
             next = ended.find(handed_over)) {
            const JobResult result = std::move(next->second);
            ended.erase(next);
            done(handed_over++, result);
        }
    }
}

}  // namespace lockstep::process
