// SPDX-License-Identifier: Apache-2.0
// Jobs in processes of their own, several at a time: the models' simulation kernel knows one
// simulation a process, and a job that ends badly ends alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::process {

/// What one job may take; 0: as much as it likes.
struct Limits {
    double seconds = 0;
    /// Of resident memory, looked at several times a second: a job that takes more is ended.
    std::uint64_t bytes = 0;
};

struct JobResult {
    bool is_done = false;  ///< otherwise text says why not
    bool is_input_error = false;
    std::string text;
    double cpu_seconds = 0;
};

/// Processes that run at the same time. One thread.
class ProcessPool {
  public:
    struct Ended {
        std::size_t job = 0;
        JobResult result;
    };

    explicit ProcessPool(Limits limits = {}) : limits_(limits) {}
    /// Ends what still runs.
    ~ProcessPool();
    ProcessPool(const ProcessPool&) = delete;
    ProcessPool& operator=(const ProcessPool&) = delete;

    /// Begins a process that does `work`, which returns the job's text, or becomes another program
    /// (its text is then empty).
    void start(std::size_t job, const std::function<std::string()>& work);
    std::size_t running() const { return children_.size(); }
    /// Waits until a process has ended, but no longer than this.
    std::vector<Ended> wait(std::chrono::milliseconds longest);
    /// Ends a job that runs; wait() then gives it with this text.
    void end(std::size_t job, const std::string& reason);
    void end_all(const std::string& reason);

  private:
    struct Child {
        std::size_t job = 0;
        pid_t pid = 0;
        int pipe = -1;  ///< -1: closed by the child
        std::chrono::steady_clock::time_point begin{};
        std::string text, reason;  ///< reason: why it was ended
    };
    void check_limits();
    void read_pipe(Child& child);
    bool reap(Child& child, bool waits, JobResult& result);

    const Limits limits_;
    std::vector<Child> children_;
};

/// Runs work(0) to work(jobs - 1), at most `processes` at a time, and hands what they return to
/// done() in their order, each as soon as those before it have ended. After `limit` seconds (0:
/// never) no job is begun, and those that run are ended. Returns how many were begun.
std::size_t run_in_processes(std::size_t jobs, unsigned processes, unsigned limit,
                             const std::function<std::string(std::size_t)>& work,
                             const std::function<void(std::size_t, const JobResult&)>& done);

}  // namespace lockstep::process
