// SPDX-License-Identifier: Apache-2.0
// What a run on a TPU prints, and its statistics file.
#pragma once

#include "models/tpu/tpu.h"
#include "sim/cli/run_request.h"

namespace lockstep::cli {

/// A line a step and one in all (unless --quiet), and the statistics file if there is to be one.
/// `statistics` was made before the run: its wall time begins there.
void report_tpu_run(const RunRequest& request, const tpu::Parameters& parameters,
                    const tpu::RunResult& result, stats::Statistics& statistics);

}  // namespace lockstep::cli
