// SPDX-License-Identifier: Apache-2.0
// One job on several machines.
#pragma once

#include <string>
#include <vector>

#include "workloads/run/job.h"

namespace lockstep::run {

/// "a,b,c" in parts. Throws InputError where one is empty or named twice.
std::vector<std::string> machines_of(const std::string& list);

/// The job for one of several machines: options that mean nothing to it are left away. `taken`
/// gets the names of those that it takes. Throws InputError where the machine cannot run it.
Job job_for(const Job& job, const std::string& machine, std::vector<std::string>& taken);

/// Samples that a run works on: `batch=` behind the workload's or file's name, else 1.
double samples_of(const Job& job);

}  // namespace lockstep::run
