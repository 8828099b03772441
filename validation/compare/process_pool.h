// SPDX-License-Identifier: Apache-2.0
// Jobs in processes of their own, several at a time: the models' simulation kernel knows one
// simulation a process, and a job that ends badly ends alone.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace lockstep::validation {

struct JobResult {
    bool is_done = false;  ///< otherwise text says why not
    bool is_input_error = false;
    std::string text;
};

/// Runs work(0) to work(jobs - 1), at most `processes` at a time, and hands what they return to
/// done() in their order, each as soon as those before it have ended. After `limit` seconds (0:
/// never) no job is begun, and those that run are ended. Returns how many were begun.
std::size_t run_in_processes(std::size_t jobs, unsigned processes, unsigned limit,
                             const std::function<std::string(std::size_t)>& work,
                             const std::function<void(std::size_t, const JobResult&)>& done);

}  // namespace lockstep::validation
