// SPDX-License-Identifier: Apache-2.0
// What it costs to bring a network's launches to a GPU, by the times of host and device in the
// machine file (models/system).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/config/machine.h"
#include "workloads/network/gpu/executable.h"

namespace lockstep::run {

/// Of --launches; nothing: each launch by itself, by Device::launch. InputError for other words.
std::optional<network::gpu::Submission> submission_named(const std::string& name);

/// Seconds from the first call until the host knows of the end, for kernels of these durations one
/// after the other: a call for each, or one for all as a graph.
struct SubmittedTime {
    double stream = 0, graph = 0;
};
SubmittedTime submitted_time(const config::Machine& machine, std::span<const double> kernels);

/// A line on what launches cost beside the kernels' own time.
std::string submission_text(const config::Machine& machine, std::span<const double> kernels);
/// The same of a run on the time line, with the launches that could run beside others.
std::string submission_text(network::gpu::Submission submission, double seconds,
                            std::span<const double> kernels, const network::gpu::Executable& code);

}  // namespace lockstep::run
