// SPDX-License-Identifier: Apache-2.0
// A job as the CUDA runtime library's options: what an executable reads from its environment.
#pragma once

#include "workloads/cuda_api/state/run_options.h"
#include "workloads/run/job.h"

namespace lockstep::run {

cuda::RunOptions cuda_options(const Job& job);

}  // namespace lockstep::run
