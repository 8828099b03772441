// SPDX-License-Identifier: Apache-2.0
// The loop: batches in a seeded order, steps, tests, checkpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/network/train/dataset.h"
#include "workloads/network/train/runner.h"
#include "workloads/network/train/schedule.h"
#include "workloads/network/train/training_step.h"

namespace lockstep::network {

struct TrainingOptions {
    StepOptions step = {};
    Schedule schedule = {};
    DatasetOptions data = {};
    std::uint64_t epochs = 5;
    std::uint64_t steps = 0;    ///< stop after so many in all; 0: no such limit
    double accuracy = 0;        ///< stop when the test reaches it (0 to 1); 0: never before the end
    double loss_scale = 65536;  ///< at first, where the step scales its loss
    std::uint64_t growth = 2000;         ///< good steps after which the loss scale doubles
    bool initialise = true;              ///< seeded weights; false: the network's own
    std::uint64_t seed = 0;              ///< of weights, data and order
    std::string checkpoint;              ///< file; empty: none
    std::uint64_t checkpoint_every = 0;  ///< steps; 0: after each epoch
    std::string resume;                  ///< file to go on from; empty: begin
};

struct StepReport {
    std::uint64_t step = 0;  ///< from 1, over all epochs
    double loss = 0, rate = 0, loss_scale = 1;
    bool skipped = false;  ///< gradients were not finite: nothing was updated
};

struct EpochReport {
    std::uint64_t epoch = 0, steps = 0;
    double loss = 0;      ///< mean over the epoch's batches
    double accuracy = 0;  ///< of the test, 0 to 1; NaN where the loss is no cross-entropy
    double test_loss = 0;
};

struct TrainingResult {
    std::vector<EpochReport> epochs;
    std::uint64_t steps = 0;
    bool reached = false;  ///< the accuracy that was asked for
    std::vector<std::pair<std::string, Tensor>> variables;
};

struct TrainingEvents {
    std::function<void(const std::string& data, std::uint64_t steps_an_epoch)> on_start;
    std::function<void(const StepReport&)> on_step;
    std::function<void(const EpochReport&)> on_epoch;
};

/// Trains `network`, with values, on a machine. The loss of a batch that does not fill is not
/// taken: what is left of an epoch is left out, in another order each time. The same result to the
/// bit whether it was interrupted and resumed or not. InputError where data, checkpoint and network
/// do not fit each other; ProgramFault where the loss is not finite, naming the step and the first
/// node whose values are not.
TrainingResult train(Graph network, const TrainingOptions& options, const MakeRunner& make_runner,
                     const TrainingEvents& events = {});

}  // namespace lockstep::network
