// SPDX-License-Identifier: Apache-2.0
// A child writes its text to a pipe and says by its exit status how it ended.
#include "validation/compare/process_pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <vector>

#include "sim/error/error.h"
#include "validation/child_work.h"

namespace lockstep::validation {

namespace {

struct Child {
    std::size_t job = 0;
    pid_t pid = 0;
    int pipe = -1;
    std::string text;
};

[[noreturn]] void be_child(int pipe, pid_t parent, const std::function<std::string()>& work) {
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

Child begin(std::size_t job, const std::function<std::string(std::size_t)>& work) {
    int ends[2];
    LOCKSTEP_CHECK(pipe(ends) == 0, "no pipe: error {}", errno);
    const pid_t parent = getpid(), pid = fork();
    LOCKSTEP_CHECK(pid >= 0, "no process: error {}", errno);
    if (pid == 0) {
        close(ends[0]);
        be_child(ends[1], parent, [&] { return work(job); });
    }
    close(ends[1]);
    return {job, pid, ends[0], {}};
}

JobResult end(Child& child) {
    close(child.pipe);
    int status = 0;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFSIGNALED(status))
        return {false, false, fmt::format("ended by signal {}", WTERMSIG(status))};
    const int code = WEXITSTATUS(status);
    return {code == 0, code == static_cast<int>(ExitStatus::kInputError), std::move(child.text)};
}

/// Ends what still runs when the parent gives up.
struct Children {
    std::vector<Child> all;
    ~Children() {
        for (Child& child : all) {
            kill(child.pid, SIGKILL);
            end(child);
        }
    }
};

}  // namespace

std::size_t run_in_processes(std::size_t jobs, unsigned processes, unsigned limit,
                             const std::function<std::string(std::size_t)>& work,
                             const std::function<void(std::size_t, const JobResult&)>& done) {
    const auto start = std::chrono::steady_clock::now();
    const auto is_late = [&] {
        return limit > 0 && std::chrono::steady_clock::now() - start > std::chrono::seconds(limit);
    };
    Children running;
    std::map<std::size_t, JobResult> ended;  // but not handed over
    std::size_t begun = 0, handed_over = 0;
    while (true) {
        while (begun < jobs && running.all.size() < processes && !is_late())
            running.all.push_back(begin(begun++, work));
        if (running.all.empty()) return begun;
        std::vector<pollfd> pipes;
        for (const Child& child : running.all) pipes.push_back({child.pipe, POLLIN, 0});
        constexpr int kTick = 200;  // milliseconds between looks at the clock
        if (poll(pipes.data(), pipes.size(), limit > 0 ? kTick : -1) < 0) continue;
        if (is_late()) {
            for (Child& child : running.all) {
                kill(child.pid, SIGKILL);
                end(child);
                ended[child.job] = {false, false, "the time limit came first"};
            }
            running.all.clear();
            pipes.clear();
        }
        for (std::size_t i = pipes.size(); i-- > 0;) {
            if (pipes[i].revents == 0) continue;
            char buffer[65536];
            const ssize_t got = read(pipes[i].fd, buffer, sizeof buffer);
            if (got > 0) running.all[i].text.append(buffer, static_cast<std::size_t>(got));
            if (got > 0 || (got < 0 && errno == EINTR)) continue;
            Child child = std::move(running.all[i]);
            running.all.erase(running.all.begin() + static_cast<std::ptrdiff_t>(i));
            ended[child.job] = end(child);
        }
        for (auto next = ended.find(handed_over); next != ended.end();
             next = ended.find(handed_over)) {
            const JobResult result = std::move(next->second);
            ended.erase(next);
            done(handed_over++, result);
        }
    }
}

}  // namespace lockstep::validation
