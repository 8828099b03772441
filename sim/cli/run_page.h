// SPDX-License-Identifier: Apache-2.0
// The page of a run, for `run --html`.
#pragma once

#include <functional>
#include <string>

#include "workloads/run/job.h"

namespace lockstep::cli {

/// Whether the job becomes another program, which writes its statistics itself.
bool is_executable(const run::Job& job);

/// Writes the page of these statistics. Throws InputError where it cannot be written.
void write_page(const run::Job& job, const std::string& html_file, const std::string& statistics);

/// Runs `run` in a process of its own, with a statistics file that it writes, and makes the page of
/// that. Returns its exit status; a signal ends this process as well.
int run_apart_for_page(run::Job job, const std::string& html_file,
                       const std::function<int(const run::Job&)>& run);

}  // namespace lockstep::cli
