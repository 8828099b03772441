// SPDX-License-Identifier: Apache-2.0
// Training on a machine: what all kinds of machines share.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "workloads/network/compile/verify.h"
#include "workloads/network/train/runner.h"
#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

enum class TimeSource : std::uint8_t { kSimulated, kMeasured };

/// The time of the first step: simulated, or measured on this computer.
struct StepTime {
    std::uint64_t cycles = 0;
    double seconds = 0;
    TimeSource source = TimeSource::kSimulated;
};

/// Where a machine says of a training what it found out.
struct TrainingScreen {
    Screen& screen;
    Outcome& outcome;
    std::optional<StepTime> time = {};  ///< of the first step; nothing before it, or in emulation
};

/// Trains the network that the job names on runners that `make` makes; shows loss and accuracy by
/// epoch. The statistics get a step an epoch beside those that the runners add. Throws InputError,
/// and ProgramFault where the training diverges.
Outcome train_network(const Job& job, const Subject& subject, const MachinePtr& machine,
                      Screen& screen,
                      const std::function<std::unique_ptr<network::Runner>(
                          const network::RunnerRequest&, TrainingScreen&)>& make);

/// Shows what a step was compared with, and notes a mismatch.
void report_checks(const std::vector<network::compile::Check>& checks, std::uint64_t step,
                   TrainingScreen& shown);

}  // namespace lockstep::run
