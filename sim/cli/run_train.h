// SPDX-License-Identifier: Apache-2.0
// The options of `lockstep run --train`.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "workloads/run/job.h"

namespace lockstep::cli {

/// Adds them to the verb; --train sets job->training.
void add_training(CLI::App& verb, const std::shared_ptr<run::Job>& job);

/// Trains on each machine of --on A,B,... in turn, each with its own report: losses, not times, are
/// what is compared. Gives the first exit status that is not 0. Throws InputError before anything
/// runs where a machine does not train, or where files would be written for several.
int train_on_each(const run::Job& job);

}  // namespace lockstep::cli
