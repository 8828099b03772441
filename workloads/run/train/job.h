// SPDX-License-Identifier: Apache-2.0
// How a network is trained, beside what all jobs say.
#pragma once

#include "workloads/network/train/trainer.h"

namespace lockstep::run {

struct TrainJob {
    network::TrainingOptions options;  ///< but for the seed, which is the job's
    std::int64_t batch = 0;            ///< 0: what X says, or the data's own
};

}  // namespace lockstep::run
