// SPDX-License-Identifier: Apache-2.0
// The options of `lockstep run --train`.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "workloads/run/job.h"

namespace lockstep::cli {

/// Adds them to the verb; --train sets job->training.
void add_training(CLI::App& verb, const std::shared_ptr<run::Job>& job);

}  // namespace lockstep::cli
