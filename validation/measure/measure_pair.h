// SPDX-License-Identifier: Apache-2.0
// Measures one workload with one set of parameters on a real GPU.
#pragma once

#include <functional>
#include <memory>

#include "validation/measure/cuda_device.h"
#include "validation/measure/plan.h"
#include "validation/measure/record.h"
#include "workloads/cuda/workload.h"

namespace lockstep::validation {

struct MeasureOptions {
    unsigned cold_repeats = 7, warm_repeats = 7;
    unsigned runs = 5;  ///< of workloads that time themselves; others run twice
    std::uint64_t seed = 0;
    CudaDeviceOptions device;
    std::string outputs;  ///< folder that gets SHA256.zst for each output whose bytes were kept
};

/// Throws InputError, and ProgramFault where the driver reports an error: nothing else can be
/// measured in this process then.
MeasuredPair measure_pair(const PlannedPair& pair, const std::shared_ptr<const Driver>& driver,
                          const std::shared_ptr<const config::Machine>& machine,
                          const MeasureOptions& options);

/// Runs a pair's launches once, and nothing else: for a profiler. The counters are empty.
CountedPair profile_pair(const PlannedPair& pair, Device& device, std::uint64_t seed,
                         const std::function<std::vector<CudaLaunch>()>& take_launches);

/// Runs a planned workload on any device.
cuda::Outcome run_pair(const std::string& workload, std::uint64_t seed, bool verify,
                       Device& device);

}  // namespace lockstep::validation
