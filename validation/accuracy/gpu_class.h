// SPDX-License-Identifier: Apache-2.0
// What a GPU kernel's time is made of, told from its metrics: kernels are compared with measured
// ones of their class.
#pragma once

#include <string>

#include "sim/stats/statistics.h"

namespace lockstep::validation {

/// `few_sms` (most have nothing to do), `tensor`, `atomics`, `dram`, `l2`, `shared`, `l1`,
/// `compute` or `latency` (nothing of the chip is busy), of the step that took longest. Empty where
/// no step has a GPU's metrics.
std::string gpu_class(const stats::Statistics& statistics);

}  // namespace lockstep::validation
